"""Arguments of a call stand in the log once, in the answer, and events show a bounded preview of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.log import encode_entry
from gemini_companion.engine.history.tool_entries import ToolCallEntry
from gemini_companion.sessions.tool_events import ToolCallStarted
from gemini_companion.sessions.tools.consent import Decided
from gemini_companion.sessions.tools.previews import MOST_CHARACTERS, previewed
from gemini_companion.sessions.tools.resuming import called_again
from tests.sessions.test_going_on_with_turns import in_another_process
from tests.support.patience import PATIENCE
from tests.support.sample_tools import AskingConsent, FreeConsent, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio

MARK = "0123456789abcdef" * 65_536
"""A megabyte."""


async def test_a_megabyte_of_arguments_is_in_the_log_once_and_in_events_as_a_preview(tmp_path: Path) -> None:
    asking = AskingConsent()
    asking.answer.set()
    run = SampleTool("run", "command")
    studio = Studio(tmp_path, tools=[run], tooling=allowing(asking))
    studio.model.streams = [calls(("run", {"content": MARK}))]
    await studio.chat("Go.")
    assert run.called[0].content == MARK
    session = await studio.session()
    sizes = [len(encode_entry(entry)) for entry in session.history.entries]
    assert len([size for size in sizes if size > len(MARK)]) == 1
    assert sum(sizes) < len(MARK) + 20_000
    started = studio.heard.of(ToolCallStarted)
    assert [event.state for event in started] == ["waiting", "running"]
    for event in started:
        assert len(msgspec.json.encode(event)) < 4_000
        assert event.args["content"].startswith(MARK[:1_000])
        assert event.args["content"].endswith("(1,048,576 characters)")


async def test_what_a_person_changed_is_in_the_log_before_it_runs(tmp_path: Path) -> None:
    edited = {"file_path": "b", "content": "theirs"}
    consent = FreeConsent(
        Decided(allowed=False, consent="changed", edited_args=edited), Decided(allowed=True, consent="yes")
    )
    studio = Studio(tmp_path, tools=[SampleTool("run", "command")], tooling=allowing(consent))
    studio.model.streams = [calls(("run", {"content": "ours"}))]
    await studio.chat("Go.")
    entries = (await studio.session()).history.entries
    assert [(one.state, one.args) for one in entries if isinstance(one, ToolCallEntry)] == [
        ("running", edited),
        ("ended", None),
    ]


@pytest.mark.parametrize("same", [True, False])
async def test_of_several_calls_of_one_tool_the_one_that_was_asked_about_is_asked_about_again(
    tmp_path: Path, same: bool
) -> None:
    asking = AskingConsent()
    made = [("read_file", {}), *[("run", {"content": "x" if same else str(n)}) for n in range(3)]]
    tools = [SampleTool("run", "command"), SampleTool("read_file", "read")]
    studio = Studio(tmp_path, tools=tools, tooling=allowing(asking))
    studio.model.streams = [calls(*made)]
    chat = asyncio.create_task(studio.chat("Go."))
    await asking.waits.wait()
    session = await studio.session()
    (before,) = session.tools_state.open_calls.values()
    after, found = await in_another_process(tmp_path, session, *tools)
    again = AskingConsent()
    after.app.tooling = allowing(again, can_ask=lambda _: True)
    await after.app.open_session(after.client, found.session_id)
    await asyncio.wait_for(again.waits.wait(), PATIENCE)
    (open_call,) = found.tools_state.open_calls.values()
    assert open_call.call_id == before.call_id
    again.answer.set()
    assert found.lane.current is not None
    await found.lane.current.wait()
    assert [args.content for args in tools[0].called] == [args["content"] for _, args in made[1:]]
    chat.cancel()


def test_calls_that_an_earlier_version_asked_about_are_known_by_their_arguments() -> None:
    def entry(call_id: str, content: str) -> ToolCallEntry:
        args = {"content": content}
        return ToolCallEntry(
            id=call_id, seq=1, time=1, turn_id="t", call_id=call_id, name="run", args=args, state="asked"
        )

    (answer,) = calls(("run", {"content": "a"}), ("run", {"content": "b"}))
    again = called_again(answer.parts, [entry("of-b", "b")], lambda kind: f"new-{kind}")
    assert [called.call.call_id for called in again][1:] == ["of-b"]


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5_000),
    lambda inner: st.lists(inner, max_size=80) | st.dictionaries(st.text(max_size=300), inner, max_size=80),
    max_leaves=40,
)


@given(st.dictionaries(st.text(max_size=20), _JSON, max_size=8))
def test_a_preview_is_bounded_and_what_is_short_is_whole(args: dict[str, Any]) -> None:
    shown = previewed(args)
    assert len(str(shown)) <= 10 * MOST_CHARACTERS
    if len(str(args)) < 2_000 and not any(isinstance(one, dict | list) for one in args.values()):
        assert shown == args


@pytest.mark.parametrize(
    "args",
    [
        {f"{number}" * 1_000: "x" * 1_000 for number in range(1_000)},
        {"deep": [[[[[[[[[[["x" * 10_000]]]]]]]]]]]},
        {"wide": [["x"] * 10_000] * 10_000},
        {"many": [{str(n): [n] * 100 for n in range(100)}] * 100},
    ],
    ids=["keys", "deep", "wide", "many"],
)
def test_a_preview_of_the_worst_arguments_is_small(args: dict[str, Any]) -> None:
    assert len(msgspec.json.encode(previewed(args))) <= 10 * MOST_CHARACTERS
