"""What clients get of slash commands."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.commands.naming import CommandScope
from gemini_companion.sessions.commands.files import FileProblem
from gemini_companion.sessions.commands.port import CommandArgument


class SlashCommandInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A slash command."""

    name: str
    """What is typed behind the slash."""
    description: str
    """One line, for people."""
    scope: CommandScope
    """Whose it is."""
    owner: str = ""
    """The extension or the MCP server that it is of."""
    hint: str = ""
    """What may follow it; empty if nothing, or if that is not known."""
    arguments: tuple[CommandArgument, ...] = ()
    """Those that have names."""
    aliases: tuple[str, ...] = ()
    """Other names that it answers to."""
    path: str = ""
    """The file that defines it, absolute."""
    runs_commands: bool = False
    """It runs shell lines, which are asked about as the tool's are, a project's unless a rule allows them."""


class SlashCommandList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The slash commands that the daemon carries out, by name in order, built-in ones first."""

    commands: tuple[SlashCommandInfo, ...]
    problems: tuple[FileProblem, ...]
    """Command files that are skipped."""


class SentText(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What went to the model in the place of a slash command."""

    line: str
    """What was typed."""
    text: str
    """What it stood for, word for word."""
