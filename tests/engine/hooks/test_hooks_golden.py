"""Hooks against what Gemini CLI does. Where we differ on purpose the case names why."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.hooks.answers import HookEnd, answer_of
from gemini_companion.engine.hooks.config import read_hooks
from gemini_companion.engine.hooks.matching import plan_hooks
from gemini_companion.engine.hooks.merging import hook_context, merge_outputs, verdict_of
from gemini_companion.engine.hooks.model_text import messages_of, text_of_response, with_messages
from tests.support.golden import golden_cases

INPUTS_ARE_MERGED = "changes of a tool's input are merged, and what is no object is none"
DIFFERENT_ANSWERS = {
    "run_killed": "what a signal ended said nothing that counts",
    "run_env_secret_kept_by_default": "secrets never reach a hook",
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
        assert hook_context(verdict.context) == f"<hook_context>{final['$context']}</hook_context>"
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
