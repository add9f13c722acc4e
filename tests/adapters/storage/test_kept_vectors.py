"""Vectors that outlive the index of the passages: they stay with their texts, and go with their session."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.engine.recall.query import parse_query
from tests.adapters.storage.stores import MakeStore, execute, meta
from tests.adapters.storage.test_recall_index import WITH_COPIES, make_old
from tests.adapters.storage.test_recall_vectors import FAR, NEAR, missing, said
from tests.adapters.storage.test_recalling import texts
from tests.support.patience import PATIENCE


async def embed(store: SqliteStore) -> list[str]:
    """Give every passage without a vector one, near if it is of a car; returns their texts."""
    await store.recall.index()
    asked: list[str] = []
    while some := await missing(store):
        asked += [one.text for one in some]
        await store.recall.save_vectors([(one, NEAR if "car" in one.text else FAR) for one in some])
    return asked


async def test_vectors_of_a_session_that_goes_before_it_is_indexed_anew_go_with_it(
    make_store: MakeStore, database: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta("kept"), said("The printer needs paper."))
        await store.create(meta("gone"), said("The car is parked."))
        await embed(store)
        await make_old(store, database, WITH_COPIES)
        again = make_store()
        await again.delete("gone")
        assert await execute(again, "SELECT count(*) FROM vectors") == [(1,)]
        await again.create(meta("new"), said("The sky is blue."))
        assert await embed(again) == ["The sky is blue."]


async def test_a_passage_at_the_place_of_another_does_not_get_its_vector(make_store: MakeStore, database: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), said("Apples grow.", "The car is parked.", "The printer needs paper."))
        await embed(store)
        await make_old(store, database, WITH_COPIES)
        again = make_store()
        await execute(again, "UPDATE log SET json = x'7b22' WHERE seq = 1")
        await embed(again)
        found = await again.recall.search(parse_query("vehicle"), vector=NEAR)
        assert found.hits[0].text == "The car is parked."


async def test_a_session_with_a_damaged_entry_goes_and_the_others_keep_their_vectors(store: SqliteStore) -> None:
    async with asyncio.timeout(PATIENCE):
        await store.create(meta("damaged"), said("Apples grow.", "Rain falls."))
        await store.create(meta("kept"), said("The car is parked.", "The printer needs paper."))
        await embed(store)
        await execute(store, "UPDATE log SET json = x'7b22' WHERE session_id = 'damaged' AND seq = 1")
        await store.delete("damaged")
        assert await embed(store) == []
        assert await execute(store, "SELECT count(*) FROM vectors") == [(2,)]
        found = await store.recall.search(parse_query("vehicle"), vector=NEAR)
        assert found.hits[0].text == "The car is parked."


@pytest.mark.parametrize(
    ("damage", "lost"),
    [
        ("", []),
        (
            "PRAGMA writable_schema = ON;"
            "UPDATE sqlite_schema SET sql = replace(sql, '(hash)', '(model)') WHERE name = 'vectors_by_hash'",
            ["The car is parked."],
        ),
    ],
    ids=["words", "vectors"],
)
async def test_vectors_are_made_anew_only_if_it_is_they_that_are_damaged(
    make_store: MakeStore, database: Path, damage: str, lost: list[str]
) -> None:
    async with asyncio.timeout(PATIENCE):
        store = make_store()
        await store.create(meta(), said("The car is parked."))
        await embed(store)
        await store.close()
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.executescript(f"UPDATE index_rules SET words = 0; {damage}")
        again = make_store()
        assert await texts(again, "parked")
        assert await embed(again) == lost
