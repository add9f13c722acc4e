"""The real server over stdio where things are not as they should be: foreign folders, a store that cannot be, a kill in
the wrong moment.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, Gate, answer

pytestmark = pytest.mark.asyncio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work ä 日本"
    (folder / ".gemini").mkdir(parents=True)
    return folder


class ForeignFolder:
    """A workspace folder on a drive that this system has not."""

    name = "x"

    def as_uri(self) -> str:
        return "file:///C:/Users/me/x"


async def test_a_folder_of_another_system_does_not_keep_anybody_from_chatting(tmp_path: Path) -> None:
    async with editor(server_environment(tmp_path), ForeignFolder()) as spoken:  # pyright: ignore[reportArgumentType]
        result = await spoken.ask("gemini/chat", {"prompt": "hello"})
        assert result["model"] == "offline"
        listed = await spoken.ask("gemini/session/list")
        assert [info["workspaceFolders"] for info in listed["sessions"]] == [[]]


async def test_a_store_that_cannot_be_is_told_and_used_as_soon_as_it_can(tmp_path: Path, workspace: Path) -> None:
    data = tmp_path / "data"
    data.write_text("not a folder", "utf-8")
    async with editor(server_environment(tmp_path), workspace) as spoken:
        error = await spoken.fails("gemini/chat", {"prompt": "hello"})
        assert error.code == -32803
        assert str(data) in error.message
        assert "Errno" not in error.message
        assert "COMPANION_DATA_DIR" in error.data["hint"]  # pyright: ignore[reportOptionalSubscript]
        assert (await spoken.ask("gemini/models"))["provider"] == "offline"
        data.unlink()
        assert (await spoken.ask("gemini/chat", {"prompt": "hello"}))["model"] == "offline"


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("gemini/session/new", {"title": "x" * 501}, "$.title"),
    ("gemini/compress", {"instructions": "x" * 100_001}, "$.instructions"),
    ("gemini/compress", {"strategy": "best"}, "$.strategy"),
    ("gemini/compress", {"upTo": "a", "from": "b"}, "$.from"),
    ("gemini/compress", {"upTo": "nobody"}, "$.upTo"),
    ("gemini/chat", {"prompt": "  "}, "$.prompt"),
    ("gemini/chat", {"prompt": [{"text": "x"}, {"functionCall": {"name": "f"}}]}, "$.prompt[1]"),
    ("gemini/chat", {"prompt": [{"nothing": "that a model reads"}]}, "$.prompt"),
    ("gemini/chat", {"prompt": [{"videoMetadata": {"fps": 1}}, {"thoughtSignature": "abc="}]}, "$.prompt"),
    ("gemini/pin", {"text": "  "}, "$.text"),
    ("gemini/pin", {"turnId": "turn-of-nobody"}, "$.turnId"),
    ("gemini/constraints/set", {"state": "inForce"}, "$.constraintId"),
    ("gemini/constraints/set", {"state": "inForce", "text": " "}, "$.text"),
    ("gemini/constraints/set", {"state": "released", "constraintId": "rule-of-nobody"}, "$.constraintId"),
    ("gemini/session/import", {"path": "session.json"}, "$.path"),
    ("gemini/session/history", {"view": "model", "cursor": "2"}, "$.cursor"),
]


async def test_what_a_method_cannot_take_is_refused_with_its_place(tmp_path: Path, workspace: Path) -> None:
    async with editor(server_environment(tmp_path), workspace) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "hello"})
        for method, params, path in REFUSED:
            error = await spoken.fails(method, params)
            assert (method, error.code) == (method, -32602)
            assert error.data["path"] == path  # pyright: ignore[reportOptionalSubscript]


async def test_killed_during_a_compression_it_is_told_as_cancelled_and_the_view_is_the_old_one(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    gate = Gate()
    async with editor(environment, workspace) as spoken:
        for number in range(5):
            await spoken.ask("gemini/chat", {"prompt": f"note {number}: " + f"word{number} " * 300})
        before = await spoken.ask("gemini/session/history", {"view": "model"})
        session_id = (await spoken.ask("gemini/compressionStatus"))["sessionId"]
        emulator.script(
            answer(gate, "late"), method="generateContent", when=lambda request: "state_snapshot" in request.system
        )
        compressing = spoken.start("gemini/compress")
        await gate.wait_reached()
        # What was told is kept by now, and has come here ahead of the answer.
        await spoken.ask("gemini/events/replay", {"sessionId": session_id, "afterSeq": 0})
        started = spoken.of("compressionStarted")[0]
        await spoken.kill()
        compressing.cancel()
        await asyncio.gather(compressing, return_exceptions=True)
    gate.release()
    async with editor(environment, workspace) as again:
        await again.ask("gemini/session/open", {"sessionId": session_id})
        assert [event["compressionId"] for event in again.of("compressionCancelled")] == [started["compressionId"]]
        status = await again.ask("gemini/compressionStatus")
        assert (status["state"], status["compressions"], status["canUndo"]) == ("idle", 0, False)
        after = await again.ask("gemini/session/history", {"view": "model"})
        assert [item["parts"] for item in after["contents"]] == [item["parts"] for item in before["contents"]]
        assert (await again.ask("gemini/compress"))["status"] == "COMPRESSED"


async def test_a_smaller_limit_in_the_workspaces_settings_compresses_before_the_next_prompt(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, options={"trusted": True}) as spoken:
        for number in range(5):
            await spoken.ask("gemini/chat", {"prompt": f"note {number}: " + f"word{number} " * 300})
        (workspace / ".gemini" / "settings.json").write_text(json.dumps({"model": {"tokenLimit": 6_000}}), "utf-8")
        await spoken.wait_for("settingsChanged")
        assert (await spoken.ask("gemini/compressionStatus"))["tokenLimit"] == 6_000
        assert spoken.statuses[-1]["tokenLimit"] == 6_000
        result = await spoken.ask("gemini/chat", {"prompt": "go on"})
        assert result["compression"]["trigger"] == "auto"
        assert result["compression"]["status"] == "COMPRESSED"
        types = [event["type"] for event in spoken.events]
        order = [types.index("compressionStarted"), types.index("compressionCompleted"), types.index("chatCompressed")]
        assert order == sorted(order)
        huge = await spoken.ask("gemini/chat", {"prompt": "huge " * 9_000})
        assert huge["stopped"] == "contextWindowWillOverflow"
        assert huge["prompt"] == [{"text": "huge " * 9_000}]
        numbers = spoken.of("contextWindowWillOverflow")[0]
        assert numbers["estimatedRequestTokenCount"] > numbers["remainingTokenCount"] > 0


async def test_a_repository_does_not_choose_who_gets_the_conversation(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    (workspace / ".gemini" / "settings.json").write_text(
        json.dumps({"model": {"name": "projects/p/locations/l/endpoints/123", "tokenLimit": 1}}), "utf-8"
    )
    for trusted in (False, True):
        environment = server_environment(tmp_path / str(trusted), **gemini_environment)
        async with editor(environment, workspace, options={"trusted": trusted}) as spoken:
            models = await spoken.ask("gemini/models")
            assert models["current"] == "gemini-3.5-flash"
            if not trusted:
                assert (await spoken.ask("gemini/chat", {"prompt": "hello"}))["finishReason"] == "STOP"
    assert {request.model for request in emulator.requests} <= {"gemini-3.5-flash", "gemini-2.5-flash-lite"}
