"""What a person is told to do about a full window: nobody is asked to compress when that has just failed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import model_text
from gemini_companion.engine.history.log import AttemptEntry, CompressionEntry, CompressionResult
from gemini_companion.sessions.compression_events import CompressionStarted
from gemini_companion.sessions.models.port import CountedTokens, ModelRequest
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.session import Session
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.conversations import agent_run, dialogue
from tests.support.patience import until
from tests.support.sample_tools import SampleArgs, SampleTool
from tests.support.scripted_hooks import hook, use
from tests.support.scripted_model import SNAPSHOT, ScriptedModel, calls
from tests.support.sessions import Studio

COMPRESS = "Compress the chat, go on in a new chat, or choose a model with a larger window."
TRIED = (
    "Compressing the chat was tried just now and did not make enough room: go on in a new chat, or choose a model with"
    " a larger window."
)
DOWN = ModelUnavailable("down", retryable=False)
LONG = "word " * 600


async def full(studio: Studio) -> Session:
    """A chat into whose window `LONG` does not fit unless it is compressed."""
    session = await studio.load(dialogue(10))
    studio.set(token_limit_override=session.token_count(session.choice()).tokens + 50, compression_threshold=0.999)
    return session


def advice(result: ChatResult) -> str:
    assert result.stopped == "contextWindowWillOverflow"
    assert result.message
    return TRIED if result.message.endswith(TRIED) else COMPRESS if result.message.endswith(COMPRESS) else ""


@pytest.mark.parametrize("background", ["auto", "off"])
async def test_a_compression_that_has_just_failed_for_the_prompt_is_not_asked_for_again(
    studio: Studio, background: str
) -> None:
    await full(studio)
    studio.set(compression_background=background)
    studio.model.default_answer = DOWN
    assert advice(await studio.chat(LONG)) == TRIED
    assert len(studio.heard.of(CompressionStarted)) == 1


async def test_a_compression_that_a_hook_refused_is_advised_and_makes_room(studio: Studio) -> None:
    runner = use(studio, hook("PreCompress"))
    runner.answers = {"c": {"decision": "deny", "reason": "not now"}}
    await full(studio)
    assert advice(await studio.chat(LONG)) == COMPRESS
    assert (await studio.compress()).status == "COMPRESSED"
    assert (await studio.chat(LONG)).text == "Done. "


async def test_a_compression_that_was_not_tried_since_earlier_ones_had_failed_is_advised(studio: Studio) -> None:
    await full(studio)
    studio.model.default_answer = DOWN
    for _ in range(3):
        assert advice(await studio.chat(LONG)) == TRIED
    studio.model.default_answer = SNAPSHOT
    assert advice(await studio.chat(LONG)) == COMPRESS
    assert (await studio.compress()).status == "COMPRESSED"


async def test_where_only_large_outputs_were_cut_since_earlier_ones_had_failed_it_is_advised(studio: Studio) -> None:
    session = await studio.load([*agent_run(3, 20_000), model_text("All green."), *dialogue(40)])
    studio.set(compression_background="off")
    session.breaker.has_failed = lambda tokens: True  # type: ignore[method-assign]
    studio.set(token_limit_override=8_000)
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert (answered.compression.status, advice(answered)) == ("CONTENT_TRUNCATED", COMPRESS)
    assert studio.model.kinds() == []


async def test_a_compression_that_did_not_make_enough_room_is_not_asked_for_again(studio: Studio) -> None:
    session = await full(studio)
    answered = await studio.chat("word " * round(0.65 * session.limit(session.choice())))
    assert answered.compression is not None
    assert (answered.compression.status, advice(answered)) == ("COMPRESSED", TRIED)
    assert not any(isinstance(entry, AttemptEntry) for entry in session.history.entries)


class CountingModel(ScriptedModel):
    """Begins a manual compression while a request is being counted, as a person may at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.studio: Studio | None = None
        self.manual: asyncio.Task[CompressionResult] | None = None

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        if self.studio is not None and self.manual is None:
            session = await self.studio.session()
            self.manual = asyncio.create_task(self.studio.compress())
            await until(lambda: session.compressions.installing is not None)
        return await super().count_tokens(request)


async def test_a_compression_that_a_person_asked_for_meanwhile_and_that_failed_counts_as_tried(tmp_path: Path) -> None:
    model = CountingModel()
    studio = Studio(tmp_path, model=model)
    studio.set(compression_background="off")
    await full(studio)
    model.studio, model.default_answer = studio, DOWN
    assert advice(await studio.chat(LONG)) == TRIED
    assert model.manual is not None
    with pytest.raises(ModelUnavailable):
        await model.manual
    assert model.kinds() == ["utility_compressor"]


@pytest.mark.parametrize(("mode", "expected"), [("auto", TRIED), ("off", COMPRESS)])
async def test_behind_a_round_of_tools_it_is_the_same(tmp_path: Path, mode: str, expected: str) -> None:
    async def flood(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output="word " * 30_000)

    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read", flood)])
    session = await full(studio)
    studio.set(compression_mode=mode)
    studio.model.streams = [calls(("read_file", {}))]
    studio.model.default_answer = DOWN
    result = await studio.chat("Read it.")
    assert advice(result) == expected
    tried = any(isinstance(entry, AttemptEntry | CompressionEntry) for entry in session.history.entries)
    assert tried == (expected is TRIED)
