"""Hooks in a turn: ahead of its prompt, around requests, calls and answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from gemini_companion.engine.errors import Blocked
from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import PromptEntry, ToolResultEntry
from gemini_companion.engine.history.tool_entries import ToolCallEntry
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.events import HookRan, MessageDelta, MessageDiscarded
from gemini_companion.sessions.tool_events import ToolCallCompleted, ToolQuestionAsked
from gemini_companion.sessions.tools.rounds import MOST_BEHIND
from gemini_companion.sessions.turn.watching import FIRST_CHARACTERS, MOST_TIMES
from tests.support.consenting import ConsentStudio
from tests.support.sample_tools import SampleTool
from tests.support.scripted_hooks import context, hook, use
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


async def test_hooks_in_order_are_told_what_those_before_changed_and_others_are_not(studio: Studio) -> None:
    for sequential, told in ((True, ["Hi", "Hi\n\none"]), (False, ["Hi", "Hi"])):
        runner = use(
            studio, hook("BeforeAgent", "a", sequential=sequential), hook("BeforeAgent", "b"), hook("BeforeAgent", "a")
        )
        runner.answers = {"a": context("one")}
        await studio.chat("Hi")
        assert [one["prompt"] for one in runner.told] == told


async def test_hooks_that_are_disabled_do_not_run_and_what_is_dull_is_not_to_be_shown(studio: Studio) -> None:
    runner = use(studio, hook("BeforeAgent", "a", name="off"), hook("BeforeAgent", "b"), disabled=frozenset({"off"}))
    await studio.chat("Hi")
    studio.set(hooks=msgspec.structs.replace(studio.settings.hooks, enabled=False))
    await studio.chat("Hi")
    (ran,) = studio.heard.of(HookRan)
    assert (ran.name, ran.outcome, ran.duration_ms, ran.is_notable) == ("b", "ok", 7, False)
    assert runner.places[0][1]["GEMINI_PROJECT_DIR"] == runner.places[0][0]


async def test_a_hook_changes_arguments_and_has_the_person_asked_about_what_rules_allow(tmp_path: Path) -> None:
    studio = ConsentStudio(tmp_path)
    asks = {"decision": "ask", "reason": "look", "hookSpecificOutput": {"tool_input": {"content": "y"}}}
    runner = use(studio, hook("BeforeTool", matcher="^write_"), hook("Notification", "n"))
    runner.answers = {"c": asks}
    studio.person.answers[:] = [ConsentAnswer(outcome="once")]
    await studio.write("a.py", "x")
    assert studio.tool.written == {"/project/a.py": "y"}
    assert len(studio.person.asked) == 1
    told = [one for one in runner.told if one["hook_event_name"] == "Notification"]
    assert [(one["notification_type"], one["details"]["type"]) for one in told] == [("ToolPermission", "edit")]
    await studio.app.close()


async def test_a_hook_that_stops_at_a_call_ends_the_turn_and_nothing_is_done(tmp_path: Path) -> None:
    studio = ConsentStudio(tmp_path)
    runner = use(studio, hook("BeforeTool"))
    runner.answers = {"c": {"continue": False, "stopReason": "enough for today"}}
    result = await studio.write("a.py", "x")
    assert (result.stopped, result.text) == ("blocked", "enough for today")
    assert studio.tool.written == {}
    assert [event.outcome for event in studio.heard.of(ToolCallCompleted)] == ["declined"]
    await studio.app.close()


async def test_a_turn_is_cancelled_while_a_hook_hangs(studio: Studio) -> None:
    runner = use(studio, hook("BeforeAgent"))
    runner.gate.clear()
    session = await studio.session()
    turn = asyncio.create_task(studio.chat("Hi"))
    while not runner.told:
        await asyncio.sleep(0)
    await studio.app.cancel(studio.client, session.session_id)
    await asyncio.wait({turn})
    assert turn.exception() is not None
    assert studio.model.main() == []


async def test_a_hook_has_the_model_forget_and_nothing_is_lost(studio: Studio) -> None:
    runner = use(studio, hook("AfterAgent"))
    runner.answers = {"c": {"hookSpecificOutput": {"clearContext": True}}}
    first = await studio.chat("My name is Ada.")
    session = await studio.session()
    assert session.history.curated() == []
    runner.answers = {}
    await studio.chat("What is my name?")
    assert "Ada" not in str(studio.model.main()[-1].contents)
    log = [entry for entry in session.history.entries if isinstance(entry, PromptEntry)]
    assert [visible_text_of(entry.own_parts) for entry in log] == ["My name is Ada.", "What is my name?"]
    again = History(session.history.measure, session.history.entries)
    assert again.contents() == session.history.contents()
    assert first.finish_reason == "STOP"


async def test_an_answer_that_is_sent_back_with_an_empty_context_stands_alone_with_its_reason(studio: Studio) -> None:
    runner = use(studio, hook("AfterAgent"))
    runner.queues = {"c": [{"decision": "deny", "reason": "Again.", "hookSpecificOutput": {"clearContext": True}}]}
    await studio.chat("My name is Ada.")
    _, second = studio.model.main()
    assert "Ada" not in str(second.contents)
    assert "<hook_context>Again.</hook_context>" in str(second.contents[-1])


async def test_a_hook_has_another_call_made_whose_result_takes_the_place(tmp_path: Path) -> None:
    """With the checks of every call: the person is asked about what it would do."""
    studio = ConsentStudio(tmp_path, SampleTool("read_file", "read"))
    runner = use(studio, hook("AfterTool", matcher="read_file"), hook("BeforeTool", "before"))
    wanted = {"name": "write_file", "args": {"file_path": "a.py", "content": "x"}}
    runner.answers = {"c": {"hookSpecificOutput": {"tailToolCallRequest": wanted}}}
    studio.person.answers[:] = [ConsentAnswer(outcome="once")]
    await studio.call("read_file", {})
    assert studio.tool.written == {"/project/a.py": "x"}
    (part,) = studio.model.main()[-1].contents[-1].parts
    assert part["functionResponse"]["name"] == "read_file"
    assert part["functionResponse"]["response"]["output"] == "written"
    before = [one for one in runner.told if one["hook_event_name"] == "BeforeTool"]
    assert [(one["tool_name"], one.get("original_request_name")) for one in before] == [
        ("read_file", None),
        ("write_file", "read_file"),
    ]
    assert [event.outcome for event in studio.heard.of(ToolCallCompleted)] == ["ok", "ok"]
    await studio.app.close()


async def test_a_call_that_a_hook_wants_and_a_person_refuses_is_not_made(tmp_path: Path) -> None:
    studio = ConsentStudio(tmp_path, SampleTool("read_file", "read"))
    runner = use(studio, hook("AfterTool"))
    wanted = {"name": "write_file", "args": {"file_path": "a.py", "content": "x"}}
    runner.answers = {"c": {"hookSpecificOutput": {"tailToolCallRequest": wanted}}}
    studio.person.answers[:] = [ConsentAnswer(outcome="reject")]
    await studio.call("read_file", {})
    assert studio.tool.written == {}
    (entry,) = [one for one in (await studio.session()).history.entries if isinstance(one, ToolResultEntry)]
    assert [(record.name, record.outcome) for record in entry.calls] == [("read_file", "declined")]
    await studio.app.close()


async def test_calls_that_hooks_want_behind_each_other_end(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    runner = use(studio, hook("AfterTool"))
    runner.answers = {"c": {"hookSpecificOutput": {"tailToolCallRequest": {"name": "read_file"}}}}
    studio.model.streams = [calls(("read_file", {})), "Done."]
    await studio.chat("Read it.")
    assert len(runner.told) == MOST_BEHIND + 1
    await studio.app.close()


async def test_an_answer_that_a_hook_refuses_stops_before_its_rest_is_shown_at_a_bounded_cost(studio: Studio) -> None:
    runner = use(studio, hook("AfterModel"))
    runner.queues = {"c": [{}, {"decision": "deny", "reason": "no poems"}]}
    studio.model.default_stream = " ".join(f"w{number:05}" for number in range(100_000))
    with pytest.raises(Blocked, match="no poems"):
        await studio.chat("A poem")
    shown = sum(len(event.text) for event in studio.heard.of(MessageDelta))
    assert 2 * FIRST_CHARACTERS - 10 < shown < 2 * FIRST_CHARACTERS + 20
    assert len(studio.heard.of(MessageDiscarded)) == 1
    partial, _ = (one["llm_response"]["candidates"][0] for one in runner.told)
    assert "finishReason" not in partial


async def test_a_long_answer_is_asked_about_a_few_times_and_at_its_end(studio: Studio) -> None:
    runner = use(studio, hook("AfterModel"))
    studio.model.default_stream = " ".join(f"w{number:05}" for number in range(100_000))
    await studio.chat("A novel")
    assert len(runner.told) == MOST_TIMES + 1
    assert [event.is_notable for event in studio.heard.of(HookRan)] == [False] * (MOST_TIMES + 1)


async def test_a_hook_can_have_the_model_call_one_of_some_tools(tmp_path: Path) -> None:
    tools = [SampleTool(name, "read") for name in ("read_file", "list_directory")]
    studio = Studio(tmp_path, tools=tools)
    runner = use(studio, hook("BeforeToolSelection"))
    config = {"mode": "ANY", "allowedFunctionNames": ["read_file", "unknown"]}
    runner.answers = {"c": {"hookSpecificOutput": {"toolConfig": config}}}
    await studio.chat("Read it.")
    (request,) = studio.model.main()
    assert (request.must_call, len(request.tools)) == (("read_file",), 2)
    await studio.app.close()


async def test_what_a_hook_does_not_want_shown_is_not_unless_it_refuses(studio: Studio) -> None:
    runner = use(studio, hook("BeforeAgent", "quiet"), hook("AfterAgent", "loud"))
    runner.answers = {
        "quiet": {"suppressOutput": True, "systemMessage": "psst", **context("x")},
        "loud": {"suppressOutput": True, "continue": False, "stopReason": "over"},
    }
    await studio.chat("Hi")
    assert [(ran.name, ran.is_notable, ran.message) for ran in studio.heard.of(HookRan)] == [
        ("quiet", False, ""),
        ("loud", True, "over"),
    ]


WRITES = {"name": "write_file", "args": {"file_path": "a.py", "content": "x"}}


async def test_a_turn_that_is_stopped_at_a_call_behind_a_call_says_so_in_its_result(tmp_path: Path) -> None:
    studio = ConsentStudio(tmp_path, SampleTool("read_file", "read"))
    runner = use(studio, hook("AfterTool"))
    runner.answers = {"c": {"hookSpecificOutput": {"tailToolCallRequest": WRITES}}}
    studio.person.answers[:] = [studio.person.never]
    session = await studio.session()
    turn = asyncio.create_task(studio.call("read_file", {}))
    await studio.heard.wait_for(ToolQuestionAsked)
    (waiting,) = session.tools_state.open_calls.values()
    assert (waiting.name, waiting.state) == ("write_file", "asked")
    await studio.app.cancel(studio.client, session.session_id)
    await asyncio.wait({turn})
    (entry,) = [one for one in session.history.entries if isinstance(one, ToolResultEntry)]
    assert [(record.name, record.outcome) for record in entry.calls] == [("read_file", "interrupted")]
    assert session.tools_state.open_calls == {}
    assert studio.tool.written == {}
    assert [event.outcome for event in studio.heard.of(ToolCallCompleted)] == ["ok", "interrupted"]
    await studio.app.close()


async def test_a_call_behind_a_call_is_no_open_call_once_its_round_is_done(tmp_path: Path) -> None:
    studio = ConsentStudio(tmp_path, SampleTool("read_file", "read"))
    runner = use(studio, hook("AfterTool", matcher="read_file"))
    runner.answers = {"c": {"hookSpecificOutput": {"tailToolCallRequest": WRITES}}}
    studio.person.answers[:] = [ConsentAnswer(outcome="once")]
    await studio.call("read_file", {})
    session = await studio.session()
    assert session.tools_state.open_calls == {}
    asked, running, ended = (one for one in session.history.entries if isinstance(one, ToolCallEntry))
    assert (asked.state, running.state, ended.state) == ("asked", "running", "ended")
    assert running.args == WRITES["args"]
    await studio.app.close()
