"""Our own session file: a session complete, so that importing it gives an equal log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeVar, cast

import msgspec

from gemini_companion.engine.constraints.budget import BUDGET_CHARACTERS
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.decode import decode_contents, decode_parts, mismatch
from gemini_companion.engine.history.log import (
    CompressionEntry,
    ConstraintEntry,
    ContentEntry,
    Entry,
    PinEntry,
    PreviewEntry,
    UnpinEntry,
)
from gemini_companion.engine.history.retention import Retention
from gemini_companion.engine.history.verdict import Verdict
from gemini_companion.engine.history.version_0_1 import upgraded_entry
from gemini_companion.sessions.interchange.imported import ImportedSession
from gemini_companion.sessions.interchange.pieces import Piece, items
from gemini_companion.sessions.ports import SessionMeta

FORMAT: Final = "gemini-companion"
VERSION: Final = 2
"""2 renamed what version 0.1 of this program called a compaction."""

_MAX_INTEGER: Final = 2**53 - 1
"""The largest whole number that every JSON reader holds exactly; also well within a column of the store."""

_MOST_PINS: Final = 2_000
"""Pins that a log in a file may tell of: each makes the view anew."""

_MOST_RULES: Final = 5_000
"""Rules with an id of their own that it may tell of: all of them go to every client with each change."""

_SIGNED: Final = (Verdict,)
"""What may have numbers below 0."""

_AT_ONCE: Final = 500
"""Entries that are converted in one call, which takes some milliseconds."""

_HISTORY: Final = b'],"history":['

_T = TypeVar("_T")

_ENTRIES: Final[Any] = tuple[Entry, ...]


class SessionExport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A session file. `version` rises when an older reader would misread the file; unknown fields are ignored."""

    format: Literal["gemini-companion"] = FORMAT
    version: int = VERSION
    meta: SessionMeta
    entries: tuple[Entry, ...]
    """The whole log, in order."""
    history: tuple[Content, ...]
    """What a model would get next, computed from the log: for other programs, and for reading."""
    mac: str | msgspec.UnsetType = msgspec.UNSET
    """Where marks stand for secrets: says to the vault that made them that the file is its own, and unchanged."""


def encode_export(meta: SessionMeta, entries: Sequence[Entry], contents: Sequence[Content]) -> Iterator[Piece]:
    """The session file, UTF-8 JSON."""
    whole = SessionExport(meta=msgspec.structs.replace(meta, held_by=None, counted=None), entries=(), history=())
    yield Piece(b"", msgspec.json.encode(whole), _up_to_entries)
    yield from items(entries)
    yield Piece(_HISTORY)
    yield from items(contents)
    yield Piece(b"]}")


def _up_to_entries(document: bytes) -> bytes:
    return document.removesuffix(_HISTORY + b"]}")


def decode_export(document: dict[str, object]) -> ImportedSession:
    """Read what `encode_export` wrote, in this version or an earlier one. Raises `InvalidInput`."""
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
    raw = document.get("entries")
    if version == 1 and isinstance(raw, list):
        raw = [_renamed(entry) for entry in cast("list[object]", raw)]
    entries = _decoded_entries(raw)
    _check_entries(entries)
    return ImportedSession(
        contents=decode_contents(document.get("history", []), "$.history"),
        system_instruction=meta.system_instruction,
        title=meta.title,
        model=meta.model,
        session_id=meta.session_id,
        created_at=meta.created_at,
        pins=_pins(entries),
        meta=msgspec.structs.replace(meta, held_by=None, counted=None),
        entries=entries,
    )


def _decoded_entries(raw: object) -> tuple[Entry, ...]:
    """The log, some entries at a time: nothing else of the process runs while one call converts them."""
    if not isinstance(raw, list):
        return _converted(raw, _ENTRIES, "$.entries")
    items = cast("list[object]", raw)
    entries: list[Entry] = []
    try:
        for start in range(0, len(items), _AT_ONCE):
            entries += msgspec.convert(items[start : start + _AT_ONCE], _ENTRIES)
    except msgspec.ValidationError:
        return _converted(items, _ENTRIES, "$.entries")  # says where in all of them
    return tuple(entries)


def _renamed(entry: object) -> object:
    return upgraded_entry(cast("dict[str, Any]", entry)) if isinstance(entry, dict) else entry


def _check_entries(entries: tuple[Entry, ...]) -> None:
    """Check what the types do not: numbers in range and rising, and every content as if it came from a client."""
    last = 0
    _check_count(sum(isinstance(entry, PinEntry) for entry in entries), _MOST_PINS, "pins")
    rules = {entry.constraint.constraint_id for entry in entries if isinstance(entry, ConstraintEntry)}
    _check_count(len(rules), _MOST_RULES, "rules")
    for index, entry in enumerate(entries):
        path = f"$.entries[{index}]"
        _check_range(entry.time, 0, f"{path}.time")
        _check_range(entry.seq, last + 1, f"{path}.seq")
        last = entry.seq
        if isinstance(entry, ContentEntry):
            decode_parts(list(entry.content.parts), f"{path}.content.parts")
        elif isinstance(entry, CompressionEntry):
            _check_replacement(entry, path)
        elif isinstance(entry, PreviewEntry):
            _check_replacement(entry.compression, f"{path}.compression")
        elif isinstance(entry, ConstraintEntry):
            _check_rule(entry.constraint, f"{path}.constraint")
        _check_numbers(entry, path)


def _check_replacement(compression: CompressionEntry, path: str) -> None:
    for index, content in enumerate(compression.replacement):
        decode_parts(list(content.parts), f"{path}.replacement[{index}].parts")


def _check_rule(rule: Constraint, path: str) -> None:
    if rule.source != "pin" and len(rule.text) > BUDGET_CHARACTERS:
        found = f"{len(rule.text):,}"
        path = f"{path}.text"
        raise InvalidInput(
            f"Expected a rule of at most {BUDGET_CHARACTERS:,} characters at {path}, found {found}.", path=path
        )


def _check_numbers(value: object, path: str, *, signed: bool = False) -> None:
    """Check every number of an entry, however deep, but those of its contents, which are a model's or a person's."""
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        _check_range(value, -_MAX_INTEGER if signed else 0, path)
    elif isinstance(value, float):
        if not (-_MAX_INTEGER if signed else 0) <= value <= _MAX_INTEGER:  # which `nan` is not either
            raise InvalidInput(f"Expected a number from 0 to 2^53 at {path}, found another one.", path=path)
    elif isinstance(value, tuple):
        for index, item in enumerate(cast("tuple[object, ...]", value)):
            _check_numbers(item, f"{path}[{index}]", signed=signed)
    elif isinstance(value, msgspec.Struct) and not isinstance(value, Content):
        for name, wire_name in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            field = getattr(value, name)
            if field is not None and not isinstance(field, str):
                _check_numbers(field, f"{path}.{wire_name}", signed=isinstance(value, _SIGNED))
    if isinstance(value, Retention) and value.score > 1:
        raise InvalidInput(
            f"Expected a share from 0 to 1 at {path}.score, found {value.score:g}.", path=f"{path}.score"
        )


def _check_count(count: int, most: int, what: str) -> None:
    if count > most:
        raise InvalidInput(f"Expected at most {most:,} {what} at $.entries, found {count:,}.", path="$.entries")


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
        text, found, path_below = str(fault).rpartition(" - at `$")
        where = f"{path}{path_below.removesuffix('`')}" if found else path
        raise InvalidInput(f"{(text or str(fault)).replace('`', '')} at {where}.", path=where) from None
