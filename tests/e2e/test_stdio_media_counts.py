"""Pictures and documents, over stdio: what the API counts of them is what the meter shows from then on."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator


def part(mime: str, data: bytes) -> dict[str, Any]:
    return {"inlineData": {"mimeType": mime, "data": base64.b64encode(data).decode()}}


async def test_the_meter_shows_what_the_api_counts_of_a_picture_and_a_document_not_their_flat_rates(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    async with editor(server_environment(tmp_path, **gemini_environment), workspace) as spoken:
        prompt = [
            {"text": "What do they show?"},
            part("image/png", b"\x89PNG\r\n\x1a\n" + bytes(200)),
            part("application/pdf", b"%PDF-1.4\n%abc\n"),
        ]
        await spoken.ask("gemini/chat", {"prompt": prompt})
        status = await spoken.ask("gemini/compressionStatus", {})
        assert status["tokenCountSource"] == "api"
        assert status["tokenCount"] < 20_000
        await spoken.ask("gemini/chat", {"prompt": "And what else?"})
        later = await spoken.ask("gemini/compressionStatus", {})
        assert later["tokenCountSource"] == "api"
        assert 0 < later["tokenCount"] - status["tokenCount"] < 500
        assert spoken.of("compressionStarted") == []
