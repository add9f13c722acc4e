"""MCP servers as a user has them, over stdio: named in settings, called by a model, with consent."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, plain, server_environment
from tests.support.emulator import Emulator, answer, call

SERVER = str(Path(__file__).resolve().parents[1] / "support" / "mcp_server.py")
OPTIONS = {"trusted": True, "supports": ["confirmTool"]}


def a_server(*behaviours: str, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [SERVER, *behaviours], **more}


def configure(folder: Path, servers: dict[str, Any], **more: Any) -> None:
    (folder / ".gemini").mkdir(parents=True, exist_ok=True)
    (folder / ".gemini" / "settings.json").write_text(json.dumps({"mcpServers": servers, **more}), "utf-8")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment)


def answering(spoken: Editor, outcome: str = "once", **more: Any) -> list[dict[str, Any]]:
    """Answers every question, and keeps them."""
    asked: list[dict[str, Any]] = []

    async def confirm(params: Any) -> dict[str, Any]:
        asked.append(plain(params))
        return {"outcome": outcome, **more}

    spoken.client.feature("gemini/confirmTool")(confirm)
    return asked


def echo(text: str, name: str = "mcp_tester_echo", call_id: str = "c") -> Any:
    return answer(call(name, {"text": text}, call_id=call_id))


def names(request: Any) -> set[str]:
    return {declared["name"] for declared in request.declarations}


async def states(spoken: Editor) -> dict[str, str]:
    return {one["name"]: one["state"] for one in (await spoken.ask("gemini/mcp/list"))["servers"]}


async def test_a_server_of_the_settings_is_started_offered_and_called_with_consent(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server("banner")})
    emulator.script(echo("hello"), "It said hello.", method="streamGenerateContent")
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        asked = answering(spoken)
        assert await states(spoken) == {"tester": "off"}
        result = await spoken.ask("gemini/chat", {"prompt": "Say hello"})
        assert await states(spoken) == {"tester": "ready"}
        listed = {tool["name"]: tool for tool in (await spoken.ask("gemini/tools"))["tools"]}
    first, second = emulator.asked("streamGenerateContent")
    assert names(first) >= {"mcp_tester_echo", "mcp_tester_environment", "read_file"}
    assert second.responses[0]["response"] == {"output": "echo: hello"}
    assert [(one["title"], one["risk"]) for one in asked] == [('Ask tester: echo {"text": "hello"}', "server")]
    assert asked[0]["rule"] == {"tool": "mcp_tester_echo", "decision": "allow"}
    assert result["text"] == "It said hello."
    assert (listed["mcp_tester_echo"]["risk"], listed["mcp_tester_echo"]["decision"]) == ("server", "ask")
