"""The tool `stop_background_process`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemini_companion.tools.shell.commandbook import CommandBook
from gemini_companion.tools.shell.read_background_output import described, found
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput


class StopBackgroundProcessArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `stop_background_process` is called with."""

    pid: Annotated[int, msgspec.Meta(description="The id that run_shell_command gave it.")]


class StopBackgroundProcess:
    """Ends what this chat left running. That asks nobody: the person agreed to its start."""

    name: str = "stop_background_process"
    aliases: tuple[str, ...] = ()
    description: str = (
        "End a background command of this chat, with all that it started, by the id that run_shell_command gave it."
        " `kill` cannot: in the sandbox that process does not exist."
    )
    arguments: type[StopBackgroundProcessArguments] = StopBackgroundProcessArguments
    risk: Risk = "note"
    shape: Shape = "command"

    def __init__(self, book: CommandBook) -> None:
        self._book = book

    async def propose(self, args: StopBackgroundProcessArguments, context: ToolContext) -> Proposal:
        """Find the command."""
        command = found(self._book, args.pid, context)
        return Proposal(title=f"Stop {command.command[:100]}", state=command)

    async def run(self, args: StopBackgroundProcessArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Stop it; one that has ended is told of as it is."""
        if await self._book.stop(context.session_id, proposal.state.call_id):
            return ToolOutput(output=f"{args.pid} was stopped, with all that it had started.", summary="stopped")
        state = described(found(self._book, args.pid, context))
        return ToolOutput(output=f"{args.pid} did not run any more: it {state}.", summary=state)
