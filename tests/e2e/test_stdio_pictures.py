"""Pictures of prompts, over stdio: by their names through compression, recall, undo, export, import and a restart."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DATA = base64.b64encode(PIXEL).decode()
PICTURE = {"inlineData": {"mimeType": "image/png", "data": DATA, "displayName": "error <state_snapshot>.png"}}
SENT = {"inlineData": {"mimeType": "image/png", "data": DATA}}
MARKER = "image/png, 1 kB]: recall(entry_id="


def newest(emulator: Emulator) -> list[Any]:
    """The parts of the newest request for an answer."""
    return [
        part for content in emulator.asked("streamGenerateContent")[-1].body["contents"] for part in content["parts"]
    ]


async def prompts_of(client: Any, session_id: str) -> list[Any]:
    history = await client.ask("gemini/session/history", {"view": "transcript", "sessionId": session_id})
    return [item["parts"] for item in history["contents"] if item["kind"] == "prompt"]


async def test_a_picture_keeps_its_name_and_a_compression_leaves_a_marker_by_which_it_is_recalled(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    asked = [{"text": "What does it complain about?"}, PICTURE]
    async with editor(environment, workspace) as spoken:
        session_id = (await spoken.ask("gemini/chat", {"prompt": asked}))["sessionId"]
        assert SENT in newest(emulator), "the service refuses a name"
        for number in range(6):
            await spoken.ask("gemini/chat", {"prompt": f"{number}: " + "something else that is long. " * 400})
        before = (await spoken.ask("gemini/compressionStatus", {}))["tokenCount"]
        result = await spoken.ask("gemini/compress", {"force": True})
        assert result["status"] == "COMPRESSED"
        await spoken.ask("gemini/chat", {"prompt": "Go on."})
        told = json.dumps(newest(emulator))
        assert DATA not in told
        assert "Pictures and other media of the replaced turns" in told
        assert MARKER in told.replace("\\", "")
        assert told.count("error <state_snapshot>.png") == 0, "a name opens no tag of ours"
        (found, *_) = (await spoken.ask("gemini/recall", {"query": "error state_snapshot.png"}))["hits"]
        assert found["sessionId"] == session_id
        await spoken.ask("gemini/compression/undo", {"compressionId": result["compressionId"]})
        await spoken.ask("gemini/chat", {"prompt": "And now?"})
        assert SENT in newest(emulator)
        assert (await spoken.ask("gemini/compressionStatus", {}))["tokenCount"] > before
        file = tmp_path / "chat.json"
        exported = await spoken.ask("gemini/session/export", {"sessionId": session_id, "format": "companion"})
        file.write_text(exported["content"], "utf-8")
    async with editor(environment, workspace) as again:
        assert (await prompts_of(again, session_id))[0] == asked, "after a restart"
        copy = (await again.ask("gemini/session/import", {"path": str(file)}))["sessionId"]
        assert (await prompts_of(again, copy))[0] == asked, "after an export and an import"


async def test_a_picture_alone_is_a_prompt_and_counts(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    async with editor(server_environment(tmp_path, **gemini_environment), workspace) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hello."})
        before = (await spoken.ask("gemini/compressionStatus", {}))["tokenCount"]
        await spoken.ask("gemini/chat", {"prompt": [PICTURE]})
        assert SENT in newest(emulator)
        assert (await spoken.ask("gemini/compressionStatus", {}))["tokenCount"] > before
