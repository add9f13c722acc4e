"""`ToolState`: what the log says of a session's tools: its mode, tasks, rules of consent, and what is still open.

A pure fold. No compression or undo changes it, so it is the same after a reload, a fork, a restart.
"""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.history.change_record import ChangeRecord
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import Entry, PromptEntry, ToolResultEntry, TurnEndEntry
from gemini_companion.engine.history.tool_entries import (
    BEHIND,
    AllowanceEntry,
    Mode,
    ModeEntry,
    SteerEntry,
    SteerOfferedEntry,
    Todo,
    TodosEntry,
    ToolCallEntry,
    ToolRule,
)


class ToolState(Fold):
    """Feed it with `apply`, in order. The attributes must not be changed otherwise."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.chosen_mode: Mode | None = None
        """What a person chose last, `None` before the first choice."""
        self.todos: tuple[Todo, ...] = ()
        self.allowances: dict[str, ToolRule] = {}
        """The rules that a person gave for the session and did not take back, by id, oldest first."""
        self.open_calls: dict[str, ToolCallEntry] = {}
        """Calls that ask or act and have no result, as they stand, by their ids, oldest first."""
        self.offered: dict[str, SteerOfferedEntry] = {}
        """Prompts that were accepted for a turn under way and stand in no request yet, by their ids, oldest first."""
        self._ended: set[str] = set()
        """Turns that have ended with calls open."""
        self.changes = ChangeRecord()
        """What calls did to files, and what of it was taken back."""
        for entry in entries:
            self.apply(entry)

    @property
    def mode(self) -> Mode:
        """What tools may do unasked."""
        return self.chosen_mode or "ask"

    def apply(self, entry: Entry) -> None:
        """Take in the next entry of the log."""
        self.changes.apply(entry)
        match entry:
            case ModeEntry():
                self.chosen_mode = entry.mode
            case TodosEntry():
                self.todos = entry.todos
            case AllowanceEntry():
                if entry.revoked:
                    self.allowances.pop(entry.rule_id, None)
                else:
                    self.allowances[entry.rule_id] = entry.rule
            case ToolCallEntry():
                # One that would not be stopped ends after its result was written.
                if entry.state != "ended" or entry.call_id in self.open_calls:
                    self.open_calls[entry.call_id] = entry
                    self._ended.discard(entry.turn_id)
            case ToolResultEntry():
                for record in entry.calls:
                    self.open_calls.pop(record.call_id, None)
                for call in self.calls_of(entry.turn_id):
                    if (call.number or 0) >= BEHIND:  # its result is that of the call before it
                        del self.open_calls[call.call_id]
            case TurnEndEntry():
                if self.calls_of(entry.turn_id):
                    self._ended.add(entry.turn_id)
            case SteerOfferedEntry():
                self.offered[entry.steer_id] = entry
            case SteerEntry():
                self.offered.pop(entry.steer_id, None)
            case PromptEntry():  # nobody goes on with a turn that ended; one under way is not its concern
                self.offered.pop(entry.steer_id, None)
                for record in entry.command.calls if entry.command else ():  # their results stand in the prompt
                    self.open_calls.pop(record.call_id, None)
                if self._ended:
                    kept = {key: call for key, call in self.open_calls.items() if call.turn_id not in self._ended}
                    self.open_calls = kept
                    self._ended.clear()
            case _:
                pass

    def calls_of(self, turn_id: str) -> list[ToolCallEntry]:
        """The calls of a turn that have no result, oldest first."""
        return [call for call in self.open_calls.values() if call.turn_id == turn_id]
