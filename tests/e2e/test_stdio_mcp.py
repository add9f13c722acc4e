"""MCP servers as a user has them, over stdio: named in settings, called by a model, with consent."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, plain, server_environment
from tests.support.emulator import Emulator, answer, call
from tests.support.mcp_http_server import http_server
from tests.support.patience import PATIENCE

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


class Followed(list[Any]):
    """The pages that the editor was asked to open, each opened at once: the person logs in."""

    def append(self, params: Any) -> None:
        super().append(params.uri)
        threading.Thread(target=self.follow, args=(params.uri,), daemon=True).start()

    def follow(self, address: str) -> None:
        with urllib.request.urlopen(address, timeout=10) as page:
            page.read()


def browse(spoken: Editor) -> list[str]:
    """A person who logs in as soon as the editor is asked to open a page."""
    shown = Followed()
    spoken.client.shown_documents = shown
    return shown


async def until(spoken: Editor, name: str, *wanted: str) -> dict[str, Any]:
    """Wait until a server stands there; its entry of the last event."""
    async with asyncio.timeout(PATIENCE):
        count = 1
        while True:
            event = await spoken.wait_for("mcpServersChanged", count)
            found = next(one for one in event["servers"] if one["name"] == name)
            if found["state"] in wanted:
                return found
            count += 1


async def test_a_server_over_http_gets_the_headers_of_the_settings(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    emulator.script(echo("hello", "mcp_remote_echo"), "Done.", method="streamGenerateContent")
    with http_server() as remote:
        configure(home, {"remote": {"url": f"{remote.url}/mcp", "headers": {"X-Team": "$TEAM"}, "trust": True}})
        async with editor({**environment, "TEAM": "blue"}, workspace, options=OPTIONS) as spoken:
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
    assert emulator.asked("streamGenerateContent")[1].responses[0]["response"] == {"output": "echo: hello"}
    assert {headers.get("x-team") or headers.get("X-Team") for headers in remote.headers} == {"blue"}


async def test_a_server_that_wants_a_login_gets_it_in_the_browser_and_keeps_it(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str], tmp_path: Path
) -> None:
    call_it = [echo("hello", "mcp_remote_echo"), "Done."]
    emulator.script("Nothing to call.", *call_it, *call_it, method="streamGenerateContent")
    with http_server(with_login=True) as remote:
        configure(home, {"remote": {"url": f"{remote.url}/mcp", "trust": True}})
        async with editor(environment, workspace, options=OPTIONS) as spoken:
            shown = browse(spoken)
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
            assert await states(spoken) == {"remote": "loginNeeded"}
            assert (shown, remote.clients) == ([], {})
            await spoken.ask("gemini/mcp/login", {"server": "remote"})
            await until(spoken, "remote", "ready")
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
        (kept,) = (tmp_path / "data").glob("mcp-logins.json")
        assert kept.stat().st_mode & 0o777 == 0o600
        remote.tokens.clear()  # expired: it is refreshed
        async with editor(environment, workspace, options=OPTIONS) as spoken:
            browse(spoken)
            await spoken.ask("gemini/chat", {"prompt": "Say hello"})
            await spoken.ask("gemini/mcp/logout", {"server": "remote"})
    assert remote.grants == ["authorization_code", "refresh_token"]
    results = [request.responses[0]["response"] for request in emulator.asked("streamGenerateContent") if request.responses]
    assert results == [{"output": "echo: hello"}] * 2
    assert len(shown) == 1
    assert all(token not in kept.read_text("utf-8") for token in remote.tokens)


async def test_prompts_and_resources_of_a_server_go_along_as_its_words_and_not_the_persons(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server()})
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        offered = await spoken.ask("gemini/mcp/complete", {"query": "poem"})
        named = await spoken.ask("gemini/mcp/complete", {"query": "@tester"})
        await spoken.ask("gemini/chat", {"prompt": '/tester:write-a-poem --topic="green tea"'})
        await spoken.ask("gemini/chat", {"prompt": "See @tester:memo://one, and @tester:memo://two."})
        wrong = await spoken.fails("gemini/chat", {"prompt": "/tester:write-a-poem"})
        rules = (await spoken.ask("gemini/constraints"))["constraints"]
        attached = spoken.of("filesAttached")
    _, called, mentioned = (request.body["contents"][-1]["parts"] for request in emulator.asked("streamGenerateContent"))
    assert [prompt["command"] for prompt in offered["prompts"]] == ["/tester:write-a-poem"]
    assert [resource["mention"] for resource in named["resources"]] == ["@tester:memo://one"]
    assert called[0]["text"] == '/tester:write-a-poem --topic="green tea"'
    assert "Write about {'topic': 'green tea'}. You must always use tabs." in called[1]["text"]
    assert "Buy milk." in mentioned[1]["text"]
    assert [one["path"] for one in attached[-1]["files"]] == ["tester:memo://one"]
    assert "no such memo" in attached[-1]["withheld"][0]["reason"]
    assert "topic" in wrong.message
    assert rules == []
