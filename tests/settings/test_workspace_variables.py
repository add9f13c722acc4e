"""What a workspace's settings may refer to: nothing of the person's but places and languages."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.settings.load import LoadedSettings
from tests.support.settings_desk import Desk

SECRETS = {"GEMINI_API_KEY": "s3cret-1", "DATABASE_PASSWORD": "s3cret-2", "PIN": "s3cret-3", "HOMEPAGE": "s3cret-4"}
FORMS = ["${name}", "${{{name}}}", "${{{name}:-x}}", "a${{{name}}}b", "${name}${name}"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path, {**SECRETS, "HOME": "/home/me", "LANG": "de_DE"})
    (desk.home / ".gemini/.env").write_text("OWN_TOKEN=s3cret-5\n")
    return desk


def everything(found: LoadedSettings) -> str:
    """All that settings became, as one text."""
    return json.dumps([found.document, msgspec.to_builtins(found.settings, enc_hook=repr)], default=repr)


@pytest.mark.parametrize("name", [*SECRETS, "OWN_TOKEN"])
@pytest.mark.parametrize("form", FORMS)
def test_no_secret_comes_into_a_workspaces_settings_by_whatever_place_or_form(desk: Desk, name: str, form: str):
    text = form.format(name=name)
    server = {"command": text, "args": [text], "env": {"X": text}, "cwd": text}
    remote = {"url": f"https://h/{text}", "headers": {"X": text}, "oauth": {"clientSecret": text, "scopes": [text]}}
    hook = {"type": "command", "command": text, "name": text, "env": {"X": text}}
    layer = {
        "mcpServers": {"s": server, "r": remote},
        "hooks": {"BeforeAgent": [{"matcher": text, "hooks": [hook]}]},
        "telemetry": {"otlpEndpoint": f"http://h/{text}", "outfile": text},
        "model": {"name": text},
        "context": {"fileName": [text]},
        "agents": {"overrides": {"x": {"modelConfig": {"model": text}}}},
        "companion": {"tools": {"rules": [{"tool": "*", "path": text, "decision": "deny"}]}},
    }
    desk.work(layer)
    for found in (desk.load(), desk.load(layer)):
        assert "s3cret" not in everything(found)
        assert [one.refused for one in found.settings.mcp.servers] == [(name,), (name,)]
        assert all(f"${name}" in one.refusal for one in found.settings.mcp.servers)
        assert any(f"only your own settings may refer to ${name}" in one.message for one in found.problems)
        assert (found.settings.model_name, found.settings.telemetry.outfile) == (None, None)


def test_places_its_folder_and_what_its_own_file_defines_are_filled_in(desk: Desk):
    (desk.workspace / ".env").write_text("PORT=8080\nPIN=public\nHOME=/elsewhere\n")
    args = ["$HOME", "$LANG", "$GEMINI_PROJECT_DIR/x", "$PORT", "$PIN", "$unknown", "${NONE:-d}"]
    desk.work({"mcpServers": {"s": {"command": "c", "args": args}}})
    found = desk.load()
    (server,) = found.settings.mcp.servers
    assert server.args == ("/home/me", "de_DE", f"{desk.workspace}/x", "8080", "public", "$unknown", "d")
    assert (server.refused, server.references, found.problems) == ((), (), ())


def test_what_the_projects_file_says_anew_is_another_thing_to_agree_to(desk: Desk):
    desk.work({"mcpServers": {"s": {"command": "c", "args": ["$PORT"]}}})
    (desk.workspace / ".env").write_text("PORT=1\n")
    before = desk.load().settings.mcp.servers[0].digest
    (desk.workspace / ".env").write_text("PORT=2\n")
    assert desk.load().settings.mcp.servers[0].digest != before


@pytest.mark.skipif(os.name != "posix", reason="there are no such links here")
def test_a_link_to_the_persons_file_and_a_file_above_the_workspace_are_none_of_its_own(desk: Desk):
    desk.work({"mcpServers": {"s": {"command": "c", "args": ["$OWN_TOKEN", "$ABOVE"]}}})
    (desk.workspace / ".env").symlink_to(desk.home / ".gemini/.env")
    assert desk.load().settings.mcp.servers[0].args == ("$OWN_TOKEN", "$ABOVE")
    (desk.workspace / ".env").unlink()
    (desk.workspace.parent / ".env").write_text("ABOVE=s3cret\n")
    assert desk.load().settings.mcp.servers[0].args == ("$OWN_TOKEN", "$ABOVE")


def test_a_projects_file_decides_nothing_of_what_the_persons_own_settings_mean(desk: Desk):
    (desk.workspace / ".env").write_text("TOOLS=/evil\n")
    desk.user({"mcpServers": {"s": {"command": "${TOOLS:-/mine}/x"}}, "telemetry": {"outfile": "/x/$TOOLS"}})
    found = desk.load()
    assert (found.settings.mcp.servers[0].command, found.settings.telemetry.outfile) == ("/mine/x", "/x/$TOOLS")


def hooks(command: str, **more: Any) -> dict[str, Any]:
    return {"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": command, **more}]}]}}


def test_a_hooks_line_stays_as_written_and_the_persons_own_gets_what_it_names_by_the_environment(desk: Desk):
    line = "curl -H $OWN_TOKEN ${PIN:-x} $unset"
    desk.user(hooks(line))
    desk.work(hooks(line))
    mine, theirs = desk.load().settings.hooks.hooks
    assert (mine.command, theirs.command) == (line, line)
    assert (dict(mine.passed), dict(theirs.passed)) == ({"OWN_TOKEN": "s3cret-5", "PIN": "s3cret-3"}, {})
