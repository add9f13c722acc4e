"""Our own session file: everything that is known of a session, so that importing it gives an equal log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents, decode_parts, mismatch
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompactionEntry,
    CompressionResult,
    Entry,
    IdeContextEntry,
    PinEntry,
    PreviewEntry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
    UndoEntry,
    UnpinEntry,
)
from gemini_companion.sessions.interchange.imported import ImportedSession
from gemini_companion.sessions.ports import SessionMeta

FORMAT: Final = "gemini-companion"
VERSION: Final = 1

_MAX_INTEGER: Final = 2**53 - 1
"""What every reader of JSON can hold exactly; also well within a column of the store."""

_T = TypeVar("_T")

_ENTRIES: Final[Any] = tuple[Entry, ...]


class SessionExport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A session file. `version` rises when an older reader would misread it; unknown fields are ignored."""

    format: Literal["gemini-companion"] = FORMAT
    version: int = VERSION
    meta: SessionMeta
    entries: tuple[Entry, ...]
    """The whole log, in order."""
    history: tuple[Content, ...]
    """What a model gets next, computed from the log: for other programs, and for reading."""


def encode_export(meta: SessionMeta, entries: Sequence[Entry], contents: Sequence[Content]) -> bytes:
    """The session file as UTF-8 JSON."""
    whole = SessionExport(meta=msgspec.structs.replace(meta, held_by=None), entries=tuple(entries), history=tuple(contents))
    return msgspec.json.encode(whole)


def decode_export(document: dict[str, object]) -> ImportedSession:
    """Read what `encode_export` wrote. Raises `InvalidInput`, also for a file of a later version."""
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise mismatch("a version from 1", version, "$.version")
    if version > VERSION:
        raise InvalidInput(
            f"The file is of version {version}; this program reads up to {VERSION}.",
            path="$.version",
            hint="Update gemini-companion and try again.",
        )
    meta = _converted(document.get("meta"), SessionMeta, "$.meta")
    _check_range(meta.created_at, 0, "$.meta.createdAt")
    _check_range(meta.updated_at, 0, "$.meta.updatedAt")
    entries: tuple[Entry, ...] = _converted(document.get("entries"), _ENTRIES, "$.entries")
    _check_entries(entries)
    return ImportedSession(
        contents=decode_contents(document.get("history", []), "$.history"),
        system_instruction=meta.system_instruction,
        title=meta.title,
        model=meta.model,
        session_id=meta.session_id,
        created_at=meta.created_at,
        pins=_pins(entries),
        meta=msgspec.structs.replace(meta, held_by=None),
        entries=entries,
    )


def _check_entries(entries: tuple[Entry, ...]) -> None:
    """What the types don't say: numbers in range and rising, and every content through the same door as any other."""
    last = 0
    for index, entry in enumerate(entries):
        path = f"$.entries[{index}]"
        _check_range(entry.time, 0, f"{path}.time")
        _check_range(entry.seq, last + 1, f"{path}.seq")
        last = entry.seq
        if isinstance(entry, PromptEntry | ReplyEntry | ToolResultEntry | IdeContextEntry):
            decode_parts(list(entry.content.parts), f"{path}.content.parts")
        elif isinstance(entry, CompactionEntry):
            _check_compaction(entry, path)
        elif isinstance(entry, PreviewEntry):
            _check_compaction(entry.compaction, f"{path}.compaction")
        elif isinstance(entry, UndoEntry | AttemptEntry):
            _check_result(entry.result, f"{path}.result")


def _check_compaction(compaction: CompactionEntry, path: str) -> None:
    _check_result(compaction.result, f"{path}.result")
    for index, content in enumerate(compaction.replacement):
        decode_parts(list(content.parts), f"{path}.replacement[{index}].parts")


def _check_result(result: CompressionResult, path: str) -> None:
    if result.retention is not None:
        decode_parts([result.retention], f"{path}.retention")


def _check_range(number: int, least: int, path: str) -> None:
    if not least <= number <= _MAX_INTEGER:
        found = number if abs(number) <= _MAX_INTEGER else "a far larger one"
        raise InvalidInput(f"Expected a whole number from {least} to 2^53 at {path}, found {found}.", path=path)


def _pins(entries: Sequence[Entry]) -> tuple[str, ...]:
    pins: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, PinEntry):
            pins[entry.pin_id] = entry.text
        elif isinstance(entry, UnpinEntry):
            pins.pop(entry.pin_id, None)
    return tuple(pins.values())


def _converted(raw: object, kind: type[_T], path: str) -> _T:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as fault:
        said, found, place = str(fault).rpartition(" - at `$")
        where = f"{path}{place.removesuffix('`')}" if found else path
        raise InvalidInput(f"{(said or str(fault)).replace('`', '')} at {where}.", path=where) from None
