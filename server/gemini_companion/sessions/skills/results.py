"""What clients get of skills."""

from __future__ import annotations

import msgspec

from gemini_companion.sessions.commands.files import FileProblem
from gemini_companion.sessions.skills.files import SkillScope


class SkillInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A skill."""

    name: str
    description: str
    scope: SkillScope
    """Whose it is."""
    path: str
    """Of its `SKILL.md`, absolute."""
    is_enabled: bool
    """Models are told of it."""
    owner: str = ""
    """The extension that it is of."""


class SkillList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The skills that there are, by name in order."""

    skills: tuple[SkillInfo, ...]
    problems: tuple[FileProblem, ...]
    """Files that are skipped."""
    is_enabled: bool
    """Whether there are skills at all, by `skills.enabled`."""
    token_count: int
    """Estimated tokens of what stands of them in every request."""
