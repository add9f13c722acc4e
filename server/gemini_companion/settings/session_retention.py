"""How long sessions are kept, and how many: our own settings, and Gemini CLI's where ours are unset."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from gemini_companion.settings.schema import SettingsFile

HOUR_MS: Final = 60 * 60 * 1000
DAY_MS: Final = 24 * HOUR_MS
DEFAULT_DAYS: Final = 30

_UNITS: Final = {"h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS, "m": 30 * DAY_MS}
_PERIOD: Final = re.compile(r"(\d{1,6})([hdwm])")


class SessionRetention(msgspec.Struct, frozen=True, kw_only=True):
    """Which sessions may go. Times are ms; `None` sets no such limit."""

    max_age: int | None = DEFAULT_DAYS * DAY_MS
    """Since a session was last written."""
    max_sessions: int | None = None
    max_bytes: int | None = None
    min_age: int = DAY_MS
    """Younger sessions stay, whatever the limits say."""


def session_retention(merged: SettingsFile) -> SessionRetention:
    """The limits in force. Of Gemini CLI's none counts if they are switched off or contradict themselves.

    A greatest age below the least one, or a period of nothing, keep everything in Gemini CLI too.
    """
    ours, theirs = merged.companion.sessions, merged.general.session_retention
    max_age, min_age = milliseconds(theirs.max_age), milliseconds(theirs.min_retention) or DAY_MS
    counts = theirs.enabled and max_age is not None and max_age >= min_age
    theirs_in_force = max_age if counts else None
    return SessionRetention(
        max_age=theirs_in_force if ours.retention_days is None else ours.retention_days * DAY_MS or None,
        max_sessions=ours.max_sessions or (theirs.max_count if counts else None),
        max_bytes=ours.max_bytes,
        min_age=min_age,
    )


def milliseconds(period: str) -> int | None:
    """The length of a period such as `12h`, `30d`, `2w` or `1m` (of 30 days); `None` for what is none."""
    match = _PERIOD.fullmatch(period)
    return int(match[1]) * _UNITS[match[2]] or None if match else None
