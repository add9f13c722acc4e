"""What stays of a turn with tools that is cancelled, that fails, or that uses up its rounds; and going on with it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled, InvalidInput, ModelUnavailable
from gemini_companion.engine.history.log import ReplyEntry, ToolResultEntry, TurnEndEntry
from gemini_companion.sessions.events import TurnCancelled
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import MaxToolRoundsReached, ToolCallCompleted, ToolCallStarted
from gemini_companion.sessions.tools.listing import listed_tools
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.tools.tool import ToolContext, ToolOutput, ToolRefusal
from tests.support.patience import PATIENCE
from tests.support.sample_tools import AskingConsent, SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel, calls
from tests.support.sessions import Studio


async def for_ever(args: SampleArgs, context: ToolContext) -> ToolOutput:
    await asyncio.Event().wait()
    return ToolOutput()


async def refusing(args: SampleArgs, context: ToolContext) -> ToolOutput:
    raise ToolRefusal("No such file.")


def roles(session: Session) -> list[str]:
    return [item.kind for item in session.history.curated()]


def outputs(session: Session) -> list[dict[str, Any]]:
    """The responses of all results in the view."""
    return [
        part["functionResponse"]["response"]
        for item in session.history.curated()
        for part in item.content.parts
        if "functionResponse" in part
    ]


def last_end(session: Session) -> TurnEndEntry:
    return next(entry for entry in reversed(session.history.entries) if isinstance(entry, TurnEndEntry))


async def test_a_cancelled_turn_keeps_its_finished_rounds_and_says_of_open_calls_that_they_were_interrupted(
    tmp_path: Path,
) -> None:
    tools = [SampleTool("read_file", "read"), SampleTool("run", "command", for_ever), SampleTool("later", "command")]
    studio = Studio(tmp_path, tools=tools, tooling=allowing())
    studio.model.streams = [
        calls(("read_file", {})),
        calls(("read_file", {"file_path": "b"}), ("run", {}), ("later", {})),
    ]
    chat = asyncio.create_task(studio.chat("Go."))
    await tools[1].started.wait()
    session = await studio.session()
    assert (await studio.app.cancel(studio.client, None)).cancelled
    with pytest.raises(Cancelled):
        await chat

    assert roles(session) == ["prompt", "reply", "toolResult", "reply", "toolResult"]
    first, second, third, fourth = outputs(session)
    assert (first["output"], second["output"]) == ("read_file ", "read_file b")
    assert "Interrupted by the user" in third["error"]
    assert "nothing was done" in fourth["error"]
    assert tools[2].called == []
    written = [entry for entry in session.history.entries if isinstance(entry, ToolResultEntry)]
    assert [record.outcome for record in written[1].calls] == ["ok", "interrupted", "interrupted"]
    assert last_end(session).kept_to == written[1].seq
    started = {event.tool_call_id for event in studio.heard.of(ToolCallStarted)}
    assert {event.tool_call_id for event in studio.heard.of(ToolCallCompleted)} == started
    assert len(studio.heard.of(TurnCancelled)) == 1
    assert session.lane.is_idle


async def test_a_tool_that_does_not_let_itself_be_stopped_holds_nothing_up(tmp_path: Path) -> None:
    free = asyncio.Event()

    async def stubborn(args: SampleArgs, context: ToolContext) -> ToolOutput:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue
        return ToolOutput(output="late")

    tool = SampleTool("run", "command", stubborn)
    studio = Studio(tmp_path, tools=[tool], tooling=allowing())
    studio.model.streams = [calls(("run", {}))]
    chat = asyncio.create_task(studio.chat("Go."))
    await tool.started.wait()
    await asyncio.create_task(studio.app.cancel(studio.client, None))
    with pytest.raises(Cancelled):
        await asyncio.wait_for(chat, PATIENCE)
    session = await asyncio.create_task(studio.session())
    assert "Interrupted by the user" in outputs(session)[0]["error"]
    free.set()
    async with asyncio.timeout(PATIENCE):
        while tool.running:
            await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):  # it can be let go: nothing of the late call waits to be written
        while session.is_in_use:
            await asyncio.sleep(0)
    studio.model.streams = ["Fine."]
    await studio.chat("And now?")
    assert len(outputs(session)) == 1
    assert len(studio.heard.of(ToolCallCompleted)) == 1
    assert session.tools_state.open_calls == {}


async def test_a_turn_that_is_cancelled_before_its_first_call_leaves_the_view_as_it_was(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.gate.clear()
    chat = asyncio.create_task(studio.chat("Go."))
    await studio.model.called.wait()
    await studio.app.cancel(studio.client, None)
    with pytest.raises(Cancelled):
        await chat
    assert roles(await studio.session()) == []


async def test_an_answer_that_breaks_off_after_finished_rounds_leaves_them_and_the_turn_can_be_resumed(
    tmp_path: Path,
) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calls(("read_file", {})), ModelUnavailable("Gone.", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("Go.")
    session = await studio.session()
    assert roles(session) == ["prompt", "reply", "toolResult"]
    assert last_end(session).outcome == "failed"
    unfinished = listed_tools(session, ()).unfinished
    assert unfinished is not None
    assert (unfinished.turn_id, unfinished.outcome) == (last_end(session).turn_id, "failed")
    assert unfinished.reason == "Gone."

    studio.model.streams = ["There."]
    result = await studio.app.resume(studio.client)
    assert listed_tools(session, ()).unfinished is None

    assert result.text.strip() == "There."
    assert roles(session) == ["prompt", "reply", "toolResult", "reply"]
    assert last_end(session).outcome == "completed"
    assert session.turns == 1
    assert {item.turn_id for item in session.history.items} == {result.turn_id}


async def test_a_resumed_turn_that_fails_again_keeps_what_there_was(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    gone = ModelUnavailable("Gone.", retryable=False)
    studio.model.streams = [calls(("read_file", {})), gone, gone]
    for attempt in (studio.chat("Go."), studio.app.resume(studio.client)):
        with pytest.raises(ModelUnavailable):
            await attempt
    session = await studio.session()
    assert roles(session) == ["prompt", "reply", "toolResult"]
    assert sum(entry.__class__.__name__ == "PromptEntry" for entry in session.history.entries) == 1


async def test_the_rounds_of_a_turn_are_limited_and_it_goes_on_where_it_stands(tmp_path: Path) -> None:
    read = SampleTool("read_file", "read")
    studio = Studio(tmp_path, tools=[read], tool_max_rounds=3)
    studio.model.default_stream = calls(("read_file", {}))
    result = await studio.chat("Go.")
    assert (result.stopped, result.finish_reason, result.prompt) == ("maxToolRounds", "maxToolRounds", None)
    assert [event.limit for event in studio.heard.of(MaxToolRoundsReached)] == [3]
    session = await studio.session()
    assert roles(session) == ["prompt", *["reply", "toolResult"] * 3]
    assert last_end(session).outcome == "stopped"

    studio.model.default_stream = "Done."
    again = await studio.app.resume(studio.client)
    assert (again.turn_id, again.text.strip(), again.stopped) == (result.turn_id, "Done.", None)
    assert len(read.called) == 3


@pytest.mark.parametrize("answer", [None, "Stop"])
async def test_a_call_that_fails_three_times_in_the_same_way_ends_the_turn_with_a_question(
    tmp_path: Path, answer: str | None
) -> None:
    look = SampleTool("look", "read", refusing)
    studio = Studio(tmp_path, tools=[look])
    studio.editor.answers = [answer] if answer else []
    studio.model.default_stream = calls(("look", {"file_path": "a"}))
    result = await studio.chat("Go.")
    assert result.stopped == "loopDetected"
    assert "3 times with the same arguments" in result.text
    assert len(look.called) == 3
    errors = [response["error"] for response in outputs(await studio.session())]
    assert ["failed" in error for error in errors] == [False, True, True]
    assert studio.editor.questions == [result.text]


async def test_the_person_can_let_a_failing_turn_go_on_with_words_of_their_own(tmp_path: Path) -> None:
    look = SampleTool("look", "read", refusing)
    studio = Studio(tmp_path, tools=[look])
    studio.editor.answers = ["It is in src."]
    studio.model.streams = [calls(("look", {"file_path": "a"}))] * 3 + ["Thanks."]  # type: ignore[list-item]
    assert (await studio.chat("Go.")).text.strip() == "Thanks."
    assert studio.model.main()[-1].contents[-1].parts[-1] == {"text": "It is in src."}
    assert roles(await studio.session())[-2:] == ["steer", "reply"]


async def test_failures_with_a_change_in_between_are_no_repetition(tmp_path: Path) -> None:
    tools = [SampleTool("check", "read", refusing), SampleTool("write_file", "edit")]
    studio = Studio(tmp_path, tools=tools, tooling=allowing())
    studio.model.streams = [calls(("check", {}), ("write_file", {"content": str(n)})) for n in range(5)]
    studio.model.streams.append("Done.")
    assert (await studio.chat("Go.")).stopped is None
    assert not any("failed" in one.get("error", "") for one in outputs(await studio.session()))


async def test_nothing_is_resumed_after_a_turn_that_was_completed_or_not_kept(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    await studio.chat("Hi")
    with pytest.raises(InvalidInput, match="nothing to go on with"):
        await studio.app.resume(studio.client)
    assert listed_tools(await studio.session(), ()).unfinished is None
    studio.model.streams = [ModelUnavailable("Gone.", retryable=False)]
    with pytest.raises(ModelUnavailable):
        await studio.chat("Again")
    with pytest.raises(InvalidInput, match="nothing to go on with"):
        await studio.app.resume(studio.client)


async def killed_while(
    tmp_path: Path, risk: Any, consent: AskingConsent | None, *more: tuple[str, dict[str, Any]]
) -> Studio:
    """A studio over a store whose process ended while a call of a tool `run` was waited for."""
    tool = SampleTool("run", risk, for_ever)
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read"), tool], tooling=allowing(consent))
    studio.model.streams = [calls(("read_file", {})), calls(*more, ("run", {"content": "x"}))]
    chat = asyncio.create_task(studio.chat("Go."))
    await (consent.waits if consent else tool.started).wait()
    session = await studio.session()
    entries = [entry for entry in session.history.entries if not isinstance(entry, TurnEndEntry)]
    await studio.app.cancel(studio.client, None)
    with pytest.raises(Cancelled):
        await chat
    # Another process, over what the first one had written when it was killed.
    after = Studio(tmp_path, tools=[SampleTool("read_file", "read"), SampleTool("run", risk)])
    after.model = ScriptedModel()
    await after.store.create(session.meta, entries)
    return after


async def test_a_call_that_ran_when_the_daemon_was_killed_has_an_unknown_end_and_finished_rounds_stay(
    tmp_path: Path,
) -> None:
    after = await killed_while(tmp_path, "command", None)
    session_id = (await after.app.list_sessions()).sessions[0].session_id
    await after.app.open_session(after.client, session_id)
    session = await after.app.hold(after.client, session_id)
    assert roles(session) == ["prompt", "reply", "toolResult", "reply", "toolResult"]
    assert "what it did is unknown" in outputs(session)[-1]["error"]
    assert last_end(session).outcome == "interrupted"
    (record,) = [e for e in session.history.entries if isinstance(e, ToolResultEntry)][-1].calls
    assert (record.outcome, record.summary) == ("interrupted", "unknown: the daemon was restarted")
    assert [event.outcome for event in after.heard.of(ToolCallCompleted)] == ["interrupted"]
    assert session.tools_state.open_calls == {}
    assert (await after.app.resume(after.client)).text.strip() == "Done."
    assert roles(session)[-1] == "reply"


async def test_reads_that_ran_when_the_daemon_was_killed_leave_the_rounds_before_and_are_asked_for_anew(
    tmp_path: Path,
) -> None:
    after = await killed_while(tmp_path, "read", None)
    session_id = (await after.app.list_sessions()).sessions[0].session_id
    await after.app.open_session(after.client, session_id)
    session = await after.app.hold(after.client, session_id)
    assert roles(session) == ["prompt", "reply", "toolResult"]
    assert (await after.app.resume(after.client)).text.strip() == "Done."


@pytest.mark.parametrize("can_ask", [True, False])
async def test_a_turn_that_was_asking_when_the_daemon_was_killed_asks_again_once_somebody_can_answer(
    tmp_path: Path, can_ask: bool
) -> None:
    after = await killed_while(tmp_path, "command", AskingConsent(), ("read_file", {"file_path": "b"}))
    again = AskingConsent()
    after.app.tooling = allowing(again, can_ask=lambda _: can_ask)
    session_id = (await after.app.list_sessions()).sessions[0].session_id
    info = await after.app.open_session(after.client, session_id)
    session = await after.app.hold(after.client, info.session_id)
    asked = [call.call_id for call in session.tools_state.open_calls.values()]
    if not can_ask:
        assert session.lane.is_idle
        assert roles(session) == ["prompt", "reply", "toolResult", "reply"]
        await after.chat("Never mind.")
        assert roles(session)[3:] == ["reply", "toolResult", "prompt", "reply"]
        assert "nothing was done" in outputs(session)[-1]["error"]
        assert session.open_turns == {}
        return
    await asyncio.wait_for(again.waits.wait(), PATIENCE)
    read = await history_page(session, "model", cursor=None, limit=None)
    assert [item.kind for item in read.contents] == ["prompt", "reply", "toolResult"]  # no call without its result
    assert len((await history_page(session, "transcript", cursor=None, limit=None)).contents) == 4
    again.answer.set()
    assert session.lane.current is not None
    result = await session.lane.current.wait()
    assert result.text.strip() == "Done."
    assert [call.call_id for call, _ in again.asked][-1:] == asked
    assert roles(session) == ["prompt", "reply", "toolResult", "reply", "toolResult", "reply"]
    assert [record.outcome for record in _results(session)[-1].calls] == ["ok", "ok"]
    assert sum(isinstance(entry, ReplyEntry) for entry in session.history.entries) == 3


async def test_a_turn_that_is_asking_when_the_daemon_ends_in_order_asks_again_in_the_next(tmp_path: Path) -> None:
    asking = AskingConsent()
    studio = Studio(tmp_path, tools=[SampleTool("run", "command")], tooling=allowing(asking))
    studio.model.streams = [calls(("run", {"content": "x"}))]
    chat = asyncio.create_task(studio.chat("Go."))
    await asking.waits.wait()
    session = await studio.session()
    await studio.app.close()
    with pytest.raises(Cancelled):
        await chat
    assert _results(session) == []

    tool, again = SampleTool("run", "command"), AskingConsent()
    after = Studio(tmp_path, tools=[tool], tooling=allowing(again, can_ask=lambda _: True))
    await after.store.create(session.meta, list(session.history.entries))
    await after.app.open_session(after.client, session.session_id)
    await asyncio.wait_for(again.waits.wait(), PATIENCE)
    again.answer.set()
    lane = (await after.app.hold(after.client, session.session_id)).lane
    assert lane.current is not None
    assert (await lane.current.wait()).text.strip() == "Done."
    assert len(tool.called) == 1


def _results(session: Session) -> list[ToolResultEntry]:
    return [entry for entry in session.history.entries if isinstance(entry, ToolResultEntry)]
