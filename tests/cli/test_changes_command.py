"""`gemini-companion changes`, as a person types it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gemini_companion.adapters.storage.project import project_key
from gemini_companion.adapters.storage.store import open_store
from gemini_companion.cli.main import run
from gemini_companion.engine.agents.builtin import GENERALIST
from gemini_companion.engine.agents.definition import AgentCall
from gemini_companion.engine.history.tool_entries import ChangeEntry
from tests.support.changes_desk import ChangesDesk
from tests.support.sessions import ManualClock


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """With one session whose model changed `a.txt` of the folder."""
    workspace = tmp_path / "workspace"

    async def change() -> None:
        store = open_store(tmp_path / "data", project_key([str(workspace)]), clock=ManualClock())
        desk = ChangesDesk(tmp_path, store=store)
        desk.put("a.txt", "old \x1b[31m\n")
        await desk.write("a.txt", "new \x1b[31m\n")
        await desk.studio.app.close()

    asyncio.run(change())
    monkeypatch.chdir(workspace)
    return {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}


def test_changes_are_listed_with_their_diffs(environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["changes"], environment) == 0
    printed = capsys.readouterr().out
    assert "a.txt: changed, +1 −1" in printed
    assert "-old" in printed
    assert "\x1b" not in printed, "what a model wrote does not steer the terminal"


def test_a_change_is_taken_back_and_that_too(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "workspace" / "a.txt"
    assert run(["changes", "revert", "--dry-run"], environment) == 0
    assert path.read_text().startswith("new")
    capsys.readouterr()
    assert run(["changes", "revert", "--dry-run", "--path", "none.txt"], environment) == 0
    assert capsys.readouterr().out == "There is nothing to take back.\n"
    assert run(["changes", "revert", "--path", "a.txt", "--json"], environment) == 0
    change_id = json.loads(capsys.readouterr().out)["changeId"]
    assert path.read_text().startswith("old")
    assert run(["changes", "revert", "--change", change_id], environment) == 0
    assert path.read_text().startswith("new")


def test_what_the_person_edited_since_is_left_and_told(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "workspace" / "a.txt"
    path.write_text("mine\n")
    assert run(["changes", "revert"], environment) == 1
    assert "edited since" in capsys.readouterr().err
    assert path.read_text() == "mine\n"


def test_what_a_subagent_changed_is_listed_by_its_name_and_taken_back(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"

    async def hand_over() -> None:
        """The change becomes one of a subagent, as if the chat had handed it over."""
        store = open_store(tmp_path / "data", project_key([str(workspace)]), clock=ManualClock())
        chat = (await store.list()).sessions[0]
        meta, entries = await store.load(chat.session_id)
        changes = [entry for entry in entries if isinstance(entry, ChangeEntry)]
        turn_id = changes[0].turn_id
        called = AgentCall(definition=GENERALIST, session_id="chat", turn_id=turn_id, call_id="c")
        await store.create(replace(meta, session_id="chat", updated_at=meta.updated_at + 1))
        own = [replace(entry, seq=number, turn_id="its own") for number, entry in enumerate(changes, 1)]
        await store.create(replace(meta, session_id="agent", agent=called), own)
        await store.close()

    asyncio.run(hand_over())
    assert run(["changes", "--session", "chat"], environment) == 0
    assert "a.txt: changed by Generalist, +1 −1" in capsys.readouterr().out
    assert run(["changes", "revert", "--session", "chat"], environment) == 0
    assert (workspace / "a.txt").read_text().startswith("old")
