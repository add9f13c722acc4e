"""The system's two files, the command line and an experiment: where they lie among the layers, and whom they may bind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gemini_companion.settings.experiments import ExperimentsFile, experiments_of
from gemini_companion.settings.load import SettingsLoader
from gemini_companion.settings.places import places
from tests.support.settings_desk import Desk, only_problem, write

posix_only = pytest.mark.skipif(os.name != "posix", reason="there are no such bits here")


def test_the_layers_lie_over_each_other_in_their_order(tmp_path: Path):
    desk = Desk(tmp_path, command_line={"model": {"compressionThreshold": 0.6}})
    layers = (desk.system_defaults, desk.user, desk.work, desk.system)
    for number, set_layer in enumerate(layers, start=1):
        set_layer({"model": {"compressionThreshold": number / 10, "tokenLimit": number, "maxSessionTurns": number}})
    desk.system({"model": {"tokenLimit": 4}})
    found = desk.load({"model": {"compressionThreshold": 0.5}}).settings
    assert (found.compression_threshold, found.token_limit_override, found.max_session_turns) == (0.6, 4, 3)
    found = desk.load({"model": {"tokenLimit": 5}}, trusted=False).settings
    assert (found.token_limit_override, found.max_session_turns) == (5, 2)


def test_the_command_line_names_the_model_before_the_environment_does(tmp_path: Path):
    desk = Desk(tmp_path, {"GEMINI_MODEL": "env"}, command_line={"model": {"name": "ordered"}})
    assert desk.load().settings.model_name == "ordered"


@pytest.mark.parametrize(
    ("platform", "system"),
    [
        ("linux", "/etc/gemini-cli/settings.json"),
        ("freebsd14", "/etc/gemini-cli/settings.json"),
        ("darwin", "/Library/Application Support/GeminiCli/settings.json"),
    ],
)
def test_the_system_has_its_files_where_gemini_cli_has_them(platform: str, system: str):
    found = places(Path("/home/me"), {}, platform)
    assert found.system == Path(system)
    assert found.system_defaults == Path(system).with_name("system-defaults.json")
    assert found.user == Path("/home/me/.gemini/settings.json")


def test_the_environment_moves_the_files_and_a_relative_path_does_not_count():
    env = {
        "GEMINI_CLI_HOME": "/else",
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/srv/s.json",
        "GEMINI_CLI_SYSTEM_DEFAULTS_PATH": "/opt/d.json",
    }
    assert tuple(map(str, places(Path("/home/me"), env))) == (
        "/opt/d.json",
        "/else/.gemini/settings.json",
        "/srv/s.json",
    )
    assert places(Path("/h"), dict.fromkeys(env, "here.json"), "linux") == places(Path("/h"), {}, "linux")


def test_another_home_of_gemini_cli_has_the_users_settings_and_a_tilde_stays_the_users(tmp_path: Path):
    file = tmp_path / "else/.gemini/settings.json"
    file.parent.mkdir(parents=True)
    write(file, {"companion": {"trustedFolders": ["~/code"]}})
    loader = SettingsLoader(Path("/home/me"), (), {"GEMINI_CLI_HOME": str(tmp_path / "else")})
    assert loader.reload(trusted=False).settings.trusted_folders == ("/home/me/code",)


@posix_only
@pytest.mark.parametrize("who", ["group", "others", "folder"])
def test_a_system_file_that_others_may_write_is_skipped_and_told(desk: Desk, who: str):
    desk.system({"model": {"name": "admin"}})
    desk.system_defaults({"model": {"tokenLimit": 3}})
    if who == "folder":
        desk.system_file.parent.chmod(0o777)
    else:
        desk.system_file.chmod(0o620 if who == "group" else 0o602)
    loaded = desk.load()
    assert loaded.settings.model_name is None
    assert all("is skipped" in problem.message and "others may" in problem.message for problem in loaded.problems)
    assert (loaded.settings.token_limit_override is None) == (who == "folder")


@posix_only
def test_a_folder_where_nobody_replaces_what_is_not_theirs_is_no_obstacle(desk: Desk):
    desk.system({"model": {"name": "admin"}})
    desk.system_file.parent.chmod(0o1777)
    assert desk.load().settings.model_name == "admin"


def test_a_system_file_that_becomes_writable_keeps_what_it_said_in_force(desk: Desk):
    desk.system({"model": {"name": "admin"}})
    desk.load()
    desk.system({"model": {"name": "mallory"}})
    desk.system_file.chmod(0o666)
    if os.name == "posix":
        assert desk.load().settings.model_name == "admin"


def test_what_the_system_forbids_stands_as_a_rule_that_no_person_takes_back(desk: Desk):
    desk.system({"tools": {"exclude": ["web_fetch"]}, "companion": {"tools": {"rules": []}}})
    desk.user({"tools": {"exclude": ["glob", "web_fetch"]}})
    rules = desk.load().settings.tools.rules
    assert {(one.rule.tool, one.source) for one in rules} == {
        ("web_fetch", "system"),
        ("glob", "user"),
        ("web_fetch", "user"),
    }


# --- experiments


def flags(*shares: object) -> str:
    return json.dumps({"flags": [{"flagId": 1}, *({"flagId": 45740197, "floatValue": share} for share in shares)]})


def test_an_experiment_lies_between_the_default_and_what_anybody_set(tmp_path: Path):
    file = tmp_path / "flags.json"
    write(file, flags(0.3))
    env = {"GEMINI_EXP": str(file)}
    loader = SettingsLoader(tmp_path, (), env, experiments=experiments_of(env["GEMINI_EXP"]))
    assert loader.reload(False).settings.compression_threshold == 0.3
    write(file, flags(0.4))
    assert loader.reload(False).settings.compression_threshold == 0.4
    assert loader.reload(False, {"model": {"compressionThreshold": 0.7}}).settings.compression_threshold == 0.7


def test_without_the_variable_there_is_no_experiment():
    assert experiments_of(None).compression_threshold() is None
    assert experiments_of("").compression_threshold() is None


@pytest.mark.parametrize("text", ["[", "[]", '{"flags": 3}'])
def test_a_broken_file_of_flags_is_told_and_counts_for_nothing(tmp_path: Path, text: str):
    write(tmp_path / "flags.json", text)
    loader = SettingsLoader(tmp_path, (), {}, experiments=ExperimentsFile(tmp_path / "flags.json"))
    loaded = loader.reload(False)
    assert loaded.settings.compression_threshold == 0.5
    problem = only_problem(loaded)
    assert "flags.json" in problem.message
    assert "GEMINI_EXP" in problem.hint


@pytest.mark.parametrize("text", ["{}", flags("half"), flags(None), flags(), '{"flags": [3, []]}'])
def test_flags_that_say_nothing_of_the_threshold_leave_it(tmp_path: Path, text: str):
    write(tmp_path / "flags.json", text)
    assert ExperimentsFile(tmp_path / "flags.json").compression_threshold() is None
