"""What was shown of an answer by a process that was killed meanwhile: as far as its deltas were stored for replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import Entry, PromptEntry, ReplyEntry, TurnEndEntry
from gemini_companion.engine.history.shown import Shown
from gemini_companion.sessions.events import MessageDelta, MessageDiscarded, ThoughtDelta
from gemini_companion.sessions.ports import StoredEvent
from gemini_companion.sessions.turn.showing import Showing


@dataclass(slots=True)
class ShownBefore:
    """Hears the stored events of a turn since it began or went on, in order."""

    _showing: Showing = field(default_factory=Showing)
    _finished: str | None = None
    """The text of the last answer of this turn that was written, by what followed; `None` before the first."""

    def hear(self, stored: StoredEvent) -> None:
        """Take in the next event of the turn."""
        event = stored.event
        text, attempt = str(event.get("text", "")), event.get("attempt")
        attempt = attempt if isinstance(attempt, int) else 1  # the disk may have damaged it
        match event.get("type"):
            case "messageDelta":
                self._showing.hear(MessageDelta(text=text, attempt=attempt))
            case "thoughtDelta":
                self._showing.hear(ThoughtDelta(text=text, attempt=attempt))
            case "messageDiscarded":
                self._showing.hear(MessageDiscarded(attempt=attempt, reason=str(event.get("reason", ""))))
            case "usageUpdated":  # a turn tells of its tokens once its round is written
                self._finished = self._showing.text
                self._showing.clear()
            case _:
                pass

    def kept(self, entries: Sequence[Entry], turn_id: str) -> Shown | None:
        """What the log keeps of it, which has these entries: an answer that they have was finished."""
        written = _last_answer(entries, turn_id)
        if written is not None and written != self._finished and written.startswith(self._showing.text):
            return None
        return self._showing.kept()


def _last_answer(entries: Sequence[Entry], turn_id: str) -> str | None:
    """The text of the newest answer of a turn since it began or went on."""
    for entry in reversed(entries):
        match entry:
            case ReplyEntry() if entry.turn_id == turn_id:
                return visible_text_of(entry.content.parts)
            case PromptEntry() | TurnEndEntry() if entry.turn_id == turn_id:
                return None
            case _:
                pass
    return None
