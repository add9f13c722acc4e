"""Prompts of MCP servers over stdio: slash commands like any other, while their server runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator
from tests.support.mcp_desk import a_server, configure, started

OPTIONS = {"trusted": True}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def environment(tmp_path: Path, gemini_environment: dict[str, str]) -> dict[str, str]:
    return server_environment(tmp_path, **gemini_environment)


async def commands_of(spoken: Editor, scope: str) -> list[tuple[str, str]]:
    listed = (await spoken.ask("gemini/commands/list"))["commands"]
    return [(one["name"], one.get("owner", "")) for one in listed if one["scope"] == scope]


async def test_prompts_of_a_server_are_slash_commands_and_its_resources_go_along_and_neither_sets_a_rule(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server()})
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        before = await commands_of(spoken, "server")
        await started(spoken, "tester")
        await spoken.ask("gemini/chat", {"prompt": "Hello"})
        offered = await commands_of(spoken, "server")
        named = await spoken.ask("gemini/mcp/complete", {"query": "@tester"})
        checked = await spoken.ask("gemini/prompt/check", {"prompt": "See @tester:memo://one, and @nobody:memo://one."})
        written = await spoken.ask("gemini/chat", {"prompt": '/write-a-poem --topic="green tea"'})
        sent = await spoken.ask("gemini/commands/sent", {"turnId": written["turnId"]})
        await spoken.ask("gemini/chat", {"prompt": "See @tester:memo://one, and @tester:memo://two."})
        wrong = await spoken.fails("gemini/chat", {"prompt": "/write-a-poem"})
        rules = (await spoken.ask("gemini/constraints"))["constraints"]
        attached = spoken.of("filesAttached")
        (expanded,) = spoken.of("commandExpanded")
    _, called, mentioned = (
        request.body["contents"][-1]["parts"] for request in emulator.asked("streamGenerateContent")
    )
    assert (before, offered) == ([], [("write-a-poem", "tester")])
    assert [resource["mention"] for resource in named["resources"]] == ["@tester:memo://one"]
    assert [(one["written"], one["found"]) for one in checked["mentions"]] == [
        ("@tester:memo://one", "resource"),
        ("@nobody:memo://one", "nothing"),
    ]
    assert called[0]["text"] == '/write-a-poem --topic="green tea"'
    assert called[1]["text"].startswith('<slash_command name="/write-a-poem">')
    assert "Write about {'topic': 'green tea'}. You must always use tabs." in called[1]["text"]
    assert sent["text"] == called[1]["text"]
    assert (expanded["command"]["scope"], expanded["command"]["owner"]) == ("server", "tester")
    assert "Buy milk." in mentioned[1]["text"]
    assert [one["path"] for one in attached[-1]["files"]] == ["tester:memo://one"]
    assert "no such memo" in attached[-1]["withheld"][0]["reason"]
    assert "/write-a-poem cannot be called like this. It needs topic." in wrong.message
    assert rules == []


async def test_a_servers_prompt_is_a_command_once_it_runs_and_yields_its_name_to_the_persons(
    home: Path, workspace: Path, emulator: Emulator, environment: dict[str, str]
) -> None:
    configure(home, {"tester": a_server()})
    async with editor(environment, workspace, options=OPTIONS) as spoken:
        await started(spoken, "tester")
        await spoken.ask("gemini/chat", {"prompt": "/write-a-poem tea"})
        assert await commands_of(spoken, "server") == [("write-a-poem", "tester")]
        changes = len(spoken.of("slashCommandsChanged"))
        (home / ".gemini" / "commands").mkdir(parents=True)
        (home / ".gemini" / "commands" / "write-a-poem.toml").write_text('prompt = "Mine."', "utf-8")
        await spoken.wait_for("slashCommandsChanged", changes + 1)
        assert await commands_of(spoken, "user") == [("write-a-poem", "")]
        assert await commands_of(spoken, "server") == [("tester.write-a-poem", "tester")]
        await spoken.ask("gemini/chat", {"prompt": "/write-a-poem"})
        await spoken.ask("gemini/chat", {"prompt": "/tester.write-a-poem coffee"})
        changes = len(spoken.of("slashCommandsChanged"))
        await spoken.ask("gemini/mcp/enable", {"server": "tester", "enabled": False})
        await spoken.wait_for("slashCommandsChanged", changes + 1)
        assert await commands_of(spoken, "server") == []
    texts = [request.body["contents"][-1]["parts"][1]["text"] for request in emulator.asked("streamGenerateContent")]
    assert ["tea" in texts[0], "Mine." in texts[1], "coffee" in texts[2]] == [True, True, True]
