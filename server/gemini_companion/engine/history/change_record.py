"""What turns did to files: the fold of a log's changes, by turn and file."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self, TypeAlias

from msgspec.structs import replace

from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import Entry, PromptEntry, ResumeEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry, ChangeKind, FileChange, FileVersion, KeptEntry

ChangeState: TypeAlias = Literal["made", "reverted", "kept"]
Place: TypeAlias = tuple[str, str]
"""Id of a change, and a path in it."""


class Step(NamedTuple):
    """One change of one file."""

    change_id: str
    turn_id: str
    change: FileChange
    by_command: bool = False

    @property
    def place(self) -> Place:
        """By which a later entry names it."""
        return self.change_id, self.change.path


@dataclass(slots=True)
class FileRecord:
    """What a turn did to a file: its steps, oldest first; those that were taken back are a record of their own."""

    turn_id: str
    path: str
    """The file's path after the turn."""
    steps: list[Step] = field(default_factory=list[Step])
    state: ChangeState = "made"

    @property
    def before(self) -> FileVersion | None:
        """What was there before the turn."""
        return self.steps[0].change.old

    @property
    def after(self) -> FileVersion | None:
        """What was there after it."""
        return self.steps[-1].change.new

    @property
    def from_path(self) -> str | None:
        """The path before the turn, if that was another."""
        first = self.steps[0].change
        path = first.from_path or first.path
        return path if path != self.path else None

    @property
    def kind(self) -> ChangeKind:
        """What it comes to."""
        if self.before is None:
            return "created"
        if self.after is None:
            return "deleted"
        return "renamed" if self.from_path is not None else "changed"

    @property
    def by_command(self) -> bool:
        """It was noticed after a command."""
        return any(step.by_command for step in self.steps)

    @property
    def is_folder(self) -> bool:
        """It is about folders alone, which go and come with their files."""
        versions = (version for step in self.steps for version in (step.change.old, step.change.new))
        return all(version is None or version.is_folder for version in versions)

    @property
    def is_nothing(self) -> bool:
        """The turn left the file as it was."""
        return self.from_path is None and self.before == self.after


class ChangeRecord(Fold):
    """All changes of a session, in order. Feed it with `apply`."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.entries: dict[str, ChangeEntry] = {}
        """The newest entry of each change, oldest change first."""
        self.turns: dict[str, None] = {}
        """Ids of the turns, oldest first."""
        self.counted: dict[tuple[str, ...], tuple[int, int]] = {}
        """Lines added and removed by steps, by the digests of their versions, as far as they were counted."""
        self.under_way: set[str] = set()
        """Ids of the changes that this process is making: what is open and none of them was cut short."""
        self.cut_at: dict[str, int] = {}
        """When the process was last alive that was killed during a change, in ms since 1970, as far as it is known."""
        self.newest = 0
        """Number of the newest entry that is taken in."""
        self.beside: dict[str, ChangeRecord] = {}
        """By their ids, the records of the sessions that belong to the same chat, as far as they were read."""
        self._begun: dict[str, int] = {}
        """When each change began, in ms since 1970; never before the one in front of it, whatever the clock said."""
        self._last_begun = 0
        self._kept: list[KeptEntry] = []
        for entry in entries:
            self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Take in the log's next entry."""
        self.newest = entry.seq
        match entry:
            case PromptEntry(turn_id=turn_id):
                self.turns.setdefault(turn_id)
            case ChangeEntry():
                self.turns.setdefault(entry.turn_id)
                if entry.change_id not in self._begun:
                    self._last_begun = self._begun[entry.change_id] = max(self._last_begun, entry.time)
                self.entries[entry.change_id] = entry
                if entry.is_done:
                    self.cut_at.pop(entry.change_id, None)
            case ResumeEntry(last_held=last_held) if last_held:
                for one in self.open:  # a second process that is killed had nothing to do with it
                    self.cut_at.setdefault(one.change_id, last_held)
            case KeptEntry():
                self._kept.append(entry)
            case _:
                pass

    def copied(self) -> Self:
        """One that says the same of the log; what this process is making, and has read beside it, stays behind."""
        made = super().copied()
        made.under_way, made.beside = set(), {}
        return made

    def with_those_of(self, turns: Mapping[str, str], others: Iterable[tuple[str, ChangeRecord]]) -> ChangeRecord:
        """This record with those of other sessions, by their ids, in the order in which they began. `turns` says as
        part of which turn of this session another one worked; of one that worked for none only what it takes back or
        keeps counts.
        """
        joined = ChangeRecord()
        joined.counted, joined.under_way = self.counted, self.under_way
        joined._kept += self._kept
        logs = [list(self._timed())]
        for session_id, other in others:
            turn_id = turns.get(session_id)
            if turn_id is None:
                logs.append([(time, entry) for time, entry in other._timed() if entry.reverts])
            else:
                logs.append([(time, replace(entry, turn_id=turn_id)) for time, entry in other._timed()])
            joined._kept += other._kept
        joined.entries = {entry.change_id: entry for _, entry in heapq.merge(*logs, key=lambda timed: timed[0])}
        joined.turns = self.turns | dict.fromkeys(entry.turn_id for entry in joined.entries.values())
        return joined

    @property
    def open(self) -> list[ChangeEntry]:
        """Changes that were cut short: begun and not ended, by a process that was killed."""
        return [entry for entry in self.entries.values() if not entry.is_done and entry.change_id not in self.under_way]

    def taken_back(self) -> set[Place]:
        """What the reverts in force take back."""
        gone: set[Place] = set()
        for entry in reversed(self.entries.values()):  # a revert that is itself taken back takes nothing back
            if not entry.reverts or not entry.is_done:
                continue
            own = {change.path for change in entry.changes}
            if own and all((entry.change_id, path) in gone for path in own):
                continue
            kept = {path for path in own if (entry.change_id, path) in gone}
            for change_id in entry.reverts:
                gone.update(place for place in self._places(change_id, entry.paths) if place[1] not in kept)
        return gone

    def steps(self, *, with_gone: bool = False) -> Iterator[Step]:
        """Every change of a file in force, oldest first; reverts are none. `with_gone`: those taken back too."""
        gone = set[Place]() if with_gone else self.taken_back()
        for entry in self.entries.values():
            if entry.reverts:
                continue
            for change in entry.changes:
                step = Step(entry.change_id, entry.turn_id, change, entry.by_command)
                if step.place not in gone:
                    yield step

    def files(self) -> list[FileRecord]:
        """What each turn did to each file, the newest turn first; what was taken back has its state."""
        gone = self.taken_back()
        found: dict[tuple[str, str, bool], FileRecord] = {}
        for step in self.steps(with_gone=True):
            is_gone, change = step.place in gone, step.change
            if is_gone and self.entries[step.change_id].call_id is None:
                continue  # some places that were put back, and are there again
            record = found.pop((step.turn_id, change.from_path or change.path, is_gone), None)
            if record is None:
                record = FileRecord(step.turn_id, change.path, state="reverted" if is_gone else "made")
            record.path = change.path
            record.steps.append(step)
            found[step.turn_id, change.path, is_gone] = record
        kept = {place for one in self._kept for change in one.change_ids for place in self._places(change, one.paths)}
        for record in found.values():
            if record.state == "made" and all(step.place in kept for step in record.steps):
                record.state = "kept"
        turns = {entry.turn_id: number for number, entry in enumerate(self.entries.values())}
        records = [record for record in found.values() if not record.is_nothing and not record.is_folder]
        return sorted(records, key=lambda record: -turns[record.turn_id])

    def paths(self) -> set[str]:
        """Every file that a change named."""
        return {change.path for entry in self.entries.values() for change in entry.changes}

    def _timed(self) -> Iterator[tuple[int, ChangeEntry]]:
        return ((self._begun[change_id], entry) for change_id, entry in self.entries.items())

    def _places(self, change_id: str, paths: tuple[str, ...]) -> list[Place]:
        entry = self.entries.get(change_id)
        known = [change.path for change in entry.changes] if entry is not None else []
        return [(change_id, path) for path in known if not paths or path in paths]
