"""Requests to compress that meet another one under way: nothing is paid for twice, nothing ends stale for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled, ModelUnavailable
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression_events import ChatCompressed
from gemini_companion.sessions.events import TurnStarted
from gemini_companion.sessions.lane import Job
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE, until, until_in
from tests.support.preparing_desk import begin, hold_writes, within
from tests.support.scripted_model import chunks
from tests.support.sessions import Studio

ONE_COMPRESSION = ["utility_compressor", "utility_compressor"]
"""Summarising and verifying."""


async def until_waiting(count: int) -> None:
    """Until so many wait for a job: those who asked for one, and a turn that waits for a compression."""
    await until_in(Job.wait, count)


async def held_preview(studio: Studio, **more: Any) -> asyncio.Task[Any]:
    """A preview whose model call does not return until the gate is opened."""
    studio.model.gate.clear()
    studio.model.called.clear()
    preview = begin(studio.compress(preview=True, **more))
    await asyncio.wait_for(studio.model.called.wait(), PATIENCE)
    return preview


def compressor_calls(studio: Studio) -> list[str]:
    return [kind for kind in studio.model.kinds() if kind == "utility_compressor"]


@pytest.mark.parametrize("wish", ["", "keep the names"])
async def test_a_turn_that_is_due_installs_the_preview_under_way(studio: Studio, wish: str) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    preview = await held_preview(studio, instructions=wish)
    turn = begin(studio.chat("go on"))
    await studio.heard.wait_for(TurnStarted)
    await until_waiting(3)
    studio.model.gate.set()
    shown, answered = await preview, await turn
    assert shown.status == "PREVIEW"
    assert answered.compression is not None
    assert (answered.compression.status, answered.compression.trigger) == ("COMPRESSED", "auto")
    assert answered.compression.compression_id == shown.compression_id
    assert list(session.history.in_force) == [shown.compression_id]
    assert compressor_calls(studio) == ONE_COMPRESSION
    assert len(studio.heard.of(ChatCompressed)) == 1
    assert session.status(studio.client).state == "idle"


async def test_a_turn_that_is_not_due_leaves_the_preview_alone(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await held_preview(studio)
    turn = begin(studio.chat("go on"))
    await until(lambda: bool(studio.model.main()))
    studio.model.gate.set()
    shown = await preview
    await turn
    assert session.history.in_force == {}
    applied = await apply_preview(session, client="c", compression_id=shown.compression_id)
    assert applied.status == "COMPRESSED"


async def test_a_turn_whose_preview_fails_compresses_by_itself(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    studio.model.answers = [ModelUnavailable("down", retryable=False)]
    preview = await held_preview(studio)
    turn = begin(studio.chat("go on"))
    await until_waiting(3)
    studio.model.gate.set()
    with pytest.raises(ModelUnavailable):
        await preview
    answered = await turn
    assert answered.compression is not None
    assert answered.compression.status == "COMPRESSED"
    assert len(session.history.in_force) == 1


async def test_a_turn_whose_preview_gives_nothing_of_use_compresses_by_itself(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    studio.model.answers = ["<state_snapshot>a</state_snapshot>"] * 3
    preview = await held_preview(studio)
    turn = begin(studio.chat("go on"))
    await until_waiting(3)
    studio.model.gate.set()
    assert (await preview).status == "COMPRESSION_FAILED_EMPTY_SUMMARY"
    answered = await turn
    assert answered.compression is not None
    assert (answered.compression.status, answered.compression.trigger) == ("COMPRESSED", "auto")
    assert len(session.history.in_force) == 1


async def test_a_turn_goes_on_when_the_preview_that_it_waits_for_is_cancelled(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    preview = await held_preview(studio)
    turn = begin(studio.chat("go on"))
    await until_waiting(3)
    (running,) = session.compressions.previews()
    running.job.cancel("editor")
    studio.model.gate.set()
    with pytest.raises(Cancelled):
        await preview
    assert (await turn).text == "Done. "


async def test_a_turn_that_is_cancelled_while_it_waits_leaves_the_preview_running(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.set(compression_token_cap=500)
    preview = await held_preview(studio)
    turn = begin(studio.chat("go on"))
    await studio.heard.wait_for(TurnStarted)
    await until_waiting(3)
    session.lane.cancel("editor")
    with pytest.raises(Cancelled):
        await turn
    studio.model.gate.set()
    shown = await preview
    assert (await apply_preview(session, client="c", compression_id=shown.compression_id)).status == "COMPRESSED"


async def test_compressing_while_a_preview_runs_installs_it(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await held_preview(studio)
    requests = [begin(studio.compress()) for _ in range(2)]
    await until_waiting(3)
    studio.model.gate.set()
    shown = await preview
    for result in await asyncio.gather(*requests):
        assert (result.status, result.trigger, result.compression_id) == ("COMPRESSED", "manual", shown.compression_id)
        assert result.model_calls == 0, "whoever asked for the preview was told of them"
    assert list(session.history.in_force) == [shown.compression_id]
    assert compressor_calls(studio) == ONE_COMPRESSION


async def test_compressing_with_another_wish_than_the_previews_runs_by_itself(studio: Studio) -> None:
    session = await studio.load(dialogue())
    preview = await held_preview(studio, instructions="keep the names")
    compressing = begin(studio.compress(instructions="keep the numbers"))
    await until_waiting(2)
    studio.model.gate.set()
    shown, compressed = await asyncio.gather(preview, compressing)
    assert compressed.compression_id != shown.compression_id
    assert list(session.history.in_force) == [compressed.compression_id]


async def test_a_second_preview_with_the_same_wish_joins_the_first(studio: Studio) -> None:
    session = await studio.load(dialogue())
    first = await held_preview(studio, instructions="keep the names")
    second = begin(studio.compress(preview=True, instructions="keep the names"))
    other = begin(studio.compress(preview=True))
    await until_waiting(3)
    assert len(session.compressions.previews()) == 2
    studio.model.gate.set()
    assert (await first).compression_id == (await second).compression_id != (await other).compression_id


async def test_a_preview_during_a_compression_shows_what_is_left_to_gain(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    compressing = begin(studio.compress())
    await asyncio.wait_for(studio.model.called.wait(), PATIENCE)
    preview = begin(studio.compress(preview=True))
    await until_waiting(2)
    await until_in(Job.settled)
    studio.model.gate.set()
    compressed, shown = await compressing, await preview
    assert compressed.status == "COMPRESSED"
    if shown.status == "PREVIEW":
        applied = await apply_preview(session, client="c", compression_id=shown.compression_id or "")
        assert applied.status == "COMPRESSED"
    assert session.status(studio.client).state == "idle"


async def test_compressing_while_a_preview_is_applied_waits_for_that(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await studio.load(dialogue())
    shown = await studio.compress(preview=True)
    assert shown.compression_id is not None
    reached, release = hold_writes(studio, monkeypatch, CompressionEntry)
    applying = begin(apply_preview(session, client="c", compression_id=shown.compression_id))
    await within(reached)
    compressing = begin(studio.compress())
    await until_waiting(2)
    release.set()
    assert (await applying).compression_id == (await compressing).compression_id == shown.compression_id
    assert compressor_calls(studio) == ONE_COMPRESSION


async def test_an_answer_given_anew_does_not_install_a_preview_that_hides_the_old_one(studio: Studio) -> None:
    session = await studio.load(dialogue())
    first = await studio.chat("one")
    studio.set(compression_token_cap=500)
    preview = await held_preview(studio)
    again = begin(studio.chat("one", replaces=first.turn_id))
    await until_waiting(3)
    studio.model.gate.set()
    await asyncio.gather(preview, again)
    assert [item for item in session.history.contents() if "one" in str(item.parts)]
    assert session.history.contents()[-1].role == "model"


async def guided(studio: Studio, *wishes: str, given_up: int | None = None) -> str:
    """What a compression that waited for an answer was told, of which these were asked for meanwhile."""
    session = await studio.load(dialogue())
    answer = asyncio.Event()
    studio.model.streams = [[answer, *chunks(["Done."])]]
    turn = begin(studio.chat("go on"))
    await until(lambda: bool(studio.model.main()))
    asked = [begin(studio.compress(instructions=wish)) for wish in wishes]
    await until_waiting(len(wishes) + 1)
    if given_up is not None:
        asked.pop(given_up).cancel()
        await until_waiting(len(wishes))
    waiting = session.compressions.installing
    assert waiting is not None
    told = waiting.guidance.text
    answer.set()
    results = [await one for one in asked]
    await turn
    assert {(result.status, result.compression_id) for result in results} == {("COMPRESSED", waiting.compression_id)}
    assert compressor_calls(studio) == ONE_COMPRESSION
    request = next(one for one in studio.model.requests if one.role == "utility_compressor")
    assert told in str(request.contents[-1].parts[-1]["text"])
    return told


async def test_one_that_waits_for_an_answer_heeds_the_guidance_of_all_who_ask(studio: Studio) -> None:
    told = await guided(studio, "", "keep the ports", "keep the names", "keep the ports", "")
    assert told == "keep the ports\nkeep the names"


async def test_guidance_of_somebody_who_gave_up_is_not_heeded(studio: Studio) -> None:
    assert await guided(studio, "", "drop the ports", "keep the names", given_up=1) == "keep the names"


async def test_guidance_of_all_together_is_no_longer_than_one_may_be(studio: Studio) -> None:
    long = [f"{name} " * 15_000 for name in ("first", "other", "third")]
    assert await guided(studio, *long, "and this") == f"{long[0]}\nand this"


async def test_one_that_names_turns_heeds_nothing_that_was_asked_for_the_whole_chat(studio: Studio) -> None:
    session = await studio.load(dialogue())
    studio.model.gate.clear()
    turn = begin(studio.chat("go on"))
    await until(lambda: bool(studio.model.main()))
    up_to = session.history.items[3].turn_id
    asked = [begin(studio.compress(up_to=up_to)), begin(studio.compress(instructions="keep the ports"))]
    await until_waiting(3)
    waiting = session.compressions.installing
    assert waiting is not None
    assert waiting.guidance.text == ""
    studio.model.gate.set()
    assert await asked[0] == await asked[1]
    await turn


async def test_one_that_runs_already_stays_as_it_was_asked_for(studio: Studio) -> None:
    await studio.load(dialogue())
    studio.model.gate.clear()
    first = begin(studio.compress())
    await asyncio.wait_for(studio.model.called.wait(), PATIENCE)
    second = begin(studio.compress(instructions="keep the ports"))
    await until_waiting(2)
    studio.model.gate.set()
    assert await first == await second
    assert "keep the ports" not in str([one.contents for one in studio.model.requests])
