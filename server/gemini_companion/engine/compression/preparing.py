"""When a compression is prepared ahead of need, and which prepared one may still be installed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias

from gemini_companion.engine.compression.stale import has_replaced, is_stale, lets_go
from gemini_companion.engine.history.appending import TURN_KINDS
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import (
    CompressionEntry,
    Entry,
    PreviewEntry,
    ResumeEntry,
    UndoEntry,
)
from gemini_companion.engine.history.verdict import BackgroundMode, StrategyName
from gemini_companion.engine.history.view import History

SOFT_SHARE: Final = 0.8
"""Share of the trigger from which one is prepared while the chat goes on: the soft mark."""

IDLE_SHARE: Final = 0.7
"""The same in idle time. Below it, most chats that are left alone never reach the trigger."""

IDLE_SECONDS: Final = 20.0
"""Seconds without a job in a session after which its time is idle."""

NEW_SHARE: Final = 0.5
"""A prepared compression is made anew once more than this share of what stands behind its span came later."""

WORTH_SHARE: Final = 0.25
"""And once that is more than this share of what it hides: a new one is paid for in full."""

GROWTH_SHARE: Final = 0.1
"""After one that came to nothing the count must grow by this share of the trigger before the next is tried."""

_MOST_DOUBLINGS: Final = 10

Step: TypeAlias = Literal["nothing", "prepare", "install"]


class Behind(NamedTuple):
    """What stands behind the span of a prepared compression, in estimated tokens."""

    tokens: int
    new_tokens: int
    """Those of `tokens` that came after it was prepared."""
    hidden_tokens: int = 0
    """Those in the span."""
    is_anew: bool = False
    """It took the place of an earlier one already."""

    @property
    def is_outgrown(self) -> bool:
        """Whether it should be prepared anew, to hide more: at most once between two that are installed."""
        least = max(NEW_SHARE * self.tokens, WORTH_SHARE * self.hidden_tokens)
        return not self.is_anew and self.new_tokens > least


class Moment(NamedTuple):
    """What the decision rests on. Token counts are the session's: the whole request without its prompt."""

    mode: BackgroundMode
    tokens: int
    trigger: int | None
    """The count from which automatic compression is due; `None` while it is off."""
    is_idle: bool = False
    """Nothing runs, and has not for `IDLE_SECONDS`; else a turn is at a safe point."""
    is_under_way: bool = False
    """Something computes a snapshot that could be installed."""
    not_before: int = 0
    """The count below which nothing is prepared, since the last one came to nothing."""
    ready: Behind | None = None
    """Of the prepared compression that may be installed, if there is one."""
    has_preview: bool = False
    """A person has a preview of their own to apply, which an installation would void."""
    holds_up: bool = False
    """The turn would wait for the preparing, since models answer one request at a time: idle time alone is for it."""


def next_step(moment: Moment) -> Step:
    """What to do now: install what is ready, prepare one beside the chat, or neither."""
    mode, tokens, trigger = moment.mode, moment.tokens, moment.trigger
    if mode == "off" or trigger is None:
        return "nothing"
    is_due = tokens >= trigger
    if is_due and moment.ready is not None and not moment.is_idle and not moment.has_preview:
        return "install"
    if moment.is_under_way or tokens < moment.not_before or (moment.holds_up and not moment.is_idle):
        return "nothing"
    if moment.ready is not None and not moment.ready.is_outgrown:
        return "nothing"
    if is_due:
        return "prepare"
    mark = IDLE_SHARE if moment.is_idle else SOFT_SHARE
    return "prepare" if (moment.is_idle or mode == "auto") and tokens >= mark * trigger else "nothing"


def retry_at(tokens: int, trigger: int, failures: int) -> int:
    """The count at which preparing is tried again after so many failures in a row, from 1; always above `tokens`."""
    growth = max(1, round(GROWTH_SHARE * max(0, trigger)))
    return tokens + growth * 2 ** min(max(0, failures - 1), _MOST_DOUBLINGS)


def behind(history: History, prepared: PreviewEntry) -> Behind:
    """What stands behind the span of a prepared compression now, without what the editor showed."""
    hides = prepared.compression.hides
    if hides is None:
        return Behind(0, 0)
    tokens = new_tokens = hidden = 0
    for item in reversed(history.items):
        if item.seq < hides[0]:
            break
        if item.seq <= hides[1]:
            hidden += item.measure.tokens
        elif item.kind != "ide":
            tokens += item.measure.tokens
            new_tokens += item.measure.tokens if item.seq > prepared.base_seq else 0
    return Behind(tokens, new_tokens, hidden)


class Prepared(Fold):
    """The prepared compression of a session, as a fold of its log: `entry` is the newest that nothing has voided."""

    ignored: ClassVar = TURN_KINDS

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entry: PreviewEntry | None = None
        """Not looked at for what only the view tells; see `installable`."""
        self.made = 0
        """Those prepared since one was installed or undone."""
        self._let_go = 0
        """The newest entry that took a rule back; what was begun before it may go on to state the rule."""
        for entry in entries:
            self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Take in the next entry of the log."""
        match entry:
            case PreviewEntry() if is_prepared(entry):
                self.entry = entry if entry.base_seq >= self._let_go else None
                self.made += 1
            case PreviewEntry() if self.entry is not None and self.entry.compression_id == entry.compression_id:
                self.entry, self.made = None, self.made - 1  # somebody took it over
            case CompressionEntry() | UndoEntry() | ResumeEntry(reason="clear" | "import" | "fork"):
                self.entry, self.made = None, 0  # what came with a copy was prepared by nobody here
            case _ if lets_go(entry):
                self.entry, self._let_go = None, entry.seq
            case _:
                pass

    def installable(
        self,
        history: History,
        mode: BackgroundMode,
        strategies: Collection[StrategyName | None] = (),
        basis: str = "",
    ) -> PreviewEntry | None:
        """It, if it may be installed in the history of the same log now.

        Other settings would have made another one, so it counts under its own alone: of `strategies`, those of the
        settings, one must have made it (empty for any), and their `basis` must be its own, where both are known.
        """
        if self.entry is None or mode == "off" or not is_installable(history, self.entry):
            return None
        if strategies and self.entry.compression.result.strategy not in strategies:
            return None
        if basis and self.entry.basis not in ("", basis):
            return None
        return self.entry

    def drop(self) -> None:
        """Void it, for as long as this process has the session."""
        self.entry = None


def is_prepared(entry: PreviewEntry) -> bool:
    """Whether the daemon made it for itself; else it is a person's preview."""
    return entry.compression.result.trigger == "background"


def has_preview(history: History) -> bool:
    """Whether a person has a preview that they asked for and may still apply or edit: while there is room, nothing is
    installed over it that nobody asked for. One that the chat has outgrown is taken for forgotten.
    """
    preview = history.preview
    if preview is None or preview.compression.result.trigger != "manual":
        return False
    return is_installable(history, preview) and not behind(history, preview).is_outgrown


def tokens_saved(prepared: PreviewEntry) -> int:
    """Tokens that it takes off the next request, as they were counted when it was prepared."""
    return prepared.compression.result.original_token_count - prepared.compression.result.new_token_count


def is_installable(history: History, prepared: PreviewEntry) -> bool:
    """Whether a prepared compression may be installed now: what it hides, cuts and stands on is as it was, no turn in
    it may come back, and none that it saw was answered anew.
    """
    excluded, hides = history.excluded_from, prepared.compression.hides
    if excluded is not None and hides is not None and hides[1] >= excluded:
        return False
    if is_stale(history, prepared.compression, prepared.base_seq):
        return False
    return not has_replaced(history, prepared.base_seq)
