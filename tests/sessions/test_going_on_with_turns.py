"""Turns that are gone on with: once, after a second end of the daemon too, and whole in a fork and in the transcript."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput, ModelUnavailable, StorageFault
from gemini_companion.engine.history.log import ContentEntry, ModelChangeEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry
from gemini_companion.sessions.editor import ReportedFile
from gemini_companion.sessions.events import ModelChanged, PromptQueued
from gemini_companion.sessions.lane import Steered
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import PromptSteered
from gemini_companion.sessions.tools.listing import listed_tools
from gemini_companion.sessions.tools.steering import untaken
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.tools.registry import ToolRegistry
from tests.sessions.test_rounds_that_end_early import for_ever, killed_while, outputs, roles
from tests.support.patience import PATIENCE
from tests.support.sample_tools import AskingConsent, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


async def in_another_process(tmp_path: Path, session: Session, *tools: SampleTool) -> tuple[Studio, Session]:
    """What a process finds that opens the session as another one left it that was killed now."""
    after = Studio(tmp_path, tools=tools, tooling=allowing())
    after.clock.time = session.history.entries[-1].time + 1000
    await after.store.create(session.meta, list(session.history.entries))
    await after.app.open_session(after.client, session.session_id)
    return after, await after.app.hold(after.client, session.session_id)


def unfinished(session: Session) -> str | None:
    """The turn that a client is told can go on."""
    found = listed_tools(session, ()).unfinished
    return None if found is None else found.turn_id


async def test_a_call_that_was_asked_for_again_and_ran_when_the_daemon_was_killed_again_is_not_made_once_more(
    tmp_path: Path,
) -> None:
    studio = await killed_while(tmp_path, "command", AskingConsent())
    running = SampleTool("run", "command", for_ever)
    studio.services.tools = ToolRegistry([running])
    again = AskingConsent()
    again.answer.set()
    studio.app.tooling = allowing(again, can_ask=lambda _: True)
    session_id = (await studio.app.list_sessions()).sessions[0].session_id
    await studio.app.open_session(studio.client, session_id)
    await asyncio.wait_for(running.started.wait(), PATIENCE)
    session = await studio.app.hold(studio.client, session_id)

    run = SampleTool("run", "command")
    after, found = await in_another_process(tmp_path, session, run)
    assert "what it did is unknown" in outputs(found)[-1]["error"]
    assert (await after.app.resume(after.client)).text.strip() == "Done."
    assert run.called == []


async def test_a_turn_that_was_gone_on_with_when_the_daemon_was_killed_can_go_on_again(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tool_max_rounds=1)
    studio.client.editor.report([ReportedFile(path="/project/a.py", is_active=True)])
    studio.model.streams = [calls(("read_file", {}))]
    await studio.chat("Go.")
    studio.client.editor.report([ReportedFile(path="/project/b.py", is_active=True)])
    studio.model.gate.clear()
    studio.model.called.clear()
    resuming = asyncio.create_task(studio.app.resume(studio.client))
    await studio.model.called.wait()
    after, _ = await in_another_process(tmp_path, await studio.session())
    assert (await after.app.resume(after.client)).text.strip() == "Done."
    resuming.cancel()


async def test_a_prompt_that_is_taken_back_while_a_command_runs_does_not_hide_that_it_ran(tmp_path: Path) -> None:
    run = SampleTool("run", "command", for_ever)
    studio = Studio(tmp_path, tools=[run], tooling=allowing())
    studio.model.streams = [calls(("run", {}))]
    chat = asyncio.create_task(studio.chat("Go."))
    await run.started.wait()
    waiting = asyncio.create_task(studio.chat("Next."))
    await studio.heard.wait_for(PromptQueued)
    waiting.cancel()
    await asyncio.wait({waiting})
    _, found = await in_another_process(tmp_path, await studio.session(), SampleTool("run", "command"))
    assert roles(found) == ["prompt", "reply", "toolResult"]
    assert "what it did is unknown" in outputs(found)[-1]["error"]
    chat.cancel()


async def test_a_turn_is_gone_on_with_once_also_where_a_compression_holds_it_up(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tool_max_rounds=1)
    for _ in range(4):
        await studio.chat("word " * 2000)
    studio.model.streams = [calls(("read_file", {}))]
    await studio.chat("Go.")
    studio.model.gate.clear()
    studio.model.called.clear()
    compressing = asyncio.create_task(studio.compress())
    await studio.model.called.wait()
    resuming = asyncio.create_task(studio.app.resume(studio.client))
    await studio.heard.wait_for(PromptQueued)
    with pytest.raises(InvalidInput, match="or waits"):
        await studio.app.resume(studio.client)
    studio.model.gate.set()
    await asyncio.gather(compressing, resuming)
    assert roles(await studio.session())[-2:] == ["toolResult", "reply"]


async def test_a_fork_at_a_turn_that_was_gone_on_with_has_all_of_it(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tool_max_rounds=1)
    studio.model.streams = [calls(("read_file", {}))]
    result = await studio.chat("Go.")
    await studio.app.resume(studio.client)
    await studio.chat("And then?")
    session = await studio.session()
    info = await studio.app.fork(studio.client, session.session_id, result.turn_id)
    fork = await studio.app.hold(studio.client, info.session_id)
    assert roles(fork) == ["prompt", "reply", "toolResult", "reply"]


async def test_the_rounds_of_a_turn_that_goes_on_do_not_read_as_stopped(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tool_max_rounds=1)
    studio.model.streams = [calls(("read_file", {}))]
    await studio.chat("Go.")
    slow = SampleTool("slow", "read", for_ever)
    studio.set(tool_max_rounds=9)
    studio.services.tools = ToolRegistry([SampleTool("read_file", "read"), slow])
    studio.model.streams = [calls(("read_file", {})), calls(("slow", {}))]
    resuming = asyncio.create_task(studio.app.resume(studio.client))
    await slow.started.wait()
    page = await history_page(await studio.session(), "transcript", cursor=None, limit=None)
    assert [(item.kind, item.outcome) for item in page.contents] == [
        ("prompt", None),
        *[("reply", None), ("toolResult", None)] * 2,
    ]
    resuming.cancel()


@pytest.mark.parametrize("end", ["up_to", "since"])
async def test_calls_that_are_still_to_be_made_are_not_compressed_away_from_their_results(
    tmp_path: Path, end: str
) -> None:
    studio = await killed_while(tmp_path, "command", AskingConsent())
    studio.app.tooling = allowing()
    session_id = (await studio.app.list_sessions()).sessions[0].session_id
    await studio.app.open_session(studio.client, session_id)
    session = await studio.app.hold(studio.client, session_id)
    turn_id = session.history.newest_turn
    wish: dict[str, Any] = {end: turn_id}
    result = await studio.compress(**wish)
    assert "before its calls were made" in result.message
    await studio.app.resume(studio.client)
    assert outputs(session)[-1]["output"] == "run "
    assert "before its calls were made" not in (await studio.compress(up_to=turn_id)).message


async def test_no_empty_results_are_written_where_a_steering_prompt_could_not_be(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    studio.model.gate.clear()
    first = asyncio.create_task(studio.chat("Go."))
    await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("And this.", steer=True))
    await studio.heard.wait_for(PromptSteered)
    append, faults = studio.store.append, [StorageFault("full")]

    async def failing_once(session_id: str, entries: Any) -> None:
        if faults:
            raise faults.pop()
        await append(session_id, entries)

    studio.store.append = failing_once  # type: ignore[method-assign]
    studio.model.gate.set()
    for task in (first, second):
        with pytest.raises(StorageFault):
            await task
    session = await studio.session()
    assert all(entry.content.parts for entry in session.history.entries if isinstance(entry, ContentEntry))
    await studio.chat("Again.")
    assert roles(session) == ["prompt", "reply"]


async def test_an_answer_given_anew_that_ends_behind_a_round_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tool_max_rounds=1)
    first = await studio.chat("Go.")
    studio.model.streams = [calls(("read_file", {}))]
    stopped = await studio.chat("Go.", replaces=first.turn_id)
    assert stopped.stopped == "maxToolRounds"
    session = await studio.session()
    shown = {item.turn_id for item in session.history.curated() if item.kind in ("prompt", "reply", "toolResult")}
    assert shown == {stopped.turn_id}
    assert session.turns == 1
    assert (await studio.app.resume(studio.client)).text.strip() == "Done."
    assert session.turns == 1


@pytest.mark.parametrize("consent", [None, AskingConsent])
async def test_a_fork_while_a_call_is_open_has_a_result_for_it_and_does_not_make_it_again(
    tmp_path: Path, consent: type[AskingConsent] | None
) -> None:
    asking = consent() if consent else None
    run, read = SampleTool("run", "command", for_ever), SampleTool("read_file", "read")
    studio = Studio(tmp_path, tools=[run, read], tooling=allowing(asking, can_ask=lambda _: True))
    studio.model.streams = [calls(("read_file", {}), ("run", {"content": "x"}))]
    chat = asyncio.create_task(studio.chat("Go."))
    await (asking.waits if asking else run.started).wait()
    source = await studio.session()
    other, _ = studio.connect("other")
    info = await studio.app.fork(other, source.session_id, None)
    fork = await studio.app.hold(other, info.session_id)

    assert roles(fork) == ["prompt", "reply", "toolResult"]
    first, second = outputs(fork)
    assert "nothing was done" in first["error"]
    assert ("nothing was done" if consent else "went on in the other one") in second["error"]
    assert fork.tools_state.open_calls == {}
    await studio.app.open_session(other, info.session_id)
    assert fork.lane.is_idle, "the call belongs to the chat where it was asked for"
    studio.model.streams = ["Fine."]
    assert (await studio.chat("And now?", other)).text.strip() == "Fine."
    chat.cancel()


async def test_a_fork_of_a_chat_whose_daemon_ended_while_it_asked_does_not_ask_again(tmp_path: Path) -> None:
    studio = await killed_while(tmp_path, "command", AskingConsent())
    again = AskingConsent()
    session_id = (await studio.app.list_sessions()).sessions[0].session_id
    source = await studio.app.hold(studio.client, session_id)
    assert roles(source)[-1] == "reply"
    studio.app.tooling = allowing(again, can_ask=lambda _: True)
    info = await studio.app.fork(studio.client, session_id, None)
    await studio.app.open_session(studio.client, info.session_id)
    fork = await studio.app.hold(studio.client, info.session_id)
    assert roles(fork)[-1] == "toolResult"
    assert fork.lane.is_idle
    assert again.asked == []


async def test_a_prompt_that_nothing_came_of_does_not_leave_the_call_before_it_without_a_result_in_a_fork(
    tmp_path: Path,
) -> None:
    studio = await killed_while(tmp_path, "command", AskingConsent())
    session_id = (await studio.app.list_sessions()).sessions[0].session_id
    source = await studio.app.hold(studio.client, session_id)
    (lost,) = untaken(source, [Steered(({"text": "And this."},), studio.client, "s")])
    await source.append(*lost.drafts(source, "interrupted"))
    again = AskingConsent()
    studio.app.tooling = allowing(again, can_ask=lambda _: True)
    info = await studio.app.fork(studio.client, session_id, None)
    await studio.app.open_session(studio.client, info.session_id)
    fork = await studio.app.hold(studio.client, info.session_id)
    assert roles(fork)[-1] == "toolResult"
    assert fork.lane.is_idle
    assert again.asked == []


async def test_a_change_that_is_under_way_is_not_the_forks(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    await studio.chat("Go.")
    source = await studio.session()
    stamp = source.stamp()
    begun = partial(
        ChangeEntry, **stamp, turn_id="t", change_id="c", changes=(), is_done=False, by_command=True, stamps="ab"
    )
    await source.append(lambda seq: begun(seq=seq))
    info = await studio.app.fork(studio.client, source.session_id, None)
    fork = await studio.app.hold(studio.client, info.session_id)
    assert [entry.change_id for entry in source.tools_state.changes.open] == ["c"]
    assert fork.tools_state.changes.open == []


@pytest.mark.parametrize("asked", [None, "gemini-2.5-flash"])
async def test_a_turn_that_goes_on_has_the_model_that_it_was_begun_with_and_leaves_the_sessions_alone(
    tmp_path: Path, asked: str | None
) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tool_max_rounds=1)
    studio.model.streams = [calls(("read_file", {}))]
    begun = (await studio.chat("Go.", model=asked)).model
    assert begun == (asked or "gemini-2.5-pro")
    session = await studio.session()
    assert session.meta.model == (asked or ""), "it has answered once, so it is the session's"
    if asked:
        stamp = session.stamp()
        await session.append(lambda seq: ModelChangeEntry(**stamp, seq=seq, model="gemini-2.0-flash"))
    else:
        studio.set(model_name="gemini-2.0-flash")
    result = await studio.app.resume(studio.client)
    assert (result.model, studio.model.main()[-1].model) == (begun, begun)
    assert session.meta.model == ("gemini-2.0-flash" if asked else "")
    assert (await studio.chat("Next.")).model == "gemini-2.0-flash"


async def test_the_session_has_the_model_of_a_request_from_its_first_round_on_and_tells_it_once(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calls(("read_file", {})), ModelUnavailable("Gone.", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("Go.", model="gemini-2.5-flash")
    assert [event.to for event in studio.heard.of(ModelChanged)] == ["gemini-2.5-flash"]
    assert (await studio.session()).meta.model == "gemini-2.5-flash"


async def test_who_opens_a_chat_is_told_which_turn_can_go_on(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    gone = ModelUnavailable("Gone.", retryable=False)
    studio.model.streams = [calls(("read_file", {})), gone]
    with pytest.raises(ModelUnavailable):
        await studio.chat("Go.")
    session = await studio.session()
    turn_id = session.history.newest_turn
    assert unfinished(session) == turn_id
    after, found = await in_another_process(tmp_path, session)
    assert unfinished(found) == turn_id
    await after.app.resume(after.client)
    assert unfinished(found) is None
    after.model.streams = [gone]
    with pytest.raises(ModelUnavailable):
        await after.chat("More.")
    assert unfinished(found) is None, "nothing of it was kept"
