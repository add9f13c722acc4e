"""What the peer does wrong with hooks, done right; and what hostile hooks and settings can say."""

from __future__ import annotations

import codecs
import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.hooks.answers import HookEnd, HookOutput, answer_of, text_of
from gemini_companion.engine.hooks.command_line import filled_in
from gemini_companion.engine.hooks.config import DEFAULT_TIMEOUT_MS, Hook, read_hooks
from gemini_companion.engine.hooks.matching import is_quick, plan_hooks
from gemini_companion.engine.hooks.merging import Verdict, merge_outputs, verdict_of
from tests.hostile.timing import slowness


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (HookEnd(exit_code=2), ""),
        (HookEnd(exit_code=2, stdout="log", stderr="no"), "no"),
        (HookEnd(exit_code=2, stdout='{"systemMessage": "m"}', stderr="no"), "no"),
        (HookEnd(exit_code=2, stdout='{"decision": "allow"}', stderr="no"), "no"),
        (HookEnd(exit_code=2, stdout='{"decision": "ask", "reason": "no"}'), "no"),
        (HookEnd(exit_code=1, stdout='{"decision": "deny", "reason": "no"}'), "no"),
        (HookEnd(stdout='loading…\n{"decision": "deny", "reason": "no"}'), "no"),
    ],
)
def test_a_refusal_is_understood_however_it_is_said(end: HookEnd, reason: str) -> None:
    output = answer_of(end).output
    assert output is not None
    assert (output["decision"], output["reason"]) == ("deny", reason)


def test_a_hook_that_may_not_run_has_a_person_asked_about_the_call_that_it_would_have_judged() -> None:
    end = HookEnd(withheld="a command wrote check.sh")
    assert answer_of(end, "BeforeTool").output == {"decision": "ask", "reason": "a command wrote check.sh"}
    assert answer_of(end, "BeforeAgent").output is None
    assert answer_of(end, "BeforeAgent").fault == answer_of(end, "BeforeTool").fault == "a command wrote check.sh"


@pytest.mark.parametrize(
    ("end", "decision"),
    [
        (HookEnd(exit_code=None, stdout='{"decision": "allow"}'), None),
        (HookEnd(timed_out=True, stdout='{"hookSpecificOutput": {"tool_input": {}}}'), None),
        (HookEnd(flooded=True, stdout="text"), None),
        (HookEnd(failed="no shell"), None),
        (HookEnd(exit_code=None, stdout='{"decision": "deny"}'), "deny"),
        (HookEnd(timed_out=True, stdout='{"decision": "block"}'), "block"),
        (HookEnd(timed_out=True, stdout='{"decision": "deny", "rea'), "deny"),
        (HookEnd(flooded=True, stderr='{"decision": "deny"}'), "deny"),
    ],
)
def test_of_a_hook_that_did_not_end_by_itself_nothing_counts_but_a_refusal_and_the_fault(
    end: HookEnd, decision: str | None
) -> None:
    answer = answer_of(end)
    assert (answer.output or {}).get("decision") == decision
    assert answer.fault


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "Deny"}',
        '{"decision": " BLOCK "}',
        "{'decision': 'deny'}",
        "decision: deny",
        '["{\\"decision\\": \\"deny\\"}"]',
        '[{"decision": "deny"}]',
        '\x1b[31m{"decision": "deny"}\x1b[0m',
        '```json\n{"decision": "deny"}\n```',
        'Answer: {"decision": "deny"} (policy 7)',
        '{"decision": "allow"}\n{"decision": "deny"}\n{"decision": "allow"}',
        '{"decision": "allow"}{"decision": "deny"}',
        '{"systemMessage": "on it"}\n{"decision": "deny", reason: no quotes}',
        '{"hookSpecificOutput": {"permissionDecision": "deny"}}',
        '{"decision": "allow", "hookSpecificOutput": {"permissionDecision": "deny"}}',
        '{"permissionDecision": "deny"}',
    ],
)
def test_what_plainly_says_no_refuses(text: str) -> None:
    for event in ("BeforeTool", "BeforeAgent"):
        for end in (HookEnd(stdout=text), HookEnd(stdout="working on it", stderr=text)):
            output = answer_of(end, event).output
            assert verdict_of(event, merge_outputs(event, [output or {}])).blocks


def test_the_reason_beside_the_decision_that_counts_is_told() -> None:
    inner = {"permissionDecision": "deny", "permissionDecisionReason": "not on Sundays"}
    output = answer_of(HookEnd(stdout=json.dumps({"reason": "x", "hookSpecificOutput": inner}))).output
    assert output is not None
    assert output["reason"] == "not on Sundays"


@pytest.mark.parametrize("decision", ["dney", "denied", "no", False, 7, ["deny"]])
def test_a_decision_that_means_nothing_has_a_person_asked_about_a_call_and_is_told(decision: object) -> None:
    end = HookEnd(stdout=json.dumps({"decision": decision}))
    answer = answer_of(end)
    assert answer.output is not None
    assert answer.output["decision"] == "ask"
    assert "means nothing" in answer.fault
    assert not verdict_of("BeforeAgent", answer_of(end, "BeforeAgent").output).blocks
    assert "means nothing" in answer_of(end, "BeforeAgent").fault


def test_an_answer_that_is_no_json_is_a_message_and_is_told() -> None:
    answer = answer_of(HookEnd(stdout='{"decision": "allow", oops}'))
    assert answer == ({"decision": "allow", "systemMessage": '{"decision": "allow", oops}'}, "its answer is no JSON")


@pytest.mark.parametrize(
    "text", ['{"hook_event_name": "x", "prompt": "decision: deny"}', "No decision: denylist is empty"]
)
def test_words_about_a_refusal_are_none(text: str) -> None:
    output = answer_of(HookEnd(stdout=text)).output
    assert output is not None
    assert output.get("decision") != "deny"


@pytest.mark.parametrize(
    "output",
    [
        {"decision": 7, "reason": [], "continue": "false", "systemMessage": {}},
        {"hookSpecificOutput": "x"},
        {"hookSpecificOutput": {"additionalContext": 5, "tool_input": [1], "toolConfig": [], "llm_response": "x"}},
        {"hookSpecificOutput": {"toolConfig": {"mode": {}, "allowedFunctionNames": [1, None]}}},
    ],
)
@pytest.mark.parametrize("event", ["BeforeTool", "BeforeModel", "BeforeToolSelection", "PreCompress"])
def test_what_has_the_wrong_type_is_as_if_it_were_not_there(output: HookOutput, event: Any) -> None:
    assert verdict_of(event, merge_outputs(event, [output])) == Verdict()


DENIES = {"decision": "deny", "reason": "größer als 5 €"}
DENY = json.dumps(DENIES, ensure_ascii=False)


def end_of(data: bytes, **more: Any) -> HookEnd:
    return HookEnd(stdout=text_of(data, data[:4]), **more)


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF8 + DENY.encode(),
        codecs.BOM_UTF16_LE + DENY.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + DENY.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + DENY.encode("utf-32-le"),
        codecs.BOM_UTF32_BE + DENY.encode("utf-32-be"),
        DENY.encode("utf-16-le"),
        DENY.encode("utf-16-be"),
        b"\0\0" + DENY.encode() + b"\0",
        "loading…\r\n".encode() + codecs.BOM_UTF8 + DENY.encode(),
        b"\xfd\x80" + DENY.encode() + b"\xe2",
        DENY.encode() + b"\nthe server is up\n",
        b'{"level": "info"}\n' + DENY.encode() + b'\n{"level": "info"}',
        b"guard: " + DENY.encode(),
        b"{ not this\n{ nor this }\n" + json.dumps(DENIES, indent=2).encode() + b"\n{",
    ],
)
def test_a_refusal_is_understood_whatever_stands_around_it_and_in_which_encoding(data: bytes) -> None:
    assert answer_of(end_of(data)).output == DENIES


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"decision": "deny", "reason": "bad \xff byte"}', r"bad \udcff byte"),
        (b'{"decision": "deny", "reason": "half \\ud83d!"}', r"half \ud83d!"),
        (b'{"decision": "deny", "reason": "two\nlines"}', "two\nlines"),
        ('log\n{"decision": "deny", "reason": "x"}'.encode("utf-16-le") + b"\n", "x"),
    ],
)
def test_what_is_no_text_in_an_answer_costs_only_itself(data: bytes, reason: str) -> None:
    output = answer_of(end_of(data)).output
    assert output is not None
    assert (output["decision"], output["reason"]) == ("deny", reason)


def test_bytes_that_are_no_text_are_shown_as_escapes_in_a_message() -> None:
    assert answer_of(end_of(b"caf\xe9", exit_code=2)).output == {"decision": "deny", "reason": r"caf\udce9"}


def test_of_an_output_that_was_cut_the_answer_counts_or_its_lack_is_told() -> None:
    assert answer_of(end_of(b"...\n" + DENY.encode(), is_cut=True)) == (DENIES, "")
    answer = answer_of(end_of(b"...", is_cut=True), "AfterTool")
    assert answer.output is not None
    assert answer.output["decision"] == "allow"
    assert "no answer stands in the last ones" in answer.fault


def test_a_call_is_asked_about_whose_hook_wrote_so_much_that_a_refusal_may_be_gone() -> None:
    output = answer_of(end_of(b"...", is_cut=True)).output
    assert output is not None
    assert output["decision"] == "ask"


@pytest.mark.parametrize("text", ["Set {} as it is", "{} is what I found", "use {x}", '{"a": 1} {"b": 2}'])
def test_a_message_with_braces_is_a_message(text: str) -> None:
    assert answer_of(HookEnd(stdout=text)).output == {"decision": "allow", "systemMessage": text}


@given(
    st.binary(max_size=200), st.sampled_from(["", DENY, '{"a": NaN}\n', '{"a": 1' + "0" * 400 + "}\nx"]), st.binary()
)
def test_whatever_bytes_a_hook_writes_its_answer_can_be_sent_on(before: bytes, answer: str, after: bytes) -> None:
    data = before + answer.encode() + after
    for end in (end_of(data), HookEnd(exit_code=2, stderr=text_of(data, data[:4]))):
        msgspec.json.encode(answer_of(end))


def test_an_output_of_braces_takes_a_moment() -> None:
    for worst in ('{"a":' * 200_000, '{"\n' * 300_000, "{}\n" * 300_000, '{"a": "' + "x" * 900_000, "{\n" * 400_000):
        started = time.thread_time()
        answer_of(HookEnd(stdout=worst))
        assert (time.thread_time() - started) / slowness() < 2, worst[:10]


def test_a_value_as_deep_as_a_well_is_text() -> None:
    output = answer_of(HookEnd(stdout='{"a":' * 5_000 + "1" + "}" * 5_000)).output
    assert output is not None
    assert output["decision"] == "allow"


def test_changes_of_one_input_by_several_hooks_add_up() -> None:
    outputs: list[HookOutput] = [
        {"hookSpecificOutput": {"tool_input": {"a": 5}}},
        {"hookSpecificOutput": {"tool_input": {"c": 6}}},
    ]
    assert verdict_of("BeforeTool", merge_outputs("BeforeTool", outputs)).tool_input == {"a": 5, "c": 6}


def test_malformed_settings_leave_out_what_is_malformed_and_say_where() -> None:
    hooks, problems = read_hooks(
        {
            "BeforeTol": [],
            "BeforeTool": [
                7,
                {"hooks": "x"},
                {"hooks": [{"type": "command"}, {"type": "command", "command": "a", "timeout": -1}]},
            ],
            "AfterTool": {"hooks": []},
        },
        "user",
    )
    assert [(hook.command, hook.timeout_ms) for hook in hooks] == [("a", DEFAULT_TIMEOUT_MS)]
    assert [problem.partition(":")[0] for problem in problems] == [
        "hooks.BeforeTol",
        "hooks.BeforeTool[0]",
        "hooks.BeforeTool[1].hooks",
        "hooks.BeforeTool[2].hooks[0]",
        "hooks.BeforeTool[2].hooks[1].timeout",
        "hooks.AfterTool",
    ]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a?){40}a{40}", r"(a)\1*", "a*a*a*a*b", "((a)|b)+"])
def test_a_pattern_that_could_take_for_ever_is_a_name(pattern: str) -> None:
    assert not is_quick(pattern)
    hook = Hook(event="BeforeTool", command="c", matcher=pattern)
    started = time.thread_time()
    assert plan_hooks([hook], "BeforeTool", "a" * 60).hooks == ()
    assert plan_hooks([hook], "BeforeTool", pattern).hooks == (hook,)
    assert (time.thread_time() - started) / slowness() < 1


@pytest.mark.parametrize("pattern", ["^mcp_.*_read", "write_file|replace", "(read|write)_file", "[*+(]x", r"a\(b"])
def test_patterns_that_people_write_are_patterns(pattern: str) -> None:
    assert is_quick(pattern)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("python3 $GEMINI_PROJECT_DIR/guard.py", "python3 '/a b'/guard.py"),
        ('python3 "$GEMINI_PROJECT_DIR/guard.py"', 'python3 "$GEMINI_PROJECT_DIR/guard.py"'),
        ("echo '$GEMINI_PROJECT_DIR' \\$GEMINI_PROJECT_DIR", "echo '$GEMINI_PROJECT_DIR' \\$GEMINI_PROJECT_DIR"),
        ("echo ${GEMINI_PROJECT_DIR} $GEMINI_PROJECT_DIRS", "echo ${GEMINI_PROJECT_DIR} $GEMINI_PROJECT_DIRS"),
    ],
)
def test_a_folder_with_a_blank_is_one_word_in_a_command(command: str, line: str) -> None:
    assert filled_in(command, {"GEMINI_PROJECT_DIR": "/a b"}) == line
