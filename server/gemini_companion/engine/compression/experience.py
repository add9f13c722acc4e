"""What a session has shown so far, as a fold of its log: its pace, the provider's caching, undos and ratings."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import ClassVar, Final, NamedTuple

from gemini_companion.engine.history.appending import TURN_KINDS
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import (
    CompressionEntry,
    Entry,
    ModelChangeEntry,
    RatingEntry,
    ReplyEntry,
    TurnEndEntry,
    UndoEntry,
    Usage,
)

UNDO_POINTS: Final = 0.05
"""An automatic compression that a person undid came too early: the threshold rises by this share of the limit."""

LOW_RATING_POINTS: Final = 0.03
"""The same for a rating of 1 or 2."""

HIGH_RATING_POINTS: Final = -0.02
"""And for one of 4 or 5: it may come a little earlier."""

MOST_POINTS: Final = 0.1
"""No session moves its threshold further, up or down."""

_JUDGED: Final = 10
"""So many of the newest judgements count, for each model."""

_ANSWERS: Final = 8
"""Answers that the pace and the share of the cache are read from."""

_LEAST_ANSWERS: Final = 2


class _Judged(NamedTuple):
    compression_id: str
    model: str
    kind: str
    points: float


class Experience(Fold):
    """The fold. Feed it with `apply`, in order; each entry costs the same."""

    ignored: ClassVar = TURN_KINDS - {ReplyEntry, TurnEndEntry}

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.turns = 0
        """Turns that completed."""
        self._replies = 0
        self._model = ""
        self._last_prompt: int | None = None
        """Tokens of the newest request, `None` if the view was changed since."""
        self._growths: deque[int] = deque(maxlen=_ANSWERS)
        self._usages: deque[Usage] = deque(maxlen=_ANSWERS)
        self._automatic: dict[str, str] = {}
        """Automatic compressions by id: the model that answered when they came."""
        self._judged: list[_Judged] = []
        for entry in entries:
            self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Take in the next entry of the log."""
        match entry:
            case ReplyEntry():
                self._answered(entry)
            case TurnEndEntry(outcome="completed"):
                self.turns += 1
            case ModelChangeEntry():
                self._model = entry.model
                self._usages.clear()
            case CompressionEntry():
                self._last_prompt = None
                if entry.result.trigger != "manual":
                    self._automatic[entry.compression_id] = self._model
            case UndoEntry():
                self._last_prompt = None
                self._judge(entry.undone[-1] if entry.undone else "", "undo", UNDO_POINTS)
            case RatingEntry():
                points = LOW_RATING_POINTS if entry.rating <= 2 else HIGH_RATING_POINTS if entry.rating >= 4 else 0.0
                self._judge(entry.compression_id, "rating", points)
            case _:
                pass

    @property
    def growth(self) -> float:
        """Tokens by which a request was larger than the one before, on average; 0 if nothing is known."""
        return sum(self._growths) / len(self._growths) if self._growths else 0.0

    @property
    def requests_per_turn(self) -> float:
        """Answers of the model for each completed turn, at least 1."""
        return max(1.0, self._replies / self.turns) if self.turns else 1.0

    @property
    def cached_share(self) -> float | None:
        """Share of the input that the provider lately found in its cache; `None` while too little is known."""
        if len(self._usages) < _LEAST_ANSWERS:
            return None
        prompts = sum(usage.prompt_tokens for usage in self._usages)
        cached = sum(min(usage.cached_tokens, usage.prompt_tokens) for usage in self._usages)
        return max(0.0, cached / prompts) if prompts > 0 else None

    def points(self, model: str) -> float:
        """By how much the threshold moves with a model, as a share of the limit; within `MOST_POINTS`."""
        own = [judged.points for judged in self._judged if judged.model == model][-_JUDGED:]
        return max(-MOST_POINTS, min(MOST_POINTS, sum(own)))

    def _answered(self, entry: ReplyEntry) -> None:
        self._replies += 1
        if entry.model and entry.model != self._model:
            self._model = entry.model
            self._usages.clear()
        usage = entry.usage
        if usage is None or usage.prompt_tokens <= 0:
            return
        if self._last_prompt is not None:  # the first request after a change finds nothing in the cache
            self._usages.append(usage)
            if usage.prompt_tokens > self._last_prompt:
                self._growths.append(usage.prompt_tokens - self._last_prompt)
        self._last_prompt = usage.prompt_tokens

    def _judge(self, compression_id: str, kind: str, points: float) -> None:
        """Only automatic compressions say something of the threshold; a later rating of one replaces the earlier."""
        model = self._automatic.get(compression_id)
        if model is None:
            return
        self._judged = [
            judged for judged in self._judged if (judged.compression_id, judged.kind) != (compression_id, kind)
        ][-10 * _JUDGED :]
        if points:
            self._judged.append(_Judged(compression_id, model, kind, points))
