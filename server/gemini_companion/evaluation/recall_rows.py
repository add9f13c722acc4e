"""How well recall finds what was said: the rows of the report."""

from __future__ import annotations

import msgspec


class RecallRow(msgspec.Struct, frozen=True, kw_only=True):
    """One number with its interval."""

    name: str
    """What was asked of what, as a few words."""
    value: float
    low: float
    high: float
    of: int
    """Questions."""
