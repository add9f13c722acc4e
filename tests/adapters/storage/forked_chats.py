"""Chats that fork, as the tests of the store make them."""

from __future__ import annotations

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.engine.history.log import Entry, encode_entry
from gemini_companion.sessions.shared_entries import ranges_of
from tests.adapters.storage.stores import execute, meta, prompt


async def log_of(store: SqliteStore, session_id: str) -> list[bytes]:
    return [encode_entry(entry) for entry in (await store.load(session_id))[1]]


async def forked(store: SqliteStore, session_id: str = "fork", parent: str = "s1", to: int | None = None) -> None:
    """Fork a session at a number, and write on in the fork."""
    shared = [entry for entry in (await store.load(parent))[1] if to is None or entry.seq <= to]
    await store.create(
        meta(session_id, parent=parent), [prompt(shared[-1].seq + 1, f"on in {session_id}")], ranges_of(shared)
    )


async def rows(store: SqliteStore) -> dict[str, list[int]]:
    """The numbers of the rows in the file, by who wrote them."""
    found: dict[str, list[int]] = {}
    for session_id, seq in await execute(store, "SELECT session_id, seq FROM log ORDER BY session_id, seq"):
        found.setdefault(session_id, []).append(seq)
    return found


def talk(*texts: str, first: int = 1) -> list[Entry]:
    return [prompt(first + index, text) for index, text in enumerate(texts)]
