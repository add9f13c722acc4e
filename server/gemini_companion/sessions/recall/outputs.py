"""The whole output of a call: from its private file, else from the log."""

from __future__ import annotations

from typing import Any, Final, cast

from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.tool_output.places import FoundCall, find_call, whole_file_name
from gemini_companion.sessions.ports import SessionStore
from gemini_companion.sessions.recalled import RecallHit, RecallResult

_GONE: Final = (
    "[The whole was deleted: the outputs that a chat keeps have a limit. This is what is left of it; if you need more,"
    " run it again.]"
)

MOST_CHARACTERS: Final = 100_000
"""Characters of one result; the rest begins at an offset."""


async def recall_output(store: SessionStore, session_id: str, tool_call_id: str, offset: int) -> RecallResult:
    """What a call put out from a character on; nothing if the session has no such call.

    Raises `SessionNotFound`, `StorageFault`.
    """
    meta, entries = await store.load(session_id)
    found = find_call(entries, tool_call_id)
    if found is None:
        return RecallResult(hits=())
    whole = await whole_output(store, session_id, found)
    hit = RecallHit(
        session_id=session_id,
        session_title=meta.title,
        turn_id=found.entry.turn_id,
        entry_id=found.entry.id,
        role="tool",
        time=found.entry.time,
        text=whole[offset : offset + MOST_CHARACTERS],
        characters=len(whole),
    )
    return RecallResult(hits=(hit,))


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
