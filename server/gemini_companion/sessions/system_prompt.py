"""What a session's system instruction is made of, as it was where the view last began anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import msgspec

from gemini_companion.engine.prompts.git_state import GitState
from gemini_companion.engine.prompts.system import PromptFacts

PromptSource: TypeAlias = Literal["builtIn", "GEMINI_SYSTEM_MD", "session"]


class GitStates(Protocol):
    """What git says of folders, without running what a repository brings along."""

    async def read(self, folders: Sequence[str]) -> list[GitState]:
        """The state of each repository that folders (absolute paths) are in; a repository that cannot be read, or that
        is somebody else's, is left out. Bounded in time; raises nothing.
        """
        ...


class NoGit:
    """`GitStates` where no repository is looked at."""

    async def read(self, folders: Sequence[str]) -> list[GitState]:
        """None."""
        return []


@dataclass(slots=True, kw_only=True)
class PromptBasis:
    """What stays as it is while the view only grows, so that the provider's prefix cache holds."""

    replacement: str | None = None
    """The text of GEMINI_SYSTEM_MD's file, placeholders and all."""
    memory: str = ""
    skills: str = ""
    """The section about them; empty where there are none."""
    git_state: str = ""
    subagents: tuple[tuple[str, str], ...] = ()
    """Name and purpose of each, as of the turn's start."""
    wanted: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """The settings' choice of sections, as of the turn's start."""
    made_for: tuple[PromptFacts, Mapping[str, bool]] | None = None
    """The facts and the choice of sections that the instruction in force was made for."""
    is_written: bool = False
    """GEMINI_WRITE_SYSTEM_MD was obeyed, or tried."""


class PromptSection(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A section of the system prompt."""

    name: str
    tokens: int
    """An estimate."""


class SystemPromptReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The system prompt that a session's next request has."""

    text: str
    tokens: int
    """An estimate."""
    source: PromptSource
    """Built in, the file that GEMINI_SYSTEM_MD names, or the session's own, which its client or its file gave."""
    sections: tuple[PromptSection, ...] = ()
    """Those that stand in it, in their order; empty where it was replaced."""
