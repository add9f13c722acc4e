"""Compressions that are prepared beside the chat: when, and how they are installed; nobody waits for them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.log import IdeContextEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.compression_events import (
    ChatCompressed,
    CompressionPrepared,
    CompressionProgress,
    CompressionStarted,
)
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.settings.spending import BudgetSettings
from tests.support.patience import PATIENCE
from tests.support.preparing_desk import BOTH_CALLS, begin, chat_at, prepared, reach_trigger, settled, state, within
from tests.support.sessions import Studio
from tests.support.slow_summariser import SlowSummariser

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


@pytest.mark.parametrize("is_held", [True, False], ids=["held", "held by another process"])
async def test_idle_time_counts_from_when_a_chat_was_opened(opened: Any, is_held: bool) -> None:
    first: Studio = opened()
    session = await chat_at(first, 0.75)
    await first.chat("go on")
    cap = first.settings.compression_token_cap
    if is_held:
        await first.app.close()
    second: Studio = opened()
    second.set(compression_background="auto", compression_token_cap=cap)
    await second.app.open_session(second.client, session.session_id)
    if is_held:
        await second.heard.wait_for(CompressionPrepared)
        assert second.clock.slept[0] == 20
    else:
        read = await second.app.load(second.client, None)
        assert read.compressions.preparations.idle is None


async def test_a_chat_that_is_left_before_its_time_is_idle_is_not_prepared(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: Studio = opened()
    session = await chat_at(first, 0.75)
    await first.chat("go on")
    await first.app.close()
    second: Studio = opened()
    second.set(compression_background="auto", compression_token_cap=first.settings.compression_token_cap)
    monkeypatch.setattr(second.clock, "sleep", lambda _: asyncio.Event().wait())
    await second.app.open_session(second.client, session.session_id)
    opened_again = await second.session()
    idle = opened_again.compressions.preparations.idle
    assert idle is not None
    await second.app.new_session(second.client)
    async with asyncio.timeout(PATIENCE):
        await asyncio.wait({idle})
    assert idle.cancelled()
    assert not opened_again.compressions.previews()


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
    assert session.history.is_hidden(session.history.sources[0].turn_id)
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
    assert (answered.compression.status, answered.compression.model_calls) == ("COMPRESSED", BOTH_CALLS)
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
