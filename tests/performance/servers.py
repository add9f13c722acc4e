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


async def request_ms(folder: Path, *, with_servers: bool, rounds: int, passes: int) -> tuple[float, int]:
    """CPU milliseconds of a request, the best of the passes, and the number of tools that the last one offered."""
    folder.mkdir(exist_ok=True)

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output="a line\n" * 20)

    model = _Agent()
    studio = Studio(folder, model=model, tools=[SampleTool("read_file", "read", work)], tooling=allowing())
    options = settled_servers([("user", True, {"plenty": {"command": "plenty"}} if with_servers else {})])
    studio.services.mcp = McpService(
        ScriptedConnector(_PLENTY),
        clock=studio.clock,
        options=lambda: options,
        trusted=lambda: True,
        folders=lambda: ("/project",),
    )
    best = float("inf")
    try:
        for _ in range(passes + 1):  # the first one starts the server, and makes what is made once
            model.left = rounds
            begun = time.process_time()
            await studio.chat("Go on.")
            best = min(best, (time.process_time() - begun) * 1000 / (rounds + 1))
    finally:
        await studio.app.close()
        await studio.services.mcp.close()
    return best, model.offered[-1]


def run(options: Options) -> Iterator[Finding]:
    """What fifty tools of servers add to a request."""
    rounds, passes = (4, 1) if options.quick else (ROUNDS, PASSES)
    without, few = asyncio.run(request_ms(options.scratch / "none", with_servers=False, rounds=rounds, passes=passes))
    with_them, many = asyncio.run(
        request_ms(options.scratch / "fifty", with_servers=True, rounds=rounds, passes=passes)
    )
    yield Figure(
        bench=NAME,
        name=f"a request with {many - few} tools of a server, more CPU than one with none",
        value=max(0.0, with_them - without),
        unit="ms",
        target=TARGET_MS,
        note=f"{with_them:.2f} and {without:.2f} ms",
    )
