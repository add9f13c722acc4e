"""Prompts of MCP servers in the registry of slash commands: there while their server is, and run like any other."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from gemini_companion.engine.commands.arguments import Typed
from gemini_companion.engine.commands.naming import flattened
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.mcp.config import settled_servers
from gemini_companion.sessions.commands.port import Command, Room
from gemini_companion.sessions.mcp import commands as server_commands
from gemini_companion.sessions.mcp.commands import ServerCommands
from gemini_companion.sessions.mcp.service import McpService
from gemini_companion.tools.registry import ToolRegistry
from tests.support.mcp_links import ScriptedConnector
from tests.support.patience import PATIENCE
from tests.support.sessions import ManualClock, Studio

POEM = {"name": "write a poem", "description": "A\n\u202epoem.", "arguments": [{"name": "topic", "required": True}]}


class Mine:
    """Commands of the person's own."""

    async def commands(self) -> Sequence[Command]:
        return [Command(name="write-a-poem", scope="user")]

    async def expanded(self, command: Command, typed: Typed, room: Room) -> tuple[Part, ...]:
        return ({"text": "Mine."},)


class Library:
    """A chat, and a server with prompts that its turns may start."""

    def __init__(self, folder: Path) -> None:
        self.trusted = True
        self.told = 0
        self.connector = ScriptedConnector([], [POEM, {"name": "silent"}])
        self.service = McpService(
            self.connector,
            clock=ManualClock(),
            options=lambda: settled_servers([("user", True, {"my books": {"command": "one"}})]),
            trusted=lambda: self.trusted,
            folders=lambda: ("/project",),
            on_prompts=self.tell,
        )
        self.studio = Studio(folder)
        self.commands = self.studio.services.slash_commands
        self.commands.add(ServerCommands(self.service))

    def tell(self) -> None:
        self.told += 1

    async def start(self) -> None:
        await self.service.tools_for_turn(ToolRegistry())

    async def names(self) -> list[str]:
        return [one.name for one in (await self.commands.listed()).commands if one.scope == "server"]

    async def told_again(self, since: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while self.told == since:
                await asyncio.sleep(0)


@pytest.fixture
async def library(tmp_path: Path) -> AsyncGenerator[Library]:
    made = Library(tmp_path)
    yield made
    await made.service.close()


async def test_listing_commands_starts_no_server(library: Library) -> None:
    assert await library.names() == []
    assert library.connector.links == []


async def test_a_servers_prompts_are_commands_that_say_whose_they_are_and_what_they_need(library: Library) -> None:
    await library.start()
    found = next(one for one in (await library.commands.listed()).commands if one.name == "write-a-poem")
    assert (found.scope, found.owner, found.description) == ("server", "my books", "A poem.")
    assert [(one.name, one.is_required) for one in found.arguments] == [("topic", True)]


async def test_clients_are_told_when_a_list_changes_and_when_a_server_ends(library: Library) -> None:
    await library.start()
    assert library.told == 1
    (link,) = library.connector.links
    link.prompts[:] = [{"name": "other"}]
    link.around.on_changed("prompts")
    await library.told_again(1)
    assert await library.names() == ["other"]
    await library.service.enable("my books", on=False)
    await library.told_again(2)
    assert await library.names() == []


async def test_without_trust_there_are_none(library: Library) -> None:
    await library.start()
    library.trusted = False
    assert await library.names() == []


async def test_a_name_of_the_persons_own_stays_theirs(library: Library) -> None:
    library.commands.add(Mine())
    await library.start()
    assert await library.names() == ["my_books.write-a-poem", "silent"]
    await library.studio.chat("/write-a-poem tea")
    await library.studio.chat("/my_books.write-a-poem tea")
    first, second = (await library.studio.session()).history.prompts
    assert "Mine." in str(first.content.parts[1]["text"])
    assert "write a poem {'topic': 'tea'}" in str(second.content.parts[1]["text"])


async def test_what_cannot_be_called_says_how_it_is_called(library: Library) -> None:
    await library.start()
    with pytest.raises(InvalidInput, match=r"/write-a-poem cannot be called like this\. It needs topic\.") as refused:
        await library.studio.chat("/write-a-poem")
    assert refused.value.hint == 'Write: /write-a-poem --topic="…"'
    with pytest.raises(InvalidInput, match="stands for nothing"):
        await library.studio.chat("/silent")
    assert library.studio.model.requests == []


async def test_a_prompt_that_its_server_drops_between_listing_and_calling_is_refused(library: Library) -> None:
    await library.start()
    source = ServerCommands(library.service)
    command = (await source.commands())[0]
    library.connector.prompts.clear()
    library.connector.links[0].around.on_changed("prompts")
    await library.told_again(1)
    with pytest.raises(InvalidInput, match="does not offer /write-a-poem any more"):
        await source.expanded(command, Typed("write-a-poem", "tea", "/write-a-poem tea"), _no_room())


def _no_room() -> Room:
    class Nowhere:
        async def text_of_file(self, path: str) -> str:
            raise AssertionError(path)

        async def run(self, commands: Sequence[str], *, asks: str) -> list[str]:
            raise AssertionError(commands)

    return Nowhere()


async def test_commands_are_made_once_of_each_list_and_never_on_the_event_loop(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def told(text: str, *limit: int) -> str:
        threads.append(threading.get_ident())
        return flattened(text, *limit)

    monkeypatch.setattr(server_commands, "flattened", told)
    await library.start()
    for _ in range(3):
        assert await library.names() == ["silent", "write-a-poem"]
    assert len(threads) == 4, "two descriptions, and the name and the description of an argument"
    assert threading.get_ident() not in threads
    since = library.told
    link = library.connector.links[-1]
    link.prompts[:] = [{"name": "later"}]
    link.around.on_changed("prompts")
    await library.told_again(since)
    assert await library.names() == ["later"]
