"""A compression that is prepared gives way: to whoever stops it, to a person's own, to a chat that is gone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled
from gemini_companion.engine.history.log import PreviewEntry
from gemini_companion.sessions.compression.background import wait_for_idle_time
from gemini_companion.sessions.compression_events import CompressionPrepared, CompressionStarted
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.surrounding_events import SettingsChanged
from tests.support.preparing_desk import begin, chat_at, hold_writes, prepared, preview_held, settled, state, within
from tests.support.scripted_hooks import context, hook, use
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser


async def test_stopping_a_request_that_took_over_what_was_prepared_begins_no_other(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    (running,) = session.compressions.previews()
    asked = begin(desk.compress())
    await desk.heard.wait_for(CompressionStarted)
    before = slow.asked
    slow.may_summarise.set()  # another one would be written at once
    assert (await desk.app.cancel(desk.client, None, compression_id=running.compression_id)).cancelled
    with pytest.raises(Cancelled):
        await asked
    assert (slow.asked, session.history.in_force) == (before, {})


async def test_a_hook_that_refuses_what_is_prepared_does_not_refuse_what_a_person_asks_for(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 0.85)
    runner = use(desk, hook("PreCompress"))
    runner.answers = {"c": {"decision": "deny", "reason": "not now"}}
    runner.gate.clear()
    slow.may_summarise.set()
    await desk.chat("go on")
    assert state(desk, session) == "preparing"
    asked = begin(desk.compress())
    await desk.heard.wait_for(CompressionStarted)
    runner.gate.set()
    result = await asked
    assert (result.status, result.trigger) == ("COMPRESSED", "manual")
    assert [told["trigger"] for told in runner.told if told["hook_event_name"] == "PreCompress"] == ["auto", "manual"]


async def test_a_hook_for_what_a_person_asks_for_runs_and_guides_though_a_compression_is_prepared(
    desk: Studio, slow: SlowSummariser
) -> None:
    await prepared(desk, slow)
    runner = use(desk, hook("PreCompress", matcher="manual"))
    runner.answers = {"c": context("Keep the ports.")}
    result = await desk.compress()
    assert (result.status, result.trigger) == ("COMPRESSED", "manual")
    assert [told["trigger"] for told in runner.told] == ["manual"]
    assert "Keep the ports." in str(desk.model.requests[-1].contents)


async def test_a_hook_for_automatic_compressions_lets_a_person_take_what_is_prepared(
    desk: Studio, slow: SlowSummariser
) -> None:
    await prepared(desk, slow)
    runner = use(desk, hook("PreCompress", matcher="auto"))
    before = slow.asked
    assert (await desk.compress()).status == "COMPRESSED"
    assert (slow.asked, runner.told) == (before, [])


async def chat_that_runs(desk: Studio) -> tuple[Session, asyncio.Task[Any]]:
    """One that is long enough to be prepared in idle time, and its turn, whose model waits at its gate."""
    session = await chat_at(desk, 0.75)
    desk.model.gate.clear()
    desk.model.called.clear()
    turn = begin(desk.chat("go on"))
    await within(desk.model.called)
    return session, turn


async def test_a_chat_that_is_deleted_while_its_turn_runs_is_sent_to_no_model_again(
    desk: Studio, slow: SlowSummariser
) -> None:
    session, turn = await chat_that_runs(desk)
    await desk.app.delete(session.session_id)
    with pytest.raises(Cancelled):
        await turn
    desk.model.gate.set()
    assert session.compressions.preparations.idle is None
    assert [request.role for request in desk.model.requests] == ["main"]


async def test_a_chat_that_is_left_while_its_turn_runs_is_not_prepared_in_idle_time(
    desk: Studio, slow: SlowSummariser
) -> None:
    session, turn = await chat_that_runs(desk)
    await desk.app.new_session(desk.client)
    desk.model.gate.set()
    await turn
    assert session.compressions.preparations.idle is None
    assert not session.compressions.previews()


async def test_a_chat_that_is_left_unnoticed_while_idle_time_is_waited_for_is_not_prepared(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 0.75)
    is_open = [True, False]
    wait_for_idle_time(session, lambda _: is_open.pop(0))
    waiting = session.compressions.preparations.idle
    assert waiting is not None
    await waiting
    assert not session.compressions.previews()


@pytest.mark.parametrize(
    "other",
    [
        {"compression_strategy": "userMessages"},
        {"compression_model": "gemini-2.5-flash"},
        {"model_name": "gemini-2.5-flash"},
        {"retention_floor": 0.9},
    ],
    ids=lambda other: next(iter(other)),
)
async def test_what_other_settings_voided_is_not_back_after_a_restart_nor_in_a_fork(
    opened: Any, other: dict[str, Any]
) -> None:
    first: Studio = opened()
    first.set(compression_background="auto")
    session = await chat_at(first, 0.85)
    await first.chat("go on")
    await first.heard.wait_for(CompressionPrepared)
    before = first.services.settings()
    first.set(**other)
    first.app.notify_all(SettingsChanged(keys=("companion.compression.model",)))
    assert state(first, session) == "idle"
    first.set(**{name: getattr(before, name) for name in other})
    assert state(first, session) == "prepared", "it counts again under the settings that it was made under"
    fork = await first.app.fork(first.client, session.session_id, None)
    assert state(first, await first.app.load(first.client, fork.session_id)) == "idle"
    await first.app.close()
    second: Studio = opened()
    second.set(compression_background="auto", **other)
    await second.app.open_session(second.client, session.session_id)
    assert state(second, await second.app.load(second.client, None)) == "idle"


async def test_what_was_begun_under_other_settings_does_not_count_under_those_in_which_it_ends(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    desk.set(local_model="/models/small.gguf")
    slow.may_summarise.set()
    await settled(session)
    assert state(desk, session) == "idle"
    desk.set(local_model=None)
    assert state(desk, session) == "prepared"


async def test_another_model_on_this_machine_ends_what_is_prepared(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    desk.app.notify_all(SettingsChanged(keys=("model.local",)))
    await settled(session)
    assert slow.given_up == 1


async def test_where_models_answer_one_request_at_a_time_a_turn_ends_what_idle_time_began(
    desk: Studio, slow: SlowSummariser
) -> None:
    desk.set(most_model_calls=1)
    session = await chat_at(desk, 0.85)
    turn = begin(desk.chat("go on"))
    while not desk.model.main():
        assert not session.compressions.previews()
        await asyncio.sleep(0)
    await turn
    await within(slow.summarising)  # in idle time
    (running,) = session.compressions.previews()
    assert (await desk.chat("a quick question")).text == "Done. "
    await running.job.settled()
    assert (running.state, session.compressions.preparations.failures) == ("cancelled", 0)


async def test_stopping_one_whose_entry_is_being_written_is_too_late_and_says_so(
    desk: Studio, slow: SlowSummariser, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await chat_at(desk, 0.85)
    reached, release = hold_writes(desk, monkeypatch, PreviewEntry)
    await desk.chat("go on")
    slow.may_summarise.set()
    await within(reached)
    (running,) = session.compressions.previews()
    told = await desk.app.cancel(desk.client, None, compression_id=running.compression_id)
    release.set()
    await desk.heard.wait_for(CompressionPrepared)
    assert not told.cancelled
    assert state(desk, session) == "prepared"


async def test_stopping_one_before_its_entry_is_written_leaves_none(desk: Studio, slow: SlowSummariser) -> None:
    session = await chat_at(desk, 0.85)
    await desk.chat("go on")
    await within(slow.summarising)
    (running,) = session.compressions.previews()
    assert (await desk.app.cancel(desk.client, None, compression_id=running.compression_id)).cancelled
    await settled(session)
    slow.may_summarise.set()
    assert not any(isinstance(entry, PreviewEntry) for entry in session.history.entries)
    assert state(desk, session) == "idle"


async def test_stopping_whatever_runs_does_not_say_that_it_stopped_a_preview_whose_entry_is_being_written(
    desk: Studio, slow: SlowSummariser, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, asked, release = await preview_held(desk, slow, monkeypatch, desk.compress(preview=True))
    told = await desk.app.cancel(desk.client, None)
    release.set()
    assert (await asked).status == "PREVIEW"
    assert not told.cancelled
    assert any(isinstance(entry, PreviewEntry) for entry in session.history.entries)


async def test_whoever_gives_up_a_preview_whose_entry_is_being_written_is_not_told_that_it_ended_without_one(
    desk: Studio, slow: SlowSummariser, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, asked, release = await preview_held(desk, slow, monkeypatch, desk.compress(preview=True))
    (running,) = session.compressions.previews()
    running.job.cancel("somebody")
    release.set()
    assert (await asked).status == "PREVIEW"
    assert running.state == "completed"


async def test_while_a_turn_is_answered_anew_none_is_prepared_and_what_is_ready_stays(
    desk: Studio, slow: SlowSummariser
) -> None:
    session = await prepared(desk, slow)
    ready = session.prepared.entry
    newest = await desk.chat("a later turn")
    for _ in range(2):
        newest = await desk.chat("said better", replaces=newest.turn_id)
        assert session.ready_compression() is ready is not None
    session.prepared.drop()
    slow.may_summarise.clear()
    gone = begin(desk.chat("said best", replaces=newest.turn_id))
    while not gone.done():
        assert not session.compressions.previews()
        await asyncio.sleep(0)
