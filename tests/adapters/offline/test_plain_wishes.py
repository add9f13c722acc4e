"""The offline model calls a tool where a prompt plainly asks for it, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.offline.acting import next_step
from gemini_companion.adapters.offline.wishes import Rename, Wish, wish_of
from gemini_companion.engine.history.content import Content, Part, user_text
from gemini_companion.engine.prompts.environment import ENVIRONMENT_TAG
from gemini_companion.sessions.models.port import OpenDocument

ALL = frozenset(
    [
        "read_file",
        "grep_search",
        "list_directory",
        "glob",
        "run_shell_command",
        "replace",
        "write_file",
        "diagnostics",
        "recall",
    ]
)
OPEN = (OpenDocument(path="/w/src/a.py", text="total = 1\nprint(total)\n", is_active=True),)
PLACE = f"<{ENVIRONMENT_TAG}>\n/w\n  pyproject.toml\n  src/\n</{ENVIRONMENT_TAG}>"

PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "Please read src/a.py": ("read_file", {"file_path": "src/a.py"}),
    "read this file": ("read_file", {"file_path": "/w/src/a.py"}),
    "Where is `load_all` used?": ("grep_search", {"pattern": r"\bload_all\b"}),
    "find all references to Config.load": ("grep_search", {"pattern": r"\bConfig\.load\b"}),
    'Search for "not found!"': ("grep_search", {"pattern": r"not\ found!"}),
    "list the files in src": ("list_directory", {"dir_path": "src"}),
    "list the files": ("list_directory", {"dir_path": "."}),
    "find files named a.py": ("glob", {"pattern": "**/a.py"}),
    "Run the tests.": ("run_shell_command", {"command": "python -m pytest -q", "description": "Run the tests"}),
    "run `ls -la src`": ("run_shell_command", {"command": "ls -la src"}),
    "run this:\n```sh\nmake all\n```": ("run_shell_command", {"command": "make all"}),
    "create a file notes.md with `hello`": ("write_file", {"file_path": "notes.md", "content": "hello\n"}),
    "create src/b.py with:\n```python\nx = 1\n```": ("write_file", {"file_path": "src/b.py", "content": "x = 1\n"}),
    "what problems does this file have?": ("diagnostics", {"paths": ["/w/src/a.py"]}),
    "recall what we said about the port": ("recall", {"query": "the port"}),
}


@pytest.mark.parametrize("prompt", PLAIN)
def test_a_plain_wish_becomes_a_call(prompt: str) -> None:
    assert wish_of(prompt, ALL, OPEN, PLACE) == Wish(*PLAIN[prompt])


@pytest.mark.parametrize(
    "prompt",
    [
        "How do I run the tests?",
        "Should I rename total to sum?",
        "Never run the tests without asking.",
        "explain this file",
        "read the following carefully: it matters",
        "I read src/a.py yesterday",
        "search for a better way to do this",
        "run away",
        "change everything to be faster",
        "create a plan with three steps",
        "rename it",
        "The word grep is a program.\nread a.py",
        "",
    ],
)
def test_what_only_mentions_such_words_is_a_question(prompt: str) -> None:
    assert wish_of(prompt, ALL, OPEN, PLACE) is None


def test_a_tool_that_is_not_there_is_not_called() -> None:
    assert wish_of("run the tests", ALL - {"run_shell_command"}, OPEN, PLACE) is None
    assert wish_of("run the tests", ALL, OPEN, "") is None  # nobody knows how they are run


def test_a_name_is_changed_at_once_where_the_file_is_open() -> None:
    assert wish_of("rename total to amount in this file", ALL, OPEN, "") == Rename(
        "total", "amount", "/w/src/a.py", True
    )
    step = next_step([user_text("rename total to amount in this file")], OPEN, ALL)
    assert isinstance(step, tuple)
    assert step[0]["functionCall"] == {
        "name": "replace",
        "args": {
            "file_path": "/w/src/a.py",
            "instruction": "Change 'total' to 'amount'.",
            "old_string": "total",
            "new_string": "amount",
            "allow_multiple": True,
        },
    }


def test_a_name_that_is_part_of_others_is_left_alone_and_told() -> None:
    documents = (OpenDocument(path="/w/a.py", text="total = subtotal\n", is_active=True),)
    step = next_step([user_text("rename total to amount in this file")], documents, ALL)
    assert isinstance(step, str)
    assert "part of longer names" in step


def _call(name: str, args: dict[str, Any]) -> Content:
    return Content(role="model", parts=({"functionCall": {"name": name, "args": args}},))


def _result(name: str, **response: str) -> Content:
    return Content(role="user", parts=({"functionResponse": {"name": name, "response": response}},))


def test_a_file_that_is_not_open_is_read_before_it_is_changed() -> None:
    prompt = user_text("replace `1` with `2` in src/b.py")
    first = next_step([prompt], (), ALL)
    assert isinstance(first, tuple)
    assert first[0]["functionCall"]["name"] == "read_file"
    then = next_step(
        [prompt, _call("read_file", {"file_path": "src/b.py"}), _result("read_file", output="x = 1")], (), ALL
    )
    assert isinstance(then, tuple)
    assert then[0]["functionCall"]["args"]["new_string"] == "2"


def test_a_word_that_was_searched_for_is_told_as_it_was_written() -> None:
    for name in ("load_all", "Config.load"):
        said = next_step(
            [
                user_text(f"Where is {name} used?"),
                _call("grep_search", {"pattern": rf"\b{name.replace('.', chr(92) + '.')}\b"}),
                _result("grep_search", output="a.py\n1: load_all()"),
            ],
            (),
            ALL,
        )
        assert isinstance(said, str)
        assert f"I searched for `{name}`:" in said


def test_what_came_of_a_command_is_quoted() -> None:
    prompt = user_text("run `make`")
    answer = next_step(
        [prompt, _call("run_shell_command", {"command": "make"}), _result("run_shell_command", output="3 failed")],
        (),
        ALL,
    )
    assert isinstance(answer, str)
    assert "I ran `make`" in answer
    assert "3 failed" in answer


def test_what_was_declined_is_told_as_that() -> None:
    answer = next_step(
        [
            user_text("run `make`"),
            _call("run_shell_command", {"command": "make"}),
            _result("run_shell_command", error="Not done"),
        ],
        (),
        ALL,
    )
    assert isinstance(answer, str)
    assert "did not go ahead" in answer
    assert "Not done" in answer


_PARTS = st.recursive(
    st.none() | st.text(max_size=20) | st.integers(),
    lambda inner: st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"functionResponse": st.dictionaries(st.sampled_from(["name", "response", "id"]), _PARTS)}
        )
    )
)
def test_strange_results_raise_nothing(parts: list[Part]) -> None:
    next_step([user_text("run `x`"), Content(role="user", parts=tuple(parts))], (), ALL)


@given(st.text(max_size=300))
def test_no_text_raises(prompt: str) -> None:
    wish_of(prompt, ALL, OPEN, PLACE)
