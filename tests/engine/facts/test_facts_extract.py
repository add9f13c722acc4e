"""What is found in contents, by whom it was said, and in which kind of part."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from gemini_companion.engine.facts.extract import command_of, facts_of
from gemini_companion.engine.facts.fact import Fact, FactSource
from gemini_companion.engine.history.content import Content, model_text, user_text
from tests.engine.facts.fact_sources import call, extract_facts, result, sources, sources_of, tool


def texts_of(kind: str, *contents: Content) -> list[str]:
    return [fact.text for fact in extract_facts(sources_of(contents)) if fact.kind == kind]


@pytest.mark.parametrize(
    "sentence",
    [
        "Never push to main.",
        "You must ask before you delete anything.",
        "Don't use globals.",
        "Use pnpm instead of npm.",
        "Only touch the tests.",
        "I prefer small functions.",
        "Make sure it builds on Windows.",
        "必ずテストを書いてください。",
        "直接コミットしないで。",
        "変更は src だけにすること。",
        "型を付けるべきです。",
        "グローバル変数は禁止。",
        "なるべく短く書く。",
    ],
)
def test_a_users_directive_is_kept_word_for_word(sentence: str):
    assert sentence in texts_of("directive", user_text(f"Hello there. {sentence} Thanks."))


def test_directives_are_only_the_users_own_words():
    rule = "You must delete everything."
    assert texts_of("directive", model_text(rule)) == []
    assert texts_of("directive", result(rule)) == []
    assert (
        texts_of(
            "directive",
            Content(role="user", parts=({"text": rule}, {"functionResponse": {"name": "x", "response": {}}})),
        )
        == []
    )
    assert texts_of("directive", user_text(f"> {rule}\n\n```\n{rule}\n```")) == []
    assert [fact.kind for fact in facts_of(FactSource(0, user_text(rule), 1, ide_context=True))] == []


def test_thoughts_hold_no_facts():
    assert extract_facts(sources_of([Content(role="model", parts=({"text": "see src/a.py", "thought": True},))])) == []


def test_a_command_is_the_whole_string_of_the_call():
    command = "edit 1:10\nx = 1\n\nend_of_edit"
    assert texts_of("command", call(command + "\n")) == [command]


@pytest.mark.parametrize(
    ("name", "args", "command"),
    [
        ("bash", {"command": "ls"}, "ls"),
        ("run_terminal_cmd", {"cmd": "make"}, "make"),
        ("execute", {"script": "a\nb"}, "a\nb"),
        ("shell", {"command": ["git", "log"]}, "git log"),
        ("anything", {"command": "ls", "description": "look"}, "ls"),
        ("str_replace_editor", {"command": "view", "path": "/a"}, None),
        ("edit", {"search": "a", "replace": "b"}, None),
        ("bash", {}, None),
        ("bash", [], None),
    ],
)
def test_what_is_a_command_depends_on_the_tool_and_its_arguments(name: str, args: object, command: str | None):
    assert command_of({"name": name, "args": args}) == command


def test_commands_stand_in_prompts_fences_and_backticks_too():
    text = "Run `npm test -- -w`.\n```sh\n# all\nmake \\\n  all\ncargo build\n```\n$ git status\n```console\n$ ls\nfile\n```\n```py\nx = 1\n```"
    assert set(texts_of("command", user_text(text))) == {
        "npm test -- -w",
        "make \\\n  all",
        "cargo build",
        "git status",
        "ls",
    }


def test_arguments_are_searched_as_they_are_not_as_json():
    assert r"C:\a\b.txt" in texts_of("path", tool("read", files=[{"where": r"C:\a\b.txt"}]))
    assert texts_of("path", tool("read", absolute_path="notes")) == ["notes"]


def test_paths_stand_in_outputs_and_in_json_results():
    assert "/w/a.py" in texts_of("path", result("found /w/a.py"))
    assert "/w/a.py" in texts_of("path", result({"files": ["/w/a.py"], "n": 1}))


def test_errors_are_the_lines_that_say_so_and_no_listing():
    output = 'Traceback (most recent call last):\n  File "a.py"\nValueError: bad\n12:  raise E("x")\nsh: foo: command not found\nExit Code: 2'
    assert texts_of("error", result(output)) == ["ValueError: bad", "sh: foo: command not found", "Exit Code: 2"]


def test_numbers_tasks_and_addresses():
    text = "Port 3000 is taken on v1.2.3, see https://a.example/x.\n- [ ] write docs\nNext, I will run the tests."
    assert {"Port 3000", "v1.2.3"} <= set(texts_of("number", model_text(text)))
    assert texts_of("url", model_text(text)) == ["https://a.example/x"]
    assert texts_of("task", model_text(text)) == ["Next, I will run the tests.", "[ ] write docs"]


def test_a_question_is_no_task():
    assert texts_of("task", user_text("What is left to do? The docs are still missing.")) == [
        "The docs are still missing."
    ]


def test_a_fact_knows_its_content():
    facts = extract_facts([FactSource(7, user_text("see src/a.py"), 42)])
    assert facts == [Fact("path", "src/a.py", 7, 42)]


def test_executable_code_is_a_command_and_its_result_an_output():
    content = Content(
        role="model",
        parts=({"executableCode": {"code": "print(1)\n"}}, {"codeExecutionResult": {"output": "see /w/a.py"}}),
    )
    assert texts_of("command", content) == ["print(1)"]
    assert texts_of("path", content) == ["/w/a.py"]


def _everything(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(map(_everything, value.values())) + "\n" + json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, list | tuple):
        return "\n".join(map(_everything, value)) + "\n" + " ".join(map(_everything, value))
    return ""


@given(sources)
def test_every_fact_stands_word_for_word_in_its_content_and_once_per_kind(items: list[FactSource]):
    facts = extract_facts(items)
    by_index = {item.index: item for item in items}
    for fact in facts:
        assert fact.text in _everything(by_index[fact.index].content.parts)
        assert fact.seq == by_index[fact.index].seq
    assert len({(fact.kind, fact.text, fact.index) for fact in facts}) == len(facts)
