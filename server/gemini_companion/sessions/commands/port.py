"""The port of slash commands: a source lists them, and says what each stands for when it is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from gemini_companion.engine.commands.arguments import Typed
from gemini_companion.engine.commands.naming import CommandScope
from gemini_companion.engine.history.content import Part


class CommandArgument(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An argument with a name, given as `--name="value"`."""

    name: str
    description: str = ""
    is_required: bool = False


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A command as its source has it."""

    name: str
    """The one that it wants; see `naming.resolved`."""
    scope: CommandScope
    owner: str = ""
    """The extension or the server that it is of."""
    description: str = ""
    """One line."""
    hint: str = ""
    """What may follow it, for people: `guidance`, `file`; empty if nothing, or if it is not known."""
    arguments: tuple[CommandArgument, ...] = ()
    path: str = ""
    """The file that defines it, absolute; empty where there is none."""
    runs: tuple[str, ...] = ()
    """The shell lines that it would run, before arguments are filled in."""


class Room(Protocol):
    """What a command that is typed may reach. All of it within the bounds of the turn: cancelled with it."""

    async def text_of_file(self, path: str) -> str:
        """A file or folder of the workspace as mentions attach it, framed; why it is withheld, if it is."""
        ...

    async def run(self, commands: Sequence[str], *, asks: str) -> list[str]:
        """The outputs of shell lines, run in order as the tool `run_shell_command` runs them, within its limits.

        Rules, mode, sandbox and the person's consent hold as for that tool; one that would be denied refuses all
        before any has run. `asks` says why the person is asked each time unless a rule allows it; empty for the
        tool's own measure. Raises `Blocked`.
        """
        ...


class CommandSource(Protocol):
    """Where commands come from."""

    async def commands(self) -> Sequence[Command]:
        """Those that there are now, as far as they can be used. Raises nothing."""
        ...

    async def expanded(self, command: Command, typed: Typed, room: Room) -> tuple[Part, ...]:
        """The parts of the prompt that the command stands for. Raises `InvalidInput` or `Blocked` with a sentence for
        people; then nothing is sent.
        """
        ...
