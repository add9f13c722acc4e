"""One server, through the SDK's client. A task of its own enters and leaves the client, as anyio wants it; calls come
from any task.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias, cast

import mcp_types as types
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from gemini_companion import __version__
from gemini_companion.engine.mcp.listed import answer_in
from gemini_companion.engine.mcp.schemas import clean_text
from gemini_companion.sessions.mcp.port import Lists, McpFault, Surroundings

START_SECONDS: Final = 60.0
"""How long a server has until it has introduced itself: `npx` may have to fetch it first."""
LIST_SECONDS: Final = 30.0
READ_SECONDS: Final = 60.0
MOST_SECONDS: Final = 6 * 3_600.0
"""After which a call ends that goes on telling of its progress."""
MOST_PAGES: Final = 100
_VERSION: Final = re.compile(r"protocol version from the server: ([\w.-]{1,50})")
_TIMED_OUT, _CLOSED, _NOT_JSON = -32001, -32000, -32700
UNREACHED: Final = -32098
"""Our own code for a message that did not arrive, or whose answer did not."""
_CHANGES: Final[Mapping[type[Any], Lists]] = {
    types.ToolListChangedNotification: "tools",
    types.PromptListChangedNotification: "prompts",
    types.ResourceListChangedNotification: "resources",
}

Streams: TypeAlias = AbstractAsyncContextManager[tuple[Any, Any]]
Transport: TypeAlias = Callable[[Callable[[str], None]], Streams]
"""Makes the streams; what it is given takes the reason when they have ended."""

for _name in ("mcp", "client", "httpx2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)  # what servers do wrong is told in their own log


class SdkLink:
    """A server that answers. Made by `open_link`."""

    def __init__(self, transport: Transport, around: Surroundings) -> None:
        loop = asyncio.get_running_loop()
        self.title = ""
        self.closed: asyncio.Future[str] = loop.create_future()
        self._transport = transport
        self._around = around
        self._ready: asyncio.Future[Client] = loop.create_future()
        self._stop = asyncio.Event()
        self._why = ""
        self._owner = asyncio.create_task(self._own(), name="mcp server")

    async def opened(self, seconds: float) -> None:
        """Wait until it has introduced itself. Raises `McpFault`, with nothing left running."""
        try:
            async with asyncio.timeout(seconds):
                client = await asyncio.shield(self._ready)
        except TimeoutError:
            await self.close()
            raise McpFault(f"It did not introduce itself within {seconds:g} seconds.", "timedOut") from None
        except asyncio.CancelledError:
            await self.close()
            raise
        except BaseException as fault:
            await self.close()
            raise self._fault(fault) from None
        info = client.server_info
        self.title = clean_text(f"{info.name} {info.version}", 200) if info else ""

    async def list(self, what: Lists) -> list[Any]:
        """All of a list, as JSON, pages joined; a cursor that comes again ends it."""
        client = await self._client()
        offered = client.server_capabilities
        ask: Callable[..., Awaitable[Any]]
        match what:
            case "tools":
                has, ask = offered.tools, client.list_tools
            case "prompts":
                has, ask = offered.prompts, client.list_prompts
            case "resources":
                has, ask = offered.resources, client.list_resources
        if has is None:
            return []
        found: list[Any] = []
        cursor: str | None = None
        seen: set[str] = set()
        async with _told(self), asyncio.timeout(LIST_SECONDS):
            for _ in range(MOST_PAGES):
                page = await ask(cursor=cursor)
                found += [one.model_dump(by_alias=True, exclude_none=True) for one in getattr(page, what)]
                cursor = page.next_cursor
                if not cursor or cursor in seen:
                    return found
                seen.add(cursor)
        self._around.on_log(f"Its list of {what} does not end; the first {MOST_PAGES} pages count.")
        return found

    async def call(
        self, tool: str, args: Mapping[str, Any], *, seconds: float, progress: Callable[[str], None]
    ) -> Mapping[str, Any]:
        """Call a tool; its result as JSON. What says that it is getting on has as much time again."""
        told_to, loop = progress, asyncio.get_running_loop()
        at_last = loop.time() + max(seconds, MOST_SECONDS)

        async def told(progress: float, total: float | None, message: str | None) -> None:
            if not limit.expired():
                limit.reschedule(min(at_last, loop.time() + seconds))
            where = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            told_to(f"{clean_text(message, 300)} ({where})\n".lstrip())

        client = await self._client()
        async with _told(self), asyncio.timeout(seconds) as limit:
            result = await client.call_tool(tool, dict(args), max(seconds, MOST_SECONDS), told)
            return _answer(result)

    async def prompt(self, name: str, args: Mapping[str, str]) -> Mapping[str, Any]:
        """A prompt's messages as JSON."""
        client = await self._client()
        async with _told(self), asyncio.timeout(READ_SECONDS):
            return _answer(await client.get_prompt(name, dict(args)))

    async def read(self, uri: str) -> Mapping[str, Any]:
        """What a resource holds, as JSON."""
        client = await self._client()
        async with _told(self), asyncio.timeout(READ_SECONDS):
            return _answer(await client.read_resource(uri))

    async def close(self) -> None:
        """End it, and everything that came of it."""
        self._stop.set()
        _, late = await asyncio.wait({self._owner}, timeout=6.0)
        for task in late:
            task.cancel()
            await asyncio.wait({task}, timeout=2.0)

    def why(self, fault: BaseException) -> McpFault:
        """What a call's fault says to people."""
        return self._fault(fault)

    async def _client(self) -> Client:
        if self.closed.done():
            raise McpFault(self.closed.result(), "closed")
        return await asyncio.shield(self._ready)

    async def _own(self) -> None:
        try:
            client = Client(
                _AsTransport(self._transport(self._ended)),  # pyright: ignore[reportArgumentType]
                mode="legacy",
                read_timeout_seconds=READ_SECONDS,
                message_handler=self._hear,
                logging_callback=self._log,
                client_info=types.Implementation(name="gemini-companion", version=__version__),
                cache=None,
            )
            async with client:
                if not self._ready.done():
                    self._ready.set_result(client)
                await self._stop.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as fault:
            if not self._ready.done():
                self._ready.set_exception(fault)
                self._ready.exception()
            self._why = self._why or self._fault(fault).message
        finally:
            if not self._ready.done():
                self._ready.cancel()
            if not self.closed.done():
                self.closed.set_result(self._why or "It was stopped.")

    def _ended(self, reason: str) -> None:
        self._why = self._why or reason
        self._stop.set()

    async def _hear(self, message: IncomingMessage) -> None:
        if (what := _CHANGES.get(type(message))) is not None:
            self._around.on_changed(what)

    async def _log(self, params: types.LoggingMessageNotificationParams) -> None:
        self._around.on_log(clean_text(f"{params.level}: {params.data}", 500))

    def _fault(self, fault: BaseException) -> McpFault:
        while isinstance(fault, BaseExceptionGroup):
            fault = cast("BaseExceptionGroup[BaseException]", fault).exceptions[0]
        match fault:
            case McpFault():
                return fault
            case TimeoutError():
                return McpFault("It did not answer in time.", "timedOut")
            case MCPError() if fault.error.code == _TIMED_OUT:
                return McpFault("It did not answer in time.", "timedOut")
            case MCPError() if fault.error.code == _CLOSED:
                return McpFault(self._why or "The connection has ended.", "closed")
            case MCPError() if fault.error.code == UNREACHED:
                return McpFault(_unreached(fault.error.message))
            case MCPError() if fault.error.code == _NOT_JSON and fault.error.message.startswith("Failed to parse"):
                return McpFault("Its answer is malformed.", "malformed")
            case MCPError():
                return McpFault(f"It answered with an error: {clean_text(fault.error.message, 1_000)}", "answered")
            case RuntimeError() if (version := _VERSION.search(str(fault))) is not None:
                words = clean_text(version[1], 50)
                return McpFault(f"It speaks version {words} of the protocol, which this program does not know.")
            case ValidationError() | RuntimeError():
                return McpFault("Its answer is malformed.", "malformed")
            case _:
                return McpFault(_unreached(str(fault) or type(fault).__name__))


def _unreached(why: str) -> str:
    return f"It could not be reached: {clean_text(why, 300).rstrip('.')}."


def _answer(result: types.Result) -> Mapping[str, Any]:
    """What the server itself said, which came past the SDK's types in `_meta` (see `listed.mended`)."""
    return answer_in(cast("Mapping[str, Any]", result.meta or {}))


class _AsTransport:
    """The streams as the SDK tells a transport from what it would make one of."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    async def __aenter__(self) -> tuple[Any, Any]:
        return await self._streams.__aenter__()

    async def __aexit__(self, *fault: Any) -> bool | None:
        return await self._streams.__aexit__(*fault)


@asynccontextmanager
async def _told(link: SdkLink) -> AsyncGenerator[None]:
    """Faults of the SDK as `McpFault`."""
    try:
        yield
    except (McpFault, asyncio.CancelledError):
        raise
    except Exception as fault:
        raise link.why(fault) from None


async def open_link(transport: Transport, around: Surroundings, *, seconds: float = START_SECONDS) -> SdkLink:
    """A server that has introduced itself. Raises `McpFault`."""
    link = SdkLink(transport, around)
    await link.opened(seconds)
    return link
