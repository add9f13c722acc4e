"""What the tools of MCP servers cost a request beyond their tokens: turns of rounds with none and with fifty, in turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

from gemini_companion.engine.mcp.config import settled_servers
from gemini_companion.sessions.mcp.service import McpService
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.spread import median
from tests.support.mcp_links import ScriptedConnector
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import Studio

NAME: Final = "servers"
TARGET_MS: Final = 5.0
TOOLS: Final = 50
ROUNDS: Final = 40
"""Requests of one turn."""
PASSES: Final = 7

_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where to look, an absolute path." * 3},
        "options": {"type": "object", "properties": {f"o{number}": {"type": "boolean"} for number in range(8)}},
    },
    "required": ["path"],
}
_PLENTY: Final = [
    {"name": f"tool_{n}", "description": "Does a thing. " * 20, "inputSchema": _SCHEMA} for n in range(TOOLS)
]


class _Agent(ScriptedModel):
    def __init__(self) -> None:
        super().__init__()
        self.left = 0
        self.offered: list[int] = []
        self._number = 0

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        self.offered.append(len(request.tools))
        self._number += 1
        part: dict[str, Any] = {"text": "Done."}
        if self.left:
            self.left -= 1
            args = {"file_path": f"part{self._number}.py"}
            part = {"functionCall": {"id": f"c{self._number}", "name": "read_file", "args": args}}
        yield ModelChunk(parts=(part,), finish_reason="STOP")


class _Chat:
    """A chat of an agent that reads files, with the tools of a server or without."""

    def __init__(self, folder: Path, *, with_servers: bool) -> None:
        folder.mkdir(exist_ok=True)

        async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
            return ToolOutput(output="a line\n" * 20)

        self._model = _Agent()
        self._studio = Studio(
            folder, model=self._model, tools=[SampleTool("read_file", "read", work)], tooling=allowing()
        )
        options = settled_servers([("user", True, {"plenty": {"command": "plenty"}} if with_servers else {})])
        self._service = self._studio.services.mcp = McpService(
            ScriptedConnector(_PLENTY),
            clock=self._studio.clock,
            options=lambda: options,
            trusted=lambda: True,
            folders=lambda: ("/project",),
        )

    @property
    def offered(self) -> int:
        """Tools that the newest request told of."""
        return self._model.offered[-1]

    async def request_ms(self, rounds: int) -> float:
        """CPU milliseconds of a request, of a turn with so many rounds."""
        self._model.left = rounds
        begun = time.process_time()
        await self._studio.chat("Go on.")
        return (time.process_time() - begun) * 1000 / (rounds + 1)

    async def close(self) -> None:
        """End it, and its server."""
        await self._studio.app.close()
        await self._service.close()


async def measured(folder: Path, rounds: int, passes: int) -> tuple[float, float, int]:
    """CPU milliseconds of a request without servers and with one, medians of passes in turn; the tools that it adds."""
    without, with_one = (_Chat(folder / name, with_servers=name == "fifty") for name in ("none", "fifty"))
    times: dict[_Chat, list[float]] = {without: [], with_one: []}
    try:
        for number in range(passes + 1):
            for chat, taken in times.items():
                needed = await chat.request_ms(rounds)
                if number:  # the first one starts the server, and makes what is made once
                    taken.append(needed)
        return median(times[without]), median(times[with_one]), with_one.offered - without.offered
    finally:
        for chat in times:
            await chat.close()


def run(options: Options) -> Iterator[Finding]:
    """What fifty tools of servers add to a request."""
    rounds, passes = (4, 1) if options.quick else (ROUNDS, PASSES)
    without, with_them, tools = asyncio.run(measured(options.scratch, rounds, passes))
    yield Figure(
        bench=NAME,
        name=f"{tools} tools of a server, what they add to the CPU of a request",
        value=max(0.0, with_them - without),
        unit="ms",
        target=TARGET_MS,
    )
    yield Figure(
        bench=NAME,
        name=f"a request with {tools} tools of a server",
        value=with_them,
        unit="ms",
        beside="with none",
        beside_value=without,
    )
