"""The servers of the process: which are wanted, started with the first turn that can use them, and ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.mcp.config import ServerDefinition, ServerOptions
from gemini_companion.engine.mcp.listed import ListedPrompt
from gemini_companion.engine.mcp.results import Answered, result_of
from gemini_companion.sessions.mcp.choices import Choices, ChoicesInMemory, ChoiceStore
from gemini_companion.sessions.mcp.port import Connector, McpFault
from gemini_companion.sessions.mcp.results import McpServerState, ServerState
from gemini_companion.sessions.mcp.server import McpServer
from gemini_companion.sessions.ports import Clock
from gemini_companion.tools.mcp.tool import McpTool
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import ToolRefusal

_ANSWERED: Final = ("answered", "malformed")
"""Kinds of faults behind which the tool was called: what it did is done."""
WAIT_SECONDS: Final = 6.0
"""Seconds that a turn waits for the servers that it starts; what comes later joins the next one."""
MOST_TOOLS: Final = 400
"""Tools of all servers that one request tells the model of."""
_MOST_REGISTRIES: Final = 64


class McpService:
    """The servers of the settings. Nothing is started, loaded or read before a turn in a trusted workspace wants it."""

    def __init__(
        self,
        connector: Connector,
        *,
        clock: Clock,
        options: Callable[[], ServerOptions],
        trusted: Callable[[], bool],
        folders: Callable[[], Sequence[str]],
        choices: ChoiceStore | None = None,
        on_news: Callable[[], None] = lambda: None,
        on_prompts: Callable[[], None] = lambda: None,
    ) -> None:
        self._connector = connector
        self._clock = clock
        self._options = options
        self._trusted = trusted
        self._folders = folders
        self._store = choices or ChoicesInMemory()
        self._on_news = on_news
        self._on_prompts = on_prompts
        self._choices: Choices | None = None
        self._choosing = asyncio.Lock()
        self._servers: dict[str, McpServer] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._registries: dict[int, tuple[ToolRegistry, ToolRegistry]] = {}
        """By the identity of the registry below, which is held too, the one with the servers' tools."""
        self._told: tuple[McpServerState, ...] = ()
        self._prompts_told: tuple[tuple[str, tuple[ListedPrompt, ...]], ...] = ()

    # --- a turn

    async def tools_for_turn(self, own: ToolRegistry) -> ToolRegistry:
        """What a turn that begins now can call: `own`, and the tools of the servers that answer.

        Starts those that are wanted, and waits for them a few seconds. Raises nothing.
        """
        options = self._options()
        if not options.servers and not self._servers:
            return own
        await self.settle()
        self._news()  # who may not be started is told of too
        fresh = [server for server in self._servers.values() if server.state == "off" or server.is_withheld]
        for server in fresh:
            server.start()
        if fresh:
            waiting = [asyncio.create_task(server.settled(), name="mcp start") for server in fresh]
            try:
                await asyncio.wait(waiting, timeout=WAIT_SECONDS)
            finally:
                for task in waiting:
                    task.cancel()
        return self._joined(own)

    async def call(self, server: str, tool: str, args: Mapping[str, Any], progress: Callable[[str], None]) -> Answered:
        """Call a tool by the name that its server has for it. Raises `ToolRefusal`."""
        found = self._servers.get(server)
        if found is None:
            raise ToolRefusal(f"The MCP server {server} is not used any more.")
        try:
            raw = await found.call(tool, args, progress)
        except McpFault as fault:
            said = "did not answer the call" if fault.kind not in _ANSWERED else "was called, and answered"
            words = f"The MCP server {server} {said}. {fault.message}"
            raise ToolRefusal(words, outcome="timedOut" if fault.kind == "timedOut" else "failed") from None
        return await asyncio.to_thread(result_of, raw)

    # --- which are wanted

    async def settle(self) -> None:
        """Bring what runs in line with settings, trust and choices: what is not wanted ends. Starts nothing."""
        if self._choices is None:
            self._choices = await asyncio.to_thread(self._store.read)
        wanted = {one.name: one for one in self._options().servers if self.hindrance(one) is None}
        for name, server in list(self._servers.items()):
            if wanted.get(name) != server.definition or server.cwd != self._cwd():
                del self._servers[name]
                self._end(server)
        for name, definition in wanted.items():
            if name not in self._servers:
                self._servers[name] = McpServer(
                    definition, self._connector, self._clock, cwd=self._cwd(), on_news=self._moved
                )
                self._registries.clear()

    def look_again(self) -> None:
        """Settings, trust or folders have changed: end at once what is not wanted any more."""
        if self._servers:
            task = asyncio.create_task(self.settle(), name="mcp settle")
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def hindrance(self, definition: ServerDefinition) -> ServerState | None:
        """Why a server is not used; `None` if it is."""
        choices = self._choices or Choices()
        if not self._trusted():
            return "untrusted"
        if not self._options().uses(definition.name):
            return "excluded"
        if definition.held:
            return "held"
        if definition.name in choices.disabled:
            return "disabled"
        if definition.refusal:
            return "failed"
        if not definition.is_personal and self._agreed(choices, definition) != definition.digest:
            return "consentNeeded"
        return None

    def server(self, name: str) -> McpServer | None:
        """The server of this name, if it is used."""
        return self._servers.get(name)

    def known(self) -> list[McpServer]:
        """The servers that are used, by name, whether or not they answer."""
        return [self._servers[name] for name in sorted(self._servers)]

    def running(self) -> list[McpServer]:
        """The servers that answer, by name."""
        return [server for server in self.known() if server.state == "ready"]

    def offering(self) -> list[McpServer]:
        """The servers whose lists count, by name: those that answer, and those that ended and are started again."""
        return [server for server in self.known() if server.state in ("ready", "restarting")] if self._trusted() else []

    def states(self) -> tuple[McpServerState, ...]:
        """Where each server of the settings stands."""
        return tuple(
            McpServerState(
                name=one.name,
                state=self.hindrance(one) or (server.state if server else "off"),
                tools=len(server.tools) if server else 0,
                error=one.refusal or (server.error if server else ""),
            )
            for one in self._options().servers
            for server in (self._servers.get(one.name),)
        )

    # --- what a person does

    async def enable(self, name: str, *, on: bool) -> None:
        """Use a server, or not. Raises `InvalidInput`, `StorageFault`."""
        await self.settle()
        await self._choose(lambda choices: choices.with_disabled(self._known(name).name, is_disabled=not on))

    async def agree(self, name: str, digest: str) -> None:
        """Agree to what a workspace wants to start, as it was shown. Raises `InvalidInput`, `StorageFault`."""
        await self.settle()
        definition = self._known(name)
        if digest != definition.digest:
            raise InvalidInput(
                f"What {name} would start has changed since it was shown.",
                path="$.digest",
                hint="Look at it again, and agree to what it is now.",
            )
        await self._choose(lambda choices: choices.with_agreed(self._cwd(), name, digest))

    async def restart(self, name: str, show_address: Callable[[str], Awaitable[bool]] | None = None) -> None:
        """End a server, if it runs, and start it. With `show_address` a person logs in. Raises `InvalidInput`."""
        await self.settle()
        definition = self._known(name)
        server = self._servers.get(name)
        if server is None:
            raise InvalidInput(
                f"{name} cannot be started: {_WHY[self.hindrance(definition) or 'off']}",
                path="$.server",
                hint="gemini/mcp/list says where each server stands.",
            )

        def start() -> None:
            if self._servers.get(name) is server:  # trust or settings may have gone meanwhile
                server.start(show_address)

        await server.stop(start)

    async def log_out(self, name: str) -> None:
        """Forget a login, and end the server. Raises `InvalidInput`, `StorageFault`."""
        await self.settle()
        definition = self._known(name)
        await asyncio.to_thread(self._connector.forget_login, definition)
        if server := self._servers.get(name):
            await server.stop()

    async def log_of(self, name: str) -> tuple[str, ...]:
        """The newest lines of a server's log, oldest first. Raises `InvalidInput`."""
        self._known(name)
        server = self._servers.get(name)
        return tuple(server.log) if server else ()

    async def close(self) -> None:
        """End all of them, and everything that came of them."""
        servers, self._servers = list(self._servers.values()), {}
        await asyncio.gather(*(server.stop() for server in servers))
        if self._ending:
            await asyncio.wait(self._ending)

    # ---

    async def _choose(self, change: Callable[[Choices], Choices]) -> None:
        def work() -> Choices:
            changed = change(self._store.read())  # another process may have changed them
            self._store.write(changed)
            return changed

        async with self._choosing:
            self._choices = await asyncio.to_thread(work)
        await self.settle()
        self._news()

    def _known(self, name: str) -> ServerDefinition:
        found = next((one for one in self._options().servers if one.name == name), None)
        if found is None:
            raise InvalidInput(
                f"There is no MCP server {name[:80]!r} in the settings.",
                path="$.server",
                hint="gemini/mcp/list lists them.",
            )
        return found

    def _agreed(self, choices: Choices, definition: ServerDefinition) -> str | None:
        return choices.agreed.get(self._cwd(), {}).get(definition.name)

    def _cwd(self) -> str:
        folders = self._folders()
        return folders[0] if folders else "/"

    def _end(self, server: McpServer) -> None:
        self._registries.clear()
        task = asyncio.create_task(server.stop(), name=f"mcp end:{server.definition.name}")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _moved(self) -> None:
        """A server's state or tools are different."""
        self._registries.clear()
        self._news()

    def _news(self) -> None:
        states = self.states()
        if states != self._told:
            self._told = states
            self._on_news()
        prompts = tuple((server.definition.name, server.prompts) for server in self.offering() if server.prompts)
        if prompts != self._prompts_told:
            self._prompts_told = prompts
            self._on_prompts()

    def _joined(self, own: ToolRegistry) -> ToolRegistry:
        """The registry with the servers' tools; the same object while nothing changes."""
        known = self._registries.get(id(own))
        if known is not None:
            return known[1]
        tools = [McpTool(server.definition, listed, self) for server in self.offering() for listed in server.tools]
        joined = own.with_more(tools[:MOST_TOOLS]) if tools else own
        while len(self._registries) >= _MOST_REGISTRIES:  # every subagent comes with one
            del self._registries[next(iter(self._registries))]
        self._registries[id(own)] = (own, joined)
        return joined


_WHY: Final[Mapping[ServerState, str]] = {
    "untrusted": "the workspace is not trusted.",
    "excluded": "the settings leave it out, by mcp.allowed or mcp.excluded.",
    "held": "the settings file that defines it cannot be read, and no secret of it is kept elsewhere.",
    "disabled": "it is disabled.",
    "failed": "the workspace's settings refer to variables that are yours.",
    "consentNeeded": "the workspace's settings name it, and nobody has agreed to what it starts.",
}
