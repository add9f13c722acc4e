"""What compressing costs, when it waits, when it only reminds, and a threshold that learns."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.sessions.compression.cost import verdict_now
from gemini_companion.sessions.compression.rating import rate
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import CompressionStarted
from gemini_companion.sessions.events import UsageUpdated
from gemini_companion.sessions.session import Session
from tests.support.conversations import dialogue
from tests.support.logs import outcome_of
from tests.support.prefix_cache import Caching
from tests.support.sessions import Studio


async def grown(studio: Studio, *, full: float) -> Session:
    """A chat of four turns that fills this share of its window."""
    studio.model.default_stream = "fine"
    for number in range(4):
        await studio.chat(f"question {number} " + "word " * 800)
    session = await studio.session()
    studio.set(token_limit_override=round(session.token_count(session.choice()).tokens / full))
    return session


async def test_the_status_and_a_result_say_whether_it_pays_and_so_does_a_request(studio: Studio) -> None:
    session = await studio.load(dialogue())
    report = session.status(None)
    assert report.verdict is not msgspec.UNSET
    assert report.verdict == verdict_now(session)
    assert studio.model.kinds() == []
    result = await studio.compress()
    assert result.verdict is not None
    assert result.verdict.saved_per_turn == result.original_token_count - result.new_token_count


async def test_an_empty_chat_has_no_verdict_in_its_status_and_nothing_to_compress(studio: Studio) -> None:
    session = await studio.session()
    assert session.status(None).verdict is msgspec.UNSET
    assert not verdict_now(session).is_worth_it
    assert "nothing to compress" in verdict_now(session).message


async def test_an_automatic_run_waits_while_it_would_cost_clearly_more_than_it_saves(studio: Studio) -> None:
    Caching(studio)
    session = await grown(studio, full=0.6)
    assert session.status(None).is_due
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert (answered.compression.status, answered.compression.trigger) == ("NOOP", "auto")
    assert answered.compression.message.startswith("Not worth it yet: it would save some")
    assert answered.compression.verdict is not None
    assert answered.compression.verdict.net_tokens < 0
    assert studio.heard.of(CompressionStarted) == []


async def test_from_the_hard_mark_on_nothing_waits(studio: Studio) -> None:
    Caching(studio)
    await grown(studio, full=0.87)
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert answered.compression.status == "COMPRESSED"


@pytest.mark.parametrize("word", [{"is_threshold_set": True}, {"compression_token_cap": 2_000}])
async def test_a_threshold_that_a_person_set_is_kept_whatever_it_costs(studio: Studio, word: dict[str, Any]) -> None:
    Caching(studio)
    await grown(studio, full=0.6)
    studio.set(**word)
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert answered.compression.status == "COMPRESSED"


async def test_without_a_cache_that_was_seen_the_threshold_holds(studio: Studio) -> None:
    await grown(studio, full=0.6)
    answered = await studio.chat("go on")
    assert answered.compression is not None
    assert answered.compression.status == "COMPRESSED"


# --- reminding, and off


async def test_a_mode_that_reminds_says_that_it_is_due_and_compresses_nothing(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_mode="remind", compression_token_cap=500)
    answered = await studio.chat("go on")
    assert answered.compression is None
    report = session.status(None)
    assert (report.mode, report.is_due, report.tokens_until_compression) == ("remind", True, 0)
    assert studio.heard.of(UsageUpdated)[-1].is_due
    assert (await studio.compress()).status == "COMPRESSED"


async def test_a_mode_that_reminds_still_rescues_a_prompt_that_would_not_fit(studio: Studio) -> None:
    await studio.load(dialogue(12, 100))
    studio.set(compression_mode="remind", token_limit_override=4_000)
    answered = await studio.chat("go on " + "word " * 900)
    assert answered.stopped is None
    assert answered.compression is not None
    assert (answered.compression.status, answered.compression.trigger) == ("COMPRESSED", "auto")


async def test_off_is_off_whatever_the_cap_says(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_mode="off", compression_token_cap=500)
    assert (await studio.chat("go on")).compression is None
    report = session.status(None)
    assert (report.mode, report.is_due, report.tokens_until_compression) == ("off", False, None)
    studio.set(compression_mode="auto", compression_token_cap=None, compression_threshold=1.0)
    assert session.status(None).mode == "off"


# --- a threshold that learns


async def test_an_automatic_compression_that_was_undone_raises_the_threshold_and_says_why(studio: Studio) -> None:
    session = await studio.load(dialogue())
    await studio.chat("hello")
    studio.set(token_limit_override=4_500)
    compressed = (await studio.chat("go on")).compression
    assert compressed is not None
    await undo(session, client="test")
    report = session.status(None)
    assert report.threshold == pytest.approx(0.55)
    assert isinstance(report.threshold_reason, str)
    assert report.threshold_reason.startswith(
        "55% instead of 50%: automatic compressions with this model were undone or rated low."
    )
    studio.set(compression_adaptive=False)
    report = session.status(None)
    assert report.threshold == 0.5
    assert "%" not in str(report.threshold_reason)


async def test_after_an_undo_the_status_says_until_when_nothing_starts_by_itself(studio: Studio) -> None:
    session = await studio.load(dialogue())
    await studio.chat("hello")
    studio.set(token_limit_override=6_000, compression_adaptive=False)
    assert (await studio.chat("go on")).compression is not None
    assert session.status(None).threshold_reason is msgspec.UNSET
    await undo(session, client="test")
    report = session.status(None)
    assert report.token_count > 0.5 * report.token_limit
    assert report.compression_at == report.token_count + 600
    assert (report.is_due, report.tokens_until_compression) == (False, 600)
    assert report.threshold_reason == (
        f"Automatic compression pauses until {report.compression_at:,} tokens, since the last one was undone or"
        " cancelled."
    )
    answered = await studio.chat("and on")
    assert answered.compression is None
    assert session.status(None).compression_at == report.compression_at
    studio.set(compression_mode="remind")
    assert session.status(None).is_due
    assert session.status(None).threshold_reason is msgspec.UNSET


async def test_after_one_that_saved_next_to_nothing_the_status_gives_that_reason(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(token_limit_override=20_000, compression_adaptive=False)
    count = session.status(None).token_count
    assert count < 10_000
    little = outcome_of("COMPRESSED", 18_050, 18_000, trigger="auto")
    session.breaker.apply(CompressionEntry(id="c", seq=1, time=0, compression_id="c1", result=little))
    report = session.status(None)
    assert report.compression_at == 19_800
    assert report.threshold_reason == (
        "Automatic compression pauses until 19,800 tokens, since the last one saved next to nothing."
    )


async def test_a_full_window_ends_the_pause_that_the_status_tells_of(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(token_limit_override=4_500, compression_adaptive=False)
    session.breaker.pause(4_400)
    assert session.status(None).compression_at == 4_500


async def test_a_threshold_that_a_person_set_is_never_raised_and_may_be_lowered(studio: Studio) -> None:
    session = await studio.load(dialogue())
    await studio.chat("hello")
    studio.set(token_limit_override=4_500)
    compressed = (await studio.chat("go on")).compression
    assert compressed is not None
    assert compressed.compression_id is not None
    studio.set(is_threshold_set=True)
    await rate(session, compressed.compression_id, rating=1)
    assert session.status(None).threshold == 0.5
    await rate(session, compressed.compression_id, rating=5)
    assert session.status(None).threshold == pytest.approx(0.48)


async def test_the_strategy_reserve_waits_until_little_is_left(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_strategy="reserve", token_limit_override=100_000)
    report = session.status(None)
    assert report.threshold == pytest.approx(1 - 0.16384)
    assert report.threshold_reason is not msgspec.UNSET
    assert "16,384 tokens" in report.threshold_reason
    studio.set(is_threshold_set=True)
    assert session.status(None).threshold == 0.5
