"""Who watches what happens in sessions."""

from __future__ import annotations

from typing import Protocol

from gemini_companion.sessions.observing.records import AnyRecord


class Observer(Protocol):
    """Gets every record, on the event loop: it must return at once, and keep a bounded number of them."""

    @property
    def wants_text(self) -> bool:
        """Whether it is given what people, models and tools wrote."""
        ...

    def take(self, record: AnyRecord) -> None:
        """Take a record."""
        ...
