"""What an editor without our plugin gets: code actions and commands, spoken to in memory, on the built-in model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.wiring.daemon import Daemon
from tests.support.wire import InMemoryClient

TEXT = "def parse(text):\n    return text.split()\n\n\nWIDTH = 80\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "parser.py").write_text(TEXT, "utf-8")
    (folder / ".env").write_text("TOKEN=hunter2\n", "utf-8")
    return folder


async def connected(tmp_path: Path, workspace: Path, capabilities: dict[str, Any] | None = None) -> InMemoryClient:
    environment = {"HOME": str(tmp_path / "home"), "COMPANION_DATA_DIR": str(tmp_path / "data")}
    client = InMemoryClient(Daemon(environment).create_server())
    folders = [{"uri": workspace.as_uri(), "name": "work"}]
    await client.initialize(
        workspaceFolders=folders, capabilities=capabilities or {}, initializationOptions={"trusted": True}
    )
    for file in workspace.iterdir():
        item = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": file.read_text("utf-8")}
        client.notify("textDocument/didOpen", {"textDocument": item})
    return client


@pytest.fixture
async def client(tmp_path: Path, workspace: Path) -> AsyncIterator[InMemoryClient]:
    spoken = await connected(tmp_path, workspace)
    yield spoken
    await spoken.server.dispatcher.close()


async def actions(client: InMemoryClient, file: Path, start: tuple[int, int], end: tuple[int, int]) -> list[Any]:
    where = {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}}
    params = {"textDocument": {"uri": file.as_uri()}, "range": where, "context": {"diagnostics": []}}
    return await client.request("textDocument/codeAction", params)


def prompt_of(action: dict[str, Any]) -> str:
    return action["command"]["arguments"][0]["prompt"]


@pytest.mark.parametrize(
    ("start", "end", "named"),
    [
        ((0, 0), (1, 10), "the selected code ({}, lines 1 to 2)"),
        ((0, 0), (1, 0), "the selected code ({}, line 1)"),
        ((4, 3), (4, 3), "the code ({}, line 5)"),
        ((2, 0), (3, 0), "the code ({}, line 3)"),
    ],
)
async def test_an_action_names_the_lines_as_a_person_counts_them(
    client: InMemoryClient, workspace: Path, start: tuple[int, int], end: tuple[int, int], named: str
) -> None:
    ask, explain = await actions(client, workspace / "parser.py", start, end)
    place = named.format(workspace / "parser.py")
    assert prompt_of(ask) == f"What does {place} do, and what should I know about it?"
    assert prompt_of(explain) == f"Explain {place} step by step."


async def test_nothing_is_offered_for_a_withheld_file_for_the_prompt_would_carry_its_path(
    client: InMemoryClient, workspace: Path
) -> None:
    assert await actions(client, workspace / ".env", (0, 0), (0, 5)) == []


async def test_an_editor_that_can_show_it_is_given_the_reason_why_nothing_is_offered(
    tmp_path: Path, workspace: Path
) -> None:
    client = await connected(tmp_path, workspace, {"textDocument": {"codeAction": {"disabledSupport": True}}})
    (action,) = await actions(client, workspace / ".env", (0, 0), (0, 5))
    assert action["disabled"]["reason"] == "Gemini is not shown .env: a secret by its name."
    assert "command" not in action
    await client.server.dispatcher.close()


async def test_an_answer_too_long_for_a_message_says_so_and_stands_whole_in_the_log(
    client: InMemoryClient, workspace: Path
) -> None:
    long = "\n".join(f"def function_{number}(argument):\n    return argument + {number}" for number in range(300))
    change = {
        "textDocument": {"uri": (workspace / "parser.py").as_uri(), "version": 2},
        "contentChanges": [{"text": long}],
    }
    client.notify("textDocument/didChange", change)
    (ask, _) = await actions(client, workspace / "parser.py", (0, 0), (599, 0))
    result = await client.request("workspace/executeCommand", ask["command"])
    assert len(result["text"]) > 1_000
    (shown,) = client.notifications("window/showMessage")
    assert len(shown["message"]) < 1_100
    assert "… (the rest" in shown["message"]
    assert client.notifications("window/logMessage") == [{"type": 3, "message": result["text"]}]


async def test_a_command_that_fails_tells_what_to_do(client: InMemoryClient) -> None:
    fault = await client.fails("workspace/executeCommand", {"command": "gemini.undoCompression"})
    assert fault.code == 1009
    (shown,) = client.notifications("window/showMessage")
    assert shown["type"] == 1
    assert shown["message"].startswith(fault.message)


async def test_a_command_that_the_person_cancelled_is_no_error(client: InMemoryClient) -> None:
    chat = client.send("workspace/executeCommand", {"command": "gemini.chat", "arguments": [{"prompt": "hello"}]})
    await client.until(lambda message: message.get("method") == "gemini/event")
    assert await client.request("gemini/cancel") == {"cancelled": True}
    assert (await client.answer_to(chat))["error"]["code"] == -32800
    assert [shown["type"] for shown in client.notifications("window/showMessage")] == [3]


async def test_a_cancel_before_any_prompt_has_nothing_to_cancel(client: InMemoryClient) -> None:
    assert await client.request("gemini/cancel") == {"cancelled": False}
