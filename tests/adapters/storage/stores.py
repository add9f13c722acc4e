"""What the tests of the store work with: a clock and a process table that they turn, and small sessions."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.adapters.storage.process import ProcessIdentity
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.sessions.ports import SessionMeta, StoredEvent

MakeStore = Callable[..., SqliteStore]

START = 1_700_000_000_000
DAY_MS = 86_400_000


class ManualClock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = START
        self._jumped = 0

    def now(self) -> int:
        return self.time

    def monotonic(self) -> float:
        return (self.time - self._jumped) / 1000

    def jump(self, milliseconds: int) -> None:
        """Set the clock on the wall, without any time passing."""
        self.time += milliseconds
        self._jumped += milliseconds

    async def sleep(self, seconds: float) -> None:
        self.time += round(seconds * 1000)


class FakeProcesses:
    """A process table in which every store can be another process, and which knows what the test says."""

    def __init__(self, pid: int = 100, others: dict[int, bool | None] | None = None) -> None:
        self.identity = ProcessIdentity("here", pid, f"start of {pid}")
        self.alive = others if others is not None else {}

    def me(self) -> ProcessIdentity:
        return self.identity

    def is_alive(self, process: ProcessIdentity) -> bool | None:
        return self.alive.get(process.pid, True)


async def use(store: SqliteStore, used: SessionMeta) -> None:
    """Open a session, write what is known of it, and leave it."""
    await store.hold(used.session_id)
    await store.save_meta(used)
    await store.release(used.session_id)


def meta(session_id: str = "s1", **fields: Any) -> SessionMeta:
    common: dict[str, Any] = {"title": "", "model": "m", "created_at": START, "updated_at": START}
    return SessionMeta(session_id=session_id, **{**common, **fields})


def prompt(seq: int, text: str = "hi", **part: Any) -> PromptEntry:
    content = user_text(text)
    content.parts[0].update(part)
    return PromptEntry(id=f"e{seq}", seq=seq, time=START + seq, turn_id="t", content=content)


def event(seq: int, session_id: str = "s1", **fields: Any) -> StoredEvent:
    return StoredEvent(
        session_id=session_id, seq=seq, time=START + seq, event={"type": "messageDelta", "text": f"{seq}", **fields}
    )


def read(path: str | Path) -> bytes:
    return Path(path).read_bytes()


def write(path: Path, data: bytes, mode: int = 0o600) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def seqs(store: SqliteStore, session_id: str = "s1") -> list[int]:
    return [entry.seq for entry in (await store.load(session_id))[1]]


async def execute(store: SqliteStore, statement: str, *arguments: object) -> list[Any]:
    """Do something to the store's own connection that no method of it does."""
    return await store.worker.run("write", lambda connection: connection.execute(statement, arguments).fetchall())
