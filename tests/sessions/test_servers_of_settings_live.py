"""MCP servers as they are started, started again, agreed to and ended, at the port that reaches them."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.mcp.config import settled_servers
from gemini_companion.sessions.mcp.choices import Choices, ChoicesInMemory
from gemini_companion.sessions.mcp.service import McpService
from gemini_companion.tools.registry import ToolRegistry
from tests.support.mcp_links import ScriptedConnector
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleTool
from tests.support.sessions import ManualClock

TOOL = {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}


class Floor:
    """Two servers in a workspace: `own` is personal, `theirs` came with the workspace."""

    def __init__(self) -> None:
        self.trusted = True
        self.connector = ScriptedConnector([TOOL])
        self.choices = ChoicesInMemory()
        self.layers: list[Any] = [
            ("user", True, {"own": {"command": "one"}}),
            ("workspace", False, {"theirs": {"command": "two"}}),
        ]
        self.service = McpService(
            self.connector,
            clock=ManualClock(),
            options=lambda: settled_servers(self.layers),
            trusted=lambda: self.trusted,
            folders=lambda: ("/project",),
            choices=self.choices,
        )
        self.registry = ToolRegistry([SampleTool("read_file", "read")])

    def states(self) -> dict[str, str]:
        return {one.name: one.state for one in self.service.states()}

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self.service.tools_for_turn(self.registry)]

    def digest(self, name: str) -> str:
        return next(one.digest for one in settled_servers(self.layers).servers if one.name == name)

    async def ready(self, name: str) -> None:
        """Wait until a server answers."""
        server = self.service.server(name)
        assert server is not None
        async with asyncio.timeout(PATIENCE):
            await server.settled()
        assert self.states()[name] == "ready"


@pytest.fixture
async def floor() -> AsyncGenerator[Floor]:
    made = Floor()
    yield made
    for link in made.connector.links:
        link.may_close.set()
    await made.service.close()


async def test_a_turn_starts_what_is_personal_and_what_was_agreed_to(floor: Floor) -> None:
    assert await floor.tools() == ["read_file", "mcp_own_look"]
    assert floor.states() == {"own": "ready", "theirs": "consentNeeded"}
    await floor.service.agree("theirs", floor.digest("theirs"))
    assert await floor.tools() == ["read_file", "mcp_own_look", "mcp_theirs_look"]


async def test_what_has_changed_since_it_was_shown_or_agreed_to_is_asked_about_again(floor: Floor) -> None:
    shown = floor.digest("theirs")
    await floor.service.agree("theirs", shown)
    await floor.tools()
    floor.layers[1] = ("workspace", False, {"theirs": {"command": "two", "args": ["--more"]}})
    assert await floor.tools() == ["read_file", "mcp_own_look"]
    assert floor.states()["theirs"] == "consentNeeded"
    with pytest.raises(InvalidInput, match="has changed since it was shown"):
        await floor.service.agree("theirs", shown)


async def test_choices_made_at_once_are_all_kept(floor: Floor) -> None:
    await asyncio.gather(
        floor.service.agree("theirs", floor.digest("theirs")),
        floor.service.enable("own", on=False),
        floor.service.enable("theirs", on=False),
    )
    kept: Choices = floor.choices.read()
    assert sorted(kept.disabled) == ["own", "theirs"]
    assert kept.agreed == {"/project": {"theirs": floor.digest("theirs")}}


async def test_a_server_that_is_started_again_twice_at_once_answers_once(floor: Floor) -> None:
    await floor.tools()
    first = floor.connector.links[0]
    first.may_close.clear()
    again = [asyncio.create_task(floor.service.restart("own")) for _ in range(2)]
    await first.closing.wait()
    first.may_close.set()
    await asyncio.gather(*again)
    await floor.ready("own")
    assert await floor.tools() == ["read_file", "mcp_own_look"]
    assert [link.closed.done() for link in floor.connector.links] == [True] * (len(floor.connector.links) - 1) + [False]


async def test_giving_up_a_restart_half_way_leaves_a_server_that_answers(floor: Floor) -> None:
    await floor.tools()
    first = floor.connector.links[0]
    first.may_close.clear()
    restart = asyncio.create_task(floor.service.restart("own"))
    await first.closing.wait()
    restart.cancel()
    with pytest.raises(asyncio.CancelledError):
        await restart
    first.may_close.set()
    async with asyncio.timeout(PATIENCE):
        while len(floor.connector.links) < 2:
            await asyncio.sleep(0)
    await floor.ready("own")


async def test_trust_that_goes_during_a_restart_leaves_nothing_running(floor: Floor) -> None:
    await floor.tools()
    first = floor.connector.links[0]
    first.may_close.clear()
    restart = asyncio.create_task(floor.service.restart("own"))
    await first.closing.wait()
    floor.trusted = False
    await floor.service.settle()
    first.may_close.set()
    await restart
    await floor.service.close()
    assert [link.closed.done() for link in floor.connector.links] == [True]
    assert floor.states()["own"] == "untrusted"
    with pytest.raises(InvalidInput, match="not trusted"):
        await floor.service.restart("own")


async def test_a_registry_is_the_same_while_nothing_changes_and_those_of_ended_agents_go(floor: Floor) -> None:
    joined = await floor.service.tools_for_turn(floor.registry)
    assert await floor.service.tools_for_turn(floor.registry) is joined
    ended = ToolRegistry()
    seen = weakref.ref(ended)
    await floor.service.tools_for_turn(ended)
    del ended
    for _ in range(100):
        await floor.service.tools_for_turn(ToolRegistry())
    gc.collect()
    assert seen() is None
