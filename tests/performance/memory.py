"""What the daemon keeps in memory once many sessions were looked through and nothing runs any more."""

from __future__ import annotations

import asyncio
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

NAME: Final = "memory"
TARGET_MB: Final = 120
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
        daemon.request("gemini/session/list", {"limit": 50})
        before = _resident_mb(daemon.process.pid)
        for session_id in session_ids:
            answer = daemon.request("gemini/session/open", {"sessionId": session_id})
            assert "result" in answer, answer
            daemon.request("gemini/session/history", {"sessionId": session_id, "view": "transcript"})
            daemon.notifications.clear()
        held = daemon.request("gemini/session/list", {"limit": 500})
        assert held["result"]["sessions"]
        after = _resident_mb(daemon.process.pid)
    yield Figure(bench=NAME, name="idle, before any session was opened", value=before, unit="MB")
    yield Figure(
        bench=NAME,
        name=f"idle, after {count:,} sessions of {CONTENTS} contents were looked through",
        value=after,
        unit="MB",
        target=TARGET_MB,
        note="resident memory of the whole process",
    )


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


def _resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(kilobytes) / 1000
