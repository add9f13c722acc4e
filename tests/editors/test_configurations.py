"""The configurations that are shipped but whose editors are not driven here: they are well formed, and what they start answers."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from gemini_companion.cli.editor import CONFIGURATIONS, FOLDER
from gemini_companion.protocol.commands import COMMANDS
from gemini_companion.settings.jsonc import parse
from tests.editors.running import configuration, path_variable
from tests.support.editor_client import server_environment

ROOT = Path(__file__).parents[2]


def helix() -> tuple[list[str], Any]:
    """The command line that Helix starts, and its initialization options."""
    server = tomllib.loads(configuration("helix").read_text("utf-8"))["language-server"]["gemini-companion"]
    return [server["command"], *server["args"]], server["config"]


def with_comments(editor: str) -> Any:
    """A configuration in JSON with comments."""
    return parse(configuration(editor).read_text("utf-8"))


def zed() -> tuple[list[str], Any]:
    """The same for Zed."""
    server = with_comments("zed")["lsp"]["pylsp"]
    return [server["binary"]["path"], *server["binary"]["arguments"]], server["initialization_options"]


@pytest.mark.parametrize("editor", [helix, zed])
async def test_what_the_configuration_starts_answers_initialize(editor: Any, tmp_path: Path) -> None:
    command, options = editor()
    environment = {**server_environment(tmp_path), "PATH": path_variable()}
    client = cast("LanguageClient", await ClientServerConfig(server_command=command, server_env=environment).start())
    try:
        answer = await client.initialize_session(
            lsp.InitializeParams(
                capabilities=client_capabilities("visual-studio-code"),
                root_uri=tmp_path.as_uri(),
                initialization_options=options,
            )
        )
        assert answer.server_info
        assert answer.server_info.name == "gemini-companion"
        assert answer.capabilities.code_action_provider
    finally:
        await client.shutdown_session()
        await client.stop()


def test_helix_names_the_server_that_it_describes() -> None:
    document = tomllib.loads(configuration("helix").read_text("utf-8"))
    assert set(document["language-server"]) <= set(document["language"][0]["language-servers"])


def test_zed_lends_the_name_to_a_language_that_uses_it() -> None:
    document = with_comments("zed")
    assert set(document["lsp"]) <= set(document["languages"]["Python"]["language_servers"])


def test_vscode_is_given_settings_that_the_extension_has_with_their_defaults() -> None:
    settings: dict[str, Any] = with_comments("vscode")
    package = json.loads((ROOT / "client-vscode" / "package.json").read_text("utf-8"))
    contributed = package["contributes"]["configuration"]["properties"]
    assert settings == {name: contributed[name]["default"] for name in settings}


def test_only_commands_that_exist_are_mentioned() -> None:
    for name in CONFIGURATIONS:
        for line in configuration(name).read_text("utf-8").splitlines():
            if "lsp-workspace-command" in line:
                assert shlex.split(line.split("lsp-workspace-command")[1], posix=False)[0] in COMMANDS


def test_every_file_in_the_folder_belongs_to_an_editor() -> None:
    assert sorted(CONFIGURATIONS.values()) == sorted(path.name for path in FOLDER.iterdir())
