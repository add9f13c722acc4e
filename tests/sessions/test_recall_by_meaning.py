"""Recall by meaning: the real SDK and the real store against the emulated API, only ever on the user's own wish."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.engine.recall.query import parse_query
from gemini_companion.sessions.recall.meaning import embed_missing, question_vector
from gemini_companion.sessions.recall.service import recall
from tests.sessions.conftest import Opener
from tests.support.emulator import Emulator, faults
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio, registry_of

SAID = "The automobile is parked behind the house."
ASKED = "car park location"


@pytest.fixture
async def studio(opened: Opener, emulator: Emulator) -> AsyncIterator[Studio]:
    """With Gemini over HTTP for vectors, and a few things said."""
    studio = opened()
    async with asyncio.timeout(PATIENCE):
        for text in (SAID, "Good morning.", "The printer needs paper.", "My cat sleeps."):
            await studio.chat(text)
            await studio.app.new_session(studio.client)
        provider = GeminiProvider(GeminiOptions(api_key="k", base_url=emulator.base_url))
        studio.services.models = registry_of(provider, studio.offline)
        yield studio


def sent(emulator: Emulator) -> list[str]:
    """What was sent of what was said."""
    return [
        request["content"]["parts"][0]["text"]
        for asked in emulator.asked("batchEmbedContents")
        for request in asked.body["requests"]
        if request["taskType"] == "RETRIEVAL_DOCUMENT"
    ]


async def test_nothing_is_sent_unless_the_user_turned_it_on(studio: Studio, emulator: Emulator):
    assert await embed_missing(studio.services)
    await recall(studio.services, query=ASKED)
    assert emulator.requests == []


async def test_what_means_the_same_in_other_words_is_found(studio: Studio, emulator: Emulator):
    question = "which car"
    assert not (await recall(studio.services, query=question)).hits
    studio.set(recall_embeddings=True)
    assert await embed_missing(studio.services)
    found = await recall(studio.services, query=question)
    assert found.hits[0].text == SAID
    assert found.hits[0].score > 0


async def test_each_text_is_sent_once_and_new_ones_alone_later(studio: Studio, emulator: Emulator):
    studio.set(recall_embeddings=True)
    await embed_missing(studio.services)
    texts = sent(emulator)
    assert sorted(texts) == sorted(set(texts))
    assert SAID in texts
    await embed_missing(studio.services)
    assert sent(emulator) == texts
    store = studio.services.store
    original = (await recall(studio.services, query="parked automobile")).hits[0].session_id
    meta, entries = await store.load(original)
    await store.create(msgspec.structs.replace(meta, session_id="copy"), entries)
    await store.recall.index()
    await embed_missing(studio.services)
    assert sent(emulator) == texts, "a copy has the vectors of what it was copied from"
    await store.delete("copy")
    assert (await recall(studio.services, query="parked automobile")).hits[0].session_id == original


@pytest.mark.parametrize(
    "fault", [faults.rate_limited(), faults.internal(), faults.nothing()], ids=["quota", "500", "nothing"]
)
async def test_where_the_model_fails_words_answer_and_the_log_says_why(
    studio: Studio, emulator: Emulator, caplog: pytest.LogCaptureFixture, fault: object
):
    studio.set(recall_embeddings=True)
    emulator.script(fault, method="batchEmbedContents")  # pyright: ignore[reportArgumentType]
    found = await recall(studio.services, query="automobile parking")
    assert found.hits[0].text == SAID
    assert "by meaning" in caplog.text
    emulator.script(fault, method="batchEmbedContents")  # pyright: ignore[reportArgumentType]
    assert not await embed_missing(studio.services)
    assert "searchable by meaning" in caplog.text


async def test_a_provider_without_vectors_is_not_asked(opened: Opener):
    studio = opened()
    studio.set(recall_embeddings=True)
    assert await question_vector(studio.services, "x") is None
    assert await embed_missing(studio.services)


async def test_a_question_is_answered_by_words_and_by_the_vectors_that_there_are(studio: Studio, emulator: Emulator):
    studio.set(recall_embeddings=True)
    vector = await question_vector(studio.services, ASKED)
    assert vector is not None
    assert len(vector.values) == 256
    assert sum(value * value for value in vector.values) == pytest.approx(1.0)
    result = await studio.services.store.recall.search(parse_query("printer"), vector=vector)
    assert result.hits[0].text == "The printer needs paper."


async def test_vectors_wait_for_their_slot_as_every_other_request_does(studio: Studio, emulator: Emulator):
    studio.set(recall_embeddings=True, most_model_calls=1)
    studio.services.slots.set_limits(studio.settings)
    slots = studio.services.slots.model_calls.fair
    taken = slots.ask("a chat")
    embedding = asyncio.create_task(embed_missing(studio.services))
    async with asyncio.timeout(PATIENCE):
        while not slots.waiting:
            await asyncio.sleep(0)
        assert emulator.requests == []
        slots.end(taken)
        assert await embedding
    assert SAID in sent(emulator)
