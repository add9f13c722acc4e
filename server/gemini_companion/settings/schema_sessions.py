"""The settings for keeping sessions: ours, and those of Gemini CLI that mean the same."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

_PERIOD: Final = r"^[0-9]{1,6}[hdwm]$"


class SessionsSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How long sessions are kept, and how much room they may take."""

    retention_days: Annotated[int, Meta(ge=0, le=36_500)] | None = None
    """Sessions that have not changed for this many days are deleted. 0 keeps them for ever; unset, Gemini CLI's
    `general.sessionRetention` decides, which says 30 days.
    """
    max_sessions: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """How many sessions a project keeps; the ones that were used least lately are deleted. Unset, Gemini CLI's
    `general.sessionRetention.maxCount` decides, else there is no limit.
    """
    max_bytes: Annotated[int, Meta(ge=1_000_000, le=2**53 - 1)] | None = None
    """How many bytes a project's sessions may take together; the ones that were used least lately are deleted."""


class SessionRetentionSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How long sessions are kept, as Gemini CLI has it. `companion.sessions` goes before it."""

    enabled: bool = True
    """Whether sessions are deleted at all."""
    max_age: Annotated[str, Meta(pattern=_PERIOD)] = "30d"
    """Sessions that have not changed for this long are deleted: a number and h, d, w or m (30 days)."""
    max_count: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """How many sessions a project keeps; the ones that were used least lately are deleted."""
    min_retention: Annotated[str, Meta(pattern=_PERIOD)] = "1d"
    """Younger sessions stay, whatever the limits say."""
