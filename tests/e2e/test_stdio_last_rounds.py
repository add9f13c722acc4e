"""A turn at its last round, over stdio: it ends in a question, also in an editor that shows nothing but messages."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call


async def test_the_last_round_of_a_turn_ends_in_a_question_for_every_client(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    settings = tmp_path / "home/.gemini/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"companion": {"tools": {"maxRounds": 1}}}), "utf-8")
    for number in range(6):
        look = call("read_file", {"file_path": "parser.py", "start_line": number % 2 + 1})
        emulator.script(answer(look), method="streamGenerateContent")
    async with editor(
        server_environment(tmp_path, **gemini_environment), workspace, options={"trusted": True}
    ) as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Read on and on."})
        assert result["stopped"] == "maxToolRounds"
        assert "Shall it go on?" in result["message"]
        again = await spoken.ask("gemini/chat/resume", {})
        assert again["message"] == result["message"]
        assert spoken.messages == []
        await spoken.ask(
            "workspace/executeCommand", {"command": "gemini.chat", "arguments": [{"prompt": "Read on, again."}]}
        )
        assert spoken.messages == [result["message"]]
