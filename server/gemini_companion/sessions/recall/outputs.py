"""The whole output of a call: from its private file, else from the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, cast

from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.history.log import Entry, ToolResultEntry
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.recall.excerpt import EXCERPT, excerpt, matching_lines
from gemini_companion.engine.tool_output.places import FoundCall, find_call, whole_file_name
from gemini_companion.sessions.ports import SessionMeta, SessionStore
from gemini_companion.sessions.recalled import RecallHit, RecallResult
from gemini_companion.sessions.threads import CHARACTERS_A_UNIT, off_loop

_GONE: Final = (
    "[The whole was deleted: the outputs that a chat keeps have a limit. This is what is left of it; if you need more,"
    " run it again.]"
)

MOST_CHARACTERS: Final = 100_000
"""Characters of one result; the rest begins at an offset."""


_READ: Final = 64_000_000
"""Characters of kept outputs that a question looks through, the newest first."""
_SESSIONS: Final = 5
"""Sessions whose kept outputs it does where none is named, the newest."""


async def recall_output(
    store: SessionStore, session_id: str, tool_call_id: str, offset: int, query: str | None = None
) -> RecallResult:
    """What a call put out from a character on, or its lines with the words of a query; nothing if the session has no
    such call.

    Raises `SessionNotFound`, `StorageFault`.
    """
    meta, entries = await store.load(session_id)
    found = find_call(entries, tool_call_id)
    if found is None:
        return RecallResult(hits=())
    whole = await whole_output(store, session_id, found)
    text = whole[offset : offset + MOST_CHARACTERS]
    if query is not None:
        lines = await off_loop(len(whole) // CHARACTERS_A_UNIT, lambda: matching_lines(whole, query, MOST_CHARACTERS))
        text = lines.text
    return RecallResult(hits=(_hit(meta, found.entry, text, characters=len(whole)),))


async def search_outputs(store: SessionStore, session_id: str | None, query: str, limit: int) -> list[RecallHit]:
    """Lines with the names of a query (`names_of`) in outputs that were kept beside the log, which has only their ends.

    Those of the newest calls first. Raises `SessionNotFound`, `StorageFault`.
    """
    names = names_of(query)
    hits: list[RecallHit] = []
    left = _READ
    if session_id is not None:
        ids = [session_id]
    else:
        ids = [one.session_id for one in (await store.list(limit=_SESSIONS)).sessions]
    for one in ids if names else ():
        meta, entries = await store.load(one)
        for entry, name in _kept(entries):
            if len(hits) == limit or left <= 0:
                return hits
            text = await store.read_text(one, name) or ""
            left -= len(text)
            if line := await off_loop(len(text) // CHARACTERS_A_UNIT, partial(_line_with, text, names)):
                hits.append(_hit(meta, entry, line))
    return hits


def names_of(query: str) -> tuple[str, ...]:
    """The words of a query that name something, in small letters: those with a digit or a sign in them."""
    words = (word.strip(".,;:!?\"'`()[]").lower() for word in query.split())
    return tuple(word for word in words if len(word) > 2 and not word.isalpha())


def _kept(entries: Sequence[Entry]) -> Iterator[tuple[ToolResultEntry, str]]:
    """Results of which a file has the whole, newest first, and its name."""
    for entry in reversed(entries):
        if not isinstance(entry, ToolResultEntry):
            continue
        for record, part in zip(entry.calls, entry.content.parts, strict=False):
            if f'recall(tool_call_id="{record.call_id}"' in said_by(response_of(part) or {}):
                yield entry, whole_file_name(record.name, record.call_id)


def _line_with(text: str, names: Sequence[str]) -> str:
    """The first line that has them all, with those beside it; `""` if there is none."""
    lowered = text.lower()
    lowered = lowered if len(lowered) == len(text) else text
    at = lowered.find(names[0])
    while at >= 0:
        start, end = lowered.rfind("\n", 0, at) + 1, lowered.find("\n", at)
        line = lowered[start : end if end >= 0 else len(lowered)]
        if all(name in line for name in names):
            if len(line) >= EXCERPT:
                return excerpt(text[start : start + len(line)], names)
            beside = (EXCERPT - len(line)) // 2
            before, after = text[max(0, start - beside) : start], text[start + len(line) : start + len(line) + beside]
            return "\n".join(
                (before.partition("\n")[2] + text[start : start + len(line)], after.rpartition("\n")[0][1:])
            )
        at = lowered.find(names[0], start + len(line)) if end >= 0 else -1
    return ""


def _hit(meta: SessionMeta, entry: ToolResultEntry, text: str, *, characters: int = 0) -> RecallHit:
    return RecallHit(
        session_id=meta.session_id,
        session_title=meta.title,
        turn_id=entry.turn_id,
        entry_id=entry.id,
        role="tool",
        time=entry.time,
        text=text,
        characters=characters,
    )


async def whole_output(store: SessionStore, session_id: str, found: FoundCall) -> str:
    """All that a call put out, as far as it was kept; where the file is gone, what the log has, and that it is so."""
    kept = await store.read_text(session_id, whole_file_name(found.name, found.call_id))
    if kept is not None:
        return kept
    said = said_by(response_of(found.part) or {})
    was_shortened = f'recall(tool_call_id="{found.call_id}"' in said  # nothing else knows this id when it is put out
    return f"{_GONE}\n{said}" if was_shortened else said


def said_by(response: dict[str, Any]) -> str:
    """The text of a function response, or its error."""
    body = response.get("response")
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        error = fields.get("error")
        if isinstance(error, str) and len(fields) == 1:
            return error
    return whole_text(response)
