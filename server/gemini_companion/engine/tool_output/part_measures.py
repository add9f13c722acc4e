"""What planning masks needs of a part, kept for the next time.

Masks are planned at every safe point, and mostly none is due. The parts that would go are the same ones each time,
and counting a part's tokens is most of the work; so the newest `KEPT` answers are remembered.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from gemini_companion.engine.history.content import Content, Part, Role
from gemini_companion.engine.history.item import MeasureContent

KEPT: Final = 512
"""Answers that are kept of each kind: more parts than wait for a mask at a time."""

T = TypeVar("T")


class _Newest(Generic[T]):
    """Answers by the identity of a part, which is never changed, and of what else they depend on."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[int, str], tuple[Part, T]] = OrderedDict()
        """With the part itself, so that no other one gets its identity."""

    def get(self, part: Part, more: str, make: Callable[[], T]) -> T:
        key = id(part), more
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key][1]
        made = make()
        self._held[key] = part, made
        if len(self._held) > KEPT:
            self._held.popitem(last=False)
        return made


class PartMeasures:
    """Tokens of parts, and what would stand for them. One per session, for one caller at a time."""

    def __init__(self, measure: MeasureContent) -> None:
        self._measure = measure
        self._tokens: _Newest[int] = _Newest()
        self._masked: _Newest[tuple[str, int] | None] = _Newest()

    def tokens(self, role: Role, part: Part) -> int:
        """Estimated tokens of a part by itself."""
        return self._tokens.get(part, role, lambda: self.fresh_tokens(role, part))

    def fresh_tokens(self, role: Role, part: Part) -> int:
        """The same of a part that is made only to be counted."""
        return self._measure(Content(role=role, parts=(part,))).tokens

    def masked(self, part: Part, reference: str, make: Callable[[], tuple[str, int] | None]) -> tuple[str, int] | None:
        """What stands for a part, with its tokens; `None` if nothing does."""
        return self._masked.get(part, reference, make)
