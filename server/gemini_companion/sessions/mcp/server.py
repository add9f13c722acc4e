"""One server: started, listed, kept alive, ended. It has a task of its own while it is wanted."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from gemini_companion.engine.mcp.config import ServerDefinition
from gemini_companion.engine.mcp.listed import (
    ListedPrompt,
    ListedResource,
    ListedTool,
    listed_prompts,
    listed_resources,
    listed_tools,
)
from gemini_companion.sessions.mcp.port import Connector, Link, Lists, McpFault, Surroundings
from gemini_companion.sessions.mcp.results import ServerState
from gemini_companion.sessions.ports import Clock

logger = logging.getLogger(__name__)

MOST_STARTS: Final = 5
"""Starts without a minute of work between them, after which a server is given up."""
WORKED_SECONDS: Final = 60.0
LONGEST_PAUSE: Final = 30.0
REFRESH_SECONDS: Final = 0.5
"""Seconds between two readings of lists that go on changing."""
WAIT_FOR_RESTART: Final = 10.0
"""Seconds that a call waits for a server that is being started again."""
_LOG_LINES: Final = 200
_LISTS: Final[tuple[Lists, ...]] = ("tools", "prompts", "resources")


class McpServer:
    """A server of the settings. `on_news` is called when its state or its lists are different."""

    def __init__(
        self, definition: ServerDefinition, connector: Connector, clock: Clock, *, cwd: str, on_news: Callable[[], None]
    ) -> None:
        self.definition = definition
        self.cwd = cwd
        self.state: ServerState = "off"
        self.error = ""
        self.title = ""
        self.restarts = 0
        self.is_withheld = False
        """What it would run waits for the person to agree: each turn tries again."""
        self.tools: tuple[ListedTool, ...] = ()
        self.prompts: tuple[ListedPrompt, ...] = ()
        self.resources: tuple[ListedResource, ...] = ()
        self.log: deque[str] = deque(maxlen=_LOG_LINES)
        self._connector = connector
        self._clock = clock
        self._on_news = on_news
        self._link: Link | None = None
        self._task: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._changed: set[Lists] = set()
        self._moved = asyncio.Event()
        self._ends = asyncio.Lock()
        self._ending: set[asyncio.Task[None]] = set()

    def start(self, show_address: Callable[[str], Awaitable[bool]] | None = None) -> None:
        """Start it, unless that is under way. With `show_address` a person logs in."""
        if self._task is None or self._task.done():
            self.is_withheld = False
            self._set("starting")
            self._task = asyncio.create_task(self._run(show_address), name=f"mcp:{self.definition.name}")

    async def settled(self) -> None:
        """Wait until it is no longer being started."""
        while self.state in ("starting", "restarting"):
            await self._moved.wait()

    async def stop(self, then: Callable[[], None] = lambda: None) -> None:
        """End it, and everything that came of it, then call `then`; one at a time, also if the caller is cancelled."""
        ending = asyncio.create_task(self._stop(then), name=f"mcp stop:{self.definition.name}")
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        await asyncio.shield(ending)

    async def _stop(self, then: Callable[[], None]) -> None:
        async with self._ends:
            task, self._task = self._task, None
            for one in (task, self._refreshing):
                if one is not None:
                    one.cancel()
                    await asyncio.wait({one})
            await self._drop()
            self.tools, self.prompts, self.resources = (), (), ()
            self.error = ""
            self._set("off")
            then()

    async def link(self) -> Link:
        """What answers; waited for while it is being started. Raises `McpFault`."""
        if self.state in ("starting", "restarting"):
            try:
                async with asyncio.timeout(WAIT_FOR_RESTART):
                    await self.settled()
            except TimeoutError:
                raise McpFault("It is still being started. Try again later.", "timedOut") from None
        if self._link is None or self.state != "ready":
            raise McpFault(f"It is not running. {self.error}".rstrip(), "closed")
        return self._link

    async def call(self, tool: str, args: Mapping[str, Any], progress: Callable[[str], None]) -> Mapping[str, Any]:
        """Call a tool; its result as JSON. Raises `McpFault`."""
        link = await self.link()
        return await link.call(tool, args, seconds=self.definition.seconds, progress=progress)

    def note(self, line: str) -> None:
        """Add a line to its log."""
        self.log.append(line)

    async def _run(self, show_address: Callable[[str], Awaitable[bool]] | None) -> None:
        failures = 0
        while True:
            worked = 0.0
            try:
                self._link = await self._connector.connect(self.definition, self._around(show_address))
                show_address = None
                await self._read(_LISTS)
                self.title, self.error, begun = self._link.title, "", self._clock.monotonic()
                self._set("ready")
                self.error = await asyncio.shield(self._link.closed)
                worked = self._clock.monotonic() - begun
            except McpFault as fault:
                self.error = fault.message
                if fault.kind in ("loginNeeded", "withheld"):
                    await self._drop()
                    if fault.kind == "withheld":
                        self.is_withheld = True
                        self.tools, self.prompts, self.resources = (), (), ()
                    self._set("failed" if self.is_withheld else "loginNeeded")
                    return
            except Exception:  # the daemon must go on without this server
                logger.exception("The MCP server %r failed", self.definition.name)
                self.error = "It failed because of an error of the daemon's own."
            self.note(self.error)
            await self._drop()
            failures = 1 if worked > WORKED_SECONDS else failures + 1
            if failures >= MOST_STARTS:
                self.tools, self.prompts, self.resources = (), (), ()
                self._set("failed")
                return
            self.restarts += 1
            self._set("restarting" if worked else "failed")
            await self._clock.sleep(min(2.0 ** (failures - 1), LONGEST_PAUSE))
            self._set("restarting")

    def _around(self, show_address: Callable[[str], Awaitable[bool]] | None) -> Surroundings:
        return Surroundings(cwd=self.cwd, on_log=self.note, on_changed=self._list_changed, show_address=show_address)

    async def _read(self, lists: tuple[Lists, ...]) -> None:
        """Read lists anew; what a server offers beside tools is not worth a fault."""
        link = self._link
        if link is None:
            return
        for what in lists:
            try:
                raw = await link.list(what)
            except McpFault as fault:
                if what == "tools":
                    raise
                self.note(f"Its list of {what}: {fault.message}")
                continue
            match what:
                case "tools":
                    self.tools, problems = await asyncio.to_thread(listed_tools, self.definition, raw)
                    for problem in problems:
                        self.note(problem)
                case "prompts":
                    self.prompts = await asyncio.to_thread(listed_prompts, raw)
                case "resources":
                    self.resources = await asyncio.to_thread(listed_resources, raw)

    def _list_changed(self, what: Lists) -> None:
        self._changed.add(what)
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh(), name=f"mcp lists:{self.definition.name}")

    async def _refresh(self) -> None:
        while self._changed:
            await self._clock.sleep(REFRESH_SECONDS)
            lists, self._changed = tuple(self._changed), set()
            if self.state != "ready":
                continue  # they are all read where it gets ready
            try:
                await self._read(lists)
            except McpFault as fault:
                self.note(f"Its lists could not be read again: {fault.message}")
            else:
                self._tell()

    async def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _set(self, state: ServerState) -> None:
        self.state = state
        self._tell()

    def _tell(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
        self._on_news()
