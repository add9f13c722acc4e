"""The parameters of `gemini/commands/*` and `gemini/skills/*`."""

from __future__ import annotations

from typing import Annotated

import msgspec


class SentTextParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A turn whose prompt was a slash command."""

    turn_id: str
    session_id: str | None = None


class EnableSkillParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Turn a skill on or off, in the user's own settings."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    enabled: bool
