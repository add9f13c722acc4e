"""What recall gives: the protocol's shapes. Times are milliseconds since 1970 (UTC)."""

from __future__ import annotations

from typing import Literal

import msgspec


class RecallHit(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something that was said, and where."""

    session_id: str
    session_title: str
    turn_id: str
    entry_id: str
    role: Literal["user", "model", "tool"]
    time: int
    text: str
    """Of a search the passage, at most 600 characters around what matches; of a turn or an entry all of it."""
    score: float = 0.0
    """Larger is better; comparable within one answer only. 0 where nothing was searched for."""
    before: tuple[str, ...] = ()
    """How the two entries before it begin, oldest first, at most 200 characters each."""
    after: tuple[str, ...] = ()
    """The same of the two entries after it."""
    characters: int = 0
    """Of a call's output all that there are; `text` has some of them, from the asked offset on."""
    is_hidden: bool = False
    """A compression hides it from the model in its session."""


class RecallResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was found, best first."""

    hits: tuple[RecallHit, ...]
    unindexed: int = 0
    """Sessions that are searched in part only, since they are still being indexed; absent if there are none."""
