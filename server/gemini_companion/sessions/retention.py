"""Which stored sessions leave to keep within the limits, and when one that nobody uses will."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gemini_companion.settings.session_retention import DAY_MS, SessionRetention

GRACE_MS: Final = 7 * DAY_MS
"""How long a session that is old enough to be swept still stays: a clock that is ahead must not cost anybody one."""


class StoredSession(NamedTuple):
    """What a session takes on disk, and whether it may go."""

    session_id: str
    updated_at: int
    """When it was last written, ms since 1970."""
    size: int
    """Bytes of its log and of its private files."""
    is_kept: bool
    """A person said that it stays."""
    is_open: bool
    """A process holds it."""


def surplus(stored: Sequence[StoredSession], limits: SessionRetention, now: int) -> list[StoredSession]:
    """The sessions over the limits of number and room, the one that was used least lately first; `now` in ms.

    One that is open, kept or younger than the least age stays, and so there may stay more than the limits say.
    """
    count, size = len(stored), sum(one.size for one in stored)
    leaving: list[StoredSession] = []
    for one in sorted(stored, key=lambda one: (one.updated_at, one.session_id)):
        is_many = limits.max_sessions is not None and count > limits.max_sessions
        is_large = limits.max_bytes is not None and size > limits.max_bytes
        if not is_many and not is_large:
            break
        if one.is_open or one.is_kept or one.updated_at > now - limits.min_age:
            continue
        leaving.append(one)
        count, size = count - 1, size - one.size
    return leaving


def leaves_at(one: StoredSession, limits: SessionRetention, leaving: frozenset[str], now: int) -> int | None:
    """When a session goes if nobody uses it, in ms since 1970; `None` for never. `leaving` are the surplus' ids."""
    if one.is_kept:
        return None
    if one.session_id in leaving:
        return now
    if limits.max_age is None:
        return None
    return one.updated_at + max(limits.max_age, limits.min_age) + GRACE_MS
