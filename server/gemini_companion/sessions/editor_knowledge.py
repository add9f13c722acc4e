"""What the model knows of an editor, as the view of a session says."""

from __future__ import annotations

from collections.abc import Callable

from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.item import Measure
from gemini_companion.engine.history.view import History
from gemini_companion.engine.ide_context.policy import Baseline, baseline_of, is_full_due
from gemini_companion.engine.ide_context.render import render_full


class EditorKnowledge:
    """Reads each IDE entry of a history once."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._read: tuple[tuple[int, ...], Baseline | None] = ((), None)
        """The sequence numbers of IDE entries, and the baseline that they leave."""

    def baseline(self) -> Baseline | None:
        """What the model knows of an editor by the IDE entries in the view."""
        entries = self._history.ide_entries
        seqs = tuple(entry.seq for entry in entries)
        read, baseline = self._read
        if seqs[: len(read)] != read:
            read, baseline = (), None
        baseline = baseline_of(entries[len(read) :], baseline)
        self._read = (seqs, baseline)
        return baseline

    def is_full_due(self, client: str) -> bool:
        """True if the next prompt from the client with this id sends the full IDE context."""
        history = self._history
        return is_full_due(
            self.baseline(), client=client, epoch=history.epoch, previous_turn_client=history.previous_client
        )

    def tokens_if_sent_again(self, measure: Callable[[Content], Measure]) -> int:
        """Tokens of a full message of what the model knows of the editor; 0 if it knows nothing."""
        if len(self._history.ide_entries) < 2:
            return self._history.totals().ide_context if self._history.ide_entries else 0
        baseline = self.baseline()
        text = render_full(baseline.known.as_state()) if baseline is not None else None
        return measure(user_text(text)).tokens if text else 0
