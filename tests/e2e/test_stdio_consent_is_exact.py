"""What is agreed to is what runs, and a repository's settings get nothing of the person's; by a real daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator
from tests.support.mcp_desk import OPTIONS, a_server, configure

SECRETS = {"DATABASE_PASSWORD": "s3cret-9f2c71", "PIN_OF_MINE": "s3cret-77d0aa"}


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment, **SECRETS)


def hooked(command: str) -> dict[str, Any]:
    return {"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": command}]}]}}


def run_and_told(folder: Path) -> str:
    """A hook that notes its words, its environment, and the arguments of everything above it."""
    above = "p=$$; while [ $p -gt 1 ]; do tr '\\0' ' ' < /proc/$p/cmdline; p=$(awk '/^PPid/ {print $2}' /proc/$p/status); done"
    return f"(echo said $DATABASE_PASSWORD ${{PIN_OF_MINE:-x}}; env; {above}) > {folder}/told 2>&1"


async def test_a_repositorys_server_is_shown_whole_and_runs_as_shown_once_agreed_to(
    workspace: Path, emulator: Emulator, environment: dict[str, str], tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    line = f'echo Authorization: Bearer ;touch${{IFS}}"{ran}"'
    configure(
        workspace, {"s": {"command": "bash", "args": ["-c", line, "a b", "x\u202ey\n"], "env": {"API_KEY": "k v"}}}
    )
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        (one,) = (await spoken.ask("gemini/mcp/list"))["servers"]
        assert one["state"] == "consentNeeded"
        assert one["command"] == f"API_KEY='k v' bash -c '{line}' 'a b' $'x\\u202ey\\n'"
        assert any("U+202E" in warning for warning in one["warnings"])
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        assert not ran.exists()
        await spoken.ask("gemini/mcp/agree", {"server": "s", "digest": one["digest"]})
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
    assert ran.exists()


async def test_a_repositorys_hooks_and_servers_get_no_variable_of_the_persons(
    workspace: Path, emulator: Emulator, environment: dict[str, str], tmp_path: Path
) -> None:
    refers = a_server(env={"X": "$PIN_OF_MINE"})
    shell = {"command": "sh", "args": ["-c", f"env > {tmp_path}/server-told"]}
    configure(workspace, {"refers": refers, "shell": shell}, **hooked(run_and_told(tmp_path)))
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        servers = {one["name"]: one for one in (await spoken.ask("gemini/mcp/list"))["servers"]}
        for name, one in servers.items():
            await spoken.ask("gemini/mcp/agree", {"server": name, "digest": one["digest"]})
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
    assert servers["refers"]["state"] == "failed"
    assert "Only your own settings may refer to $PIN_OF_MINE" in servers["refers"]["error"]
    for name in ("told", "server-told"):
        told = (tmp_path / name).read_text("utf-8")
        assert "PATH=" in told
        assert "s3cret" not in told


async def test_the_persons_own_hook_gets_what_it_names_and_nobody_sees_it_among_arguments(
    workspace: Path, emulator: Emulator, environment: dict[str, str], tmp_path: Path
) -> None:
    home = tmp_path / "home" / ".gemini"
    home.mkdir(parents=True)
    (home / "settings.json").write_text(json.dumps(hooked(run_and_told(tmp_path))), "utf-8")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
    told = (tmp_path / "told").read_text("utf-8")
    assert "said s3cret-9f2c71 s3cret-77d0aa\n" in told
    seen = told.partition("GEMINI_SESSION_ID=")[2]
    assert "reaper.py" in seen
    arguments = next(line for line in told.splitlines() if "reaper.py" in line)
    assert "s3cret" not in arguments
    assert "DATABASE_PASSWORD" not in arguments
