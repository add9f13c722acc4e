"""Which messages of the user Gemini CLI takes for none of the model's, and how one of ours is kept from that.

It leaves out, when it resumes a session, every message of the user that is empty or begins like a command to the
command line (`/`, `?`) or like its own surroundings, whoever said it. It looks at all text together, and reads a part
with the field `thought` in another way, whatever the field says; `false`, which is what a part without the field has,
keeps the message and changes nothing for a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import text_of

SURROUNDINGS: Final = ("<session_context>", "<hook_context>")
"""Beginnings of a user message that is no prompt but describes the session's surroundings; each session makes its own.
"""

COMMANDS: Final = ("/", "?")
"""Beginnings of a user message that was meant for the command line itself."""

_MARK: Final = "thought"


def text_for_the_model(parts: Sequence[Part]) -> str | None:
    """The text by which a message is judged; `None` for one that says more than text, or is marked: it is kept."""
    if any(text_of(part) is None or _MARK in part for part in parts):
        return None
    return "".join(text_of(part) or "" for part in parts).strip()


def spoken(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts so that they are kept: marked, where they would be left out."""
    text = text_for_the_model(parts)
    if text is None or not parts or (text and not text.startswith((*SURROUNDINGS, *COMMANDS))):
        return parts
    return ({**parts[0], _MARK: False}, *parts[1:])


def unmarked(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts as they were before `spoken` marked them."""
    if not parts or parts[0].get(_MARK) is not False:
        return parts
    bare = ({name: value for name, value in parts[0].items() if name != _MARK}, *parts[1:])
    return bare if spoken(bare) == parts else parts
