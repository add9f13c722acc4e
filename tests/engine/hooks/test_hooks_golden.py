"""Hooks against what Gemini CLI does. Where we differ on purpose the case names why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import unescape
from typing import Any, Final

import pytest

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.hooks.answers import HookEnd, answer_of
from gemini_companion.engine.hooks.config import Hook, HookOptions, read_hooks
from gemini_companion.engine.hooks.matching import plan_hooks
from gemini_companion.engine.hooks.merging import hook_context, merge_outputs, verdict_of
from gemini_companion.engine.hooks.model_text import (
    messages_of,
    response_of,
    settings_of,
    text_of_response,
    with_messages,
)
from gemini_companion.sessions.hooks.firing import Surroundings, fire, wanted_hooks
from gemini_companion.sessions.models.port import ModelRequest
from gemini_companion.sessions.tools.notifying import notification_fields
from gemini_companion.sessions.turn.hooks import told_of
from gemini_companion.tools.tool import Proposal
from tests.support.golden import golden_cases

INPUTS_ARE_MERGED = "changes of a tool's input are merged, and what is no object is none"
DIFFERENT_ANSWERS = {
    "run_killed": "what a signal ended said nothing that counts",
    "run_env_secret_kept_by_default": "secrets never reach a hook",
    "run_two_objects": "a line behind an answer does not take it back",
    "run_untrusted_project": "hooks of such a folder are not even read",
}


@pytest.mark.parametrize("case", golden_cases("peer_context", "hookAggregate"))
def test_answers_of_several_hooks_are_merged_as_the_peer_merges_them(case: Any) -> None:
    event = case["input"]["event"]
    outputs = [result["output"] for result in case["input"]["results"] if "output" in result]
    merged, final = merge_outputs(event, outputs), case["expected"]["result"]["final"]
    if final is None:
        assert merged is None
        return
    plain = {key: value for key, value in final.items() if not key.startswith("$")}
    assert merged is not None
    if "tool_input" not in plain.get("hookSpecificOutput", {}):  # INPUTS_ARE_MERGED
        assert merged == plain
    verdict = verdict_of(event, merged)
    assert (verdict.blocks, verdict.asks, verdict.stops) == (final["$blocks"], final["$asks"], final["$stops"])
    assert verdict.reason.rstrip(".") in (final["$reason"], "No reason was given")
    if "$context" in final:
        told = unescape(final["$context"])  # the peer escapes every bracket; ours alone is of harm
        assert unescape(hook_context(verdict.context)) == f"<hook_context>{told}</hook_context>"
    assert verdict.clears == final.get("$clear", False)
    if "$synthetic" in final:
        parts = final["$synthetic"]["candidates"][0]["content"]["parts"]
        assert text_of_response(verdict.llm_response) == "".join(part["text"] for part in parts)


@pytest.mark.parametrize("case", golden_cases("peer_context", "hookPlan"))
def test_the_same_hooks_run_as_in_the_peer(case: Any) -> None:
    given, expected = case["input"], case["expected"]["result"]["plan"]
    if given.get("trusted") is False:  # extensions have no hooks here, and a folder's own are not read
        return
    hooks, problems = read_hooks(given["hooks"], "workspace")
    disabled = given.get("disabled", ())
    context = given.get("context", {})
    subject = context.get("toolName") or context.get("trigger") or ""
    plan = plan_hooks([hook for hook in hooks if hook.key not in disabled], given["event"], subject)
    assert problems == []
    assert [hook.command for hook in plan.hooks] == [hook["command"] for hook in (expected or {"hooks": []})["hooks"]]
    assert plan.sequential == bool(expected and expected["sequential"])


@pytest.mark.parametrize("case", golden_cases("peer_context", "hookRun"))
def test_what_a_hook_wrote_means_what_it_means_to_the_peer(case: Any) -> None:
    result = case["expected"]["result"]
    if case["id"] in DIFFERENT_ANSWERS:
        return
    end = HookEnd(stdout=result["stdout"], stderr=result["stderr"], exit_code=result["exitCode"])
    assert answer_of(end).output == result.get("output")


@pytest.mark.parametrize("case", golden_cases("peer_context", "hookFromRequest"))
def test_a_request_that_a_hook_shortened_is_put_back_as_the_peer_does(case: Any) -> None:
    contents = [Content(role=one["role"], parts=tuple(one["parts"])) for one in case["input"]["base"]["contents"]]
    changed = with_messages(contents, case["input"]["hookRequest"]["messages"])
    assert [{"role": one.role, "parts": list(one.parts)} for one in changed] == case["expected"]["result"]["contents"]
    assert messages_of(contents) == [{"role": "user", "content": "ab"}, {"role": "model", "content": "end"}]


DIFFERENT_ENDS: Final[Mapping[str, tuple[str, Any]]] = {
    "seq_before_tool": (INPUTS_ARE_MERGED, {"a": 5, "c": 6}),
    "seq_before_model": (
        "every change counts, and a config keeps what it leaves out",
        {"model": "n", "config": {"topP": 0.5}},
    ),
}
NO_TIMESTAMP: Final = "2026-01-01T00:00:00.000Z"


class _Prints:
    """Each command's answer is what its `echo` would print; what it was told is kept."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    async def run(
        self,
        command: str,
        *,
        cwd: str,
        stdin: bytes,
        env: Mapping[str, str],
        limit_seconds: float,
        is_own: bool = False,
    ) -> HookEnd:
        self.told.append(json.loads(stdin))
        return HookEnd(stdout=command.partition("echo '")[2].removesuffix("'"))


async def fired(hooks: list[Hook], event: Any, fields: dict[str, Any], subject: str = "") -> tuple[Any, _Prints]:
    where = Surroundings(
        session_id="sess-1", cwd="$ROOT", home="/", transcript_path="$ROOT/chats/s.jsonl", is_trusted=True
    )
    runner, options = _Prints(), HookOptions(hooks=tuple(hooks))
    plan = wanted_hooks(options, event, subject, is_trusted=True)
    verdict = await fire(
        options, plan, runner, event, fields, where, now_ms=1_767_225_600_000, report=lambda hook, run: None
    )
    return verdict, runner


@pytest.mark.parametrize("case", golden_cases("peer_context", "hookSequence"))
async def test_hooks_in_order_are_told_what_the_peers_are_told_and_conclude_the_same(case: Any) -> None:
    given, expected = case["input"], case["expected"]["result"]
    hooks = [Hook(event=given["event"], command=command, sequential=True) for command in given["hooks"]]
    verdict, runner = await fired(hooks, given["event"], given["input"])
    assert [{key: told[key] for key in given["input"]} for told in runner.told] == expected["inputs"]
    final = expected["final"]
    assert (verdict.blocks, verdict.asks, verdict.stops) == (final["$blocks"], final["$asks"], final["$stops"])
    changed = verdict.tool_input or verdict.llm_request
    if case["id"] in DIFFERENT_ENDS:
        assert changed == DIFFERENT_ENDS[case["id"]][1]
    else:
        assert (changed, verdict.reason) == (None, final["$reason"])


def _request(of: dict[str, Any]) -> ModelRequest:
    contents = [Content(role=one["role"], parts=tuple(one["parts"])) for one in of["contents"]]
    config = of["config"]
    return ModelRequest(
        model=of["model"], contents=tuple(contents), temperature=config["temperature"], top_p=config["topP"]
    )


@pytest.mark.parametrize("case", golden_cases("peer_context", "hookFire"))
async def test_an_event_tells_hooks_what_the_peers_does_and_takes_their_answer_alike(case: Any) -> None:
    given, expected = case["input"], case["expected"]["result"]
    event, args = given["event"], given["args"]
    subject = ""
    fields: dict[str, Any] = {}
    match event:
        case "SessionStart":
            fields, subject = {"source": args[0]}, args[0]
        case "PreCompress":
            fields, subject = {"trigger": args[0]}, args[0]
        case "AfterAgent":
            fields = {"prompt": args[0], "prompt_response": args[1], "stop_hook_active": args[2]}
        case "BeforeModel":
            fields = {"llm_request": told_of(_request(args[0]))}
        case "BeforeTool":
            names = ("tool_name", "tool_input", "mcp_context", "original_request_name")
            fields, subject = {**dict(zip(names, args, strict=True))}, args[0]
        case "Notification":
            fields = notification_fields(Proposal(title=args[0]["title"], command=args[0]["command"]))
        case _:
            (candidate,), usage = args[1]["candidates"], dict(args[1]["usageMetadata"])
            del usage["thoughtsTokenCount"]
            response = response_of(candidate["content"]["parts"], candidate["finishReason"], usage)
            fields = {"llm_request": told_of(_request(args[0])), "llm_response": response}
    hooks, problems = read_hooks(given["hooks"], "workspace")
    verdict, runner = await fired(hooks, event, fields, subject)
    told = json.loads(json.dumps(expected["stdin"]).replace("$TS", NO_TIMESTAMP))
    if event == "AfterModel":  # thoughts are nobody's answer
        told["llm_response"]["candidates"][0]["content"]["parts"] = ["y"]
    assert (runner.told, problems) == ([told], [])
    returned = expected["returned"] or {}
    flags = returned.get("final", returned)
    assert verdict.blocks == flags.get("blocked", flags.get("$blocks", False))
    if "reason" in flags:
        assert verdict.reason == flags["reason"]
    assert verdict.clears == flags.get("$clear", False)
    assert verdict.context == flags.get("$context", "")
    if "modifiedModel" in returned:
        assert verdict.llm_request == {"model": returned["modifiedModel"]}
    if "syntheticResponse" in returned:
        assert text_of_response(verdict.llm_response) == text_of_response(returned["syntheticResponse"])


def test_values_of_a_request_that_no_request_can_have_are_left_out() -> None:
    config = {"temperature": 9, "topP": 0.5, "topK": True, "maxOutputTokens": 1.5, "seed": 1}
    assert settings_of(config) == {"topP": 0.5}
    assert settings_of("no object") == {}


def test_what_is_no_call_is_none_behind_another() -> None:
    def tail(value: Any) -> Any:
        return verdict_of("AfterTool", {"hookSpecificOutput": {"tailToolCallRequest": value}}).tail

    assert tail({"name": "read_file", "args": {"a": 1}}) == ("read_file", {"a": 1})
    assert tail({"name": "list_directory", "args": []}) == ("list_directory", {})
    assert [tail(value) for value in ("x", {"name": " "}, {"name": 7}, None)] == [None] * 4
    output = {"hookSpecificOutput": {"tailToolCallRequest": {"name": "x"}}}
    assert verdict_of("BeforeTool", output).tail is None
