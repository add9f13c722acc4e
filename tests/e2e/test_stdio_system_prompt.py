"""The system prompt over stdio: what the service received, with sections switched off, replaced and written down."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator


def received(emulator: Emulator) -> str:
    body: Any = emulator.asked("streamGenerateContent")[-1].body
    return body["systemInstruction"]["parts"][0]["text"]


def make_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "trunk"], cwd=folder, check=True)


def settings_of(tmp_path: Path, content: object) -> None:
    file = tmp_path / "home/.gemini/settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), "utf-8")


async def ask(spoken: Any) -> Any:
    await spoken.ask("gemini/chat", {"prompt": "Hello."})
    return await spoken.ask("gemini/systemPrompt")


async def test_what_is_reported_is_what_the_service_received_with_the_repositorys_state(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    make_repository(workspace)
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        foreseen = await spoken.ask("gemini/systemPrompt")
        report = await ask(spoken)
    assert report["text"] == foreseen["text"] == received(emulator)
    assert "Branch: trunk" in report["text"]
    assert "parser.py" in report["text"]
    assert ".env" not in report["text"]
    assert {"preamble", "tools", "git_state", "final_reminder"} <= {one["name"] for one in report["sections"]}


@pytest.mark.parametrize("by", ["settings", "former names", "environment"])
async def test_sections_are_left_out_by_settings_and_by_the_environment(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str], by: str
) -> None:
    more: dict[str, str] = {}
    match by:
        case "settings":
            settings_of(tmp_path, {"companion": {"prompt": {"operationalGuidelines": False, "trust": False}}})
        case "former names":
            settings_of(tmp_path, {"companion": {"prompt": {"style": False, "safety": False}}})
        case _:
            more = {"GEMINI_PROMPT_OPERATIONAL_GUIDELINES": "0", "GEMINI_PROMPT_SAFETY": "false"}
    async with editor(
        server_environment(tmp_path, **gemini_environment, **more), workspace, options={"trusted": True}
    ) as spoken:
        report = await ask(spoken)
    assert {"operational_guidelines", "trust"}.isdisjoint(one["name"] for one in report["sections"])
    assert "# How answers are written" not in received(emulator)
    assert "# What is not done" not in received(emulator)
    assert "# What every answer keeps to" in received(emulator)


async def test_it_is_replaced_by_a_file_and_written_to_another(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    (tmp_path / "mine.md").write_text("Only read with ${read_file_ToolName}.", "utf-8")
    more = {"GEMINI_SYSTEM_MD": str(tmp_path / "mine.md"), "GEMINI_WRITE_SYSTEM_MD": "~/copy.md"}
    async with editor(
        server_environment(tmp_path, **gemini_environment, **more), workspace, options={"trusted": True}
    ) as spoken:
        report = await ask(spoken)
    assert received(emulator) == "Only read with read_file."
    assert report["source"] == "GEMINI_SYSTEM_MD"
    assert "# What every answer keeps to" in (tmp_path / "home/copy.md").read_text("utf-8")
