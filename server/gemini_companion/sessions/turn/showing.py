"""`Showing`: what people see of the answer under way, until it is whole and written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gemini_companion.engine.history.shown import Shown, shown_of
from gemini_companion.sessions.events import Event, MessageDelta, MessageDiscarded, ThoughtDelta


@dataclass(slots=True)
class Showing:
    """Hears the events of one turn. What it holds are the pieces of one answer."""

    attempt: int = 1
    """Of the newest piece."""
    _texts: list[str] = field(default_factory=list[str])
    _thoughts: list[str] = field(default_factory=list[str])
    _before: tuple[str, str] = ("", "")
    """Text and thoughts of the last attempt that was taken back."""

    def __bool__(self) -> bool:
        return bool(self._texts or self._thoughts)

    @property
    def text(self) -> str:
        """Its text so far."""
        return "".join(self._texts)

    def hear(self, event: Event) -> None:
        """Take in the next event of the turn."""
        if isinstance(event, MessageDelta | ThoughtDelta):
            self.attempt = event.attempt
            (self._texts if isinstance(event, MessageDelta) else self._thoughts).append(event.text)
        elif isinstance(event, MessageDiscarded) and self:
            self._before = (self.text, "".join(self._thoughts))
            self._texts, self._thoughts = [], []

    def clear(self) -> None:
        """The answer stands in the log."""
        self._texts, self._thoughts, self._before = [], [], ("", "")

    def forget_discarded(self) -> None:
        """What was taken back last was refused: it is not shown again."""
        self._before = ("", "")

    def taken_back(self) -> Iterator[Event]:
        """Where no other attempt came to anything: events that show the last one again that did."""
        text, thoughts = ("", "") if self else self._before
        if thoughts:
            yield ThoughtDelta(text=thoughts, attempt=self.attempt)
        if text:
            yield MessageDelta(text=text, attempt=self.attempt)

    def kept(self) -> Shown | None:
        """What the log keeps of it if the turn ends now."""
        return shown_of(self.text, "".join(self._thoughts))
