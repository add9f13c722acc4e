"""The settings that come of all layers, read again and again, whatever the files hold."""

from pathlib import Path
from typing import Any

import pytest

from gemini_companion.settings.effective import DEFAULT_COMPRESSION_THRESHOLD, Settings
from gemini_companion.settings.places import SETTINGS_FILE
from gemini_companion.settings.session_retention import DAY_MS, SessionRetention
from tests.support.settings_desk import Desk, only_problem, write


def test_without_any_file_the_defaults_hold(desk: Desk):
    loaded = desk.load()
    found = loaded.settings
    assert (loaded.problems, loaded.changed_keys) == ((), ())
    assert found.compression_threshold == DEFAULT_COMPRESSION_THRESHOLD == 0.5
    assert (found.model_name, found.model_name_source, found.token_limit_override, found.compression_token_cap) == (
        None,
        None,
        None,
        None,
    )
    assert (found.ide_max_open_files, found.context_file_names, found.session_retention) == (
        10,
        ("GEMINI.md", "AGENTS.md"),
        SessionRetention(max_age=30 * DAY_MS, max_sessions=None, max_bytes=None, min_age=DAY_MS),
    )
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
def test_the_remote_flag_counts_only_where_no_layer_sets_the_threshold(
    tmp_path: Path, local: float | None, remote: float | None, expected: float
):
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
    off = (
        found.max_session_turns,
        found.compression_token_cap,
        found.truncate_tool_output_threshold,
        found.session_retention.max_age,
    )
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


def test_variables_are_expanded_for_the_user_always_and_for_a_trusted_workspace_where_they_are_its_own(tmp_path: Path):
    desk = Desk(tmp_path, {"FAST": "flash", "KEY": "secret", "HOME": "/home/me"})
    desk.user({"companion": {"compression": {"model": "${FAST}"}}})
    desk.work({"model": {"name": "$KEY"}, "telemetry": {"outfile": "$HOME/$THEIRS/${KEY:-none}"}})
    (desk.workspace / ".env").write_text("THEIRS=x\nKEY=public\n")
    assert desk.load(trusted=False).settings.compression_model == "flash"
    assert desk.load(trusted=False).settings.model_name is None
    trusted = desk.load(trusted=True)
    assert (trusted.settings.model_name, trusted.settings.telemetry.outfile) == ("public", "/home/me/x/public")
    (desk.workspace / ".env").unlink()
    again = desk.load(trusted=True)
    assert (again.settings.model_name, again.settings.telemetry.outfile) == (None, None)
    assert ["only your own settings may refer to $KEY" in one.message for one in again.problems] == [True, True]


def test_an_untrusted_workspace_brings_no_hooks_servers_or_telemetry(desk: Desk):
    def hooks(command: str) -> dict[str, Any]:
        return {"PreCompress": [{"hooks": [{"type": "command", "command": command}]}]}

    def commands(settings: Settings) -> list[tuple[str, str]]:
        return [(hook.source, hook.command) for hook in settings.hooks.hooks]

    desk.user({"hooks": hooks("mine")})
    desk.work({"hooks": hooks("theirs"), "mcpServers": {"s": {"command": "x"}}, "telemetry": {"enabled": True}})
    found = desk.load(trusted=False).settings
    assert (commands(found), found.mcp.servers, found.telemetry.enabled) == ([("user", "mine")], (), False)
    found = desk.load(trusted=True).settings
    assert (commands(found), found.telemetry.enabled) == ([("user", "mine"), ("workspace", "theirs")], True)
    assert [(one.name, one.command, one.is_personal) for one in found.mcp.servers] == [("s", "x", False)]


def test_only_the_users_own_file_names_trusted_folders_and_the_others_are_reported(desk: Desk):
    desk.user({"companion": {"trustedFolders": ["~/code", "/srv", "~"]}})
    desk.work({"companion": {"trustedFolders": ["/"]}, "model": {"name": "w"}})
    loaded = desk.load({"companion": {"trustedFolders": ["/"]}})
    assert loaded.settings.trusted_folders == (f"{desk.home}/code", "/srv", str(desk.home))
    assert loaded.settings.model_name == "w"
    in_file, in_editor = loaded.problems
    assert in_file.message.startswith(f"{desk.workspace_file}:1:")
    assert "companion.trustedFolders" in in_file.message
    assert in_editor.message.startswith("the editor's geminiCompanion settings: companion.trustedFolders: ")


def test_only_the_users_own_file_names_the_weights_that_are_run_here(desk: Desk):
    desk.user({"model": {"local": "~/models/mine.gguf"}})
    desk.work({"model": {"local": "/project/theirs.gguf"}})
    loaded = desk.load({"model": {"local": "/editor.gguf"}}, trusted=True)
    assert loaded.settings.local_model == f"{desk.home}/models/mine.gguf"
    assert ["model.local" in problem.message for problem in loaded.problems] == [True, True]


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
    assert desk.loader.files[:4] == (desk.user_file, write_to, desk.system_defaults_file, desk.system_file)
    env_files = [folder / name for folder in (desk.home, other) for name in (".gemini/.env", ".env")]
    assert desk.loader.files[4:] == tuple(env_files), "and where files of variables may come"
    loaded = desk.load()
    assert loaded.settings.model_name is None
    assert len(loaded.problems) == 1


def test_the_home_folder_as_workspace_is_not_read_twice(tmp_path: Path):
    desk = Desk(tmp_path)
    desk.user({"mcpServers": {"s": {"command": "x"}}, "companion": {"trustedFolders": ["/x"]}})
    (tmp_path / "link").symlink_to(desk.home)
    for folder in (desk.home, tmp_path / "link"):
        desk.loader.move_to([str(folder)])
        loaded = desk.load()
        assert ([one.name for one in loaded.settings.mcp.servers], loaded.problems) == (["s"], ())
        assert (desk.loader.workspace_file, desk.loader.files[0]) == (None, desk.user_file)
