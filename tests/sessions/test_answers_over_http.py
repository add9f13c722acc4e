"""Turns through the real SDK against the emulated service: what a broken connection costs, and what it does not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.sessions.compression.gating import BUILT_IN
from gemini_companion.sessions.events import MessageDiscarded
from tests.support.conversations import dialogue
from tests.support.emulator import ApiError, Drop, Emulator, Gate, Reply, answer
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import Studio

DONE = b"data: [DONE]\n\n"
ERROR: dict[str, Any] = ApiError(503, "The model is overloaded.").json()


@pytest.fixture
async def online(tmp_path: Path, emulator: Emulator) -> AsyncIterator[Studio]:
    options = GeminiOptions(api_key="k", base_url=emulator.base_url, after_finish_ms=200)
    provider = GeminiProvider(options)
    studio = Studio(tmp_path, model=cast("ScriptedModel", provider))
    yield studio
    await studio.app.close()
    await provider.close()


async def test_a_services_unusable_snapshot_fails_unless_the_built_in_summariser_may_write_it(
    online: Studio, emulator: Emulator
) -> None:
    emulator.script(*[answer("I would rather write prose.")] * 6)
    session = await online.load([user_text("Never touch legacy/."), model_text("OK."), *dialogue()])
    assert (await online.compress()).status == "COMPRESSION_FAILED_EMPTY_SUMMARY"
    online.set(built_in_fallback=True)
    result = await online.compress()
    assert (result.status, result.model_calls) == ("COMPRESSED", 3)
    assert result.message.endswith(BUILT_IN)
    assert "Never touch legacy/." in str(session.history.contents()[0].parts)


@pytest.mark.parametrize(
    "after",
    [(Drop(),), (b"data: {broken\n\n",), (b"garbage\n",), (ERROR,), (DONE,), (b": ping\n\n", Drop()), (Gate(),)],
    ids=["drop", "broken event", "garbage", "error object", "[DONE]", "comment", "silence"],
)
async def test_what_comes_after_the_finish_reason_neither_costs_a_second_call_nor_the_answer(
    online: Studio, emulator: Emulator, after: Any
) -> None:
    emulator.script(answer("Hel", "lo", *after))
    result = await online.chat("Hi")
    assert (result.text, result.finish_reason) == ("Hello", "STOP")
    assert result.usage.prompt_tokens > 0
    assert len(emulator.asked("streamGenerateContent")) == 1
    assert online.heard.of(MessageDiscarded) == []


async def test_usage_after_the_finish_reason_is_kept_whatever_follows_it(online: Studio, emulator: Emulator) -> None:
    usage: dict[str, Any] = {"usageMetadata": {"promptTokenCount": 1_234}}
    finish: dict[str, Any] = {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]
    }
    emulator.script(Reply(steps=(finish, usage, Drop()), usage=None))
    assert (await online.chat("Hi")).usage.prompt_tokens == 1_234


async def test_a_connection_that_breaks_before_the_finish_reason_is_tried_again(
    online: Studio, emulator: Emulator
) -> None:
    emulator.script(answer("Hel", Drop(), finish=None), answer("Hello"))
    assert (await online.chat("Hi")).text == "Hello"
    assert len(emulator.asked("streamGenerateContent")) == 2


async def test_a_void_answer_is_void_whatever_follows_its_finish_reason(online: Studio, emulator: Emulator) -> None:
    emulator.script(*[answer("I was", Drop(), finish="SAFETY")] * 4)
    with pytest.raises(CompanionError, match="safety filter"):
        await online.chat("Hi")
    assert len(emulator.asked("streamGenerateContent")) == 1


async def test_an_absurd_count_of_the_service_does_not_refuse_the_next_prompt(
    online: Studio, emulator: Emulator
) -> None:
    emulator.script(
        answer("Hello", usage={"promptTokenCount": 10_000_000}), answer("And on."), method="streamGenerateContent"
    )
    await online.chat("Hi")
    assert (await online.chat("go on")).text == "And on."
