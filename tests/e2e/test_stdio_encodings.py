"""Six encodings through a real server: read, searched, edited, and taken back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.mcp_desk import answering
from tests.tools.workspace.test_encodings import TEXTS, WORDS


@pytest.mark.parametrize("mode", ["ask", "acceptEdits"])
async def test_files_in_six_encodings_are_read_searched_edited_and_taken_back_byte_for_byte(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str], mode: str
) -> None:
    before = {name: text.encode(name) for name, text in TEXTS.items()}
    for name, data in before.items():
        (workspace / name).mkdir()
        (workspace / name / "a.c").write_bytes(data)
    options = {"trusted": True, "supports": ["confirmTool"]}
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, options=options) as spoken:
        asked = answering(spoken)
        await spoken.ask("gemini/session/mode", {"mode": mode})
        for name, text in TEXTS.items():
            path, word = f"{name}/a.c", WORDS[name]
            edit = {"file_path": path, "old_string": "y = 2;", "new_string": f"y = 3; // {word}"}
            emulator.script(
                answer(
                    call("read_file", {"file_path": path}, call_id="read"),
                    call("grep_search", {"pattern": word, "dir_path": name}, call_id="found", signature=None),
                ),
                answer(call("replace", edit, call_id="edit")),
                "Done.",
                method="streamGenerateContent",
            )
            said = await spoken.ask("gemini/chat", {"prompt": f"Change {name}."})
            told = {one["id"]: one["response"] for one in emulator.asked("streamGenerateContent")[-2].responses}
            assert told["read"]["output"] == text
            assert f"1: {text.splitlines()[0]}" in told["found"]["output"]
            assert (workspace / path).read_bytes() == text.replace("y = 2;", f"y = 3; // {word}").encode(name)
            reverted = {"sessionId": said["sessionId"], "turnId": said["turnId"]}
            await spoken.ask("gemini/changes/revert", reverted)
            assert (workspace / path).read_bytes() == before[name]
    assert len(asked) == len(TEXTS)
    assert all("which is guessed" in one["warnings"][0] for one in asked)
