"""Compressions that are prepared beside the chat: nobody waits for them, nothing is paid for twice, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import AttemptEntry, CompressionEntry, IdeContextEntry, PreviewEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import (
    ChatCompressed,
    CompressionCancelled,
    CompressionFailed,
    CompressionPrepared,
    CompressionProgress,
    CompressionStarted,
)
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.events import SettingsChanged
from gemini_companion.sessions.session import Session
from gemini_companion.settings.spending import BudgetSettings
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser

T = TypeVar("T")

BOTH_CALLS = 2
"""Summarising and verifying."""


@pytest.fixture
async def slow() -> SlowSummariser:
    return SlowSummariser()


@pytest.fixture
async def desk(tmp_path: Path, slow: SlowSummariser) -> Any:
    """Compressions are prepared here, by a model that waits until the test lets it."""
    studio = Studio(tmp_path, model=slow, compression_background="auto")
    yield studio
    await studio.app.close()


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    return asyncio.create_task(work)


async def within(event: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await event.wait()


async def chat_at(studio: Studio, share: float, **more: Any) -> Session:
    """A session whose next safe point is at this share of the trigger."""
    session = await studio.load(dialogue(10), **more)
    tokens = session.token_count(session.choice()).tokens
    studio.set(compression_token_cap=round(tokens / share))
    return session


async def prepared(studio: Studio, slow: SlowSummariser, share: float = 0.85) -> Session:
    """A session with a compression that was prepared during a turn, below the trigger."""
    session = await chat_at(studio, share)
    slow.may_summarise.set()
    await studio.chat("go on")
    await studio.heard.wait_for(CompressionPrepared)
    return session


def reach_trigger(studio: Studio, session: Session) -> None:
    """The next safe point is at the trigger."""
    studio.set(compression_token_cap=session.token_count(session.choice()).tokens)


async def settled(session: Session) -> None:
    """Wait until nothing is being prepared."""
    for compression in session.compressions.previews():
        await compression.job.settled()


def state(studio: Studio, session: Session) -> str:
    return session.status(studio.client).state


# --- preparing


async def test_from_the_soft_mark_on_one_is_prepared_while_the_answer_comes(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    answered = await desk.chat("go on")  # the model that writes snapshots has not answered
    await within(slow.summarising)
    assert (answered.text, answered.compression) == ("Done. ", None)
    assert state(desk, session) == "preparing"
    assert session.status(desk.client).phase == "summarising"
    slow.may_summarise.set()
    await desk.heard.wait_for(CompressionPrepared)
    report = session.status(desk.client)
    (told,) = desk.heard.of(CompressionPrepared)
    assert (report.state, report.compression_id) == ("prepared", told.compression_id)
    assert report.prepared_saves == told.tokens_before - told.tokens_after
    assert session.history.in_force == {}
    assert not desk.heard.of(CompressionStarted)
    assert desk.heard.reports[-1].state == "prepared"


@pytest.mark.parametrize(("share", "mode"), [(0.75, "auto"), (0.85, "idle")])
async def test_below_its_mark_nothing_is_prepared_in_a_turn(
    desk: Studio, slow: SlowSummariser, share: float, mode: str
) -> None:
    session = await chat_at(desk, share)
    desk.set(compression_background=mode)
    turn = begin(desk.chat("go on"))
    while desk.model.main() == []:
        assert not session.compressions.previews()
        await asyncio.sleep(0)
    assert not session.compressions.previews()
    await turn


@pytest.mark.parametrize("mode", ["auto", "idle"])
async def test_in_idle_time_one_is_prepared_before_the_soft_mark(desk: Studio, slow: SlowSummariser, mode: str) -> None:
    session = await chat_at(desk, 0.75)
    desk.set(compression_background=mode)
    await desk.chat("go on")
    await within(slow.summarising)
    assert state(desk, session) == "preparing"
    assert desk.clock.slept[-1] == 20


async def test_with_off_the_turn_waits_for_its_compression(desk: Studio, slow: SlowSummariser) -> None:
    await chat_at(desk, 1)
    desk.set(compression_background="off")
    turn = begin(desk.chat("go on"))
    await within(slow.summarising)
    assert desk.model.main() == []
    slow.may_summarise.set()
    answered = await turn
    assert answered.compression is not None
    assert answered.compression.trigger == "auto"


async def test_its_calls_count_under_their_own_purpose(desk: Studio, slow: SlowSummariser) -> None:
    session = await prepared(desk, slow)
    await desk.chat("go on")
    calls = [entry for entry in session.history.entries if isinstance(entry, ModelCallEntry)]
    assert [call.purpose for call in calls].count("preparing") == BOTH_CALLS
    assert "compression" not in {call.purpose for call in calls}


async def test_a_chat_over_its_budget_prepares_nothing(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("one")
    await within(slow.summarising)
    (running,) = session.compressions.previews()
    desk.set(budget=BudgetSettings(session_tokens=1))
    running.job.cancel("settings")
    await settled(session)
    before = slow.asked
    stopped = await desk.chat("two")
    assert stopped.stopped == "budget"
    assert (slow.asked, state(desk, session)) == (before, "idle")


# --- installing


async def test_what_is_prepared_is_installed_at_the_trigger_without_asking_a_model(
    desk: Studio, slow: SlowSummariser
) -> None:
    desk.client.editor.report([ReportedFile(path="/project/a.py", is_active=True)])
    session = await prepared(desk, slow)
    await desk.chat("said after it was prepared")
    reach_trigger(desk, session)
    slow.may_summarise.clear()
    asked, counted = slow.asked, session.token_count(session.choice())
    desk.model.counts = [ModelUnavailable("nobody counts", retryable=False)] * 9
    answered = await desk.chat("now")
    result = answered.compression
    assert result is not None
    assert (result.status, result.trigger, result.model_calls) == ("COMPRESSED", "background", BOTH_CALLS)
    assert result.original_token_count == counted.tokens
    assert slow.asked == asked
    (told,) = desk.heard.of(ChatCompressed)
    assert told.trigger == "background"
    (request,) = desk.model.main()[-1:]
    texts = str(request.contents)
    assert "Mend the parser." in texts
    assert "said after it was prepared" in texts
    assert "question 0" not in texts
    assert [entry.kind for entry in session.history.entries if isinstance(entry, IdeContextEntry)][-1] == "full"
    assert state(desk, session) == "idle"


async def test_one_undo_takes_it_back_and_drops_what_is_prepared(desk: Studio, slow: SlowSummariser) -> None:
    session = await prepared(desk, slow)
    before = session.history.contents()
    reach_trigger(desk, session)
    await desk.chat("now")
    undone = await undo(session, client="c")
    assert len(undone.undone or ()) == 1
    assert session.history.contents()[: len(before)] == before
    assert state(desk, session) == "idle"


async def test_what_is_said_while_one_is_prepared_counts_before_and_after_alike(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 1)
    await desk.chat("go on")
    await within(slow.summarising)
    for number in range(6):
        await desk.chat(f"{number} " + "word " * 600)  # more than the compression hides
    tokens = session.token_count(session.choice()).tokens
    slow.may_summarise.set()
    await desk.heard.wait_for(CompressionPrepared)
    (told,) = desk.heard.of(CompressionPrepared)
    assert abs(told.tokens_before - tokens) < tokens / 10
    assert told.tokens_after < told.tokens_before


async def test_the_prompt_goes_first_where_the_trigger_comes_unprepared(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 1)
    answered = await desk.chat("go on")
    assert (answered.text, answered.compression) == ("Done. ", None)
    await within(slow.summarising)
    slow.may_summarise.set()
    await desk.heard.wait_for(CompressionPrepared)
    again = await desk.chat("and now")
    assert again.compression is not None
    assert again.compression.trigger == "background"
    assert len(session.history.in_force) == 1


async def test_a_full_window_waits_for_what_is_being_prepared_and_says_so(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 1)
    await desk.chat("go on")
    await within(slow.summarising)
    desk.set(token_limit_override=session.token_count(session.choice()).tokens + 50)
    turn = begin(desk.chat("word " * 600))
    await desk.heard.wait_for(CompressionStarted)
    assert len(desk.model.main()) == 1
    (started,) = desk.heard.of(CompressionStarted)
    assert started.trigger == "auto"
    (progress,) = desk.heard.of(CompressionProgress)
    assert progress.phase == "summarising"
    assert progress.elapsed_ms >= 0
    assert state(desk, session) == "running"
    slow.may_summarise.set()
    answered = await turn
    assert answered.compression is not None
    assert answered.compression.status == "COMPRESSED"
    assert slow.asked == BOTH_CALLS
    assert answered.text == "Done. "


async def test_a_rule_that_is_set_since_stands_behind_it_and_one_taken_back_drops_it(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await prepared(desk, slow)
    await desk.chat("Never use tabs in this project.")
    assert session.history.standing
    assert state(desk, session) == "prepared"
    reach_trigger(desk, session)
    await desk.chat("now")
    assert "Never use tabs" in str(desk.model.main()[-1].contents)
    assert len(session.history.in_force) == 1


async def test_a_restarted_daemon_installs_what_an_earlier_one_prepared(opened: Any) -> None:
    first: Studio = opened()
    first.set(compression_background="auto")
    session = await chat_at(first, 0.85)
    await first.chat("go on")
    await first.heard.wait_for(CompressionPrepared)
    tokens = session.token_count(session.choice()).tokens
    await first.app.close()
    second: Studio = opened()
    second.set(compression_background="auto", compression_token_cap=round(tokens * 0.9))
    await second.app.open_session(second.client, session.session_id)
    assert (await second.app.load(second.client, None)).status(second.client).state == "prepared"
    answered = await second.chat("now")
    assert answered.compression is not None
    assert answered.compression.trigger == "background"
    assert not [request for request in second.model.requests if request.role == "utility_compressor"]


# --- joining and ending


async def test_a_request_to_compress_joins_it_and_tells_what_it_does(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    asked = begin(desk.compress())
    await desk.heard.wait_for(CompressionStarted)
    assert state(desk, session) == "running"
    slow.may_summarise.set()
    result = await asked
    assert (result.status, result.trigger) == ("COMPRESSED", "manual")
    assert slow.asked == BOTH_CALLS


async def test_a_preview_joins_it_and_belongs_to_the_person(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    asked = begin(desk.compress(preview=True))
    await desk.heard.wait_for(CompressionStarted)
    slow.may_summarise.set()
    shown = await asked
    assert (shown.status, shown.trigger) == ("PREVIEW", "manual")
    assert slow.asked == BOTH_CALLS
    assert session.history.preview is not None
    assert state(desk, session) == "idle"


async def test_a_request_to_compress_installs_what_is_prepared(desk: Studio, slow: SlowSummariser) -> None:
    await prepared(desk, slow)
    result = await desk.compress()
    assert (result.status, result.trigger) == ("COMPRESSED", "manual")
    assert slow.asked == BOTH_CALLS


async def test_a_preview_under_way_is_installed_later_and_not_prepared_a_second_time(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 1)
    preview = begin(desk.compress(preview=True))
    await within(slow.summarising)
    answered = await desk.chat("go on")
    assert answered.compression is None
    slow.may_summarise.set()
    shown = await preview
    again = await desk.chat("and now")
    assert again.compression is not None
    assert again.compression.compression_id == shown.compression_id
    assert slow.asked == BOTH_CALLS
    assert list(session.history.in_force) == [shown.compression_id]


async def end_by_undo(desk: Studio, session: Session) -> None:
    await undo(session, client="c")


async def end_by_wish(desk: Studio, session: Session) -> None:
    (running,) = session.compressions.previews()
    asked = begin(desk.compress(instructions="keep the names"))
    await running.job.settled()
    assert isinstance(desk.model, SlowSummariser)
    desk.model.may_summarise.set()
    assert (await asked).status == "COMPRESSED"


async def end_by_settings(desk: Studio, session: Session) -> None:
    desk.app.notify_all(SettingsChanged(keys=("companion.compression.strategy",)))


async def end_by_leaving(desk: Studio, session: Session) -> None:
    await desk.app.new_session(desk.client)


async def end_by_deleting(desk: Studio, session: Session) -> None:
    await desk.app.delete(session.session_id)


@pytest.mark.parametrize("how", [end_by_undo, end_by_wish, end_by_settings, end_by_leaving, end_by_deleting])
async def test_it_ends_without_a_word(desk: Studio, slow: SlowSummariser, how: Any) -> None:
    session = await chat_at(desk, 0.85)
    if how is end_by_undo:
        slow.may_summarise.set()
        await desk.compress()
        slow.may_summarise.clear()
        slow.summarising.clear()
        tokens = session.token_count(session.choice()).tokens
        desk.set(compression_token_cap=round(tokens / 0.85))
        desk.heard.events.clear()
    await desk.chat("go on")
    await within(slow.summarising)
    running = session.compressions.previews()
    assert running
    await how(desk, session)
    await running[0].job.settled()
    assert slow.given_up >= 1
    assert not desk.heard.of(CompressionCancelled)
    assert not desk.heard.of(CompressionFailed)
    assert session.compressions.preparations.failures == 0


async def test_stopping_whatever_runs_does_not_end_it_but_naming_it_does(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    assert not (await desk.app.cancel(desk.client, None)).cancelled
    assert state(desk, session) == "preparing"
    named = session.status(desk.client).compression_id
    assert isinstance(named, str)
    assert (await desk.app.cancel(desk.client, None, compression_id=named)).cancelled
    await settled(session)
    assert state(desk, session) == "idle"
    await desk.chat("go on")  # a person ended it: not again at once
    assert state(desk, session) == "idle"


# --- failing


async def test_a_failure_says_nothing_sets_no_flag_and_is_not_tried_again_at_once(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 0.85)
    slow.may_summarise.set()
    slow.answers = [ModelUnavailable("down", retryable=False)] * 20
    await desk.chat("go on")
    await settled(session)
    asked = slow.asked
    assert asked > 0
    await desk.chat("and on")
    await settled(session)
    assert slow.asked == asked
    assert not session.breaker.has_failed(0)
    assert not [entry for entry in session.history.entries if isinstance(entry, AttemptEntry | PreviewEntry)]
    assert not desk.heard.of(CompressionFailed)
    assert session.last_result is None


async def test_a_failing_summariser_costs_few_calls_and_no_answer(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.9)
    slow.may_summarise.set()
    slow.default_answer = ModelUnavailable("down", retryable=False)
    for number in range(30):
        assert (await desk.chat(f"{number} " + "word " * 100)).text == "Done. "
        await settled(session)
    trigger = session.mark(session.choice()).tokens
    assert trigger is not None
    tokens = session.token_count(session.choice()).tokens
    assert slow.asked <= 1 + tokens / (0.1 * trigger)
    assert not [entry for entry in session.history.entries if isinstance(entry, CompressionEntry)]


async def test_one_that_is_made_anew_takes_the_place_of_the_older_only_when_it_is_ready(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await prepared(desk, slow, 0.81)
    first = session.prepared.entry
    slow.may_summarise.clear()
    slow.summarising.clear()
    desk.set(compression_token_cap=10 * session.token_count(session.choice()).tokens)
    for number in range(12):
        await desk.chat(f"{number} " + "word " * 200)
    tokens = session.token_count(session.choice()).tokens
    desk.set(compression_token_cap=round(tokens / 0.9))
    await desk.chat("on")
    await within(slow.summarising)
    assert session.prepared.entry is first
    assert state(desk, session) == "prepared"
    slow.may_summarise.set()
    await settled(session)
    assert session.prepared.entry is not None
    assert session.prepared.entry is not first
