"""Pins and ratings, as sessions keep them."""

from __future__ import annotations

import pytest

from gemini_companion.engine.errors import CompressionNotFound, InvalidInput
from gemini_companion.sessions.compression.rating import rate
from gemini_companion.sessions.pins import check_pin, pin, unpin
from gemini_companion.sessions.session import Session
from tests.support.sessions import Studio


async def session_of(studio: Studio) -> Session:
    await studio.app.new_session(studio.client)
    return await studio.app.hold(studio.client, None)


@pytest.mark.parametrize(("text", "turn_id"), [(None, None), ("", ""), ("text", "turn"), (" \n", None)])
def test_a_pin_is_of_either_a_text_or_a_turn(text: str | None, turn_id: str | None):
    with pytest.raises(InvalidInput) as refused:
        check_pin(text, turn_id)
    assert refused.value.path == "$.text"


async def test_a_text_is_pinned_until_it_is_unpinned(studio: Studio):
    session = await session_of(studio)
    pinned = await pin(session, text="Never delete the tests.")
    assert [kept.text for kept in session.history.pins.values()] == ["Never delete the tests."]
    await unpin(session, pinned.pin_id)
    assert not session.history.pins
    with pytest.raises(InvalidInput, match=pinned.pin_id):
        await unpin(session, pinned.pin_id)


async def test_the_prompt_of_a_turn_is_pinned_word_for_word(studio: Studio):
    answer = await studio.app.chat(studio.client, ({"text": "Use tabs."},))
    session = await studio.app.hold(studio.client, None)
    assert (await pin(session, turn_id=answer.turn_id)).text == "Use tabs."
    with pytest.raises(InvalidInput) as refused:
        await pin(session, turn_id="turn-of-nobody")
    assert refused.value.path == "$.turnId"


async def test_only_a_compression_of_the_session_can_be_rated(studio: Studio):
    session = await session_of(studio)
    before = len(session.history.entries)
    with pytest.raises(CompressionNotFound):
        await rate(session, "compression-of-nobody", rating=5)
    assert len(session.history.entries) == before
