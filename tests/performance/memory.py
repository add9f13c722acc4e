"""A project with many sessions: how soon they are listed and searched, what looking through all of them costs, and what the
daemon keeps in memory once nothing runs any more.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gemini_companion.adapters.clock import SystemClock
from gemini_companion.adapters.storage import open_store, project_key
from gemini_companion.engine.history.decode import decode_contents
from gemini_companion.sessions.interchange.importing import entries_of
from gemini_companion.sessions.ports import SessionMeta
from tests.performance.conversation import make_contents
from tests.performance.daemon import Daemon
from tests.performance.figures import Figure, Finding, Skipped
from tests.performance.options import Options
from tests.performance.spread import median

NAME: Final = "memory"
TARGET_MB: Final = 120
LIST_MS: Final = 2
SEARCH_MS: Final = 15
SESSIONS: Final = 1_000
CONTENTS: Final = 60


def run(options: Options) -> Iterator[Finding]:
    """Opens every session of a project, one after the other, as somebody does who looks for something."""
    count = 20 if options.quick else SESSIONS
    if not Path("/proc/self/status").exists():
        yield Skipped(bench=NAME, name=f"{count} sessions looked through", reason="the system has no /proc")
        return
    session_ids = asyncio.run(_stored(options, count))
    with Daemon(options.server_command(), options.environment()) as daemon:
        daemon.initialize()
        daemon.notify("initialized", {})
        asked = (("list", "", LIST_MS), ("search", f"{count - 1:04d}", SEARCH_MS))
        firsts = [_list_ms(daemon, query) for _, query, _ in asked]
        before = _resident_mb(daemon.process.pid)
        busy = _cpu_ms(daemon.process.pid)
        for session_id in session_ids:
            answer = daemon.request("gemini/session/open", {"sessionId": session_id})
            assert "result" in answer, answer
            daemon.request("gemini/session/history", {"sessionId": session_id, "view": "transcript"})
            daemon.notifications.clear()
        each = (_cpu_ms(daemon.process.pid) - busy) / count
        after = _resident_mb(daemon.process.pid)
        for (what, query, target), first in zip(asked, firsts, strict=True):
            of = f"{what} of 50 among {count:,} sessions"
            yield Figure(bench=NAME, name=f"{of}, the first after the start", value=first, unit="ms")
            busy = _cpu_ms(daemon.process.pid)
            again = [_list_ms(daemon, query) for _ in range(options.rounds(50))]
            cpu = (_cpu_ms(daemon.process.pid) - busy) / len(again)
            yield Figure(bench=NAME, name=f"{of}, again", value=median(again), unit="ms", target=target)
            yield Figure(bench=NAME, name=f"{of}, CPU of the daemon", value=cpu, unit="ms")
    yield Figure(bench=NAME, name="opening one and reading a page of it, CPU of the daemon", value=each, unit="ms")
    yield Figure(bench=NAME, name="idle, before any session was opened", value=before, unit="MB")
    yield Figure(
        bench=NAME,
        name=f"idle, after {count:,} sessions of {CONTENTS} contents were looked through",
        value=after,
        unit="MB",
        target=TARGET_MB,
        note="resident memory of the whole process",
    )


def _list_ms(daemon: Daemon, query: str) -> float:
    """What a listing takes at the editor's end of the pipe."""
    begun = time.perf_counter()
    answer = daemon.request("gemini/session/list", {"limit": 50, "query": query})
    taken = time.perf_counter() - begun
    assert answer["result"]["sessions"], answer
    return taken * 1000


async def _stored(options: Options, count: int) -> list[str]:
    """Sessions in the store that the daemon will open; their ids."""
    contents = decode_contents(make_contents(CONTENTS))
    entries = entries_of(contents, now=SystemClock().now())
    store = open_store(options.scratch / "data", project_key(()), clock=SystemClock())
    session_ids = [f"session-{number:04d}" for number in range(count)]
    now = SystemClock().now()
    for session_id in session_ids:
        meta = SessionMeta(session_id=session_id, title=session_id, model="", created_at=now, updated_at=now)
        await store.create(meta, entries)
    await store.close()
    return session_ids


def _cpu_ms(pid: int) -> float:
    """What the process has used of processors, in steps of some 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def _resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) / 1000
