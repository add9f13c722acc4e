"""When a chat was used last decides when it goes: what is done to it unasked moves that time neither on nor back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from gemini_companion.sessions.models.port import ModelChunk
from tests.support.patience import until
from tests.support.preparing_desk import chat_at, settled, within
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser

MONTH_MS = 30 * 24 * 60 * 60 * 1000


@pytest.mark.parametrize("is_answering", [True, False], ids=["during a turn", "in a chat that is left alone"])
async def test_a_chat_whose_compression_was_prepared_is_as_new_as_its_last_prompt(
    opened: Callable[..., Studio], is_answering: bool
) -> None:
    studio = opened(slow := SlowSummariser())
    session = await chat_at(studio, 0.85)
    await studio.chat("Before.")
    await until(lambda: session.meta.title == slow.title)
    studio.set(compression_background="auto")
    studio.clock.time += MONTH_MS  # it was opened again after a long time
    may_end = asyncio.Event()
    slow.streams = [
        [ModelChunk(parts=({"text": "One"},)), may_end, ModelChunk(parts=({"text": "two"},), finish_reason="STOP")]
    ]
    asked_at = studio.clock.time
    chatting = asyncio.create_task(studio.chat("go on"))
    await within(slow.summarising)
    await until(lambda: bool(session.open_turns))  # it is begun ahead of the prompt's entry
    if not is_answering:
        may_end.set()
        await chatting
    before = (await studio.store.meta(session.session_id)).updated_at
    studio.clock.time += MONTH_MS
    slow.may_summarise.set()
    await settled(session)
    assert session.ready_compression()
    await session.update_listing(is_change=False)  # the one at the end of preparing is written by now
    after = (await studio.store.meta(session.session_id)).updated_at
    assert asked_at <= before == after < asked_at + MONTH_MS
    may_end.set()
    await chatting
