"""Turns that fail or are refused: void answers, limits, overflow, a store that fails."""

from __future__ import annotations

import time

import msgspec
import pytest

from gemini_companion.engine.errors import (
    Blocked,
    ContextOverflow,
    InvalidInput,
    ModelUnavailable,
    StorageFault,
    Unauthenticated,
)
from gemini_companion.engine.history.content import model_text
from gemini_companion.engine.history.log import CompressionEntry, PromptEntry, ReplyEntry, TurnEndEntry
from gemini_companion.sessions.compression_events import CompressionStarted
from gemini_companion.sessions.events import (
    ContextWindowWillOverflow,
    MaxTurnsReached,
    MessageDelta,
    MessageDiscarded,
    TurnFailed,
)
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.transcript.inspection import compression_list
from gemini_companion.sessions.transcript.pages import history_page
from tests.hostile.timing import slowness
from tests.support.scripted_model import chunks
from tests.support.sessions import Studio


@pytest.mark.parametrize(
    ("void", "reason"),
    [
        ([ModelChunk(finish_reason="STOP")], "empty"),
        ([ModelChunk(parts=({"text": "half an ans"},))], "finish reason"),
        ([ModelChunk(finish_reason="MALFORMED_FUNCTION_CALL")], "MALFORMED_FUNCTION_CALL"),
        ([ModelChunk(parts=({"text": "x"},)), ModelChunk(finish_reason="RECITATION")], "RECITATION"),
        ([ModelChunk(parts=({"text": "hm", "thought": True},), finish_reason="STOP")], "thought"),
        ([ModelChunk(parts=({"text": " <!-- a --> \u200b\n<!---->"},), finish_reason="STOP")], "empty"),
        ([ModelChunk(parts=({"functionCall": {"name": "rm", "args": {}}},), finish_reason="STOP")], "tool"),
    ],
)
async def test_a_void_answer_is_tried_again_and_nothing_of_it_is_kept(
    studio: Studio, void: list[ModelChunk], reason: str
) -> None:
    studio.model.streams = [void, "Whole."]
    result = await studio.chat("go")
    assert result.text == "Whole. "
    session = await studio.session()
    assert session.history.contents()[-1] == model_text("Whole. ")
    if any("text" in part for chunk in void for part in chunk.parts):
        assert reason in studio.heard.of(MessageDiscarded)[0].reason or reason == "thought"
    assert {delta.attempt for delta in studio.heard.of(MessageDelta)} <= {1, 2}


@pytest.mark.parametrize("piece", ["<!-- x\n", "<!--", "<!-- -->", "-->", "\u200b \n"])
async def test_an_answer_of_comments_that_are_never_closed_is_judged_at_once(studio: Studio, piece: str) -> None:
    """A mebibyte in two thousand pieces; it took minutes, and nothing else was heard meanwhile."""
    studio.settings = msgspec.structs.replace(studio.settings, loop_detection=False)
    pieces = [piece * (512 // len(piece))] * 2_000
    studio.model.streams = [chunks([*pieces, "done"], "STOP")]
    begin = time.thread_time()
    result = await studio.chat("go")
    assert (time.thread_time() - begin) / slowness() < 5.0
    assert result.text == "".join(pieces) + "done"


async def test_after_four_void_answers_the_turn_fails_and_the_view_is_as_before(studio: Studio) -> None:
    await studio.chat("one")
    session = await studio.session()
    before = session.history.contents()
    studio.model.default_stream = [ModelChunk(parts=({"text": "half"},))]
    with pytest.raises(ModelUnavailable, match="broke off"):
        await studio.chat("two")
    assert len(studio.model.main()) == 1 + 4
    assert session.history.contents() == before
    assert studio.clock.slept == [1.0, 2.0, 4.0]
    failed = studio.heard.of(TurnFailed)[0]
    assert failed.error.retryable


@pytest.mark.parametrize(("attempts", "waits"), [(1, []), (2, [1.0]), (6, [1.0, 2.0, 4.0, 4.0, 4.0])])
async def test_a_request_is_tried_as_often_as_the_settings_say(
    studio: Studio, attempts: int, waits: list[float]
) -> None:
    studio.set(max_attempts=attempts, model_fallback=False)
    studio.model.default_stream = [ModelChunk(parts=({"text": "half"},))]
    with pytest.raises(ModelUnavailable, match="broke off"):
        await studio.chat("two")
    assert len(studio.model.main()) == attempts
    assert studio.clock.slept == waits


async def test_a_safety_block_is_not_tried_again(studio: Studio) -> None:
    studio.model.streams = [chunks(["I"], "SAFETY")]
    with pytest.raises(Blocked, match="SAFETY"):
        await studio.chat("go")
    assert len(studio.model.main()) == 1


async def test_a_refused_prompt_says_so_and_leaves_nothing(studio: Studio) -> None:
    studio.model.streams = [ModelChunk(block_reason="PROHIBITED_CONTENT")]
    with pytest.raises(Blocked, match="PROHIBITED_CONTENT"):
        await studio.chat("go")
    assert (await studio.session()).history.contents() == []


async def test_retry_after_is_honoured(studio: Studio) -> None:
    studio.model.streams = [ModelUnavailable("busy", retry_after_ms=7_000), "Fine."]
    assert (await studio.chat("go")).text == "Fine. "
    assert studio.clock.slept == [7.0]


async def test_a_refused_key_is_not_tried_again(studio: Studio) -> None:
    studio.model.streams = [Unauthenticated("no", hint="Set GEMINI_API_KEY.")]
    with pytest.raises(Unauthenticated):
        await studio.chat("go")
    assert studio.clock.slept == []


async def test_an_answer_cut_at_its_token_limit_is_kept_with_its_reason(studio: Studio) -> None:
    studio.model.streams = [chunks(["As far as it "], "MAX_TOKENS")]
    result = await studio.chat("go")
    assert (result.text, result.finish_reason) == ("As far as it ", "MAX_TOKENS")


async def test_a_prompt_that_cannot_fit_is_handed_back_and_nothing_is_sent(studio: Studio) -> None:
    studio.set(token_limit_override=3_000)
    result = await studio.chat("word " * 5_000)
    assert result.stopped == "contextWindowWillOverflow"
    assert result.prompt == ({"text": "word " * 5_000},)
    event = studio.heard.of(ContextWindowWillOverflow)[0]
    assert event.estimated_request_token_count > event.remaining_token_count
    assert studio.model.main() == []
    assert (await studio.session()).history.entries == []


async def test_a_provider_overflow_is_cured_by_one_compression_and_one_retry(studio: Studio) -> None:
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    studio.model.streams = [ContextOverflow("too large"), "After all."]
    result = await studio.chat("go on")
    assert result.text == "After all. "
    assert result.compression is not None
    assert result.compression.status == "COMPRESSED"
    assert studio.model.main()[-1].contents[-1].parts[-1] == {"text": "go on"}


async def test_a_compression_tells_as_it_begins_whether_it_stands_behind_the_turns_prompt_in_the_history(
    studio: Studio,
) -> None:
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    await studio.compress()
    studio.model.streams = [ContextOverflow("too large"), "After all."]
    turn = (await studio.chat("go on " + "word " * 300)).turn_id
    assert [event.behind_turn for event in studio.heard.of(CompressionStarted)] == [None, turn]
    session = await studio.session()
    places = {type(entry): entry.seq for entry in session.history.entries}
    assert places[PromptEntry] < places[CompressionEntry] < places[ReplyEntry]


@pytest.mark.usefixtures("by_split")
async def test_a_listing_tells_whether_a_compression_ran_within_a_turn_that_failed(studio: Studio) -> None:
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    studio.model.streams = [ContextOverflow("too large"), Unauthenticated("No.")]
    with pytest.raises(Unauthenticated):
        await studio.chat("go on")
    session = await studio.session()
    await studio.compress()
    within, behind = [one.seq for one in reversed(compression_list(session).compressions)]
    items = (await history_page(session, "transcript", cursor=None, limit=None)).contents
    (failed,) = [item for item in items if item.kind == "prompt" and item.outcome == "failed"]
    assert failed.end_seq is not None
    assert failed.seq < within < failed.end_seq < behind
    assert [item for item in items if item.outcome is None and item.end_seq is not None] == []


async def test_a_provider_overflow_that_compression_does_not_cure_fails_the_turn(studio: Studio) -> None:
    for number in range(6):
        await studio.chat(f"{number} " + "word " * 300)
    studio.model.streams = [ContextOverflow("too large"), ContextOverflow("still too large")]
    with pytest.raises(ContextOverflow):
        await studio.chat("go on")
    assert studio.model.kinds().count("main") == 8


async def test_max_session_turns_hands_the_prompt_back(studio: Studio) -> None:
    studio.set(max_session_turns=1)
    await studio.chat("one")
    result = await studio.chat("two")
    assert (result.stopped, result.prompt) == ("maxTurns", ({"text": "two"},))
    assert studio.heard.of(MaxTurnsReached)[0].limit == 1


async def test_an_empty_prompt_is_refused(studio: Studio) -> None:
    with pytest.raises(InvalidInput):
        await studio.app.chat(studio.client, ())


async def test_a_store_that_fails_fails_the_turn_and_the_session_goes_on(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.chat("one")
    session = await studio.session()
    real = studio.store.append
    calls = 0

    async def full(session_id: str, entries: object) -> None:
        nonlocal calls
        calls += 1
        raise StorageFault("There is no space left.", hint="Free some space.")

    monkeypatch.setattr(studio.store, "append", full)
    with pytest.raises(StorageFault):
        await studio.chat("two")
    monkeypatch.setattr(studio.store, "append", real)
    result = await studio.chat("three")
    assert result.text == "Done. "
    texts = [content.parts[0]["text"] for content in session.history.contents()]
    assert texts == ["one", "Done. ", "three", "Done. "]
    ends = [entry for entry in session.history.entries if isinstance(entry, TurnEndEntry)]
    assert [entry.outcome for entry in ends] == ["completed", "failed", "completed"]
