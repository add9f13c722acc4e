"""Edits of a model, taken back through a real server, also by the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call

pytestmark = pytest.mark.asyncio


async def test_an_edit_is_listed_taken_back_and_made_again_after_a_restart(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    args = {"file_path": "greeting.txt", "instruction": "say moon", "old_string": "world", "new_string": "moon"}
    emulator.script(answer(call("replace", args, call_id="r")), "Done.", method="streamGenerateContent")
    path = workspace / "greeting.txt"
    path.write_bytes(b"hello\r\nworld\r\n")
    async with editor(environment, workspace, options={"trusted": True}) as first:
        await first.ask("gemini/session/mode", {"mode": "acceptEdits"})
        said = await first.ask("gemini/chat", {"prompt": "Say moon."})
        assert path.read_bytes() == b"hello\r\nmoon\r\n"
        (change,) = (await first.ask("gemini/changes", {}))["changes"]
        assert (change["turnId"], change["kind"], change["added"], change["removed"]) == (
            said["turnId"], "changed", 1, 1,
        )  # fmt: skip
        session = said["sessionId"]
    async with editor(environment, workspace, options={"trusted": True}) as second:
        there = {"sessionId": session}
        result = await second.ask("gemini/changes/revert", {**there, "turnId": said["turnId"]})
        assert path.read_bytes() == b"hello\r\nworld\r\n"
        assert (await second.ask("gemini/changes", there))["changes"][0]["state"] == "reverted"
        await second.ask("gemini/changes/revert", {**there, "changeId": result["changeId"]})
        assert path.read_bytes() == b"hello\r\nmoon\r\n"
        kept = await second.ask("gemini/changes/keep", there)
        assert kept["changes"][0]["state"] == "kept"
        assert (await second.fails("gemini/changes/revert", {**there, "since": "nothing"})).code == -32602
