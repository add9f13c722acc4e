"""Keeping quoted text from closing, or opening, the tags that frame a snapshot."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

SNAPSHOT_TAG: Final = "state_snapshot"
SCRATCHPAD_TAG: Final = "scratchpad"
SECTIONS: Final = (
    "overall_goal",
    "active_constraints",
    "key_knowledge",
    "artifact_trail",
    "file_system_state",
    "recent_actions",
    "task_state",
)
"""The seven sections of a snapshot, in the order in which they stand in it."""

_STAND_IN: Final = "‹"
"""What an opening angle bracket becomes: it looks like one to a reader and opens nothing."""


def neutralise(text: str) -> str:
    """`text` with the opening bracket of every reserved tag turned into `‹`; every other character stays as it is.

    Reserved are `state_snapshot`, `scratchpad` and the seven sections, opening or closing, in any case, with blanks
    before the name and anything after it: `</ State_Snapshot foo>` becomes `‹/ State_Snapshot foo>`. Idempotent, and
    linear in time.
    """
    if "<" not in text:
        return text
    return _reserved_tag().sub(_STAND_IN, text)


@cache
def _reserved_tag() -> re.Pattern[str]:
    names = "|".join((SNAPSHOT_TAG, SCRATCHPAD_TAG, *SECTIONS))
    # Possessive blanks: a long run of them after a bracket is read once. `\b` also ends a name before `-` or `:`,
    # so that a reader that is less exact about names than XML finds nothing either.
    return re.compile(rf"<(?=\s*+(?:/\s*+)?+(?:{names})\b)", re.IGNORECASE)
