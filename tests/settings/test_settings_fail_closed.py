"""One wrong value, or a file that cannot be read, takes nothing out of force that restricts."""

import json
import os
import random
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from gemini_companion import settings
from gemini_companion.adapters.gemini.catalogue import GeminiCatalogue
from gemini_companion.adapters.offline.registration import register
from gemini_companion.adapters.watching import FileWatch
from gemini_companion.sessions.models.registry import ModelRegistry, Registration
from gemini_companion.settings.authority import AUTHORITY, key_path
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.last_good import LastGood
from gemini_companion.settings.load import HeldLayer, LoadedSettings, SettingsLoader
from gemini_companion.settings.masking import MASK
from gemini_companion.settings.objects import JsonObject, merge, nested, value_at
from gemini_companion.settings.service import SettingsService
from gemini_companion.settings.strictness import HARMLESS, HELD, MOST_FAULTS, STRICTEST, mended
from gemini_companion.settings.tool_rules import NAMES
from tests.settings.test_settings_authority import EXAMPLES
from tests.support.scripted_model import ScriptedModel
from tests.support.settings_desk import Desk, only_problem, write

posix_only = pytest.mark.skipif(os.name != "posix", reason="not everybody may make links here")

DENIES: Final = {"tool": "*", "path": "*.sql", "decision": "deny"}
RESTRICTIVE: Final[dict[str, Any]] = {
    "general.defaultApprovalMode": "plan",
    "model.maxSessionTurns": 20,
    "tools.core": ["read_file", "write_file"],
    "tools.allowed": ["read_file"],
    "tools.exclude": ["run_shell_command"],
    "tools.confirmationRequired": ["write_file"],
    "mcp.allowed": ["mine"],
    "mcp.excluded": ["theirs"],
    "hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "judge"}]}]},
    "hooksConfig.disabled": ["x"],
    "security.disableYoloMode": True,
    "security.disableAlwaysAllow": True,
    "security.environmentVariableRedaction.blocked": ["TOKEN"],
    "companion.tools.mode": "ask",
    "companion.tools.rules": [DENIES, {"tool": "replace", "decision": "ask"}],
    "companion.tools.sandbox": "required",
    "companion.budget.sessionTokens": 400,
    "companion.budget.sessionCost": 1.5,
    "companion.budget.dayTokens": 4_000,
    "companion.budget.dayCost": 2.5,
    "companion.trustedFolders": ["/trusted"],
    "companion.redaction": "on",
}
WRONG: Final = (7.5, True, "no such", -1, [1, {}], {"a": [None]}, [[]], 10**15)


def document_of(values: Mapping[str, Any]) -> JsonObject:
    made: JsonObject = {}
    for key, value in values.items():
        made = merge(made, nested(key_path(key), value))
    return made


BASE: Final = document_of({**EXAMPLES, **RESTRICTIVE})


class Start:
    """A user's file, and servers that start one after the other over the same private folder."""

    def __init__(self, root: Path) -> None:
        self.home, self.file, self.private = root, root / ".gemini" / "settings.json", root / "private"
        self.file.parent.mkdir(parents=True)

    def loader(self) -> SettingsLoader:
        return SettingsLoader(self.home, (), {}, last_good=LastGood(self.private, {}), keeps=True)

    def load(self, content: object) -> LoadedSettings:
        write(self.file, content)
        return self.loader().reload(trusted=True)


def put(document: JsonObject, key: str, value: object) -> JsonObject:
    changed = json.loads(json.dumps(document))
    inner = changed
    *way, last = key.split(".")
    for step in way:
        inner = inner.setdefault(step, {})
    inner[last] = value
    return changed


def test_every_key_has_a_strictest_value_or_is_known_to_restrict_nothing() -> None:
    assert STRICTEST.keys() | HARMLESS == AUTHORITY.keys()
    assert not STRICTEST.keys() & HARMLESS


@pytest.mark.parametrize("key", STRICTEST)
def test_a_strictest_value_is_itself_one_that_can_be_used(key: str) -> None:
    layer = document_of(dict(STRICTEST[key]))
    assert mended(layer) == (layer, [])


def at_least(found: object, wanted: object) -> bool:
    """Whether a value holds what another one does: of a list each element."""
    return (
        all(one in found for one in wanted) if isinstance(wanted, list) and isinstance(found, list) else found == wanted
    )


def test_two_hundred_files_with_one_fault_each_lose_nothing_that_restricts(tmp_path: Path) -> None:
    """Every key, at the start, beside what was good before, and after a restart."""
    dice = random.Random(28)
    keys = [*AUTHORITY, *(dice.choice(list(AUTHORITY)) for _ in range(200 - len(AUTHORITY)))]
    assert len(keys) >= 200
    for number, key in enumerate(keys):
        wrong = next(one for one in dice.sample(WRONG, len(WRONG)) if mended(put({}, key, one))[1])
        start = Start(tmp_path / str(number))
        content = put(BASE, key, wrong)
        strict = dict(STRICTEST.get(key, ()))
        first, again = start.load(content), start.loader().reload(trusted=True)
        live = start.loader()
        write(start.file, BASE)
        live.reload(trusted=True)
        write(start.file, content)
        for loaded in (first, again, live.reload(trusted=True)):
            assert key in only_problem(loaded).message
            assert loaded.settings.held == ()
            for other in STRICTEST.keys() - {key} - strict.keys():
                held = value_at(loaded.document, key_path(other))
                assert at_least(held, value_at(BASE, key_path(other))), (key, wrong, other, held)
            for other, value in strict.items():
                held = value_at(loaded.document, key_path(other))
                assert held == value or at_least(held, value) or isinstance(wrong, list), (key, wrong, other, held)


@pytest.mark.parametrize("section", [7, "x", [], True, None])
def test_what_stands_where_a_section_should_be_has_all_of_it_be_strictest(tmp_path: Path, section: object) -> None:
    loaded = Start(tmp_path).load({**BASE, "companion": section})
    if section is None:
        assert loaded.problems == ()
        return
    tools, settings = loaded.settings.tools, loaded.settings
    assert (tools.mode, tools.sandbox, tools.network, settings.redaction) == ("plan", "required", False, True)
    assert "strictest values hold" in only_problem(loaded).message
    assert {"tool": "*", "decision": "deny"} in loaded.document["companion"]["tools"]["rules"]
    assert loaded.document["tools"]["exclude"] == ["run_shell_command"]


@pytest.mark.parametrize("key", AUTHORITY)
def test_a_key_that_stands_twice_loses_nothing_that_restricts(tmp_path: Path, key: str) -> None:
    """Beside other values in the same object, in sections that stand twice, and after a restart with a broken file."""
    *way, last = key.split(".")
    text = f'{json.dumps(last)}: {json.dumps(value_at(BASE, key_path(key)))}, {json.dumps(last)}: "other"'
    for step in reversed(way):
        text = f"{json.dumps(step)}: {{{text}}}"
    start = Start(tmp_path)
    first = start.load("{" + text + "}")
    assert key in first.problems[0].message
    assert "twice" in first.problems[0].message
    write(start.file, "{")
    for loaded in (first, start.loader().reload(trusted=True)):
        for restricting, value in STRICTEST.get(key, ()):
            held = value_at(loaded.document, key_path(restricting))
            assert held == value or at_least(held, value), (key, restricting, held)


def test_sections_that_stand_twice_are_laid_over_each_other(tmp_path: Path) -> None:
    denied = '"rules": [{"tool": "*", "path": "*.sql", "decision": "deny"}]'
    loaded = Start(tmp_path).load(
        '{"tools": {"exclude": ["glob"]}, "companion": {"tools": {' + denied + '}}, "tools": {"exclude": ["replace"],'
        ' "shell": {"inactivityTimeout": 9}, "exclude": null}, "companion": {"tools": {"rules": []}},'
        ' "security": {"disableYoloMode": true, "disableYoloMode": false}, "ui": {"x": 1, "x": 2}}'
    )
    assert loaded.document["tools"] == {"exclude": ["glob", "replace"], "shell": {"inactivityTimeout": 9}}
    assert loaded.document["companion"]["tools"]["rules"] == [DENIES]
    assert loaded.document["security"]["disableYoloMode"] is True
    assert any("tools: stands there twice; both count" in problem.message for problem in loaded.problems)
    assert not any("ui" in problem.message.rpartition("settings.json")[2] for problem in loaded.problems)


def test_a_rule_that_says_two_things_forbids(tmp_path: Path) -> None:
    loaded = Start(tmp_path).load(
        '{"companion": {"tools": {"rules": [{"tool": "glob", "decision": "deny", "decision": "allow"}]}}}'
    )
    assert loaded.document["companion"]["tools"]["rules"] == [{"tool": "glob", "decision": "deny"}]
    assert "twice" in only_problem(loaded).message


def test_a_server_with_two_answers_is_left_out(tmp_path: Path) -> None:
    loaded = Start(tmp_path).load(
        '{"mcpServers": {"x": {"command": "a", "trust": false, "trust": true}, "y": {"command": "b"},'
        ' "z": {"command": "c"}, "z": {"command": "d"}}}'
    )
    assert loaded.document["mcpServers"] == {"y": {"command": "b"}}


@pytest.mark.parametrize(
    ("old", "key", "value"),
    [
        ("excludeTools", "tools.exclude", ["glob"]),
        ("coreTools", "tools.core", ["glob"]),
        ("allowedTools", "tools.allowed", ["glob"]),
        ("allowMCPServers", "mcp.allowed", ["mine"]),
        ("excludeMCPServers", "mcp.excluded", ["theirs"]),
        ("excludedProjectEnvVars", "advanced.excludedEnvVars", ["TOKEN"]),
        ("maxSessionTurns", "model.maxSessionTurns", 3),
    ],
)
def test_what_restricts_counts_by_the_name_that_gemini_cli_once_gave_it(
    desk: Desk, old: str, key: str, value: object
) -> None:
    desk.user({old: value})
    loaded = desk.load()
    assert (loaded.problems, loaded.document) == ((), nested(key_path(key), value))
    desk.user({old: {"x": 1}})
    assert key in only_problem(desk.load()).message


def test_exclusions_by_the_old_name_and_the_new_one_both_count(desk: Desk) -> None:
    desk.work({"excludeTools": ["glob"], "tools": {"exclude": ["replace"]}})
    assert desk.load(trusted=False).document == {"tools": {"exclude": ["replace", "glob"]}}


@pytest.mark.parametrize(
    "spelled", ["read_file", " read_file ", "Read_File", "ReadFileTool", "readfiletool", "ReadFile"]
)
def test_what_restricts_knows_a_tool_by_all_its_spellings(desk: Desk, spelled: str) -> None:
    desk.user(
        {
            "tools": {"exclude": [spelled], "allowed": ["Read_File"]},
            "companion": {"tools": {"rules": [{"tool": spelled, "decision": "ask"}]}},
        }
    )
    rules = {(one.rule.tool, one.rule.decision) for one in desk.load().settings.tools.rules}
    assert rules == {("read_file", "deny"), ("read_file", "ask"), ("Read_File", "allow")}


def test_a_restriction_of_a_tool_that_nobody_knows_is_said(desk: Desk) -> None:
    rules = [{"tool": "Bosh", "decision": "deny"}, {"tool": "bash", "decision": "allow"}]
    desk.user({"tools": {"exclude": ["mcp_mine_x", "glob", "*"]}, "companion": {"tools": {"rules": rules}}})
    ((_, remark),) = desk.load().remarks
    assert remark.message.endswith(": Bosh")


def test_other_programs_names_of_tools_restrict_ours_allow_nothing_and_are_said(desk: Desk) -> None:
    entries = [
        "Bash(git push:*)",
        "Read(./.env)",
        "Edit",
        "Write(//etc/**)",
        "WebFetch(domain:x.org)",
        "execute_command",
    ]
    desk.user({"tools": {"exclude": entries, "confirmationRequired": ["run_in_terminal"], "allowed": ["Bash", "Read"]}})
    loaded = desk.load()
    rules = [one.rule for one in loaded.settings.tools.rules]
    assert [(one.tool, one.decision, one.path, one.command) for one in rules] == [
        ("run_shell_command", "deny", None, ("git", "push")),
        ("read_file", "deny", ".env", None),
        ("replace", "deny", None, None),
        ("write_file", "deny", None, None),
        ("web_fetch", "deny", None, None),
        ("run_shell_command", "deny", None, None),
        ("Bash", "allow", None, None),
        ("Read", "allow", None, None),
        ("run_shell_command", "ask", None, None),
    ]
    ((_, remark),) = loaded.remarks
    assert "Bash for run_shell_command, Read for read_file" in remark.message


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ({"Tools": {"exclude": ["glob"]}}, "Tools"),
        ({"tools ": {"exclude": ["glob"]}}, "tools "),
        ({"tools": {"Exclude": ["glob"]}}, "tools.Exclude"),
        ({"exclude_tools": ["glob"]}, "exclude_tools"),
        ({"companion": {"tools": {"RULES": []}}}, "companion.tools.RULES"),
        ({"companion": {"budget": {"sessionToken": 400}}}, "companion.budget.sessionToken"),
        ({"companion": {"tools": {"mod": "plan"}}}, "companion.tools.mod"),
        ({"companion": {"quotas": {}}}, "companion.quotas"),
        ({"tools": {"exclud": ["glob"]}}, "tools.exclud"),
        ({"mcp": {"exclude": ["theirs"]}}, "mcp.exclude"),
        ({"tool": {"exclude": ["glob"]}}, "tool"),
    ],
)
def test_a_key_that_is_one_but_for_its_spelling_is_told(desk: Desk, content: JsonObject, key: str) -> None:
    desk.user(content)
    assert f": {key}: has no effect" in only_problem(desk.load()).message


def test_keys_that_gemini_cli_has_and_we_do_not_are_nobodys_fault(desk: Desk) -> None:
    desk.user(
        {
            "ui": {"theme": "x"},
            "ide": {"enabled": True},
            "context": {"includeDirectories": ["../a"], "fileFiltering": {"respectGitIgnore": True}},
            "tools": {"truncateToolOutputLines": 5, "sandbox": "docker", "shell": {"pager": "cat"}},
            "security": {"auth": {"selectedType": "x"}, "folderTrust": {"enabled": True}},
            "$schema": "x",
        }
    )
    assert desk.load().problems == ()


def test_the_tools_that_settings_know_are_the_built_in_ones() -> None:
    """By all their names, as their modules have them."""
    source = Path(settings.__file__).parent.parent
    found = set[str]()
    for file in [*source.glob("tools/**/*.py"), *source.glob("sessions/**/*.py")]:
        text = file.read_text("utf-8")
        if "aliases" in text and "risk" in text:
            found.update(re.findall(r'^    name(?:: str)? = "([a-z_]+)"', text, re.MULTILINE))
    assert {"read_file", "recall"} <= found
    assert found <= NAMES


RULES_THAT_CANNOT_BE_READ: Final[list[tuple[object, list[Any]]]] = [
    ({"tool": "*", "path": "*.sql", "decision": "denny"}, [DENIES]),
    ({"tool": "*", "path": 7, "decision": "deny"}, [{"tool": "*", "decision": "deny"}]),
    ({"tool": "glob", "command": "rm", "decision": "ask"}, [{"tool": "glob", "decision": "ask"}]),
    ({"path": "*.sql", "decision": "deny"}, [DENIES]),
    ({"tool": 3, "decision": "allow"}, []),
    ("deny *.sql", [{"tool": "*", "decision": "deny"}]),
]


@pytest.mark.parametrize(("rule", "instead"), RULES_THAT_CANNOT_BE_READ)
@pytest.mark.parametrize("trusted", [True, False])
def test_of_a_rule_that_cannot_be_read_what_it_may_forbid_is_forbidden(
    desk: Desk, rule: object, instead: list[Any], trusted: bool
) -> None:
    good = {"tool": "write_file", "path": "*.key", "decision": "deny"}
    layer = {"companion": {"tools": {"rules": [good, rule]}}}
    desk.work(layer)
    found = value_at(desk.load(trusted=trusted).document, ("companion", "tools", "rules"))
    assert found == [good, *(one for one in instead if trusted or one["decision"] == "deny")]


@pytest.mark.parametrize("key", ["tools.exclude", "tools.confirmationRequired"])
def test_a_name_that_cannot_be_read_in_a_list_of_what_is_held_back_stands_for_every_tool(desk: Desk, key: str) -> None:
    desk.user(put({}, key, ["write_file", {"tool": "glob"}]))
    assert value_at(desk.load().document, key_path(key)) == ["write_file", "*"]


def test_a_number_that_stands_there_as_a_text_leaves_no_doubt(desk: Desk) -> None:
    desk.user({"model": {"maxSessionTurns": "20"}})
    assert desk.load().settings.max_session_turns == 20


def test_a_harmless_value_that_was_good_stays_while_the_new_one_is_wrong(desk: Desk) -> None:
    desk.user({"model": {"name": "good", "tokenLimit": 5}})
    desk.load()
    desk.user({"model": {"name": 3}, "companion": {"budget": {"dayTokens": 9}}})
    found = desk.load().settings
    assert (found.model_name, found.token_limit_override, found.budget.day_tokens) == ("good", None, 9)


def test_trailing_commas_are_read(desk: Desk) -> None:
    desk.user('{"tools": {"exclude": ["glob",],}, /* , */ }')
    loaded = desk.load()
    assert (loaded.problems, loaded.document) == ((), {"tools": {"exclude": ["glob"]}})


# --- a file that cannot be read

BROKEN: Final = ['{"model": ', "", "[]", b'{"a": "\xff"}', "{} {}", '{"a": ' + "[" * 80 + "]" * 80 + "}"]


@pytest.mark.parametrize("content", BROKEN)
def test_a_file_that_cannot_be_read_leaves_the_last_good_one_in_force_after_a_restart(
    tmp_path: Path, content: object
) -> None:
    start = Start(tmp_path)
    assert start.load(BASE).problems == ()
    loaded = start.load(content)
    assert "what it last held stays in force" in only_problem(loaded).hint
    assert loaded.document == BASE
    assert loaded.settings.held == ()


def test_secrets_are_marks_in_the_copy_and_what_needs_one_is_off_after_a_restart(tmp_path: Path) -> None:
    start, secret = Start(tmp_path), "ghp_" + "a1B2" * 9
    servers = {"with": {"command": "run", "env": {"TOKEN": secret}, "trust": True}, "without": {"command": "run"}}
    hooks = {"BeforeTool": [{"hooks": [{"type": "command", "command": f"judge --token {secret}"}]}]}
    rules = [{"tool": "run_shell_command", "command": ["curl", secret], "decision": "deny"}]
    start.load({"mcpServers": servers, "hooks": hooks, "companion": {"tools": {"rules": rules}}})
    (copy,) = start.private.iterdir()
    assert secret.encode() not in copy.read_bytes()
    assert copy.stat().st_mode & 0o077 == 0
    loaded = start.load("{")
    off, used = loaded.settings.mcp.servers
    assert (off.name, used.name, used.refusal) == ("with", "without", "")
    assert off.refusal.startswith(f"It is off, since {start.file} cannot be read")
    assert not off.is_trusted
    assert secret not in repr(off)
    assert loaded.document["companion"]["tools"]["rules"] == [{"tool": "run_shell_command", "decision": "deny"}]
    assert loaded.document["tools"]["confirmationRequired"] == ["*"]  # for the hook that may have forbidden
    assert MASK not in json.dumps(loaded.document)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"layer": 7}', b"\0" * 40])
def test_a_damaged_copy_counts_for_none(tmp_path: Path, damage: bytes) -> None:
    start = Start(tmp_path)
    start.load(BASE)
    (copy,) = start.private.iterdir()
    copy.write_bytes(damage)
    assert start.load("{").settings.held == (str(start.file),)


def test_a_file_that_is_gone_has_no_copy(tmp_path: Path) -> None:
    start = Start(tmp_path)
    start.load(BASE)
    start.file.unlink()
    assert start.loader().reload(trusted=True).document == {}
    assert list(start.private.iterdir()) == []


def model_of(settings: Settings) -> str:
    gemini = Registration(catalogue=GeminiCatalogue(), provider=ScriptedModel())
    return ModelRegistry([gemini, register({})]).choose(settings, asked="gemini-2.5-pro").name


@pytest.mark.parametrize("content", [one for one in BROKEN if one])
def test_where_nothing_is_known_of_it_everything_is_asked_about_and_the_built_in_model_answers(
    tmp_path: Path, content: object
) -> None:
    start = Start(tmp_path)
    loaded = start.load(content)
    assert isinstance(only_problem(loaded), HeldLayer)
    assert loaded.document == HELD
    assert ("*", "ask") in [(one.rule.tool, one.rule.decision) for one in loaded.settings.tools.rules]
    assert model_of(loaded.settings) == "offline"
    assert model_of(start.load({}).settings) == "gemini-2.5-pro"


@pytest.mark.parametrize("content", ["", " \n", "// mine\n", b"\xef\xbb\xbf"])
def test_a_file_with_nothing_in_it_forbids_nothing_unless_it_held_something(tmp_path: Path, content: object) -> None:
    start = Start(tmp_path)
    loaded = start.load(content)
    assert (loaded.problems, loaded.document, loaded.settings.held) == ((), {}, ())
    start.load(BASE)
    assert start.load(content).document == BASE


@posix_only
@pytest.mark.parametrize("link", ["settings.json", ".gemini"])
def test_a_link_that_leads_nowhere_is_a_file_that_cannot_be_read(tmp_path: Path, link: str) -> None:
    """The file itself or a folder above it: what it held stays in force, and the person may go on without it."""
    start = Start(tmp_path)
    name = start.file if link == "settings.json" else start.file.parent
    elsewhere = tmp_path / "dotfiles"
    start.load(BASE)
    name.rename(elsewhere)
    name.symlink_to(elsewhere)
    running = start.loader()
    assert running.reload(trusted=True).document == BASE
    elsewhere.rename(tmp_path / "away")
    for loader in (running, start.loader()):
        loaded = loader.reload(trusted=True)
        assert "leads nowhere" in only_problem(loaded).message
        assert loaded.document == BASE
    for copy in start.private.iterdir():
        copy.unlink()
    unknown = start.loader()
    assert unknown.reload(trusted=True).settings.held
    unknown.go_on(start.file)
    assert start.loader().reload(trusted=True).settings.held == ()


def test_the_person_says_that_it_goes_on_without_the_file_until_that_changes(tmp_path: Path) -> None:
    start = Start(tmp_path)
    write(start.file, "{")
    loader = start.loader()
    assert loader.reload(trusted=True).settings.held
    loader.go_on(start.file)
    for one in (loader, start.loader()):  # the same server, and the next one
        loaded = one.reload(trusted=True)
        assert (loaded.settings.held, loaded.document) == ((), {})
        assert "as you said" in only_problem(loaded).hint
    assert start.load("{ ").settings.held


def test_a_file_of_a_workspace_that_is_not_trusted_keeps_nobody_from_their_model(desk: Desk) -> None:
    desk.work("{")
    loaded = desk.load(trusted=False)
    assert (loaded.settings.held, loaded.document) == ((), HELD)
    assert only_problem(loaded).hint


def test_a_layer_with_more_faults_than_anybody_mends_counts_as_one_that_cannot_be_read(desk: Desk) -> None:
    desk.user({"mcpServers": {f"s{number}": 0 for number in range(MOST_FAULTS + 1)}})
    assert desk.load().settings.held


def test_which_files_cannot_be_read_now_is_known_until_they_are_mended(tmp_path: Path) -> None:
    start = Start(tmp_path)
    start.load(BASE)
    for known in (True, False):  # what it last held stays in force, or nothing is known of it
        write(start.file, "{")
        if not known:
            shutil.rmtree(start.private)
        loader = start.loader()
        assert loader.reload(trusted=True).settings.unread == (str(start.file),)
        write(start.file, put(BASE, "companion.redaction", 7))  # a wrong value costs its key alone
        assert loader.reload(trusted=True).settings.unread == ()
        write(start.file, BASE)
        assert loader.reload(trusted=True).settings.unread == ()


def test_it_is_told_when_a_file_cannot_be_read_any_more_and_when_it_can(tmp_path: Path) -> None:
    start, told = Start(tmp_path), list[tuple[str, ...]]()
    write(start.file, BASE)
    service = SettingsService(
        tmp_path,
        {},
        on_changed=told.append,
        on_problem=lambda _: None,
        watch_files=FileWatch,
        last_good=LastGood(start.private, {}),
    )
    for content, unread in (("{", (str(start.file),)), (BASE, ())):
        write(start.file, content)
        service.reload()
        assert service.current.unread == unread
    assert len(told) == 2
