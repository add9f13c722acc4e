"""What is told of a compression: one beginning, one end of the same id, and a status that never contradicts them."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from gemini_companion.engine.errors import (
    ContextOverflow,
    InvalidInput,
    ModelUnavailable,
    StaleVersion,
    Unauthenticated,
)
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import (
    CompressionCancelled,
    CompressionCompleted,
    CompressionFailed,
    CompressionProgress,
    CompressionStarted,
)
from gemini_companion.sessions.events import TurnFailed
from gemini_companion.sessions.lane import Job
from tests.support.patience import PATIENCE, until_in
from tests.support.preparing_desk import hold_before_safe_point, within
from tests.support.scripted_model import SNAPSHOT
from tests.support.sessions import RecordingSink, Studio

ENDS = (CompressionCompleted, CompressionFailed, CompressionCancelled)


def dialogue(rounds: int = 8, words: int = 200) -> list[Content]:
    contents: list[Content] = []
    for number in range(rounds):
        contents += [
            user_text(f"question {number} " + "word " * words),
            model_text(f"answer {number} " + "text " * words),
        ]
    return contents


def with_big_outputs() -> list[Content]:
    contents = dialogue(2)
    for number in range(6):
        call = {"functionCall": {"id": f"c{number}", "name": "run", "args": {}}}
        result = {
            "functionResponse": {
                "id": f"c{number}",
                "name": "run",
                "response": {"output": f"line {number} of the output\n" * 16_000},
            }
        }
        contents += [
            user_text("run it"),
            Content(role="model", parts=(call,)),
            Content(role="user", parts=(result,)),
            model_text("ran"),
        ]
    return contents


def check_one_end_each(heard: RecordingSink) -> None:
    """Every beginning has exactly one end, progress lies between them."""
    started = Counter(event.compression_id for event in heard.of(CompressionStarted))
    ended = Counter(event.compression_id for event in heard.events if isinstance(event, ENDS))
    assert started == ended
    under_way: set[str] = set()
    for event in heard.events:
        if isinstance(event, CompressionStarted):
            under_way.add(event.compression_id)
        elif isinstance(event, ENDS):
            under_way.remove(event.compression_id)
        elif isinstance(event, CompressionProgress):
            assert event.compression_id in under_way


async def test_every_compression_that_was_begun_ends_once_however_it_ends(studio: Studio) -> None:
    session = await studio.load([])
    await studio.compress()  # nothing there
    session = await studio.load(dialogue())
    studio.model.answers = ["no snapshot"] * 3
    await studio.compress()
    studio.model.answers = [Unauthenticated("no key")]
    with pytest.raises(Unauthenticated):
        await studio.compress()
    stale = await studio.compress(preview=True)
    preview = await studio.compress(preview=True)
    assert preview.compression_id is not None
    await apply_preview(session, client="c", compression_id=preview.compression_id, snapshot="long " * 30_000)
    await apply_preview(session, client="c", compression_id=preview.compression_id)
    assert stale.compression_id is not None
    await undo(session, client="c")
    assert [type(event).__name__ for event in studio.heard.events if isinstance(event, ENDS)] == [
        "CompressionCompleted",
        "CompressionFailed",
        "CompressionFailed",
        "CompressionCompleted",
        "CompressionCompleted",
        "CompressionFailed",
        "CompressionCompleted",
    ]
    check_one_end_each(studio.heard)


async def test_a_preview_that_became_stale_is_begun_and_failed_when_it_is_applied(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    await studio.compress()
    assert preview.compression_id is not None
    with pytest.raises(StaleVersion):
        await apply_preview(session, client="c", compression_id=preview.compression_id)
    failed = studio.heard.of(CompressionFailed)[0]
    assert failed.compression_id == preview.compression_id
    assert "changed since" in failed.result.message
    assert session.status(studio.client).state == "idle"
    check_one_end_each(studio.heard)


async def test_an_empty_edit_is_refused_before_anything_begins(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    told = len(studio.heard.events)
    assert preview.compression_id is not None
    with pytest.raises(InvalidInput):
        await apply_preview(session, client="c", compression_id=preview.compression_id, snapshot=" \n")
    assert len(studio.heard.events) == told


async def test_an_edit_that_is_too_long_is_not_blamed_on_the_historys_size(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    assert preview.compression_id is not None
    result = await apply_preview(session, client="c", compression_id=preview.compression_id, snapshot="long " * 30_000)
    assert "not applied" in result.message
    assert "history this small" not in result.message


async def test_an_applied_preview_counts_what_it_keeps_in_the_history_of_now(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    await studio.chat("later")
    before = session.history.contents()
    assert preview.compression_id is not None
    result = await apply_preview(session, client="c", compression_id=preview.compression_id)
    assert result.split_at == preview.split_at
    assert result.kept_contents == len(before) - (result.split_at or 0)
    assert session.history.contents()[2:] == before[result.split_at :]


async def test_a_model_that_fails_in_an_automatic_run_is_told_with_the_truncation_that_took_its_place(
    studio: Studio,
) -> None:
    session = await studio.load(with_big_outputs())
    studio.model.answers = [Unauthenticated("The key was refused.")]
    studio.set(compression_token_cap=500)
    result = await studio.chat("go on")
    assert result.text == "Done. "
    assert result.compression is not None
    assert result.compression.status == "CONTENT_TRUNCATED"
    assert "The key was refused." in result.compression.message
    assert session.status(studio.client).last == result.compression
    assert not studio.heard.of(CompressionFailed)
    check_one_end_each(studio.heard)


async def test_a_model_that_fails_in_an_automatic_run_without_large_outputs_ends_it_as_failed(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.answers = [ModelUnavailable("The service is down.", retryable=False)]
    studio.set(compression_token_cap=500)
    assert (await studio.chat("go on")).text == "Done. "
    assert "The service is down." in studio.heard.of(CompressionFailed)[0].result.message
    check_one_end_each(studio.heard)


async def test_the_status_says_running_from_the_request_to_the_end_and_idle_with_what_came_of_it(
    studio: Studio,
) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    chatting = asyncio.create_task(studio.chat("first"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    studio.heard.reports.clear()
    compressing = asyncio.create_task(studio.compress())
    await until_in(Job.wait, 2)
    assert [report.state for report in studio.heard.reports] == ["running"], "told while it waits for the turn"
    studio.model.gate.set()
    await asyncio.gather(chatting, compressing)
    states = [report.state for report in studio.heard.reports if report.compressions]
    assert states
    assert set(states) == {"idle"}, "whoever sees the compression installed sees that it is over"
    assert session.status(studio.client).state == "idle"


async def test_the_status_remembers_that_there_was_nothing_to_compress(studio: Studio) -> None:
    session = await studio.load([])
    result = await studio.compress()
    assert result.status == "NOOP"
    assert session.status(studio.client).last == result


async def test_a_waiting_application_does_not_hide_the_compression_that_runs(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await studio.compress(preview=True)
    assert preview.compression_id is not None
    studio.model.called.clear()
    studio.model.gate.clear()
    compressing = asyncio.create_task(studio.compress())
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
    applying = asyncio.create_task(apply_preview(session, client="c", compression_id=preview.compression_id))
    await until_in(Job.wait, 2)
    assert session.status(studio.client).phase == "summarising"
    studio.model.gate.set()
    assert (await compressing).status == "COMPRESSED"
    with pytest.raises(StaleVersion):
        await applying
    check_one_end_each(studio.heard)


async def compressing_within_a_turn(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> tuple[asyncio.Task[Any], asyncio.Task[Any]]:
    """A turn that has begun and has not reached its safe point, and a compression that was asked for there."""
    reached, release = hold_before_safe_point(studio, monkeypatch)
    chatting = asyncio.create_task(studio.chat("go on with @a.py", model="gemini-2.5-flash"))
    await within(reached)
    compressing = asyncio.create_task(studio.compress())
    await until_in(Job.wait, 2)
    release.set()
    return chatting, compressing


async def test_a_compression_that_was_asked_for_during_a_turn_runs_at_its_safe_point(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.load(dialogue())
    chatting, compressing = await compressing_within_a_turn(studio, monkeypatch)
    async with asyncio.timeout(PATIENCE):
        result, compressed = await asyncio.gather(chatting, compressing)
    assert compressed.status == "COMPRESSED"
    assert result.compression == compressed
    assert studio.model.kinds() == ["utility_compressor", "utility_compressor", "main"]
    assert len(session.history.in_force) == 1


async def test_a_turn_whose_size_the_provider_refuses_takes_the_waiting_compression_for_its_rescue(
    studio: Studio,
) -> None:
    await studio.load(dialogue())
    studio.model.streams = [ContextOverflow("too large")]
    studio.model.gate.clear()
    chatting = asyncio.create_task(studio.chat("go on"))
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
        compressing = asyncio.create_task(studio.compress())
        await until_in(Job.wait, 2)
        studio.model.gate.set()
        result, compressed = await asyncio.gather(chatting, compressing)
    assert result.text == "Done. "
    assert result.compression == compressed


async def test_a_compression_that_fails_for_somebody_else_does_not_fail_the_turn_that_waited_for_it(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.load(dialogue())
    studio.model.answers = [Unauthenticated("no key")]
    chatting, compressing = await compressing_within_a_turn(studio, monkeypatch)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Unauthenticated):
            await compressing
        assert (await chatting).text == "Done. "
    assert not studio.heard.of(TurnFailed)


async def test_an_undo_behind_a_running_compression_takes_that_one_back(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    compressing = asyncio.create_task(studio.compress())
    async with asyncio.timeout(PATIENCE):
        await studio.model.called.wait()
        undoing = asyncio.create_task(undo(session, client="c"))
        await until_in(Job.wait, 2)
        studio.model.gate.set()
        compressed, undone = await asyncio.gather(compressing, undoing)
    assert undone.undone == (compressed.compression_id,)
    assert not session.history.in_force


async def test_an_automatic_run_that_does_not_try_again_says_so_and_leaves_the_status_with_what_went_wrong(
    studio: Studio,
) -> None:
    session = await studio.load(dialogue())
    studio.model.default_answer = SNAPSHOT.replace("none", " ".join(f"much {n}" for n in range(20_000)))
    studio.set(compression_token_cap=500)
    first = await studio.chat("go on")
    assert first.compression is not None
    assert first.compression.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    again = await studio.chat("and on")
    assert again.compression is not None
    assert again.compression.status == "NOOP"
    assert "by hand" in again.compression.message
    assert session.status(studio.client).last == first.compression
    assert session.status(studio.client).has_failed_compression_attempt


async def test_an_undo_gives_back_the_count_that_the_api_had_measured_and_the_meter_agrees(studio: Studio) -> None:
    session = await studio.load(dialogue())
    await studio.chat("count me")
    compressed = await studio.compress()
    assert compressed.token_count_source == "api"
    undone = await undo(session, client="c")
    assert (undone.original_token_count, undone.new_token_count) == (
        compressed.new_token_count,
        compressed.original_token_count,
    )
    assert undone.token_count_source == "api"
    assert session.status(studio.client).token_count == undone.new_token_count
