"""Finding the call that a result answers, and how a model asks for its output again."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import Entry, ToolResultEntry
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.history.tool_entries import CallRecord


class FoundCall(NamedTuple):
    """A call with its result."""

    entry: ToolResultEntry
    number: int
    """Index of the part with its result."""
    call_id: str
    name: str

    @property
    def part(self) -> Part:
        """The function response."""
        return self.entry.content.parts[self.number]


def find_call(entries: Iterable[Entry], call_id: str) -> FoundCall | None:
    """The call of this id, ours or else the model's own; the newest if several have it."""
    by_wire_id: FoundCall | None = None
    for entry in entries:
        if not isinstance(entry, ToolResultEntry):
            continue
        records = iter(entry.calls)
        for number, part in enumerate(entry.content.parts):
            response = response_of(part)
            if response is None:
                continue
            record = next(records, None)
            name = str(response.get("name") or "")
            if record is not None and record.call_id == call_id:
                return FoundCall(entry, number, call_id, record.name)
            if response.get("id") == call_id:
                by_wire_id = FoundCall(entry, number, record.call_id if record is not None else call_id, name)
    return by_wire_id


def reference_to(entry: Entry | None, entry_id: str, number: int) -> str:
    """How a model asks for a part of an entry: `recall(tool_call_id="…")`, or by the entry where there is no call."""
    record = _record_of(entry, number)
    return f'recall(entry_id="{entry_id}")' if record is None else f'recall(tool_call_id="{record.call_id}")'


def whole_file_of(entry: Entry | None, number: int) -> str | None:
    """The name of the private file with the whole of a part, if there is one; `None` where no call has put it out."""
    record = _record_of(entry, number)
    return None if record is None else whole_file_name(record.name, record.call_id)


def _record_of(entry: Entry | None, number: int) -> CallRecord | None:
    if not isinstance(entry, ToolResultEntry) or response_of(entry.content.parts[number]) is None:
        return None
    before = sum(response_of(part) is not None for part in entry.content.parts[:number])
    return entry.calls[before] if before < len(entry.calls) else None


def whole_file_name(tool: str, call_id: str) -> str:
    """The name of the private file with the whole output of a call: `<tool>_<call id>.txt`, in small letters."""
    name, plain_id = _plain(tool), _plain(call_id)
    return f"{plain_id}.txt" if name and plain_id.startswith(name) else f"{name or 'tool'}_{plain_id or '0'}.txt"


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "_", text.lower())[:80]
