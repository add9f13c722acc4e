"""Reading the summariser's answer strictly, and wrapping a snapshot that a person edited."""

from __future__ import annotations

import re
from typing import Final

from gemini_companion.engine.facts.neutralise import neutralise

_OPEN: Final = re.compile(r"<state_snapshot(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_CLOSE: Final = re.compile(r"</state_snapshot\s{0,20}>", re.IGNORECASE)
_SCRATCHPAD_OPEN: Final = re.compile(r"<scratchpad\s{0,20}>", re.IGNORECASE)
_SCRATCHPAD_CLOSE: Final = re.compile(r"</scratchpad\s{0,20}>", re.IGNORECASE)
_SECTION_TAG: Final = re.compile(
    r"</?(?:overall_goal|active_constraints|key_knowledge|artifact_trail|file_system_state|recent_actions|task_state)\s{0,20}>", re.IGNORECASE
)


def read_snapshot(answer: str) -> str | None:
    """The last complete `<state_snapshot>` of an answer, tags included, or `None`.

    The scratchpad is dropped first, so that a draft in it is never taken. A snapshot without a word in it counts as none.
    """
    text = _without_scratchpad(answer)
    closes = list(_CLOSE.finditer(text))
    opens = list(_OPEN.finditer(text))
    for close in reversed(closes):
        before = [match for match in opens if match.end() <= close.start()]
        if before:
            body = text[before[-1].end() : close.start()]
            if _SECTION_TAG.sub("", body).strip():
                return wrap(body.strip("\n"))
    return None


def edited_snapshot(text: str) -> str | None:
    """A person's text as a snapshot: taken as it is if it is one, wrapped if it has no tag, foreign tags escaped. `None` if it is empty."""
    stripped = text.strip()
    opening, closing = _OPEN.match(stripped), list(_CLOSE.finditer(stripped))
    if opening and closing and closing[-1].end() == len(stripped):
        stripped = stripped[opening.end() : closing[-1].start()].strip("\n")
    if not _SECTION_TAG.sub("", stripped).strip():
        return None
    return wrap(stripped)


def wrap(body: str) -> str:
    """`body` in a snapshot tag; the tags of a snapshot or a scratchpad inside it are escaped, its seven sections are left."""
    return f"<state_snapshot>\n{_escape_outer(body)}\n</state_snapshot>"


def _escape_outer(body: str) -> str:
    """Neutralise every reserved tag but well-formed section tags."""
    pieces: list[str] = []
    position = 0
    for match in _SECTION_TAG.finditer(body):
        pieces.extend((neutralise(body[position : match.start()]), match.group()))
        position = match.end()
    pieces.append(neutralise(body[position:]))
    return "".join(pieces)


def _without_scratchpad(text: str) -> str:
    """Everything outside complete scratchpads. An unclosed one before the first snapshot is left: the snapshot after it counts."""
    pieces: list[str] = []
    position = 0
    while opening := _SCRATCHPAD_OPEN.search(text, position):
        closing = _SCRATCHPAD_CLOSE.search(text, opening.end())
        if closing is None:
            break
        pieces.append(text[position : opening.start()])
        position = closing.end()
    pieces.append(text[position:])
    return "".join(pieces)
