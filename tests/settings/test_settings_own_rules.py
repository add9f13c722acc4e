"""Rules of consent in settings files: which count, and how one is added to the user's own and taken back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.settings.jsonc import parse
from gemini_companion.settings.jsonc_edit import NotEditable, with_element, without_elements
from gemini_companion.settings.own_file import OwnSettings, rule_id
from gemini_companion.settings.tool_rules import RULES, tool_rule
from tests.support.settings_desk import Desk, only_problem

NPM = ToolRule(tool="run_shell_command", decision="allow", command=("npm", "test"))
NPM_JSON = {"tool": "run_shell_command", "decision": "allow", "command": ["npm", "test"]}


def rules_of(desk: Desk, *, trusted: bool = True, editor: Any = None) -> list[tuple[str, str, str]]:
    found = desk.load(editor, trusted=trusted).settings.tools.rules
    return [(one.rule.tool, one.rule.decision, one.source) for one in found]


def ours(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"companion": {"tools": {"rules": list(rules)}}}


# --- which rules count


def test_the_rules_of_all_layers_are_joined_with_their_origins(desk: Desk):
    desk.user(ours({"tool": "glob", "decision": "ask"}))
    desk.work(ours({"tool": "write_file", "decision": "allow", "path": "src/"}))
    assert rules_of(desk, editor=ours({"tool": "*", "decision": "deny"})) == [
        ("glob", "ask", "user"),
        ("write_file", "allow", "workspace"),
        ("*", "deny", "editor"),
    ]


def test_of_an_untrusted_workspace_only_what_denies_counts(desk: Desk):
    desk.user(ours({"tool": "glob", "decision": "ask"}))
    desk.work(
        ours({"tool": "a", "decision": "allow"}, {"tool": "b", "decision": "deny"}, {"tool": "c", "decision": "ask"})
        | {"tools": {"allowed": ["d"], "exclude": ["e"], "confirmationRequired": ["f"]}}
    )
    assert rules_of(desk, trusted=False) == [
        ("glob", "ask", "user"),
        ("b", "deny", "workspace"),
        ("e", "deny", "workspace"),
    ]
    assert len(rules_of(desk, trusted=True)) == 7


def test_in_an_untrusted_workspace_the_editor_only_denies_too(desk: Desk):
    section = ours({"tool": "a", "decision": "allow"}, {"tool": "b", "decision": "deny"})
    assert rules_of(desk, trusted=False, editor=section) == [("b", "deny", "editor")]


def test_the_lists_of_gemini_cli_become_rules_and_the_last_layer_s_replace_the_others(desk: Desk):
    desk.user({"tools": {"allowed": ["glob"], "exclude": ["x"], "core": ["ShellTool(ls)", "read_file"]}})
    desk.work({"tools": {"allowed": ["WriteFileTool", "run_shell_command(git status)"], "exclude": ["y"]}})
    loaded = desk.load()
    assert [
        (one.rule.tool, one.rule.decision, one.rule.command, one.is_own) for one in loaded.settings.tools.rules
    ] == [
        ("x", "deny", None, False),
        ("y", "deny", None, False),
        ("write_file", "allow", None, False),
        ("run_shell_command", "allow", ("git", "status"), False),
    ]
    assert loaded.settings.tools.core == {"run_shell_command", "read_file"}


@pytest.mark.parametrize(
    ("text", "tool", "command"),
    [
        ("write_file", "write_file", None),
        (" ShellTool ", "run_shell_command", None),
        ("run_shell_command()", "run_shell_command", None),
        ("run_shell_command(*)", "run_shell_command", None),
        ("run_shell_command(git commit -m 'a b')", "run_shell_command", ("git", "commit", "-m", "a b")),
        ("run_shell_command(it's)", "run_shell_command", ("it's",)),
    ],
)
def test_an_entry_of_gemini_cli_is_a_tool_or_the_beginning_of_a_command(
    text: str, tool: str, command: tuple[str, ...] | None
):
    assert tool_rule(text, "deny") == ToolRule(tool=tool, decision="deny", command=command)


def test_a_workspace_folder_is_meant_by_its_real_path_and_its_rule_is_taken_back_as_it_is_written(desk: Desk):
    (desk.home / "real").mkdir()
    (desk.home / "link").symlink_to(desk.home / "real")
    desk.user(ours({"tool": "write_file", "decision": "allow", "path": "/a", "workspace": "~/link"}))
    (found,) = desk.load().settings.tools.rules
    assert found.rule.workspace == os.path.realpath(desk.home / "real")
    assert found.as_written is not None
    assert OwnSettings(desk.user_file).remove(rule_id(found.as_written))
    assert desk.load().settings.tools.rules == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool": "x", "decision": "deny", "workspace": "src"},
        {"tool": "x", "decision": "deny", "workspace": ""},
        {"tool": "x"},
        {"tool": "", "decision": "deny"},
        {"tool": "x", "decision": "yes"},
        {"tool": "x", "decision": "deny", "path": "!a"},
        {"tool": "x", "decision": "deny", "command": []},
        {"tool": "x", "decision": "deny", "command": "ls"},
    ],
)
def test_a_rule_that_is_none_is_told_with_its_place(desk: Desk, wrong: dict[str, Any]):
    desk.user(ours(wrong))
    assert "companion.tools.rules" in only_problem(desk.load()).message


def test_zero_seconds_set_no_limit_to_commands(desk: Desk):
    desk.user({"tools": {"shell": {"inactivityTimeout": 0}}, "companion": {"tools": {"commandSeconds": 0}}})
    found = desk.load().settings.tools
    assert (found.inactivity_seconds, found.command_seconds, found.question_seconds) == (None, None, 300)


# --- adding to the user's own file


def test_a_rule_is_added_where_there_is_no_file_and_read_back(desk: Desk):
    own = OwnSettings(desk.user_file)
    own.add(NPM)
    own.add(NPM)
    (found,) = desk.load().settings.tools.rules
    assert (found.rule, found.source) == (NPM, "user")
    assert desk.user_file.stat().st_mode & 0o777 == 0o600
    assert own.remove(rule_id(NPM))
    assert not own.remove(rule_id(NPM))
    assert desk.load().settings.tools.rules == ()


COMMENTED = """{
  // mine
  "model": {"name": "offline"}, /* the built-in one */
  "companion": {
    "tools": {
      "rules": [
        {"tool": "glob", "decision": "ask"} // why
      ]
    }
  }
}
"""


def test_comments_and_everything_else_stay_to_the_character(desk: Desk):
    desk.user(COMMENTED)
    desk.user_file.chmod(0o640)
    own = OwnSettings(desk.user_file)
    own.add(NPM)
    text = desk.user_file.read_text("utf-8")
    assert text == COMMENTED.replace('"ask"} // why\n', f'"ask"}}, // why\n        {json.dumps(NPM_JSON)}\n')
    assert desk.user_file.stat().st_mode & 0o777 == 0o640
    own.remove(rule_id(NPM))
    assert parse(desk.user_file.read_text("utf-8")) == parse(COMMENTED)
    assert "// why" in desk.user_file.read_text("utf-8")


def test_a_link_stays_a_link_and_a_mark_stays_in_front(desk: Desk, tmp_path: Path):
    target = tmp_path / "dotfiles.json"
    target.write_bytes(b"\xef\xbb\xbf{}")
    desk.user_file.symlink_to(target)
    OwnSettings(desk.user_file).add(NPM)
    assert desk.user_file.is_symlink()
    assert target.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert len(desk.load().settings.tools.rules) == 1


@pytest.mark.parametrize("text", ["{", "[]", "5", '{"companion": 5}', '{"companion": {"tools": {"rules": {}}}}'])
def test_a_file_that_cannot_be_changed_stays_as_it_is(desk: Desk, text: str):
    desk.user(text)
    with pytest.raises(InvalidSettings) as caught:
        OwnSettings(desk.user_file).add(NPM)
    assert str(desk.user_file) in caught.value.message
    assert desk.user_file.read_text("utf-8") == text
    assert os.listdir(desk.user_file.parent) == ["settings.json"]


# --- the change itself

BLANK = st.sampled_from(["", " ", "\n", "\r\n  ", "// c, ]\n", "/* } */"])
LEAVES = st.sampled_from(["1", '"a,]//"', "true", "null", "[]", "{}", '[1, {"x": [2]}]'])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A settings file with comments everywhere, with or without the list."""
    blank = lambda: draw(BLANK)  # noqa: E731

    def members(*wanted: str) -> str:
        found = [*wanted, *(f'"k{number}":{blank()}{draw(LEAVES)}' for number in range(draw(st.integers(0, 2))))]
        return "{" + ",".join(f"{blank()}{one}{blank()}" for one in draw(st.permutations(found))) + blank() + "}"

    elements = ",".join(f"{blank()}{leaf}{blank()}" for leaf in draw(st.lists(LEAVES, max_size=3)))
    listed = f'"rules":{blank()}[{elements}{blank()}]'
    inner = members(*([listed] if draw(st.booleans()) else []))
    tools = f'"tools":{blank()}{inner}'
    outer = members(*([tools] if draw(st.booleans()) else []))
    return blank() + members(*([f'"companion":{blank()}{outer}'] if draw(st.booleans()) else [])) + blank()


@given(texts())
def test_an_element_is_added_and_taken_away_again_whatever_is_around_it(text: str):
    more = with_element(text, RULES, NPM_JSON)
    found: Any = parse(more)
    assert found["companion"]["tools"]["rules"][-1] == NPM_JSON
    assert more.count("// c") == text.count("// c")
    less: Any = parse(without_elements(more, RULES, [NPM_JSON]))
    before: Any = parse(text)
    assert less["companion"]["tools"].pop("rules") == before.get("companion", {}).get("tools", {}).pop("rules", [])
    for key, value in before.items():
        assert key == "companion" or less[key] == value


@given(texts(), st.lists(LEAVES, max_size=3))
def test_elements_are_taken_away_wherever_they_stand(text: str, leaves: list[str]):
    gone = [json.loads(leaf) for leaf in leaves]
    before: Any = parse(text)
    after: Any = parse(without_elements(text, RULES, gone))
    held = before.get("companion", {}).get("tools", {}).pop("rules", None)
    kept = after.get("companion", {}).get("tools", {}).pop("rules", None)
    assert kept == (None if held is None else [one for one in held if one not in gone])
    assert after == before


@given(st.text(st.sampled_from('{}[]",:1/*\n a'), max_size=30))
def test_whatever_the_text_it_is_changed_rightly_or_refused(text: str):
    try:
        changed = with_element(text, RULES, 1)
    except NotEditable:
        return
    assert json.dumps(parse(changed)).endswith("1]}}}")
