"""Logs that do not come from a conversation here: from bare contents, a file, another session."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from gemini_companion.engine.compression.types import with_appendix
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.constraint import digest_of
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    ConstraintEntry,
    Entry,
    PinEntry,
    PromptEntry,
    ReplyEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.part import has_response, visible_text
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT
from gemini_companion.engine.history.tool_entries import (
    AllowanceEntry,
    ChangeEntry,
    ModeEntry,
    SteerOfferedEntry,
    ToolCallEntry,
)
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.engine.tokens.limits import named_model
from gemini_companion.sessions.constraints.taking import proposed_by
from gemini_companion.sessions.copying import closing
from gemini_companion.sessions.interchange import ImportedSession, decode_session_file
from gemini_companion.sessions.interchange.compressed import Left, left_in
from gemini_companion.sessions.interchange.times import rising
from gemini_companion.sessions.models.names import imported_model, with_imported_models
from gemini_companion.sessions.services import Services

IMPORT_LIMIT: Final = 256 * 1024 * 1024
"""Bytes of a session file at most."""

_COMPRESSION_ID: Final = "imported-compression"

_NOT_TAKEN: Final = (
    "The file names a model by a path, which chooses who gets the conversation; it was not taken over. Name it yourself"
    " if you want it."
)

_FROM_A_FILE: Final = "It came with the file that this chat was imported from."

_IN_A_PROMPT: Final = "Only proposed: it stands in a prompt of the file that this chat was imported from."

_SHOWN_PATH: Final = 300
"""Characters of a path in a message."""


def entries_of(
    contents: Sequence[Content], *, now: int, snapshots_at: Sequence[int] = (), times: Sequence[int | None] = ()
) -> tuple[Entry, ...]:
    """A log of these contents: each prompt begins a turn, what follows belongs to it, every turn is completed.

    A snapshot among them (`compressed.left_in`) becomes a compression, so that a later one builds on it. `now` is in ms
    since 1970, and so are `times`, which say when each was said, or nothing; see `rising`.
    """
    entries: list[Entry] = []
    turn_id, at = "", now
    said_at = rising(times, now) or [now] * len(contents)

    def stamp() -> dict[str, Any]:
        return {"id": f"imported-{len(entries) + 1}", "seq": len(entries) + 1, "time": at}

    def end_turn() -> None:
        if turn_id:
            ended: dict[str, Any] = {**stamp(), "time": entries[-1].time}  # not when the next one began
            entries.append(TurnEndEntry(**ended, turn_id=turn_id, outcome="completed", kept_to=len(entries)))

    found = left_in(contents, snapshots_at)
    tokens = _tokens_of(contents) if found else 0
    ids = {place: f"{_COMPRESSION_ID}{f'-{number}' if number else ''}" for number, place in enumerate(found)}
    rest_at = 0
    for index, content in enumerate(contents):
        at = said_at[index]
        if (left := found.get(index)) is not None and index >= rest_at:
            for text in left.pins:
                entries.append(PinEntry(**stamp(), pin_id=f"imported-pin-{len(entries) + 1}", text=text))
            entries.append(_compression_of(left, ids[index], tokens, stamp()))
            rest_at = left.rest_at
        elif index < rest_at:
            continue
        elif content.role == "model":
            turn_id = turn_id or f"imported-turn-{len(entries) + 1}"
            entries.append(ReplyEntry(**stamp(), turn_id=turn_id, content=content))
        elif has_response(content):
            turn_id = turn_id or f"imported-turn-{len(entries) + 1}"
            entries.append(ToolResultEntry(**stamp(), turn_id=turn_id, content=content))
        else:
            end_turn()
            turn_id = f"imported-turn-{len(entries) + 1}"
            entries.append(PromptEntry(**stamp(), turn_id=turn_id, content=content))
    end_turn()
    return tuple(entries)


def _tokens_of(contents: Sequence[Content]) -> int:
    ledger = TokenLedger()
    return sum(ledger.measure(content).tokens for content in contents)


def _compression_of(left: Left, compression_id: str, tokens: int, stamp: dict[str, Any]) -> CompressionEntry:
    """The compression that left a snapshot. It hides nothing of this log but itself, and stands where it did."""
    result = CompressionResult(
        compression_id=compression_id,
        status="COMPRESSED",
        trigger="manual",
        original_token_count=tokens,
        new_token_count=tokens,
        token_count_source="estimate",
        model_calls=0,
        duration_ms=0,
        message="Compressed before it was imported.",
        snapshot=left.snapshot,
        appendix=left.appendix or None,
    )
    acknowledgement = (model_text(ACKNOWLEDGEMENT),) if left.acknowledged else ()
    return CompressionEntry(
        **stamp,
        compression_id=compression_id,
        result=result,
        hides=(stamp["seq"], stamp["seq"]),
        replacement=with_appendix((user_text(left.snapshot), *acknowledgement), 0, left.appendix),
        from_file=True,
    )


def copied(entries: Sequence[Entry], services: Services, why: Literal["fork", "import"]) -> tuple[Entry, ...]:
    """A log to continue in another session: every turn has ended, every call has a result, and the view a new epoch."""
    entries = [entry for entry in entries if not isinstance(entry, SteerOfferedEntry)]  # each is sent where it was said
    return (*entries, *closing(entries, services, why))


async def imported(data: bytes, name: str, services: Services) -> tuple[ImportedSession, tuple[Entry, ...]]:
    """What a session file of these bytes and this name has in it, and the log of the session that it becomes. Raises
    `InvalidInput`, `StorageFault`.

    An export of this machine's shows its secrets again, as its chat does; in every other file a mark that looks like
    one of ours is a text like any other.
    """
    return await asyncio.to_thread(_imported, await services.store.restored_export(data), name, services)


def _imported(data: bytes, name: str, services: Services) -> tuple[ImportedSession, tuple[Entry, ...]]:
    session = without_foreign_models(decode_session_file(data, name))
    now, new_id = services.clock.now(), lambda: services.new_id("constraint")
    log = only_proposed(log_of(session, now=now), new_id)
    if session.entries is None and services.settings().compression_constraints != "off":
        log = (*log, *_rules_of(log, new_id, now))
    return session, copied(log, services, "import")


def _rules_of(log: Sequence[Entry], new_id: Callable[[], str], now: int) -> list[Entry]:
    """The entries that propose the rules in the prompts of a file that has a history and nothing of our own."""
    prompts = (
        (entry.turn_id, text)
        for entry in log
        if isinstance(entry, PromptEntry)
        if (text := visible_text(entry.content))
    )
    seq = len(log)
    return [
        ConstraintEntry(
            id=f"imported-{seq + number}", seq=seq + number, time=now, constraint=one, digest=digest_of(one.text)
        )
        for number, one in enumerate(proposed_by(prompts, new_id, now, _IN_A_PROMPT), 1)
    ]


def only_proposed(entries: Sequence[Entry], new_id: Callable[[], str]) -> tuple[Entry, ...]:
    """The entries of a file as they are taken in: a rule that holds there is proposed here, and to this session alone.

    It was not said here. A pin stays one: it belongs to what the file shows, and the person who imports that vouches
    for it. The others get ids of their own, so that no file speaks of a rule of the project's.
    """
    ids: defaultdict[str, str] = defaultdict(new_id)
    pins: set[str] = set()
    taken: list[Entry] = []
    for entry in entries:
        match entry:
            case PinEntry():
                pins.add(entry.pin_id)
                ids[entry.pin_id] = entry.pin_id
                taken.append(entry)
            case ConstraintEntry():
                one = entry.constraint
                is_pin = one.source == "pin" and one.constraint_id in pins
                one = msgspec.structs.replace(
                    one,
                    constraint_id=ids[one.constraint_id],
                    replaces=ids[one.replaces] if one.replaces else None,
                    replaced_by=ids[one.replaced_by] if one.replaced_by else None,
                    state=one.state if is_pin or one.state == "released" else "proposed",
                    scope="session",
                    source=one.source if is_pin or one.source != "pin" else "client",
                    note=None if is_pin else _FROM_A_FILE,
                )
                taken.append(msgspec.structs.replace(entry, constraint=one, digest=digest_of(one.text), by_turn=None))
            case ModeEntry() | AllowanceEntry() | ToolCallEntry() | ChangeEntry():
                pass  # a file gives no consent, and says nothing of this machine's files
            case _:
                taken.append(entry)
    return tuple(taken)


def log_of(imported: ImportedSession, *, now: int) -> tuple[Entry, ...]:
    """The log of the session in a file: its own, or one made of its contents. `now` is in ms since 1970."""
    return imported.entries or entries_of(
        imported.contents, now=now, snapshots_at=imported.snapshots_at, times=imported.times
    )


def without_foreign_models(imported: ImportedSession) -> ImportedSession:
    """The session without names of models that a file may not choose, and a warning if it had one."""
    model = imported_model(imported.model)
    entries = None if imported.entries is None else with_imported_models(imported.entries)
    warnings = imported.warnings
    if (imported.model and named_model(imported.model) and not model) or entries != imported.entries:
        warnings = (*warnings, _NOT_TAKEN)
    return msgspec.structs.replace(imported, model=model or None, entries=entries, warnings=warnings)


def read_file(path: str) -> bytes:
    """The bytes of a session file. `path` must be absolute. Raises `InvalidInput`."""
    file, shown = Path(path), path if len(path) <= _SHOWN_PATH else f"{path[:_SHOWN_PATH]}…"
    try:
        if not file.is_absolute():
            raise InvalidInput(
                f"{shown} is not an absolute path.", path="$.path", hint="Give the whole path, from the root on."
            )
        if not file.is_file():
            what = "is not a regular file" if file.exists() else "does not exist"
            raise InvalidInput(f"{shown} {what}.", path="$.path")
        if file.stat().st_size > IMPORT_LIMIT:
            raise InvalidInput(f"{shown} is larger than {IMPORT_LIMIT // 1024**2} MiB.", path="$.path")
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{shown} cannot be read: {error.strerror or error}.", path="$.path") from None
