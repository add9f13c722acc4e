"""Every key of Gemini CLI that concerns a chat: whether we read it, what shows that, and what its values do."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.settings.authority import AUTHORITY
from gemini_companion.settings.in_force import settings_in_force
from gemini_companion.settings.migrations import migrated
from gemini_companion.settings.session_retention import DAY_MS
from tests.support.settings_desk import Desk, only_problem

ROOT: Final = Path(__file__).parents[2]

READ: Final[dict[str, str]] = {
    "advanced.excludedEnvVars": "test_excluded_variables_count_in_a_gemini_folder_alone_and_the_lists_of_all_layers_are_united",
    "advanced.ignoreLocalEnv": "test_a_projects_plain_file_can_be_passed_over_but_not_its_gemini_folders_nor_the_persons",
    "context.discoveryMaxDirs": "test_below_is_searched_breadth_first_in_so_many_folders",
    "context.fileName": "test_names_of_a_folder_are_read_in_the_order_of_the_setting_and_may_have_folders",
    "context.importFormat": "test_memory_files_are_found_where_gemini_cli_finds_them",
    "context.includeDirectoryTree": "test_the_folder_tree_is_left_out_where_nobody_wants_it",
    "context.memoryBoundaryMarkers": "test_other_markers_lead_up_to_the_top_but_never_to_the_home_folder_or_past_it",
    "general.defaultApprovalMode": "test_the_approval_mode_becomes_ours_unless_ours_is_set",
    "general.maxAttempts": "test_a_request_is_tried_as_often_as_the_settings_say",
    "general.plan.enabled": "test_plan_mode_that_is_turned_off_is_no_default",
    "general.sessionRetention.enabled": "test_sessions_are_kept_as_long_as_gemini_cli_would_unless_our_own_setting_says_otherwise",
    "general.sessionRetention.maxAge": "test_sessions_are_kept_as_long_as_gemini_cli_would_unless_our_own_setting_says_otherwise",
    "general.sessionRetention.maxCount": "test_gemini_clis_settings_keep_their_meaning",
    "general.sessionRetention.minRetention": "test_gemini_clis_settings_keep_their_meaning",
    "hooks": "test_contexts_of_hooks_go_along_with_the_prompt_escaped",
    "mcpServers": "test_a_server_is_one_value_and_the_later_one_counts_whole",
    "model.compressionThreshold": "test_the_layers_lie_over_each_other_in_their_order",
    "model.maxSessionTurns": "test_the_layers_lie_over_each_other_in_their_order",
    "model.name": "test_a_file_that_is_edited_while_a_turn_streams_takes_effect_on_the_next",
    "security.disableAlwaysAllow": "test_a_yes_keeps_no_rule_where_that_is_forbidden",
    "security.environmentVariableRedaction.allowed": "test_commands_get_what_the_persons_own_settings_name",
    "security.environmentVariableRedaction.blocked": "test_what_is_blocked_is_given_to_no_command",
    "security.disableYoloMode": "test_no_rule_lets_every_tool_run_where_that_is_forbidden_and_no_layer_allows_it_again",
    "tools.allowed": "test_the_lists_of_gemini_cli_become_rules_and_the_last_layer_s_replace_the_others",
    "tools.confirmationRequired": "test_the_lists_of_gemini_cli_become_rules_and_the_last_layer_s_replace_the_others",
    "tools.core": "test_the_lists_of_gemini_cli_become_rules_and_the_last_layer_s_replace_the_others",
    "tools.exclude": "test_the_lists_of_gemini_cli_become_rules_and_the_last_layer_s_replace_the_others",
    "tools.shell.inactivityTimeout": "test_a_key_counts_from_the_layers_of_its_class_and_from_no_other",
    "tools.truncateToolOutputThreshold": "test_a_key_counts_from_the_layers_of_its_class_and_from_no_other",
}
"""Keys that we read, with the test that shows what their values do, or from where they are taken."""

LEFT: Final[dict[str, str]] = {
    "context.fileFiltering.respectGeminiIgnore": "what an ignore file hides, only a person who names it in a prompt shows",
    "context.fileFiltering.respectGitIgnore": "the same",
    "context.includeDirectories": "an editor has folders of its own: add them to the workspace",
    "context.loadMemoryFromIncludeDirectories": "the same: every folder of the workspace has its memory",
    "ide.enabled": "the editor is the only client: without it there is no chat",
    "security.environmentVariableRedaction.enabled": "it is always on",
    "security.folderTrust.enabled": "trust is the editor's, or that of `companion.trustedFolders`; no file turns it off",
}
"""Keys that we leave alone, and why; those of servers, skills, subagents and loops are told beside what they are for."""


def test_every_key_is_read_or_left_with_a_reason():
    assert not READ.keys() & LEFT.keys()
    assert READ.keys() <= AUTHORITY.keys()
    assert not LEFT.keys() & AUTHORITY.keys()


def test_every_key_that_is_read_names_a_test_that_there_is():
    found = {
        line.split("def ", 1)[1].split("(")[0]
        for file in (ROOT / "tests").rglob("test_*.py")
        for line in file.read_text("utf-8").splitlines()
        if line.lstrip().startswith(("def test_", "async def test_"))
    }
    assert set(READ.values()) - found == set()


# --- modes


@pytest.mark.parametrize(
    ("wished", "mode"), [(None, "ask"), ("default", "ask"), ("auto_edit", "acceptEdits"), ("plan", "plan")]
)
def test_the_approval_mode_becomes_ours_unless_ours_is_set(desk: Desk, wished: str | None, mode: str):
    desk.user({"general": {"defaultApprovalMode": wished}})
    assert desk.load().settings.tools.mode == mode
    desk.work({"companion": {"tools": {"mode": "plan"}}})
    assert desk.load().settings.tools.mode == "plan"
    assert desk.load(trusted=False).settings.tools.mode == mode


def test_the_old_name_of_the_approval_mode_counts_and_the_file_stays_as_it_is(desk: Desk):
    desk.user({"tools": {"approvalMode": "auto_edit"}})
    before = desk.user_file.read_bytes()
    assert desk.load().settings.tools.mode == "acceptEdits"
    assert desk.user_file.read_bytes() == before


@pytest.mark.parametrize("layer", ["user", "system", "workspace", "editor"])
def test_no_layer_lets_everything_run_unasked(desk: Desk, layer: str):
    content: Any = {"general": {"defaultApprovalMode": "yolo"}}
    put = {"user": desk.user, "system": desk.system, "workspace": desk.work}.get(layer)
    if put:
        put(content)
    found = desk.load(content if layer == "editor" else None)
    assert found.settings.tools.mode == "ask"
    assert 'expected "default", "auto_edit" or "plan"' in only_problem(found).message


@pytest.mark.parametrize(
    "off", [{"general": {"plan": {"enabled": False}}}, {"experimental": {"plan": False}}], ids=["new", "old"]
)
def test_plan_mode_that_is_turned_off_is_no_default(desk: Desk, off: Any):
    desk.user({"general": {"defaultApprovalMode": "plan"}})
    desk.work(off)
    assert desk.load().settings.tools.mode == "ask"


# --- what is forbidden

ALL: Final[Any] = {"tool": "*", "decision": "allow"}
SOME: Final[Any] = {"tool": "*", "decision": "allow", "path": "/docs"}


def test_no_rule_lets_every_tool_run_where_that_is_forbidden_and_no_layer_allows_it_again(desk: Desk):
    desk.user({"companion": {"tools": {"rules": [ALL, SOME]}}, "tools": {"allowed": ["*"]}})
    assert [one.rule.path for one in desk.load().settings.tools.rules] == [None, "/docs", None]
    desk.work({"security": {"disableYoloMode": True}})
    for trusted in (True, False):
        found = desk.load({"security": {"disableYoloMode": False}}, trusted=trusted)
        assert [one.rule for one in found.settings.tools.rules] == [
            ToolRule(tool="*", decision="allow", path="/docs"),
        ]
        listed = {one.key: one.value for one in settings_in_force(found)}
        assert listed["security.disableYoloMode"] is True


# --- how long sessions are kept


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ({}, 30),
        ({"general": {"sessionRetention": {"maxAge": "12h"}}}, None),  # less than what stays in any case
        ({"general": {"sessionRetention": {"maxAge": "0d"}}}, None),
        ({"general": {"sessionRetention": {"maxAge": "7d"}}}, 7),
        ({"general": {"sessionRetention": {"maxAge": "2w"}}}, 14),
        ({"general": {"sessionRetention": {"maxAge": "1m"}}}, 30),
        ({"general": {"sessionRetention": {"enabled": False, "maxAge": "1d"}}}, None),
        ({"general": {"sessionRetention": {"maxAge": "1d"}}, "companion": {"sessions": {"retentionDays": 90}}}, 90),
        ({"general": {"sessionRetention": {"maxAge": "1d"}}, "companion": {"sessions": {"retentionDays": 0}}}, None),
    ],
)
def test_sessions_are_kept_as_long_as_gemini_cli_would_unless_our_own_setting_says_otherwise(
    desk: Desk, settings: Any, days: int | None
):
    desk.user(settings)
    assert desk.load().settings.session_retention.max_age == (None if days is None else days * DAY_MS)


@pytest.mark.parametrize("age", ["30", "-1d", "1y", "30d ", ""])
def test_an_age_that_says_nothing_deletes_nothing(desk: Desk, age: str):
    desk.user({"general": {"sessionRetention": {"maxAge": age}}})
    found = desk.load()
    assert (found.settings.session_retention.max_age, len(found.problems)) == (None, 1)


# --- renamed keys


def test_old_settings_of_subagents_take_every_subagents_form():
    old = {
        "experimental": {
            "codebaseInvestigatorSettings": {
                "enabled": True,
                "maxNumTurns": 9,
                "maxTimeMinutes": 3,
                "model": "gemini-9",
                "thinkingBudget": 100,
            },
            "cliHelpAgentSettings": {"enabled": False},
        }
    }
    assert migrated(old)["agents"]["overrides"] == {
        "codebase_investigator": {
            "enabled": True,
            "runConfig": {"maxTurns": 9, "maxTimeMinutes": 3},
            "modelConfig": {
                "model": "gemini-9",
                "generateContentConfig": {"thinkingConfig": {"thinkingBudget": 100}},
            },
        },
        "cli_help": {"enabled": False},
    }
