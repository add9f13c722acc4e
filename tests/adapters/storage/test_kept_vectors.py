"""Vectors that outlive the index of the passages: they stay with their texts, and go with their session."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gemini_companion.adapters.storage import SqliteStore
from gemini_companion.engine.recall.query import parse_query
from tests.adapters.storage.stores import MakeStore, execute, meta
from tests.adapters.storage.test_recall_index import WITH_COPIES, make_old
from tests.adapters.storage.test_recall_vectors import FAR, NEAR, missing, said
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
