"""Finding the call that a result answers, and how a model asks for its output or its arguments again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.entries import place_of
from gemini_companion.engine.history.log import Entry, PromptEntry, ReplyEntry, ToolResultEntry
from gemini_companion.engine.history.part import call_of, response_of
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


class FoundArguments(NamedTuple):
    """What a call was made with."""

    name: str
    """The tool's."""
    args: dict[str, object]
    """As the model gave them; empty where it gave none."""


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


def find_arguments(entries: Iterable[Entry], call_id: str) -> FoundArguments | None:
    """The arguments of the call of this id, which is ours, as the model gave them; `None` if there is none."""
    reply: ReplyEntry | None = None
    for entry in entries:
        if isinstance(entry, ReplyEntry):
            reply = entry
        elif isinstance(entry, ToolResultEntry) and reply is not None and reply.turn_id == entry.turn_id:
            for record, call in zip(entry.calls, _calls_in(reply), strict=False):
                if record.call_id == call_id:
                    args = call.get("args")
                    return FoundArguments(
                        record.name, cast("dict[str, object]", args) if isinstance(args, dict) else {}
                    )
    return None


def entry_at(entries: Sequence[Entry], seq: int) -> Entry | None:
    """The entry of a log with a sequence number, if there is one."""
    index = place_of(entries, seq)
    return entries[index] if index < len(entries) and entries[index].seq == seq else None


def reference_to(entries: Sequence[Entry], seq: int, entry_id: str, number: int) -> str:
    """How a model asks for a part of entry `seq` of a log: `recall(tool_call_id="…")`, with `arguments=true` for those
    of a call, or by the entry where neither is known.
    """
    entry = entry_at(entries, seq)
    if isinstance(entry, ReplyEntry) and call_of(entry.content.parts[number]) is not None:
        record = _record_of_call(entries, entry, number)
        more = ", arguments=true"
    else:
        record, more = _record_of(entry, number), ""
    return f'recall(entry_id="{entry_id}")' if record is None else f'recall(tool_call_id="{record.call_id}"{more})'


def whole_file_of(entry: Entry | None, number: int) -> str | None:
    """The name of the private file with the whole of a part, if there is one; `None` where no call has put it out."""
    record = _record_of(entry, number)
    return None if record is None else whole_file_name(record.name, record.call_id)


def _calls_in(reply: ReplyEntry) -> list[dict[str, Any]]:
    return [call for part in reply.content.parts if (call := call_of(part)) is not None]


def _record_of_call(entries: Sequence[Entry], reply: ReplyEntry, number: int) -> CallRecord | None:
    """The record of a call in an answer; it is with the results, which come next in its turn."""
    before = sum(call_of(part) is not None for part in reply.content.parts[:number])
    for index in range(place_of(entries, reply.seq + 1), len(entries)):
        entry = entries[index]
        if isinstance(entry, ReplyEntry | PromptEntry):
            return None
        if isinstance(entry, ToolResultEntry) and entry.turn_id == reply.turn_id:
            return entry.calls[before] if before < len(entry.calls) else None
    return None


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
