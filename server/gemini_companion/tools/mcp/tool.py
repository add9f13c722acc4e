"""A tool of an MCP server, behind the contract of every tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from gemini_companion.engine.mcp.config import ServerDefinition
from gemini_companion.engine.mcp.listed import ListedTool, arguments_text
from gemini_companion.engine.mcp.names import EVERY_SERVER, every_tool_of
from gemini_companion.engine.mcp.results import Answered
from gemini_companion.tools.tool import ForeignArguments, Proposal, Risk, Shape, ToolContext, ToolOutput

_LEAVES: Final = "What the server does with it cannot be taken back here."


class ToolCaller(Protocol):
    """Calls tools of servers."""

    async def call(self, server: str, tool: str, args: Mapping[str, Any], progress: Callable[[str], None]) -> Answered:
        """Call a tool by the server's name of it. Cancelling it tells the server so. Raises `ToolRefusal`."""
        ...


class McpTool:
    """One tool of one server."""

    aliases: tuple[str, ...] = ()
    arguments: type[ForeignArguments] = ForeignArguments
    risk: Risk = "server"
    shape: Shape = "text"

    def __init__(self, definition: ServerDefinition, listed: ListedTool, caller: ToolCaller) -> None:
        self.name = listed.name
        self.description = listed.description
        self.parameters: Mapping[str, Any] = listed.parameters
        self.groups = (every_tool_of(definition.name), EVERY_SERVER)
        self._definition = definition
        self._listed = listed
        self._caller = caller

    async def propose(self, args: ForeignArguments, context: ToolContext) -> Proposal:
        """Say what would be asked of whom. Nothing is known of what the server does with it."""
        server, listed = self._definition, self._listed
        return Proposal(
            title=f"Ask {server.name}: {listed.wire_name} {arguments_text(args.values)}",
            server=server.name,
            of_workspace=not server.is_personal,
            irreversible="" if listed.only_reads else _LEAVES,
            warnings=("The server says that this only reads; nobody has proven it.",) if listed.only_reads else (),
        )

    async def run(self, args: ForeignArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Call it. Raises `ToolRefusal` if there is no answer."""
        name = self._definition.name
        answered = await self._caller.call(name, self._listed.wire_name, args.values, context.progress)
        if answered.is_error:
            return ToolOutput(error=answered.text or f"The server {name} says that it failed.", outcome="failed")
        lines = answered.text.count("\n") + 1 if answered.text else 0
        pieces = [f"{lines} line{'s' if lines != 1 else ''}"] if lines or not answered.media else []
        if answered.media:
            pieces.append(f"{len(answered.media)} media")
        return ToolOutput(
            output=answered.text or ("" if answered.media else "The server answered with nothing."),
            media=answered.media,
            summary=", ".join(pieces),
        )
