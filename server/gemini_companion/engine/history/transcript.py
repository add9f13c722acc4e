"""`Transcript`: everything that was said in a session, hidden or not, and how its turns went. Any page of it is read
without going through the log.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

import msgspec

from gemini_companion.engine.history.block import Block
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import (
    ContentEntry,
    Entry,
    IdeContextEntry,
    PromptEntry,
    ReplyEntry,
    SteerEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.shown import joined
from gemini_companion.engine.history.tool_entries import ToolCallEntry

_ENDED: Final = tuple(
    TurnEndEntry(id="", seq=0, time=0, turn_id="", outcome="completed", kept_to=kept_to) for kept_to in (0, 1)
)
"""Ends of turns that completed, with nothing in the view and with something: nobody asks more of them."""

_BEFORE_END: Final = 64
"""How far in front of a turn's end its last content is sought: only prompts that it ended without stand between."""


class Transcript(Fold):
    """Feed it with `apply`, in order."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.turns = 0
        """Turns in the log, without those that were replaced."""
        self.open_turns: dict[str, None] = {}
        """Turns that have not ended, oldest first."""
        self._contents = Entries[ContentEntry]()
        self._ends: dict[str, TurnEndEntry] = {}
        """The last end of each turn; none of one that goes on after it."""
        self._cut_short: dict[int, TurnEndEntry] = {}
        """Ends of unfinished answers of which something was shown, by the number of their turn's last content."""
        self._numbers: dict[str, int] = {}
        """By turn with a prompt or a reply, its number here."""
        self._begun, self._replies, self._durations = array("q"), array("q"), array("q")
        """Of each of them the time of its prompt, the sequence number of its last reply, and how long it took, in
        milliseconds; -1 for none.
        """
        for entry in entries:
            self.apply(entry)

    def __len__(self) -> int:
        """The number of contents."""
        return len(self._contents)

    def page(self, start: int, end: int | None) -> Sequence[ContentEntry]:
        """The contents from one index to another, oldest first; to the last if `end` is `None`."""
        return self._contents[start:end]

    def units_of(self, start: int, end: int) -> int:
        """How much work such a page is, in that on a content that is at hand."""
        return self._contents.units_of(start, end)

    def put_away(self, blocks: Sequence[Block]) -> None:
        """Keep the contents of these blocks, the oldest that are not put away yet, in them alone."""
        self._contents.put_away(blocks)

    def apply(self, entry: Entry) -> None:
        """Take in the next entry of the log."""
        match entry:
            case PromptEntry() | ReplyEntry() | ToolResultEntry() | IdeContextEntry() | SteerEntry():
                self._contents.append(entry)
                self._ends.pop(entry.turn_id, None)
                self.open_turns[entry.turn_id] = None
                if isinstance(entry, PromptEntry):
                    self.turns += 1
                    self._begun[self._number(entry.turn_id)] = entry.time
                elif isinstance(entry, ReplyEntry):
                    self._replies[self._number(entry.turn_id)] = entry.seq
            case ToolCallEntry(state="asked" | "running"):
                self.open_turns[entry.turn_id] = None  # the end of a call may come after that of its turn
            case TurnEndEntry():
                self.open_turns.pop(entry.turn_id, None)
                self.turns -= entry.outcome == "replaced"  # only the turn that replaced it counts
                self._ends[entry.turn_id] = _ENDED[entry.kept_to > 0] if entry.outcome == "completed" else entry
                self._keep_shown(entry)
                if entry.duration_ms is not None:
                    self._durations[self._number(entry.turn_id)] = max(0, entry.duration_ms)
            case _:
                pass

    def has_prompt(self, turn_id: str) -> bool:
        """Whether the log has a prompt that began this turn."""
        number = self._numbers.get(turn_id)
        return number is not None and self._begun[number] >= 0

    @property
    def unfinished(self) -> list[str]:
        """Turns with a content that no end of theirs follows, oldest first."""
        return [turn_id for turn_id in self.open_turns if turn_id not in self._ends and self._has_content(turn_id)]

    @property
    def last_in_view(self) -> str:
        """The turn of the newest content whose turn has not ended with nothing kept; '' if there is none."""
        turns = (content.turn_id for content in reversed(self._contents))
        return next((one for one in turns if one not in self._ends or self._ends[one].kept_to), "")

    def _has_content(self, turn_id: str) -> bool:
        return any(content.turn_id == turn_id for content in reversed(self._contents))

    def end_of(self, turn_id: str) -> TurnEndEntry | None:
        """How a turn ended; `None` if it has not, or goes on. Of one that completed it says no more than that."""
        return self._ends.get(turn_id)

    def cut_short_behind(self, content: ContentEntry) -> TurnEndEntry | None:
        """The end of an answer behind this content that was shown and not finished, if one was; the turn may go on."""
        return self._cut_short.get(content.seq)

    def _keep_shown(self, end: TurnEndEntry) -> None:
        if end.shown is None:
            return
        contents = islice(reversed(self._contents), _BEFORE_END)
        last = next((content.seq for content in contents if content.turn_id == end.turn_id), None)
        if last is not None:
            before = self._cut_short.get(last)
            shown = end.shown if before is None or before.shown is None else joined(before.shown, end.shown)
            self._cut_short[last] = msgspec.structs.replace(end, shown=shown)

    def duration_ms(self, reply: ReplyEntry) -> int | None:
        """How long the turn took, for its last reply only; if that was not logged, by the times of its entries."""
        number = self._numbers.get(reply.turn_id)
        if number is None or self._replies[number] != reply.seq:
            return None
        if (took := self._durations[number]) >= 0:
            return took
        begun = self._begun[number]
        return reply.time - begun if 0 <= begun < reply.time else None

    def _number(self, turn_id: str) -> int:
        number = self._numbers.setdefault(turn_id, len(self._numbers))
        if number == len(self._begun):
            for column in (self._begun, self._replies, self._durations):
                column.append(-1)
        return number
