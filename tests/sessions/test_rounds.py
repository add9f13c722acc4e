"""The rounds of a turn: calls, results, the next answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.history.log import ReplyEntry, ToolResultEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import ToolCallEntry
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import ToolCallCompleted, ToolCallProgress, ToolCallStarted
from gemini_companion.sessions.tools.consent import Decided
from gemini_companion.sessions.tools.modes import set_mode
from gemini_companion.sessions.tools.progress import PIECE_CHARACTERS, TOTAL_CHARACTERS
from gemini_companion.sessions.tools.rounds import MOST_CALLS, SIDE_BY_SIDE
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.tools.tool import ToolContext, ToolOutput, ToolRefusal
from tests.support.patience import until
from tests.support.sample_tools import FreeConsent, SampleArgs, SampleTool, Work, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio

SIGNATURE = "c2lnbmVkIGJ5dGVz"


def responses(request: ModelRequest) -> list[dict[str, Any]]:
    """The function responses of a request's last content."""
    parts = request.contents[-1].parts
    return [part["functionResponse"] for part in parts if "functionResponse" in part]


def results(session: Session) -> list[ToolResultEntry]:
    return [entry for entry in session.history.entries if isinstance(entry, ToolResultEntry)]


def raising(error: Callable[[], BaseException]) -> Work:
    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        raise error()

    return work


async def test_a_read_is_called_and_its_result_goes_back_to_the_model(tmp_path: Path) -> None:
    read = SampleTool("read_file", "read")
    studio = Studio(tmp_path, tools=[read])
    studio.model.streams = [calls(("read_file", {"file_path": "a.py"}), text="I look."), "It says so."]

    result = await studio.chat("What is in a.py?")

    assert (result.text.strip(), result.finish_reason, result.stopped) == ("It says so.", "STOP", None)
    assert [args.file_path for args in read.called] == ["a.py"]
    first, second = studio.model.main()
    assert [tool["name"] for tool in first.tools] == ["read_file"]
    assert responses(second) == [{"id": "wire-0", "name": "read_file", "response": {"output": "read_file a.py"}}]
    session = await studio.session()
    reply, written = [entry for entry in session.history.entries if not isinstance(entry, ModelCallEntry)][-4:-2]
    assert isinstance(reply, ReplyEntry)
    assert isinstance(written, ToolResultEntry)
    assert [(record.name, record.outcome, record.summary) for record in written.calls] == [("read_file", "ok", "done")]
    assert [event.state for event in studio.heard.of(ToolCallStarted)] == ["waiting", "running"]
    assert [event.outcome for event in studio.heard.of(ToolCallCompleted)] == ["ok"]


async def test_reads_run_side_by_side_up_to_a_bound_and_their_results_come_in_the_order_of_the_calls(
    tmp_path: Path,
) -> None:
    enough = asyncio.Event()

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        if read.running == SIDE_BY_SIDE:
            enough.set()
        await enough.wait()
        for _ in range(20 - int(args.file_path)):  # the later the call, the sooner it ends
            await asyncio.sleep(0)
        return ToolOutput(output=args.file_path)

    read = SampleTool("read_file", "read", work)
    studio = Studio(tmp_path, tools=[read])
    studio.model.streams = [calls(*(("read_file", {"file_path": str(n)}) for n in range(20))), "Read."]
    await studio.chat("Read all.")

    assert read.most_running == SIDE_BY_SIDE
    assert [one["response"]["output"] for one in responses(studio.model.main()[1])] == [str(n) for n in range(20)]


async def test_what_acts_runs_alone_and_in_its_place_among_the_reads(tmp_path: Path) -> None:
    order: list[str] = []

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        order.append(f"+{args.file_path}")
        if args.file_path in ("0", "1"):
            await until(lambda: {"+0", "+1"} <= set(order))
        order.append(f"-{args.file_path}")
        return ToolOutput(output=args.file_path)

    tools = [SampleTool("read_file", "read", work), SampleTool("write_file", "edit", work)]
    studio = Studio(tmp_path, tools=tools, tooling=allowing())
    names = ["read_file", "read_file", "write_file", "write_file", "read_file"]
    studio.model.streams = [calls(*((name, {"file_path": str(n)}) for n, name in enumerate(names))), "Done."]
    await studio.chat("Go.")

    assert {*order[:2]} == {"+0", "+1"}, "side by side"
    assert {*order[2:4]} == {"-0", "-1"}
    assert order[4:] == ["+2", "-2", "+3", "-3", "+4", "-4"]
    assert [one["name"] for one in responses(studio.model.main()[1])] == names


async def test_only_what_acts_is_in_the_log_before_it_runs(tmp_path: Path) -> None:
    seen: list[list[tuple[str, str]]] = []

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        session = await studio.session()
        seen.append([(e.name, e.state) for e in session.history.entries if isinstance(e, ToolCallEntry)])
        return ToolOutput(output="")

    tools = [SampleTool("read_file", "read", work), SampleTool("run", "command", work)]
    studio = Studio(tmp_path, tools=tools, tooling=allowing())
    studio.model.streams = [calls(("read_file", {}), ("run", {})), "Done."]
    await studio.chat("Go.")

    assert seen == [[], [("run", "running")]]
    session = await studio.session()
    assert session.tools_state.open_calls == {}


@pytest.mark.parametrize(
    ("tool", "call", "outcome", "words"),
    [
        (SampleTool("look", "read", raising(lambda: ToolRefusal("No such file: b.py."))), {}, "failed", "No such file"),
        (SampleTool("look", "read", raising(lambda: ValueError("secret"))), {}, "failed", "an error of its own"),
        (SampleTool("look", "read", raising(asyncio.CancelledError)), {}, "failed", "an error of its own"),
        (SampleTool("look", "read", raising(TimeoutError)), {}, "failed", "an error of its own"),
        (SampleTool("look", "read"), {"line": 1}, "failed", "arguments of look are wrong"),
        (SampleTool("look", "read"), {"file_path": ["a"]}, "failed", "arguments of look are wrong"),
        (SampleTool("other", "read"), {}, "failed", "There is no tool 'look'. The tools are: other."),
        (SampleTool("look", "edit"), {}, "declined", "Not done."),
    ],
    ids=["refuses", "raises", "cancels itself", "times out itself", "unknown", "wrong type", "no tool", "declined"],
)
async def test_a_call_that_cannot_be_done_has_a_result_that_says_why(
    tmp_path: Path, tool: SampleTool, call: dict[str, Any], outcome: str, words: str
) -> None:
    studio = Studio(tmp_path, tools=[tool])
    studio.model.streams = [calls(("look", call)), "I see."]
    assert (await studio.chat("Look.")).text.strip() == "I see."
    (response,) = responses(studio.model.main()[1])
    assert words in response["response"]["error"]
    assert "secret" not in response["response"]["error"]
    assert results(await studio.session())[0].calls[0].outcome == outcome


@pytest.mark.parametrize("args", [None, ["a"], "a", 7])
async def test_arguments_that_are_no_object_are_told_to_the_model(tmp_path: Path, args: Any) -> None:
    tool = SampleTool("look", "read")
    studio = Studio(tmp_path, tools=[tool])
    studio.model.streams = [calls(("look", args)), "I see."]
    await studio.chat("Look.")
    (response,) = responses(studio.model.main()[1])
    if args is None:
        assert len(tool.called) == 1
    else:
        assert "one JSON object" in response["response"]["error"]


async def test_a_tool_that_takes_too_long_is_stopped_and_the_model_is_told(tmp_path: Path) -> None:
    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await asyncio.Event().wait()
        return ToolOutput()

    studio = Studio(tmp_path, tools=[SampleTool("look", "read", work)], tooling=allowing(limit_seconds=0.01))
    studio.model.streams = [calls(("look", {})), "I see."]
    await studio.chat("Look.")
    assert "was stopped" in responses(studio.model.main()[1])[0]["response"]["error"]
    assert results(await studio.session())[0].calls[0].outcome == "timedOut"


@pytest.mark.parametrize("ids", [["same", "same", "same"], ["", "", ""], ["a", "", "a"]])
async def test_ids_of_the_model_that_repeat_or_are_missing_still_pair_each_call_with_its_result(
    tmp_path: Path, ids: list[str]
) -> None:
    read = SampleTool("read_file", "read")
    studio = Studio(tmp_path, tools=[read])
    parts: list[dict[str, Any]] = []
    for number, wire_id in enumerate(ids):
        call: dict[str, Any] = {"name": "read_file", "args": {"file_path": str(number)}}
        parts.append({"functionCall": {"id": wire_id, **call} if wire_id else call})
    studio.model.streams = [[ModelChunk(parts=tuple(parts), finish_reason="STOP")], "Done."]
    await studio.chat("Read.")

    request = studio.model.main()[1]
    sent = [part["functionCall"] for part in request.contents[-2].parts]
    answered = responses(request)
    assert [one["id"] for one in answered] == [one["id"] for one in sent]
    assert len({one["id"] for one in sent}) == 3
    assert [one["response"]["output"] for one in answered] == [f"read_file {n}" for n in range(3)]
    records = results(await studio.session())[0].calls
    assert len({record.call_id for record in records}) == 3


async def test_thought_signatures_go_back_byte_for_byte_an_empty_text_with_one_too(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    parts = (
        {"text": "Let me think.", "thought": True},
        {"text": "", "thoughtSignature": "ZW1wdHk="},
        {"functionCall": {"name": "read_file", "args": {}}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "read_file", "args": {"file_path": "b"}}},
    )
    studio.model.streams = [[ModelChunk(parts=parts, finish_reason="STOP")], "Done."]
    await studio.chat("Read.")
    model = studio.model.main()[1].contents[-2]
    assert [part.get("thoughtSignature") for part in model.parts] == ["ZW1wdHk=", SIGNATURE, None]
    assert model.parts[0]["text"] == ""


async def test_a_call_without_a_name_is_no_answer_and_is_asked_for_again(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calls(("", {})), "Sorry."]
    assert (await studio.chat("Read.")).text.strip() == "Sorry."
    assert results(await studio.session()) == []


async def test_edited_arguments_are_checked_and_decided_anew_and_stand_in_the_record(tmp_path: Path) -> None:
    consent = FreeConsent(
        Decided(allowed=True, consent="edited", edited_args={"file_path": "b.py"}),
        Decided(allowed=True, consent="yes"),
    )
    write = SampleTool("write_file", "edit")
    studio = Studio(tmp_path, tools=[write], tooling=allowing(consent))
    studio.model.streams = [calls(("write_file", {"file_path": "a.py"})), "Done."]
    await studio.chat("Write.")
    assert [args.file_path for args in write.called] == ["b.py"]
    assert [proposal.title for _, proposal in consent.asked] == ["write_file a.py", "write_file b.py"]
    (record,) = results(await studio.session())[0].calls
    assert (record.edited_args, record.consent) == ({"file_path": "b.py"}, "yes")


async def test_edited_arguments_that_are_wrong_are_refused_like_any_others(tmp_path: Path) -> None:
    consent = FreeConsent(Decided(allowed=True, consent="edited", edited_args={"file_path": 7}))
    write = SampleTool("write_file", "edit")
    studio = Studio(tmp_path, tools=[write], tooling=allowing(consent))
    studio.model.streams = [calls(("write_file", {"file_path": "a.py"})), "Done."]
    await studio.chat("Write.")
    assert write.called == []
    assert "arguments of write_file are wrong" in responses(studio.model.main()[1])[0]["response"]["error"]


async def test_the_round_is_durable_before_the_next_request(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calls(("read_file", {})), "Done."]
    kept: list[list[str]] = []
    real = studio.model.answer_usage

    def note(request: ModelRequest, answer: str) -> Any:
        kept.append([type(entry).__name__ for entry in held])
        return real(request, answer)

    studio.model.answer_usage = note
    session = await studio.session()
    held = session.history.entries
    await studio.chat("Go.")
    stored = (await studio.store.load(session.session_id))[1]
    assert kept == [["PromptEntry", "ModelCallEntry", "ReplyEntry", "ToolResultEntry"]]
    assert [type(entry).__name__ for entry in stored][:4] == kept[0]


async def test_tools_are_offered_only_to_models_that_call_them_and_only_those_that_could_do_something(
    tmp_path: Path,
) -> None:
    tools = [
        SampleTool("read_file", "read"),
        SampleTool("write_file", "edit"),
        SampleTool("run_shell_command", "command"),
        SampleTool("exit_plan_mode", "note"),
    ]
    studio = Studio(tmp_path, tools=tools)

    async def offered() -> list[str]:
        await studio.chat("Hi")
        return [tool["name"] for tool in studio.model.main()[-1].tools]

    assert await offered() == ["read_file", "write_file", "run_shell_command"]
    await set_mode(await studio.session(), "plan")
    assert await offered() == ["read_file", "run_shell_command", "exit_plan_mode"], "some commands only read"
    await set_mode(await studio.session(), "ask")
    studio.trusted = False
    assert await offered() == ["read_file"]
    studio.take_key_away()
    await studio.chat("Hi")
    assert studio.offline.main()[-1].tools == ()


async def test_the_declarations_are_counted_as_a_part_of_the_request(tmp_path: Path) -> None:
    without, having = Studio(tmp_path), Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    bare, told = await without.session(), await having.session()
    assert bare.parts().tools == 0
    assert told.parts().tools > 20
    with_tools, without = told.parts(), bare.parts()  # the system instruction is worded for the tools
    assert (
        with_tools.total - with_tools.system_instruction
        == without.total - without.system_instruction + with_tools.tools
    )


async def test_progress_is_folded_and_bounded(tmp_path: Path) -> None:
    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        for _ in range(5_000):
            context.progress("x" * 1_000)
        return ToolOutput(output="done")

    studio = Studio(tmp_path, tools=[SampleTool("run", "command", work)], tooling=allowing())
    studio.model.streams = [calls(("run", {})), "Done."]
    await studio.chat("Run.")
    told = [event.output for event in studio.heard.of(ToolCallProgress)]
    assert 1 <= len(told) <= 20
    assert sum(map(len, told)) <= TOTAL_CHARACTERS + PIECE_CHARACTERS + 100


async def test_a_transcript_shows_what_became_of_the_calls(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [calls(("read_file", {}), ("nothing", {})), "Done."]
    await studio.chat("Go.")
    page = await history_page(await studio.session(), "transcript", cursor=None, limit=None)
    assert [(item.kind, [record.outcome for record in item.calls]) for item in page.contents] == [
        ("prompt", []),
        ("reply", []),
        ("toolResult", ["ok", "failed"]),
        ("reply", []),
    ]


async def test_of_very_many_calls_in_one_answer_only_so_many_are_made_and_each_has_a_result(tmp_path: Path) -> None:
    look = SampleTool("look", "read")
    studio = Studio(tmp_path, tools=[look])
    studio.model.streams = [calls(*[("look", {"file_path": str(n)}) for n in range(MOST_CALLS + 3)]), "Done."]
    await studio.chat("Go.")
    assert len(look.called) == MOST_CALLS
    results = studio.model.main()[-1].contents[-1].parts
    assert len(results) == MOST_CALLS + 3
    assert "Call it again" in results[-1]["functionResponse"]["response"]["error"]
