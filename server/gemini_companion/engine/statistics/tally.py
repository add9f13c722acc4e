"""`Tally`: a fold of a session's log into what it did and cost.

It takes in one entry after the other at the same price, and keeps nothing of their texts. A session that was forked
begins at nothing: what came before was done, and paid for, by the one it was forked from. One that was imported shows
what its file says, and `here` has what was done since: of that alone the sums of a project are made, else they would
count it twice where the chat was exported, or as their own where it was not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    CompressionResult,
    Entry,
    PreviewEntry,
    PromptEntry,
    ReplyEntry,
    ResumeEntry,
    ToolResultEntry,
    TurnEndEntry,
    UndoEntry,
)
from gemini_companion.engine.history.loop_entry import LOOP, LoopEntry
from gemini_companion.engine.history.model_call import CallPurpose, ModelCallEntry
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.history.use import is_use
from gemini_companion.engine.statistics.uses import ModelUse, ToolUse, TurnUse, believed

MOST_TURNS: Final = 1_000
"""Turns whose sums are kept."""

UseKey: TypeAlias = tuple[str, CallPurpose]
"""A model's name, and what it was asked for."""


class Sent(NamedTuple):
    """One request for an answer, as it was sent."""

    time: int
    turn_id: str
    tokens: int
    cached: int
    by_part: dict[str, int]
    token_limit: int
    compression_at: int | None


class Compressed(NamedTuple):
    """One compression that was installed, or tried."""

    seq: int
    time: int
    compression_id: str
    """`""` if nothing was installed."""
    result: CompressionResult
    cost: float
    """US dollars, as far as it is known."""
    calls: int


class Tally:
    """What a session did and cost. Feed it with `apply`, in order."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.done_to = 0
        """The newest `seq` that it knows."""
        self._clear()
        for entry in entries:
            self.apply(entry)

    def _clear(self) -> None:
        self._since_import: Tally | None = None
        self.uses: dict[UseKey, ModelUse] = {}
        self.tools: dict[str, ToolUse] = {}
        self.sent: list[Sent] = []
        self.compressions: list[Compressed] = []
        """Installed ones and attempts, oldest first."""
        self.undone: set[str] = set()
        self.by_turn: dict[str, TurnUse] = {}
        """The newest turns with requests, oldest first."""
        self._turn = ""
        """The one that has begun and not ended."""
        self.turns = 0
        self.loops = 0
        """Times that the model went round in circles."""
        self.started_at: int | None = None
        self.ended_at: int | None = None
        self._answers: dict[str, int] = {}
        """Answers by turn that a `modelCall` told of and whose `reply` has not come."""
        self._calls: dict[str, tuple[int, float]] = {}
        """Calls of compressions whose end has not come, by their ids: their number and cost."""
        self._previewed: dict[str, tuple[int, float]] = {}
        """The same of previews, which may be applied."""

    def apply(self, entry: Entry) -> None:
        """Take in the next entry."""
        self.done_to = entry.seq
        if self._since_import is not None:
            self._since_import.apply(entry)
        match entry:
            case ResumeEntry(reason="fork"):
                self._clear()
                return
            case ResumeEntry(reason="import"):
                self._since_import = Tally()
            case ModelCallEntry():
                self._add_call(entry)
            case PromptEntry():
                self.turns += 1
                self._turn = entry.turn_id
            case LoopEntry():
                self.loops += 1
            case TurnEndEntry():
                self.turns -= entry.outcome == "replaced"
                self._answers.pop(entry.turn_id, None)
                self._turn = "" if self._turn == entry.turn_id else self._turn
            case ReplyEntry():
                self._add_reply(entry)
            case ToolResultEntry():
                self._add_results(entry)
            case CompressionEntry():
                self._add_compression(entry.seq, entry.time, entry.compression_id, entry.result)
            case PreviewEntry():
                spent = self._settle_calls(entry.compression_id, entry.compression.result)
                self._previewed[entry.compression_id] = spent
            case AttemptEntry():
                self._add_compression(entry.seq, entry.time, "", entry.result)
            case UndoEntry():
                self.undone.update(entry.undone)
            case _:
                pass
        if is_use(entry):
            self.started_at = entry.time if self.started_at is None else self.started_at
            self.ended_at = entry.time

    @property
    def here(self) -> Tally:
        """What was done since it was imported, as a tally of its own; all of it if it was not."""
        return self if self._since_import is None else self._since_import

    @property
    def installed(self) -> list[Compressed]:
        """The compressions that were installed, oldest first; undone ones too."""
        return [one for one in self.compressions if one.compression_id]

    @property
    def tokens_saved(self) -> int:
        """Tokens that the compressions in force took off the requests that followed them."""
        return sum(
            max(0, one.result.original_token_count - one.result.new_token_count)
            for one in self.installed
            if one.compression_id not in self.undone
        )

    def use(self, model: str, purpose: CallPurpose) -> ModelUse:
        """The sums of one model and purpose."""
        return self.uses.setdefault((model, purpose), ModelUse())

    def _add_call(self, entry: ModelCallEntry) -> None:
        cost = self.use(entry.model, entry.purpose).add_call(entry)
        if turn := entry.subject if entry.purpose == "answer" else self._turn * (entry.purpose != "title"):
            self.by_turn.setdefault(turn, TurnUse(entry.time)).add_call(entry)
            if len(self.by_turn) > MOST_TURNS:
                del self.by_turn[next(iter(self.by_turn))]
        if entry.purpose in ("compression", "preparing"):
            calls, spent = self._calls.get(entry.subject, (0, 0.0))
            self._calls[entry.subject] = (calls + (entry.outcome == "ok"), spent + cost)
        elif entry.purpose == "answer":
            if entry.outcome == "ok":
                self._answers[entry.subject] = self._answers.get(entry.subject, 0) + 1
            if entry.by_part is not None:
                usage = entry.usage
                by_part = {name: believed(tokens) for name, tokens in entry.by_part.items()}
                tokens = sum(by_part.values())
                cached = min(believed(usage.cached_tokens), tokens) if usage else 0
                self.sent.append(
                    Sent(entry.time, entry.subject, tokens, cached, by_part, entry.token_limit, entry.compression_at)
                )

    def _add_reply(self, entry: ReplyEntry) -> None:
        if entry.finish_reason == LOOP:  # its request was ended before its end, and stands as cancelled
            return
        told = self._answers.get(entry.turn_id, 0)
        if told:
            self._answers[entry.turn_id] = told - 1
        else:
            self.use(entry.model, "answer").add_answer(entry.usage, entry.model)

    def _add_results(self, entry: ToolResultEntry) -> None:
        if entry.calls:
            for record in entry.calls:
                self.tools.setdefault(record.name, ToolUse()).add_call(record)
            return
        for part in entry.content.parts:  # an earlier version wrote it, or another program: how it went is not told
            name = (response_of(part) or {}).get("name")
            if isinstance(name, str) and name:
                use = self.tools.setdefault(name, ToolUse())
                use.calls += 1
                use.ok += 1

    def _settle_calls(self, compression_id: str, result: CompressionResult) -> tuple[int, float]:
        """The calls of a compression that has ended, with those that no entry tells of; and their cost."""
        subject = compression_id or next(reversed(self._calls), "")  # an attempt does not say which it was: the newest
        told, cost = self._calls.pop(subject, (0, 0.0))
        untold = max(0, believed(result.model_calls) - told)
        if untold:
            use = self.use("", "compression")
            use.calls += untold
            use.uncounted += untold
            use.is_paid = True
        return told + untold, cost

    def _add_compression(self, seq: int, time: int, compression_id: str, result: CompressionResult) -> None:
        spent = self._previewed.pop(compression_id, None) or self._settle_calls(compression_id, result)
        self.compressions.append(Compressed(seq, time, compression_id, result, spent[1], spent[0]))
