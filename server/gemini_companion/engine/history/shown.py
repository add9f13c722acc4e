"""`Shown`: what people saw of an answer that never became one. For reading alone: no view has it."""

from __future__ import annotations

import re
from typing import Final

import msgspec

MOST_SHOWN: Final = 100_000
"""Characters of a text that are kept, and as many of the thoughts before it."""

_MORE: Final = "\n\n[… {:,} more characters came, which were not kept]"
_COUNTED: Final = re.compile(r"\n\n\[… ([0-9,]{1,20}) more characters came, which were not kept\]")


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The text of an answer that was cut short, and its thoughts, as far as they came."""

    text: str = ""
    thoughts: str = ""


def shown_of(text: str, thoughts: str) -> Shown | None:
    """What is kept of an answer; `None` if nothing of it came."""
    return Shown(text=_bounded(text), thoughts=_bounded(thoughts)) if text or thoughts else None


def joined(before: Shown, after: Shown) -> Shown:
    """What was shown, and what was shown when the turn went on from the same place."""
    return Shown(text=_together(before.text, after.text), thoughts=_together(before.thoughts, after.thoughts))


def _bounded(text: str, more: int = 0) -> str:
    """`more` characters came behind it."""
    more += max(0, len(text) - MOST_SHOWN)
    return text if more == 0 else f"{text[:MOST_SHOWN]}{_MORE.format(more)}"


def _unbounded(text: str) -> tuple[str, int]:
    """A text as it was kept, and how many more characters came."""
    counted = _COUNTED.fullmatch(text, MOST_SHOWN)
    return (text, 0) if counted is None else (text[:MOST_SHOWN], int(counted[1].replace(",", "")))


def _together(before: str, after: str) -> str:
    if not (before and after):
        return before or after
    (first, unkept), (second, more) = _unbounded(before), _unbounded(after)
    if unkept:  # nothing that follows is kept either
        return _bounded(first, unkept + len(second) + more)
    return _bounded(f"{first}\n\n{second}", more)
