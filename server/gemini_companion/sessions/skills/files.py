"""The port of skills: what is needed of the disk."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

import msgspec

from gemini_companion.sessions.commands.files import FileProblem, FileWish

SkillScope: TypeAlias = Literal["extension", "user", "workspace"]


class SkillFile(msgspec.Struct, frozen=True, kw_only=True):
    """A skill on disk, the one that counts of its name."""

    name: str
    description: str
    scope: SkillScope
    owner: str = ""
    """The extension's name."""
    path: str
    """Of its `SKILL.md`, absolute."""
    folder: str
    """The real path of its folder, in which its other files are."""
    body: str


class SkillsRead(msgspec.Struct, frozen=True, kw_only=True):
    """The skills as they are, by name in order."""

    skills: tuple[SkillFile, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    watched: tuple[str, ...] = ()
    """Folders whose names decide what they are; some may be missing."""


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a skill's folder beside its `SKILL.md`."""

    paths: tuple[str, ...] = ()
    """Relative to the folder, with `/`."""
    more: int = 0
    """Files that are not named."""


class SkillFiles(Protocol):
    """Skills on disk. Everything that blocks runs in a thread."""

    async def read(self, wish: FileWish) -> SkillsRead:
        """Find all of them, and read those that have changed. Raises nothing for what is wrong with a file."""
        ...

    async def resources(self, skill: SkillFile) -> Resources:
        """What else is in its folder; no link is followed."""
        ...

    async def resource(self, skill: SkillFile, path: str) -> str:
        """The text of a file of its folder. Raises `ToolRefusal` for what is outside, missing, or no text."""
        ...
