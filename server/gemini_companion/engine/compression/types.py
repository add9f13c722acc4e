"""The whole contract of compression.

    trim_outputs ─▶ Strategy.plan ─▶ (a model writes the snapshot) ─▶ Strategy.conclude ─▶ counts ─▶ judge ─▶ log entry

The engine plans and concludes, and awaits nothing; `sessions/compression` does what lies between. A strategy decides
what is hidden and what replaces it. It has no access to a model, a clock or a file.
"""

from __future__ import annotations

from collections.abc import Sequence
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

FIRST_SEQ: Final = 1
"""The first sequence number of a log."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a compression would do. Indexes refer to the curated view before it, neighbours not merged."""

    trim: Trim
    split_at: int
    """Index of the first content kept; `len(items)` if everything is compressed."""
    kept_prompt: Item | None
    """The prompt of an agent's run that is kept before the tail; `None` unless the split lies inside its run."""
    hidden: list[Item]
    """What is summarised, uncut, without snapshots and acknowledgements of earlier compressions."""
    hidden_cut: list[Item]
    """The same, outputs cut."""
    previous_snapshot: str | None
    """The snapshot that the new one builds on; `None` if there is none in the span."""
    covers: tuple[str, ...]
    """Ids of the compressions in force that it stands on."""
    hides: tuple[int, int]
    """The span of sequence numbers that leaves the view, both inclusive."""
    acknowledge: bool
    """Whether the tail may follow the model's acknowledgement."""
    base_version: int
    """The log's newest sequence number when it was made."""

    @property
    def tail(self) -> list[Item]:
        """What stays word for word, with outputs cut."""
        return self.trim.cut_items[self.split_at :]

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
    """How a history is compressed. Both methods are pure, and raise for no curated view."""

    name: StrategyName
    """As in settings and results."""

    def plan(self, trim: Trim, log: LogState) -> Plan | None:
        """Decide what to hide and what to keep; `None` if nothing can be gained."""
        ...

    def conclude(self, plan: Plan, snapshot: str) -> ViewChange:
        """The view's change when `snapshot` (with its tags) takes the place of what the plan hides."""
        ...


class Counts(NamedTuple):
    """Tokens of the whole request with the old view and with the new one, counted alike."""

    before: int
    after: int
    source: TokenCountSource


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
