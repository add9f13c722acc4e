"""What a compression that is prepared meets: who joins it, what ends it, and what a failure leaves."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gemini_companion.engine.compression.breaker import FAILURES_IN_A_ROW
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import AttemptEntry, CompressionEntry, PreviewEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.compression.background import at_safe_point
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import (
    CompressionCancelled,
    CompressionFailed,
    CompressionStarted,
)
from gemini_companion.sessions.events import WaitingForSlot
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.surrounding_events import SettingsChanged
from tests.support.patience import until, until_in
from tests.support.preparing_desk import (
    BOTH_CALLS,
    begin,
    chat_at,
    prepared,
    preview_held,
    reach_trigger,
    settled,
    state,
    within,
)
from tests.support.scripted_model import SNAPSHOT, chunks, snapshot_with
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser

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
    assert (result.status, result.trigger, result.model_calls) == ("COMPRESSED", "manual", BOTH_CALLS)
    assert slow.asked == BOTH_CALLS


async def test_one_that_waits_for_its_slot_goes_first_once_it_is_joined_and_says_that_it_waits(
    desk: Studio, slow: SlowSummariser
) -> None:
    desk.set(most_model_calls=2)
    fair = desk.services.slots.model_calls.fair
    fair.set_limit(2)
    elsewhere = fair.ask("another chat", "later")  # has the only slot for what nobody waits for
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await until(lambda: fair.waiting >= 1 and session.status(desk.client).phase == "summarising")
    answer = fair.ask("one more chat", "first")
    slow.may_summarise.set()
    asked = begin(desk.compress())
    await desk.heard.wait_for(WaitingForSlot)
    fair.end(answer)
    assert (await asked).status == "COMPRESSED"
    assert elsewhere.is_held, "nobody gave that one back"
    assert [event.is_over for event in desk.heard.of(WaitingForSlot)] == [False, True]
    calls = [entry.purpose for entry in session.history.entries if isinstance(entry, ModelCallEntry)]
    assert calls.count("compression") == BOTH_CALLS
    fair.end(elsewhere)


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


async def test_one_that_a_preview_joins_while_it_is_being_written_belongs_to_the_person_too(
    desk: Studio, slow: SlowSummariser, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, turn, release = await preview_held(desk, slow, monkeypatch, desk.chat("go on"))
    asked = begin(desk.compress(preview=True))
    await desk.heard.wait_for(CompressionStarted)
    release.set()
    shown = await asked
    await turn
    assert (shown.status, shown.trigger) == ("PREVIEW", "manual")
    assert session.history.preview is not None
    assert state(desk, session) == "idle", "nothing is ready for the next turn"
    reach_trigger(desk, session)
    await desk.chat("go on")
    assert session.history.in_force == {}


async def test_a_request_to_compress_installs_what_is_prepared(desk: Studio, slow: SlowSummariser) -> None:
    await prepared(desk, slow)
    result = await desk.compress()
    assert (result.status, result.trigger, result.model_calls) == ("COMPRESSED", "manual", BOTH_CALLS)
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


async def test_one_that_grows_where_it_was_due_sets_the_flag_and_turns_go_on_with_the_cuts(
    desk: Studio, slow: SlowSummariser
) -> None:
    desk.set(compression_gate=False)
    session = await chat_at(desk, 1)
    slow.may_summarise.set()
    slow.default_answer = snapshot_with(" ".join(f"goal {number}" for number in range(30_000)))
    await desk.chat("go on")
    await settled(session)
    (attempt,) = [entry for entry in session.history.entries if isinstance(entry, AttemptEntry)]
    assert attempt.result.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    assert (attempt.result.trigger, attempt.forced) == ("auto", False)
    assert session.breaker.has_failed(session.token_count(session.choice()).tokens)
    asked = slow.asked
    for _ in range(5):
        await desk.chat("and on")
        await settled(session)
    assert slow.asked == asked


async def test_faults_where_it_was_due_set_the_flag_after_several(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 1)
    slow.may_summarise.set()
    slow.default_answer = ModelUnavailable("down", retryable=False)
    for number in range(40):
        await desk.chat(f"{number} " + "word " * 100)
        await settled(session)
        if session.breaker.has_failed(session.token_count(session.choice()).tokens):
            break
    attempts = [entry for entry in session.history.entries if isinstance(entry, AttemptEntry)]
    assert len(attempts) == FAILURES_IN_A_ROW
    assert {entry.fault for entry in attempts} == {"ModelUnavailable"}


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


@pytest.mark.parametrize("answer", [ModelUnavailable("down", retryable=False), "no snapshot"])
async def test_a_full_window_that_joins_one_which_fails_asks_no_model_again(
    desk: Studio, slow: SlowSummariser, answer: Any
) -> None:
    session = await chat_at(desk, 1)
    slow.default_answer = answer
    await desk.chat("go on")
    await within(slow.summarising)
    desk.set(token_limit_override=session.token_count(session.choice()).tokens + 50)
    turn = begin(desk.chat("word " * 600))
    await desk.heard.wait_for(CompressionStarted)
    (joined,) = session.compressions.previews()
    slow.may_summarise.set()
    answered = await turn
    assert answered.stopped == "contextWindowWillOverflow"
    (failed,) = desk.heard.of(CompressionFailed)
    assert failed.compression_id == joined.compression_id
    assert slow.asked == (1 if isinstance(answer, ModelUnavailable) else 3)  # summarising, verifying, repairing
    (attempt,) = [entry for entry in session.history.entries if isinstance(entry, AttemptEntry)]
    assert (attempt.result, attempt.forced, attempt.result.trigger) == (answered.compression, False, "auto")


async def test_every_request_to_compress_that_joins_one_which_fails_has_its_failure(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    slow.default_answer = ModelUnavailable("down", retryable=False)
    asked = [begin(desk.compress()) for _ in range(2)]
    await until_in(Job.wait, 2)
    slow.may_summarise.set()
    for one in asked:
        with pytest.raises(ModelUnavailable):
            await one
    assert slow.asked == len(desk.heard.of(CompressionFailed)) == 1
    attempts = [entry for entry in session.history.entries if isinstance(entry, AttemptEntry)]
    assert [(entry.forced, entry.result.trigger) for entry in attempts] == [(True, "manual")] * 2


@pytest.mark.parametrize("is_more_said", [False, True])
async def test_a_request_that_joins_one_which_gets_no_smaller_tries_again_only_where_more_was_said_since(
    desk: Studio, slow: SlowSummariser, is_more_said: bool
) -> None:
    session = await chat_at(desk, 0.85)
    assert await at_safe_point(session, session.choice()) is None
    await within(slow.summarising)
    slow.default_answer = SNAPSHOT.replace("none", " ".join(f"long {number}" for number in range(9_000)))
    asked = begin(desk.compress())
    await desk.heard.wait_for(CompressionStarted)
    if is_more_said:
        slow.streams.append(chunks("Done."))
        await desk.chat("go on")
    slow.may_summarise.set()
    assert (await asked).status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
    assert slow.asked == (2 * BOTH_CALLS if is_more_said else BOTH_CALLS)
    attempts = [entry for entry in session.history.entries if isinstance(entry, AttemptEntry)]
    assert [(entry.forced, entry.result.trigger) for entry in attempts][-1] == (True, "manual")


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
    assert first is not None
    assert session.prepared.entry is first
    report = session.status(desk.client)
    assert (report.state, report.compression_id) == ("prepared", first.compression_id)
    assert (report.phase, report.elapsed_ms) == (msgspec.UNSET, msgspec.UNSET)  # those of the new one are not its own
    slow.may_summarise.set()
    await settled(session)
    assert session.prepared.entry is not None
    assert session.prepared.entry is not first
    asked = slow.asked
    desk.set(compression_token_cap=10 * tokens)
    for number in range(12):
        await desk.chat(f"{number} " + "word " * 400)
    desk.set(compression_token_cap=round(session.token_count(session.choice()).tokens / 0.9))
    await desk.chat("on")
    await settled(session)
    assert slow.asked == asked  # it is made anew once
