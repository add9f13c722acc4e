"""`.env` files over stdio: the key of a person, of a project once it is trusted, and no address of anybody's else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer, call
from tests.support.patience import PATIENCE

KEY = "x-goog-api-key"


@pytest.fixture
def environment(tmp_path: Path, emulator: Emulator) -> dict[str, str]:
    """The emulator's address, and no key."""
    return server_environment(tmp_path, GOOGLE_GEMINI_BASE_URL=emulator.base_url)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "home/.gemini/.env"
    file.parent.mkdir(parents=True)
    return file


async def has_model(spoken: Editor, model: str) -> dict[str, Any]:
    """The report on settings once a file of variables names this model."""
    async with asyncio.timeout(PATIENCE):
        while True:
            listed = await spoken.ask("gemini/settings", {})
            if next(one for one in listed["settings"] if one["key"] == "model.name").get("value") == model:
                return listed


def keys(emulator: Emulator) -> list[str | None]:
    return [request.headers.get(KEY) for request in emulator.asked("streamGenerateContent")]


async def test_the_persons_own_key_counts_in_every_folder_whatever_a_project_says_trusted_or_not(
    workspace: Path, own: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    own.write_text("GEMINI_API_KEY='key-of-mine'\n", "utf-8")
    (workspace / ".env").write_text("GEMINI_API_KEY=key-of-theirs\nDEBUG=1\n", "utf-8")
    for trusted in (False, True):
        async with editor(environment, workspace, options={"trusted": trusted}) as spoken:
            await spoken.ask("gemini/chat", {"prompt": "Hi"})
    assert keys(emulator) == ["key-of-mine", "key-of-mine"]


async def test_a_key_that_is_written_while_the_daemon_runs_counts_from_the_next_prompt_on(
    workspace: Path, own: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    gate = Gate()
    async with editor(environment, workspace) as spoken:
        offline = await spoken.ask("gemini/chat", {"prompt": "Hi"})
        own.write_text("GEMINI_API_KEY=first\nGEMINI_MODEL=gemini-2.5-flash\n", "utf-8")
        await has_model(spoken, "gemini-2.5-flash")
        emulator.script(answer("one ", gate, "two"), answer("three"), method="streamGenerateContent")
        turn = spoken.start("gemini/chat", {"prompt": "Hi again"})
        await gate.wait_reached()
        own.write_text("GEMINI_API_KEY=second\nGEMINI_MODEL=gemini-2.5-pro\n", "utf-8")
        listed = await has_model(spoken, "gemini-2.5-pro")
        gate.release()
        assert (await turn)["text"] == "one two"
        assert (await spoken.ask("gemini/chat", {"prompt": "And again"}))["text"] == "three"
    assert offline["text"]
    assert keys(emulator) == ["first", "second"]
    model = next(one for one in listed["settings"] if one["key"] == "model.name")
    assert (model["variable"], model["file"], model["line"]) == ("GEMINI_MODEL", str(own), 2)


async def test_no_project_sends_the_conversation_elsewhere_and_that_it_tried_is_told(
    tmp_path: Path, workspace: Path, own: Path, emulator: Emulator
) -> None:
    own.write_text(f"GEMINI_API_KEY=mine\nGOOGLE_GEMINI_BASE_URL={emulator.base_url}\n", "utf-8")
    theirs = workspace / ".env"
    theirs.write_text("GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\n", "utf-8")
    async with editor(server_environment(tmp_path), workspace, options={"trusted": True}) as spoken:
        assert (await spoken.ask("gemini/chat", {"prompt": "Hi"}))["text"]
        problems = (await spoken.ask("gemini/settings", {}))["problems"]
    assert problems == [
        f"{theirs}:1: GOOGLE_GEMINI_BASE_URL: chooses who gets the conversation, and is not taken from a project's .env"
    ]
    assert any(problems[0] in told for told in spoken.messages)
    assert keys(emulator) == ["mine"]


async def test_no_command_of_the_model_sees_what_a_file_of_variables_holds(
    workspace: Path, own: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    own.write_text("GEMINI_API_KEY=mine\nPATH=/nowhere\nMINE=seen\nCOMPANION_DATA_DIR=/nowhere\n", "utf-8")
    (workspace / ".env").write_text("LD_PRELOAD=/nowhere/x.so\nLC_THEIRS=seen\nGEMINI_CLI_HOME=/nowhere\n", "utf-8")
    settings = {
        "companion": {"tools": {"rules": [{"tool": "run_shell_command", "command": ["make"], "decision": "allow"}]}}
    }
    own.with_name("settings.json").write_text(json.dumps(settings), "utf-8")
    emulator.script(
        answer(call("run_shell_command", {"command": "make show"})), "Done.", method="streamGenerateContent"
    )
    (workspace / "Makefile").write_text("show:\n\t@printenv\n", "utf-8")
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Run it."})
    told = json.dumps(emulator.asked("streamGenerateContent")[-1].responses)
    assert "PATH=" in told
    assert not any(text in told for text in ("nowhere", "seen", "mine"))
