"""The last events of this process, for reports of bugs."""

from __future__ import annotations

from collections import deque
from typing import Final

from gemini_companion.sessions.observing.records import AnyRecord, without_texts

KEPT: Final = 100
"""Records that are kept."""


class Ring:
    """Keeps the last `KEPT` records, without anybody's text."""

    def __init__(self) -> None:
        self.wants_text = False
        self._records: deque[AnyRecord] = deque(maxlen=KEPT)

    @property
    def records(self) -> list[AnyRecord]:
        """Oldest first."""
        return list(self._records)

    def take(self, record: AnyRecord) -> None:
        """Keep a record."""
        self._records.append(without_texts(record))
