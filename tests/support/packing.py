"""A log as a session has it that puts away whatever it can."""

from __future__ import annotations

from gemini_companion.engine.compression.sources import put_away as forget
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.history.block import packed
from gemini_companion.engine.history.log import Entry
from gemini_companion.engine.history.putting_away import put_away, to_be_put_away
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.engine.history.view import History
from tests.support.logs import LEDGER


class Packing:
    """Has what reads a log, and what is known of its contents."""

    def __init__(self) -> None:
        self.history = History(LEDGER.measure)
        self.transcript = Transcript()
        self.facts = FactCache()
        self.gone = 0
        """The most entries that were put away at once."""

    def apply(self, entry: Entry) -> None:
        self.history.apply(entry)
        self.transcript.apply(entry)

    def pack(self) -> None:
        self.history.counting.take_fresh(10_000)
        to = to_be_put_away(self.history, self.transcript.open_turns)
        some = [entry for entry in self.history.entries.live if entry.seq <= to]
        made = list(packed(some))
        assert sum(map(len, made)) == len(some)
        left = put_away(self.history, made, to)
        self.transcript.put_away(made)
        forget(left, self.facts)
        self.gone = max(self.gone, self.history.entries.gone)
