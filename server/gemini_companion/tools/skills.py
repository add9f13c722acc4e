"""The port of skills: what the tool `activate_skill` needs of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class SkillText(msgspec.Struct, frozen=True, kw_only=True):
    """A skill, or a file of its folder, as a model gets it."""

    name: str
    description: str
    path: str
    """Of what is read, absolute."""
    whose: str
    """For people: `yours`, `of this project`."""
    text: str
    resources: Sequence[str] = ()
    """Files of its folder, relative to it; empty where a file of it is read."""
    more: int = 0
    """Files that are not named."""
    is_active: bool = False
    """It was activated earlier in this session, and says the same now."""


class SkillShelf(Protocol):
    """The skills that a session has. Methods raise `ToolRefusal` for what there is not."""

    async def skill(self, name: str) -> SkillText:
        """A skill with its instructions, as they are now."""
        ...

    async def file(self, name: str, path: str) -> SkillText:
        """A text file of a skill's folder; `path` is relative to it."""
        ...
