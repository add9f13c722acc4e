"""Calls meet their results; whether they worked and what they touched is read from both."""

from __future__ import annotations

import pytest
from hypothesis import given

from gemini_companion.engine.facts.actions import (
    call_name,
    call_text,
    outcome_of,
    read_actions,
    touches,
    working_directory,
)
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import call_of
from tests.engine.facts.fact_sources import call, result, sources, sources_of, tool


def only(*contents: Content):
    (action,) = read_actions(sources_of(contents))
    return action


def outcome(command: str, output: object) -> tuple[str, str]:
    found = outcome_of(only(call(command), result(output)))
    return found.status, found.line


@pytest.mark.parametrize(
    ("command", "output", "status", "line"),
    [
        ("python a.py", "345", "ok", "345"),
        ("rm a.py", "", "ok", ""),
        ("pytest", "....\n12 passed in 0.3s\nbye", "ok", "12 passed in 0.3s"),
        ("pytest", "F...\nFAILED tests/a.py::b - no\n1 failed, 3 passed", "failed", "FAILED tests/a.py::b - no"),
        ("python a.py", 'Traceback (most recent call last):\n  File "a.py"\nKeyError: 1', "failed", "KeyError: 1"),
        ("./run", "sh: ./run: Permission denied", "failed", "sh: ./run: Permission denied"),
        ("make", "cc a.c\nExit Code: 2", "failed", "Exit Code: 2"),
        ("make", "a.c:1: error: no\nExit Code: 2", "failed", "Exit Code: 2: a.c:1: error: no"),
        ("make", "all good\nExit Code: 0", "ok", "all good ⏎ Exit Code: 0"),
        ("cat log.txt", "error: this is what the file says", "ok", "error: this is what the file says"),
        (
            "open a.py",
            "[File: /w/a.py (3 lines total)]\n1:x\n2:y\n(Open file: /w/a.py)\n(Current directory: /w)\nbash-$",
            "ok",
            "(2 numbered lines)",
        ),
        ("run", {"error": "no such tool"}, "failed", "no such tool"),
    ],
)
def test_an_outcome_says_whether_it_worked_and_the_line_that_tells(
    command: str, output: object, status: str, line: str
):
    assert outcome(command, output) == (status, line)


def test_a_call_without_a_result_is_open():
    assert outcome_of(only(call("make"))).status == "open"


def test_results_find_their_calls_by_id_then_by_name_then_in_order():
    def with_id(name: str, number: str) -> Content:
        return Content(
            role="model", parts=({"functionCall": {"id": number, "name": name, "args": {"command": number}}},)
        )

    def answer(name: str, number: str | None, output: str) -> Content:
        response = {"name": name, "response": {"output": output}} | ({"id": number} if number else {})
        return Content(role="user", parts=({"functionResponse": response},))

    calls = [with_id("a", "1"), with_id("b", "2"), with_id("a", "3")]
    results = [answer("b", None, "to b"), answer("x", "3", "to 3"), answer("z", None, "rest")]
    actions = read_actions(sources_of([*calls, *results]))
    assert [action.output for action in actions] == ["rest", "to b", "to 3"]


def test_an_id_that_is_used_again_goes_to_the_open_call():
    again = [call("one"), result("1"), call("two"), result("2")]
    assert [action.output for action in read_actions(sources_of(again))] == ["1", "2"]


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([call("cat src/a.py"), result("x")], [("read", "src/a.py")]),
        ([call("rm src/a.py"), result("")], [("deleted", "src/a.py")]),
        ([call("sed -i s/a/b/ src/a.py"), result("")], [("changed", "src/a.py")]),
        ([call("python src/a.py"), result("1")], [("ran", "src/a.py")]),
        (
            [tool("write_file", file_path="/w/a.py", content="x.py"), result("ok", "write_file")],
            [("created", "/w/a.py")],
        ),
        ([tool("replace", file_path="/w/a.py"), result({"error": "no match"}, "replace")], []),
        ([call("edit 1:2\nx\nend_of_edit"), result("File updated.\n(Open file: /w/a.py)")], [("changed", "/w/a.py")]),
        ([call("git status"), result("M src/a.py")], []),
    ],
)
def test_what_a_call_does_to_files_is_told_by_its_tool_and_its_arguments(
    contents: list[Content], expected: list[tuple[str, str]]
):
    action = only(*contents)
    assert [(touch.verb, touch.path) for touch in touches(action, outcome_of(action))] == expected


def test_the_working_directory_is_the_newest_that_an_output_names():
    actions = read_actions(
        sources_of(
            [call("a"), result("(Current directory: /w/old)"), call("b"), result("(Current directory: /w/new)\nbash-$")]
        )
    )
    assert working_directory(actions) == "/w/new"
    assert working_directory([]) is None


def test_a_call_is_named_in_a_line_and_told_in_full():
    action = only(tool("edit", path="a.py", text="x\ny"))
    assert call_name(action) == "edit path=a.py"
    assert call_text(action, 100) == "edit path=a.py, text=x\ny"
    assert call_text(action, 2) == "edit path=a. … (+2 characters), text=x … (+1 characters)"
    assert call_name(only(call("a\nb\nc"))) == "a … (+2 lines)"


@given(sources)
def test_every_call_becomes_one_action_and_every_action_has_an_outcome(items: list[FactSource]):
    actions = read_actions(items)
    assert len(actions) == sum(
        call_of(part) is not None
        for item in items
        for part in item.content.parts
        if not isinstance(part.get("text"), str)
    )
    for action in actions:
        found = outcome_of(action)
        assert (found.status == "open") is (action.output is None)
        assert list(touches(action, found)) is not None
