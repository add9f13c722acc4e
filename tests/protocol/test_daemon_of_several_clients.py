"""Several clients of one daemon: settings and trust follow those that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.wiring.daemon import Daemon
from tests.support.wire import InMemoryClient


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The workspace, with a settings file that is broken and a system prompt of its own."""
    folder = tmp_path / "work"
    (folder / ".gemini").mkdir(parents=True)
    (folder / ".gemini" / "settings.json").write_text("{broken", "utf-8")
    (folder / "prompt.md").write_text("Be brief.", "utf-8")
    return folder


@pytest.fixture
def daemon(tmp_path: Path) -> Daemon:
    home, data = str(tmp_path / "home"), str(tmp_path / "data")
    return Daemon({"HOME": home, "COMPANION_DATA_DIR": data, "GEMINI_SYSTEM_MD": "prompt.md"})


async def connected(daemon: Daemon, folder: Path, *, trusted: bool | None) -> InMemoryClient:
    """A client whose workspace and trust count."""
    client = InMemoryClient(daemon.create_server())
    options = {} if trusted is None else {"trusted": trusted}
    await client.initialize(workspaceFolders=[{"uri": folder.as_uri()}], initializationOptions=options)
    await client.request("gemini/models")
    return client


def questions(client: InMemoryClient, words: str) -> int:
    """How often the client was asked with these words."""
    asked = [message for message in client.received if message.get("method") == "window/showMessageRequest"]
    return sum(words in message["params"]["message"] for message in asked)


def shown(client: InMemoryClient, words: str) -> list[int]:
    """The kinds of the messages with these words."""
    messages = client.notifications("window/showMessage")
    return [message["type"] for message in messages if words in message["message"]]


async def test_a_broken_settings_file_is_asked_about_once_of_those_that_are_there(daemon: Daemon, folder: Path):
    first = await connected(daemon, folder, trusted=True)
    first.notify("workspace/didChangeConfiguration", {"settings": {"geminiCompanion": {}}})
    second = await connected(daemon, folder, trusted=True)
    assert questions(first, "settings.json:1:2") == 1
    assert questions(second, "settings.json:1:2") == 0
    for client in (first, second):
        await client.server.dispatcher.close()


async def test_a_folder_that_can_be_no_path_is_none_and_the_others_count(daemon: Daemon, folder: Path):
    client = InMemoryClient(daemon.create_server())
    folders = [{"uri": "file:///tmp/a%00b"}, {"uri": folder.as_uri()}]
    await client.initialize(workspaceFolders=folders, initializationOptions={"trusted": True})
    assert (await client.request("gemini/session/new"))["workspaceFolders"] == [folder.as_uri()]
    await client.server.dispatcher.close()


async def test_the_most_careful_client_counts_until_it_leaves(daemon: Daemon, folder: Path):
    bold = await connected(daemon, folder, trusted=True)
    await bold.request("gemini/session/new")
    assert shown(bold, "not trusted") == []
    for round_ in (1, 2):
        careful = await connected(daemon, folder, trusted=False)
        await bold.request("gemini/session/new")
        assert shown(bold, "not trusted") == [1] * round_
        await careful.server.dispatcher.close()
        await bold.request("gemini/session/new")  # trusted again: the system prompt is used
    assert shown(bold, "not trusted") == [1, 1]
    await bold.server.dispatcher.close()


async def test_a_client_that_reports_nothing_gains_no_trust_from_one_in_another_folder(daemon: Daemon, folder: Path):
    bold = await connected(daemon, folder, trusted=True)
    other = folder.parent / "other"
    other.mkdir()
    silent = await connected(daemon, other, trusted=None)
    await silent.request("gemini/session/new")
    assert shown(silent, "not trusted") or shown(bold, "not trusted")
    await silent.server.dispatcher.close()
    before = len(shown(bold, "not trusted"))
    beside = await connected(daemon, folder, trusted=None)  # in the folder that is trusted
    await bold.request("gemini/session/new")
    assert len(shown(bold, "not trusted")) == before
    for client in (bold, beside):
        await client.server.dispatcher.close()
