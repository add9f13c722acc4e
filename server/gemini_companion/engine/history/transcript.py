"""`Transcript`: everything that was said in a session, hidden or not, and how its turns went. Any page of it is read
without going through the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from gemini_companion.engine.history.tool_entries import ToolCallEntry


class Transcript(Fold):
    """Feed it with `apply`, in order."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.turns = 0
        """Turns in the log, without those that were replaced."""
        self.open_turns: dict[str, None] = {}
        """Turns that have not ended, oldest first."""
        self._contents: list[ContentEntry] = []
        self._ends: dict[str, TurnEndEntry] = {}
        """The last end of each turn; none of one that goes on after it."""
        self._prompts: dict[str, PromptEntry] = {}
        self._replies: dict[str, int] = {}
        """By turn, the sequence number of its last reply."""
        self._durations: dict[str, int] = {}
        for entry in entries:
            self.apply(entry)

    def __len__(self) -> int:
        """The number of contents."""
        return len(self._contents)

    def page(self, start: int, end: int | None) -> Sequence[ContentEntry]:
        """The contents from one index to another, oldest first; to the last if `end` is `None`."""
        return self._contents[start:end]

    def apply(self, entry: Entry) -> None:
        """Take in the next entry of the log."""
        match entry:
            case PromptEntry() | ReplyEntry() | ToolResultEntry() | IdeContextEntry() | SteerEntry():
                self._contents.append(entry)
                self._ends.pop(entry.turn_id, None)
                self.open_turns[entry.turn_id] = None
                if isinstance(entry, PromptEntry):
                    self.turns += 1
                    self._prompts[entry.turn_id] = entry
                elif isinstance(entry, ReplyEntry):
                    self._replies[entry.turn_id] = entry.seq
            case ToolCallEntry(state="asked" | "running"):
                self.open_turns[entry.turn_id] = None  # the end of a call may come after that of its turn
            case TurnEndEntry():
                self.open_turns.pop(entry.turn_id, None)
                self.turns -= entry.outcome == "replaced"  # only the turn that replaced it counts
                self._ends[entry.turn_id] = entry
                if entry.duration_ms is not None:
                    self._durations[entry.turn_id] = entry.duration_ms
            case _:
                pass

    def has_prompt(self, turn_id: str) -> bool:
        """Whether the log has a prompt that began this turn."""
        return turn_id in self._prompts

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
        """How a turn ended; `None` if it has not, or goes on."""
        return self._ends.get(turn_id)

    def duration_ms(self, reply: ReplyEntry) -> int | None:
        """How long the turn took, for its last reply only; if that was not logged, by the times of its entries."""
        if self._replies.get(reply.turn_id) != reply.seq:
            return None
        prompt = self._prompts.get(reply.turn_id)
        passed = reply.time - prompt.time if prompt else 0
        return self._durations.get(reply.turn_id, passed if passed > 0 else None)
