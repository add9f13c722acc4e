"""Vectors stay with the texts of which they were made, whatever happens while they are fetched."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from gemini_companion.adapters.storage import SqliteStore, recall_search
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.recall_store import PassageText, Vector
from tests.adapters.storage.stores import START, execute, meta
from tests.support.patience import PATIENCE

MODEL = "vectors"
NEAR, FAR = Vector(model=MODEL, values=(1.0, 0.0)), Vector(model=MODEL, values=(0.0, 1.0))


def said(*texts: str) -> list[PromptEntry]:
    return [
        PromptEntry(id=f"e{seq}", seq=seq, time=START + seq, turn_id=f"t{seq}", content=user_text(text))
        for seq, text in enumerate(texts, start=1)
    ]


async def missing(store: SqliteStore) -> list[PassageText]:
    return await store.recall.passages_without_vector(MODEL) or []


async def test_a_vector_is_not_kept_for_another_text_that_has_its_row_by_now(store: SqliteStore) -> None:
    await store.create(meta("first"), said("The car is parked behind the house."))
    asked = await missing(store)
    await store.delete("first")
    await store.create(meta("second"), said("The printer needs paper."))
    assert [one.row for one in await missing(store)] == [one.row for one in asked], "the case that is tried"
    await store.recall.save_vectors([(one, NEAR) for one in asked])
    assert [one.text for one in await missing(store)] == ["The printer needs paper."]
    assert not (await store.recall.search(parse_query("vehicle"), vector=NEAR)).hits


async def test_a_vector_is_kept_for_a_text_that_is_still_where_it_was(store: SqliteStore) -> None:
    await store.create(meta("first"), said("The car is parked.", "The printer needs paper."))
    await store.recall.save_vectors(
        [(one, NEAR if "car" in one.text else FAR) for one in await missing(store)],
    )
    assert await missing(store) == []
    found = await store.recall.search(parse_query("vehicle"), vector=NEAR)
    assert found.hits[0].text == "The car is parked."


async def test_vectors_of_a_session_that_went_are_not_kept(store: SqliteStore) -> None:
    await store.create(meta("first"), said("The car is parked."))
    asked = await missing(store)
    await store.delete("first")
    await store.recall.save_vectors([(one, NEAR) for one in asked])
    assert not (await store.recall.search(parse_query("vehicle"), vector=NEAR)).hits


async def test_passages_are_given_out_in_batches_the_newest_first_and_each_once(store: SqliteStore) -> None:
    await store.create(meta("first"), said(*(f"Marmot number {number}." for number in range(120))))
    given: list[str] = []
    while passages := await store.recall.passages_without_vector(MODEL):
        assert len(passages) <= 50
        given += [one.text for one in passages]
        await store.recall.save_vectors([(one, NEAR) for one in passages])
    assert given == [f"Marmot number {number}." for number in reversed(range(120))]
    assert await store.recall.passages_without_vector(MODEL) is None
    await store.create(meta("second"), said("One more."))
    assert [one.text for one in await missing(store)] == ["One more."]


async def test_another_model_gets_all_passages_anew(store: SqliteStore) -> None:
    await store.create(meta("first"), said(*(f"Marmot number {number}." for number in range(60))))
    assert len(await missing(store)) == 50
    assert len(await store.recall.passages_without_vector("another") or []) == 50


async def test_a_chat_that_is_made_of_many_entries_is_indexed_without_a_search(store: SqliteStore) -> None:
    await store.create(meta("first"), said(*(f"Marmot number {number}." for number in range(500))))
    async with asyncio.timeout(PATIENCE):
        while (await execute(store, "SELECT count(*) FROM passages")) != [(500,)]:
            await asyncio.sleep(0)


async def test_a_store_is_closed_while_it_indexes(store: SqliteStore) -> None:
    await store.create(meta("first"), said(*(f"Marmot number {number}." for number in range(500))))
    async with asyncio.timeout(PATIENCE):
        await store.close()


async def test_a_search_that_nobody_waits_for_ends_and_the_next_ones_are_answered(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.create(meta("first"), said("The car is parked."))
    ended = asyncio.Event()
    started = asyncio.Event()
    loop = asyncio.get_running_loop()
    search = recall_search.search

    def endless(connection: sqlite3.Connection, *args: Any, **more: Any) -> list[recall_search.Found]:
        loop.call_soon_threadsafe(started.set)
        try:
            connection.execute(
                "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
            ).fetchall()
        finally:
            loop.call_soon_threadsafe(ended.set)
        return []

    monkeypatch.setattr(recall_search, "search", endless)
    async with asyncio.timeout(PATIENCE):
        searches = [asyncio.create_task(store.recall.search(parse_query("car"))) for _ in range(2)]
        await started.wait()
        for each in searches:
            each.cancel()
        await asyncio.wait(searches)
        assert all(each.cancelled() for each in searches)
        await ended.wait()
        monkeypatch.setattr(recall_search, "search", search)
        assert len((await store.recall.search(parse_query("car"))).hits) == 1
