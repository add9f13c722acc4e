"""`Shown`: what people saw of an answer that never became one. For reading alone: no view has it."""

from __future__ import annotations

from typing import Final

import msgspec

MOST_SHOWN: Final = 100_000
"""Characters of a text that are kept, and as many of the thoughts before it."""


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The text of an answer that was cut short, and its thoughts, as far as they came."""

    text: str = ""
    thoughts: str = ""


def shown_of(text: str, thoughts: str) -> Shown | None:
    """What is kept of an answer; `None` if nothing of it came."""
    return Shown(text=_bounded(text), thoughts=_bounded(thoughts)) if text or thoughts else None


def joined(before: Shown, after: Shown) -> Shown:
    """What was shown, and what was shown when the turn went on from the same place."""
    return Shown(
        text=_bounded(_together(before.text, after.text)), thoughts=_bounded(_together(before.thoughts, after.thoughts))
    )


def _bounded(text: str) -> str:
    more = len(text) - MOST_SHOWN
    return text if more <= 0 else f"{text[:MOST_SHOWN]}\n\n[… {more:,} more characters came, which were not kept]"


def _together(before: str, after: str) -> str:
    return f"{before}\n\n{after}" if before and after else before or after
