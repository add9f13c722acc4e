"""The whole contract of compression.

    trim_outputs ─▶ Strategy.plan ─▶ (a model writes the snapshot) ─▶ Strategy.finish ─▶ Strategy.conclude
                 ─▶ counts ─▶ judge ─▶ log entry

The engine plans and concludes, and awaits nothing; `sessions/compression` does what lies between. A strategy decides
what is hidden and what replaces it. It has no access to a model, a clock or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, get_args

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    CompressionStatus,
    Cut,
    TokenCountSource,
)
from gemini_companion.engine.history.part import text_of
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.engine.tokens.limits import DEFAULT_TOKEN_LIMIT

FIRST_SEQ: Final = 1
"""The first sequence number of a log."""

LEAST_SHARE: Final = 0.05
"""Share of the request below which what a compression saves is next to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trim:
    """The view with its large old tool outputs cut."""

    items: list[Item]
    """The curated view as it was."""
    cut_items: list[Item]
    """The same, outputs cut."""
    cuts: tuple[Cut, ...]
    """What was cut, oldest first."""

    @property
    def tokens_saved(self) -> int:
        """Estimated tokens that the cuts save."""
        return sum(cut.tokens_saved for cut in self.cuts)


class LogState(NamedTuple):
    """What a plan needs to know of the log, as it was when the items were read."""

    version: int
    """The newest sequence number."""
    in_force: Sequence[CompressionEntry] = ()
    """The compressions in force, oldest first."""
    excluded_from: int | None = None
    """First sequence number of the excluded turn. It may be restored, so nothing from there on may be hidden."""
    reach: tuple[int, int] | None = None
    """First and last sequence number of what a person asked to hide; `None` leaves it to the strategy."""
    limit: int = DEFAULT_TOKEN_LIMIT
    """Tokens that the model accepts in one request."""
    times: Callable[[int], int | None] = lambda _: None
    """When the entry with a sequence number was written, in ms since 1970; `None` where that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a compression would do. Indexes refer to the curated view before it, neighbours not merged.

    The view falls into the front `[:start_at]`, the span `[start_at:split_at]`, and the tail `[split_at:]`. Of the span
    some contents are kept word for word, in front of the snapshot; the others are hidden.
    """

    trim: Trim
    start_at: int = 0
    """Index of the first content of the span; 0 unless a person named the turn that it begins with."""
    split_at: int
    """Index of the first content behind the span; `len(items)` if there is none."""
    kept: list[Item]
    """Contents of the span that stay, with outputs cut."""
    hidden: list[Item]
    """What is summarised, uncut, without snapshots and acknowledgements of earlier compressions."""
    hidden_cut: list[Item]
    """The same, outputs cut."""
    previous_snapshot: str | None
    """The snapshot that the new one builds on; `None` if there is none in the span."""
    layers: tuple[str, ...] = ()
    """Earlier snapshots that go into the new one by rule (`Strategy.finish`), unseen by the model that writes it."""
    snapshot_tokens: int
    """Tokens that a snapshot written from the facts may have."""
    has_record: bool = False
    """True if what is hidden is quoted beside the snapshot (`engine.record`)."""
    asks_model: bool = True
    """False if the snapshot is written from the facts alone (`sources.snapshot_from_facts`)."""
    covers: tuple[str, ...]
    """Ids of the compressions in force that it stands on."""
    hides: tuple[int, int]
    """The span of sequence numbers that leaves the view, both inclusive."""
    acknowledge: bool
    """Whether what follows may follow the model's acknowledgement."""
    base_version: int
    """The log's newest sequence number when it was made."""

    @property
    def tail(self) -> list[Item]:
        """What stays behind the snapshot, with outputs cut."""
        return self.trim.cut_items[self.split_at :]

    @property
    def stays(self) -> list[Item]:
        """Everything that stays word for word, with outputs cut: the front, what is kept of the span, the tail."""
        return [*self.trim.cut_items[: self.start_at], *self.kept, *self.tail]

    @property
    def hidden_tokens(self) -> int:
        """Estimated tokens of what is hidden."""
        return sum(item.measure.tokens for item in self.hidden)


class ViewChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a compression does to the view: the part of its log entry that a strategy decides."""

    hides: tuple[int, int] | None = None
    """The span of sequence numbers that leaves the view, both inclusive; `None` if only outputs are cut."""
    keeps: tuple[int, ...] = ()
    """Sequence numbers inside the span that stay word for word, in front of the replacement."""
    replacement: tuple[Content, ...] = ()
    """The contents that replace the span; the view adds the pins."""
    snapshot_at: int = 0
    """Index of the snapshot in `replacement`."""
    covers: tuple[str, ...] = ()
    """Ids of the compressions in force that it stands on."""
    cuts: tuple[Cut, ...] = ()
    """Outputs shortened outside the span."""

    def with_appendix(self, text: str) -> ViewChange:
        """The same, with the appendix of its snapshot; `""` for none."""
        return msgspec.structs.replace(self, replacement=with_appendix(self.replacement, self.snapshot_at, text))

    def entry(self, *, id: str, time: int, compression_id: str, result: CompressionResult) -> CompressionEntry:
        """The log entry that makes the change. `time` is in ms since 1970; `seq` is set when it is appended."""
        return CompressionEntry(
            id=id, seq=0, time=time, compression_id=compression_id, result=result, **msgspec.structs.asdict(self)
        )


def with_appendix(replacement: tuple[Content, ...], snapshot_at: int, text: str) -> tuple[Content, ...]:
    """The contents with an appendix, `""` for none, as a part of its own behind the snapshot at an index."""
    if not text:
        return replacement
    contents = list(replacement)
    snapshot = contents[snapshot_at]
    contents[snapshot_at] = Content(role=snapshot.role, parts=(*snapshot.parts, {"text": text}))
    return tuple(contents)


def snapshot_text(content: Content) -> str:
    """The snapshot alone of a content of the kind `snapshot`: what stands behind it is its appendix."""
    return next((text for part in content.parts if (text := text_of(part)) is not None), "")


class Strategy(Protocol):
    """How a history is compressed. Every method is pure, and raises for no curated view."""

    name: StrategyName
    """As in settings and results."""

    def plan(self, trim: Trim, log: LogState) -> Plan | None:
        """Decide what to hide and what to keep; `None` if nothing can be gained."""
        ...

    def finish(self, plan: Plan, written: str) -> str:
        """The snapshot that is to stand, from the one that was written for the plan. Once, before anything else."""
        ...

    def conclude(self, plan: Plan, snapshot: str) -> ViewChange:
        """The view's change when `snapshot` (with its tags) takes the place of what the plan hides."""
        ...


class Counts(NamedTuple):
    """Tokens of the whole request with the old view and with the new one, counted alike."""

    before: int
    after: int
    source: TokenCountSource

    @property
    def save_little(self) -> bool:
        """Whether what is saved is next to nothing, for which no model should be asked again and again."""
        return self.before - self.after < LEAST_SHARE * self.before

    @classmethod
    def of(cls, result: CompressionResult) -> Counts:
        """The counts in a result."""
        return cls(result.original_token_count, result.new_token_count, result.token_count_source)


FAULTS: Final = frozenset(
    status
    for status in get_args(CompressionStatus)
    if status.startswith("COMPRESSION_FAILED_") and status != "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
)
"""Statuses of a run that went wrong: they count for the failure flag, and a command exits with an error. A result that
did not get smaller is none.
"""


def judge(counts: Counts) -> CompressionStatus:
    """COMPRESSED if the request gets smaller, else the status of a failure that changes nothing."""
    return "COMPRESSED" if counts.after < counts.before else "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT"
