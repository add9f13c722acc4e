"""Values that damage made others of: one of them costs at most its own entry, and nothing else is out of reach."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.engine.history.item import Counted, Measure
from gemini_companion.engine.tokens.counters import RULES_OF_COUNTING
from gemini_companion.sessions.kept_counts import KeptCount
from tests.adapters.storage.stores import MakeStore, meta, prompt, seqs
from tests.support.patience import PATIENCE


async def planted(store: SqliteStore) -> None:
    """Two chats of three prompts each, indexed and counted, in a store that is closed."""
    for session_id in ("s1", "s2"):
        await store.create(meta(session_id, title="Marmots"))
        await store.append(session_id, [prompt(number, f"coffee of {session_id}") for number in (1, 2, 3)])
    await store.save_counts("s1", [KeptCount(1, 5, Counted(Measure(1, 0, 0), None))])
    await store.recall.index()
    await store.close()


def damage(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(statement)


async def found(store: SqliteStore, query: str) -> list[str]:
    return sorted(listed.session_id for listed in (await store.list(query=query)).sessions)


async def goes_on(store: SqliteStore) -> None:
    """Everything that a store is for works with both chats, and with a new one."""
    await store.recall.index()
    assert await found(store, "coffee") == ["s1", "s2"]
    for session_id in ("s1", "s2"):
        await store.load(session_id)
        await store.hold(session_id)
        await store.changes_beside(session_id, {}, ())
        await store.append(session_id, [prompt(4, "later words")])
    await store.create(meta("s3"), [prompt(1, "later still")])
    assert await found(store, "later") == ["s1", "s2", "s3"]
    await store.save_meta(meta("s1", title="Renamed"))
    await store.redact_older()
    await store.delete("s1")
    assert await found(store, "later") == ["s2", "s3"]


@pytest.mark.parametrize(
    ("statement", "left"),
    [
        ("UPDATE sessions SET title = CAST(title AS BLOB)", [1, 2, 3]),
        ("UPDATE sessions SET title = x'ff00fe'", [1, 2, 3]),
        ("UPDATE sessions SET meta = 5", [1, 2, 3]),
        ("UPDATE log SET json = 12345 WHERE seq = 2", [1, 3]),
        ("UPDATE log SET json = 1e300 WHERE seq = 2", [1, 3]),
        (f"INSERT INTO sizes VALUES ('s1', {RULES_OF_COUNTING}, {10**15})", [1, 2, 3]),
        (f"INSERT INTO sizes VALUES ('s1', {RULES_OF_COUNTING}, 1.5)", [1, 2, 3]),
    ],
)
async def test_a_value_of_another_kind_costs_no_more_than_itself(
    make_store: MakeStore, database: Path, statement: str, left: list[int]
) -> None:
    async with asyncio.timeout(PATIENCE):
        await planted(make_store())
        damage(database, statement)
        store = make_store()
        assert await seqs(store, "s1") == left
        await goes_on(store)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO recall_sessions (number, session_id, indexed_to, places) VALUES (99999999999, 'gone', 5, 7)",
        "UPDATE recall_sessions SET number = 9223372036854775807 WHERE session_id = 's1'",
        "UPDATE recall_sessions SET number = -9 WHERE session_id = 's1'",
        "UPDATE recall_sessions SET indexed_to = 'x'",
        "UPDATE recall_sessions SET places = 'x'",
        "UPDATE recall_sessions SET indexed_to = 9223372036854775807",
    ],
)
async def test_a_note_of_the_indexes_that_cannot_be_has_them_made_anew(
    make_store: MakeStore, database: Path, statement: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        await planted(make_store())
        damage(database, statement)
        await goes_on(make_store())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE texts_config SET v = 99 WHERE k = 'version'",
        "DELETE FROM recall_config",
        "DROP TABLE texts",
        "DROP TABLE index_rules",
    ],
)
async def test_a_table_that_is_not_as_it_was_made_does_not_lock_the_chats_away(
    make_store: MakeStore, database: Path, statement: str
) -> None:
    said: list[str] = []
    async with asyncio.timeout(PATIENCE):
        await planted(make_store())
        damage(database, statement)
        store = make_store(notify=said.append)
        assert await seqs(store, "s1") == [1, 2, 3]
        assert "6 entries of 2 sessions could be taken over." in said[0]
        await goes_on(store)
