"""The settings that come of all layers, read again and again, whatever the files hold."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.settings.effective import DEFAULT_COMPRESSION_THRESHOLD
from gemini_companion.settings.load import SETTINGS_FILE, LoadedSettings, SettingsLoader
from gemini_companion.settings.reading import SIZE_LIMIT


class Desk:
    """A home, a workspace and a loader over both."""

    def __init__(self, root: Path, env: Mapping[str, str] | None = None, remote: float | None = None) -> None:
        self.home, self.workspace = root / "home", root / "work"
        self.user_file, self.workspace_file = self.home / SETTINGS_FILE, self.workspace / SETTINGS_FILE
        for file in (self.user_file, self.workspace_file):
            file.parent.mkdir(parents=True, exist_ok=True)
        self.loader = SettingsLoader(self.home, [str(self.workspace)], env or {}, remote_compression_threshold=remote)

    def user(self, value: object) -> None:
        write(self.user_file, value)

    def work(self, value: object) -> None:
        write(self.workspace_file, value)

    def load(self, editor: object = None, *, trusted: bool = True) -> LoadedSettings:
        return self.loader.reload(trusted, editor)


def write(file: Path, value: object) -> None:
    file.write_bytes(value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def only_problem(loaded: LoadedSettings) -> InvalidSettings:
    (problem,) = loaded.problems
    return problem


def test_without_any_file_the_defaults_hold(desk: Desk):
    loaded = desk.load()
    found = loaded.settings
    assert (loaded.problems, loaded.changed_keys) == ((), ())
    assert found.compression_threshold == DEFAULT_COMPRESSION_THRESHOLD == 0.5
    assert (found.model_name, found.model_name_source, found.token_limit_override, found.compression_token_cap) == (None, None, None, None)
    assert (found.ide_max_open_files, found.context_file_names, found.session_retention_days) == (10, ("GEMINI.md",), 30)
    assert (found.max_session_turns, found.truncate_tool_output_threshold, found.trusted_folders) == (None, 40_000, ())
    assert (found.telemetry.enabled, found.telemetry.log_prompts) == (False, False)
    assert all(found.prompt_sections.values())


def test_the_editor_goes_over_the_workspace_and_the_workspace_over_the_user(desk: Desk):
    desk.user({"model": {"name": "u", "compressionThreshold": 0.1, "tokenLimit": 1}})
    desk.work({"model": {"name": "w", "compressionThreshold": 0.2}})
    found = desk.load({"model": {"name": "e"}}).settings
    assert (found.model_name, found.compression_threshold, found.token_limit_override) == ("e", 0.2, 1)


@pytest.mark.parametrize(
    ("local", "remote", "expected"),
    [
        (None, None, 0.5),
        (None, 0.0, 0.5),
        (None, 0.3, 0.3),
        (None, 1.0, 1.0),
        (None, 1.5, 0.5),
        (None, -1.0, 0.5),
        (None, float("nan"), 0.5),
        (0.7, 0.3, 0.7),
        (0, 0.3, 0.0),
        (1, 0.3, 1.0),
    ],
)
def test_the_remote_flag_counts_only_where_no_layer_sets_the_threshold(tmp_path: Path, local: float | None, remote: float | None, expected: float):
    desk = Desk(tmp_path, remote=remote)
    desk.user({"model": {"compressionThreshold": local}})
    assert desk.load().settings.compression_threshold == expected


def test_null_in_a_higher_layer_leaves_the_lower_ones_value(desk: Desk):
    desk.user({"model": {"name": "u"}})
    assert desk.load({"model": {"name": None}}).settings.model_name == "u"


def test_the_environment_names_the_model_before_the_settings_do(tmp_path: Path):
    desk = Desk(tmp_path, {"GEMINI_MODEL": " offline "})
    desk.user({"model": {"name": "u"}})
    found = desk.load().settings
    assert (found.model_name, found.model_name_source) == ("offline", "GEMINI_MODEL")


def test_numbers_that_mean_off_read_as_none(desk: Desk):
    desk.user(
        {
            "model": {"maxSessionTurns": 0, "compressionTokenCap": 0},
            "tools": {"truncateToolOutputThreshold": 0},
            "companion": {"sessions": {"retentionDays": 0}},
        }
    )
    found = desk.load().settings
    off = (found.max_session_turns, found.compression_token_cap, found.truncate_tool_output_threshold, found.session_retention_days)
    assert off == (None, None, None, None)


def test_a_file_with_comments_and_a_byte_order_mark_is_read(desk: Desk):
    desk.user('\ufeff{ // mine\n "model": { /* quick */ "name": "u" } }')
    loaded = desk.load()
    assert (loaded.settings.model_name, loaded.problems) == ("u", ())


def test_keys_that_we_do_not_know_are_kept_and_ignored(desk: Desk):
    desk.user({"ui": {"theme": "dark"}, "model": {"someday": 1}})
    loaded = desk.load({"ui": {"vim": True}})
    assert loaded.problems == ()
    assert loaded.document == {"ui": {"theme": "dark", "vim": True}, "model": {"someday": 1}}


def test_variables_are_expanded_for_the_user_always_and_for_a_workspace_when_trusted(tmp_path: Path):
    desk = Desk(tmp_path, {"FAST": "flash", "KEY": "secret"})
    desk.user({"companion": {"compression": {"model": "${FAST}"}}})
    desk.work({"model": {"name": "$KEY"}})
    assert desk.load(trusted=False).settings.compression_model == "flash"
    assert desk.load(trusted=False).settings.model_name == "$KEY"
    assert desk.load(trusted=True).settings.model_name == "secret"


def test_an_untrusted_workspace_brings_no_hooks_servers_or_telemetry(desk: Desk):
    desk.user({"hooks": {"PreCompress": ["mine"]}})
    desk.work({"hooks": {"PreCompress": ["theirs"]}, "mcpServers": {"s": {"command": "x"}}, "telemetry": {"enabled": True}})
    found = desk.load(trusted=False).settings
    assert (found.hooks, found.mcp_servers, found.telemetry.enabled) == ({"PreCompress": ["mine"]}, {}, False)
    found = desk.load(trusted=True).settings
    assert (found.hooks, found.telemetry.enabled) == ({"PreCompress": ["mine", "theirs"]}, True)
    assert found.mcp_servers == {"s": {"command": "x"}}


def test_only_the_users_own_file_names_trusted_folders_and_the_others_are_told(desk: Desk):
    desk.user({"companion": {"trustedFolders": ["~/code", "/srv", "~"]}})
    desk.work({"companion": {"trustedFolders": ["/"]}, "model": {"name": "w"}})
    loaded = desk.load({"companion": {"trustedFolders": ["/"]}})
    assert loaded.settings.trusted_folders == (f"{desk.home}/code", "/srv", str(desk.home))
    assert loaded.settings.model_name == "w"
    in_file, in_editor = loaded.problems
    assert in_file.message.startswith(f"{desk.workspace_file}:1:")
    assert "companion.trustedFolders" in in_file.message
    assert in_editor.message.startswith("the editor's geminiCompanion settings: companion.trustedFolders: ")


def test_a_fault_is_named_with_file_line_column_and_key(desk: Desk):
    desk.user('{\n  // comment\n  "model": {\n    "compressionThreshold": "half"\n  }\n}')
    problem = only_problem(desk.load())
    assert problem.message.startswith(f"{desk.user_file}:4:5: model.compressionThreshold: ")
    assert problem.hint


def test_a_broken_layer_keeps_what_it_last_said_and_the_others_go_on(desk: Desk):
    desk.user({"model": {"name": "good", "tokenLimit": 5}})
    desk.load()
    desk.user('{"model": {"name": "half')
    desk.work({"model": {"tokenLimit": 7}})
    loaded = desk.load()
    assert "not valid JSON" in only_problem(loaded).message
    assert (loaded.settings.model_name, loaded.settings.token_limit_override) == ("good", 7)
    desk.user({"model": {"name": "better"}})
    assert desk.load().settings.model_name == "better"


def test_a_layer_that_was_never_good_counts_for_nothing(desk: Desk):
    desk.user({"model": {"name": "two words", "tokenLimit": 5}})
    loaded = desk.load()
    assert (loaded.settings.model_name, loaded.settings.token_limit_override) == (None, None)
    assert "nothing of it" in only_problem(loaded).hint


def test_what_a_broken_layer_last_said_loses_with_the_workspaces_trust(desk: Desk):
    desk.work({"hooks": {"E": ["run"]}, "model": {"name": "w"}})
    assert desk.load(trusted=True).settings.hooks
    desk.work("broken")
    found = desk.load(trusted=False).settings
    assert (found.hooks, found.model_name) == ({}, "w")


def test_a_key_that_only_trust_makes_count_is_judged_only_then(desk: Desk):
    desk.work({"hooks": 3, "model": {"name": "w"}})
    assert desk.load(trusted=False).problems == ()
    assert only_problem(desk.load(trusted=True)).message.startswith(f"{desk.workspace_file}:1:2: hooks: ")


def test_a_deleted_file_no_longer_counts(desk: Desk):
    desk.user({"model": {"name": "u"}})
    desk.load()
    desk.user_file.unlink()
    loaded = desk.load()
    assert (loaded.settings.model_name, loaded.problems, loaded.changed_keys) == (None, (), ("model.name",))


def test_the_keys_that_changed_are_those_whose_values_did(desk: Desk):
    desk.user({"model": {"name": "a"}, "hooks": {"E": [1]}, "companion": {"ide": {"maxOpenFiles": 10}}})
    assert desk.load().changed_keys == ()
    desk.user({"model": {"name": "b"}, "hooks": {"E": [2]}, "companion": {}, "unknown": 1})
    assert desk.load().changed_keys == ("model.name", "hooks")
    assert desk.load().changed_keys == ()


def test_only_the_first_workspace_folder_brings_settings_and_moving_forgets_the_old_ones(desk: Desk, tmp_path: Path):
    desk.work({"model": {"name": "w"}})
    other = tmp_path / "other"
    write_to = other / SETTINGS_FILE
    write_to.parent.mkdir(parents=True)
    write(write_to, "broken")
    desk.loader.move_to([str(desk.workspace), str(other)])
    assert (desk.load().settings.model_name, desk.load().problems) == ("w", ())
    desk.loader.move_to([str(other)])
    assert desk.loader.files == (desk.user_file, write_to)
    loaded = desk.load()
    assert loaded.settings.model_name is None
    assert len(loaded.problems) == 1


def test_the_home_folder_as_workspace_is_not_read_twice(tmp_path: Path):
    desk = Desk(tmp_path)
    desk.user({"hooks": {"E": [1]}, "companion": {"trustedFolders": ["/x"]}})
    (tmp_path / "link").symlink_to(desk.home)
    for folder in (desk.home, tmp_path / "link"):
        desk.loader.move_to([str(folder)])
        loaded = desk.load()
        assert (loaded.settings.hooks, loaded.problems) == ({"E": [1]}, ())
        assert desk.loader.files == (desk.user_file,)


def test_what_is_no_regular_file_is_refused_at_once(desk: Desk):
    os.mkfifo(desk.user_file)
    desk.workspace_file.mkdir()
    first, second = desk.load().problems
    assert "regular file" in first.message
    assert "regular file" in second.message


def test_a_file_that_is_too_large_or_not_utf8_is_refused(desk: Desk):
    desk.user(b'{"a": "' + b"x" * SIZE_LIMIT + b'"}')
    desk.work(b'{\n "a": "\xff"}')
    large, latin = desk.load().problems
    assert "larger than" in large.message
    assert latin.message.startswith(f"{desk.workspace_file}:2:")
    assert "UTF-8" in latin.message


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="everything may be read here")
def test_a_file_that_may_not_be_read_is_reported(desk: Desk):
    desk.user({"model": {"name": "u"}})
    desk.load()
    desk.user_file.chmod(0)
    loaded = desk.load()
    assert "cannot be read" in only_problem(loaded).message
    assert loaded.settings.model_name == "u"


@pytest.mark.parametrize("folder", ["/nowhere\0", "/nowhere\ud800", "", "relative", "/dev/null"])
def test_a_workspace_folder_that_cannot_be_is_no_obstacle(desk: Desk, folder: str):
    desk.user({"model": {"name": "u"}})
    desk.loader.move_to([folder])
    loaded = desk.load()
    assert loaded.settings.model_name == "u"
    for problem in loaded.problems:
        assert problem.message.encode()


@pytest.mark.parametrize("section", [[], "text", 3, {"model": {"name": 3}}, {"hooks": "x"}])
def test_an_editor_section_that_cannot_be_used_is_reported_and_its_last_one_stays(desk: Desk, section: object):
    desk.load({"model": {"name": "e"}})
    loaded = desk.load(section)
    assert loaded.settings.model_name == "e"
    assert "geminiCompanion" in only_problem(loaded).message


def test_variables_that_blow_up_a_layer_leave_its_last_good_version(tmp_path: Path):
    desk = Desk(tmp_path, {"BIG": "x" * 600_000})
    desk.user({"model": {"name": "u"}})
    desk.load()
    desk.user({"model": {"name": "v"}, "x": "$BIG$BIG"})
    loaded = desk.load()
    assert "variables" in only_problem(loaded).message
    assert loaded.settings.model_name == "u"


KEYS = ["model", "name", "tokenLimit", "compressionThreshold", "context", "fileName", "companion", "ide", "maxOpenFiles", "trustedFolders", "hooks"]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(["$BIG", "offline", "/a", "\ud800"])
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=5),
    max_leaves=12,
)
contents = st.binary(max_size=60) | anything.map(json.dumps) | st.text(st.sampled_from('{}[]:,"\\/*\n $1aeN'), max_size=40)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(user=contents, work=contents, editor=anything, trusted=st.booleans())
def test_whatever_the_layers_hold_there_are_settings_and_only_problems_of_ours(tmp_path: Path, user: Any, work: Any, editor: Any, trusted: bool):
    desk = Desk(tmp_path, {"BIG": "x" * 300_000})
    desk.user({"model": {"name": "good"}})
    assert desk.load().settings.model_name == "good"
    desk.user(user if isinstance(user, bytes) else user.encode("utf-8", "surrogatepass"))
    desk.work(work if isinstance(work, bytes) else work.encode("utf-8", "surrogatepass"))
    for now_trusted in (trusted, not trusted):
        loaded = desk.load(editor, trusted=now_trusted)
        for problem in loaded.problems:
            assert isinstance(problem, InvalidSettings)
            assert problem.message.encode()
            assert problem.hint
        assert 0 <= loaded.settings.compression_threshold <= 1
        assert loaded.settings.context_file_names
    desk.workspace_file.unlink()
    alone = SettingsLoader(desk.home, [], {"BIG": "x" * 300_000}).reload(False)
    assert desk.load().settings.model_name == ("good" if alone.problems else alone.settings.model_name)
