"""The port of command files: what is needed of the disk."""

from __future__ import annotations

from typing import Protocol

import msgspec

from gemini_companion.engine.commands.naming import CommandScope


class FileWish(msgspec.Struct, frozen=True, kw_only=True):
    """Which files of persons, projects and extensions count."""

    folders: tuple[str, ...]
    """The workspace folders, absolute paths, the first one first."""
    trusted: bool
    """Without trust only the person's own files count."""


class FileProblem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that is skipped, and why."""

    path: str
    """Absolute."""
    line: int
    """From 1."""
    message: str
    """For people, a few words."""


class CommandFile(msgspec.Struct, frozen=True, kw_only=True):
    """A command file that can be used."""

    name: str
    """By its path; the one that it answers to may be another."""
    scope: CommandScope
    owner: str = ""
    """The extension's name."""
    path: str
    description: str
    prompt: str


class CommandsRead(msgspec.Struct, frozen=True, kw_only=True):
    """The command files as they are."""

    files: tuple[CommandFile, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    watched: tuple[str, ...] = ()
    """Folders whose names decide what they are; some may be missing."""


class CommandFiles(Protocol):
    """The command files on disk. Everything that blocks runs in a thread."""

    async def read(self, wish: FileWish) -> CommandsRead:
        """Find all of them, and read those that have changed. Raises nothing for what is wrong with a file."""
        ...
