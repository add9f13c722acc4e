"""The tools `read_background_output` and `stop_background_process`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import msgspec

from gemini_companion.tools.counting import counted
from gemini_companion.tools.shell.commandbook import CommandBook, KeptCommand, without_secrets
from gemini_companion.tools.tool import Proposal, Risk, Shape, ToolContext, ToolOutput, ToolRefusal

_CHARACTERS: Final = 100_000


class ReadBackgroundOutputArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `read_background_output` is called with."""

    pid: Annotated[
        int | None,
        msgspec.Meta(description="The id that run_shell_command gave it; all are listed if it is left out."),
    ] = None
    lines: Annotated[int, msgspec.Meta(ge=1, le=10_000, description="How many of its last lines.")] = 100


class ReadBackgroundOutput:
    """Shows what background commands have put out."""

    name: str = "read_background_output"
    aliases: tuple[str, ...] = ("list_background_processes",)
    description: str = (
        "Show the last lines that a background command of this chat has put out, and whether it still runs. Without an"
        " id, list the background commands. stop_background_process ends one."
    )
    arguments: type[ReadBackgroundOutputArguments] = ReadBackgroundOutputArguments
    risk: Risk = "read"
    shape: Shape = "command"

    def __init__(self, book: CommandBook) -> None:
        self._book = book

    async def propose(self, args: ReadBackgroundOutputArguments, context: ToolContext) -> Proposal:
        """Find the command."""
        if args.pid is None:
            return Proposal(title="List background commands", state=self._book.background(context.session_id))
        command = _found(self._book, args.pid, context)
        return Proposal(title=f"Read the output of {command.command[:100]}", state=(command,))

    async def run(self, args: ReadBackgroundOutputArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Show it."""
        kept: tuple[KeptCommand, ...] = tuple(proposal.state)
        if args.pid is None:
            listed = "\n".join(f"{command.pid}: {command.command} ({_described(command)})" for command in kept)
            return ToolOutput(output=listed or "There is no background command.", summary=counted(len(kept), "command"))
        (command,) = kept
        text = await asyncio.to_thread(without_secrets, command.running.latest(_CHARACTERS))
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        text = "\n".join(lines[-args.lines :]) or "(no output)"
        return ToolOutput(output=f"{text}\n[{_described(command)}]", summary=_described(command))


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
        command = _found(self._book, args.pid, context)
        return Proposal(title=f"Stop {command.command[:100]}", state=command)

    async def run(self, args: StopBackgroundProcessArguments, proposal: Proposal, context: ToolContext) -> ToolOutput:
        """Stop it; one that has ended is told of as it is."""
        if await self._book.stop(context.session_id, proposal.state.call_id):
            return ToolOutput(output=f"{args.pid} was stopped, with all that it had started.", summary="stopped")
        state = _described(_found(self._book, args.pid, context))
        return ToolOutput(output=f"{args.pid} did not run any more: it {state}.", summary=state)


def _found(book: CommandBook, pid: int, context: ToolContext) -> KeptCommand:
    """The background command of a chat with an id. Raises `ToolRefusal` if there is none."""
    kept = book.background(context.session_id)
    for command in reversed(kept):
        if command.pid == pid:
            return command
    known = ", ".join(str(command.pid) for command in kept) or "none"
    raise ToolRefusal(f"No background command of this chat has the id {pid}. There are: {known}.")


def _described(command: KeptCommand) -> str:
    """Whether it runs, and how it ended."""
    if command.state == "running":
        return "still runs"
    if command.end is not None and command.end.exit_code is not None and command.state == "exited":
        return f"ended with exit code {command.end.exit_code}"
    return "was stopped" if command.state == "stopped" else "ended"
