"""The server, with two tools of the tests' own: `look` reads, `act` appends a line to a file and may wait for ever.

`COMPANION_TEST_CONSENT` says whether the person is asked for ever (`ask`), or everything is allowed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import ToolContext, ToolOutput
from gemini_companion.wiring import daemon, services
from tests.support.sample_tools import AskingConsent, FreeConsent, SampleArgs, SampleTool, allowing, no_ports

COMMAND = [sys.executable, "-m", "tests.support.tool_server"]


async def look(args: SampleArgs, context: ToolContext) -> ToolOutput:
    """Read a file."""
    return ToolOutput(output=Path(args.file_path).read_text("utf-8"), summary="1 file")


def _append(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(line)


async def act(args: SampleArgs, context: ToolContext) -> ToolOutput:
    """Append a line, tell of it, and wait for ever if the line says so."""
    await asyncio.to_thread(_append, Path(args.file_path), f"{args.content}\n")
    context.progress(f"wrote {args.content}")
    if args.content == "wait":
        await asyncio.Event().wait()
    return ToolOutput(output="done", summary="1 line")


if __name__ == "__main__":
    asks = os.environ.get("COMPANION_TEST_CONSENT") == "ask"
    services.build_tools = lambda *_: ToolRegistry(
        [SampleTool("look", "read", look), SampleTool("act", "command", act)]
    )
    services.build_ports = lambda *_: no_ports()
    daemon.build_tooling = lambda *_: allowing(AskingConsent() if asks else FreeConsent(), can_ask=lambda _: True)
    sys.exit(daemon.serve_stdio(os.environ))
