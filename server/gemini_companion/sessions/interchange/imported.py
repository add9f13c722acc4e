"""`ImportedSession`: the content of a session file of any kind."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.ports import SessionMeta


class ImportedSession(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a session file. `None` if the file has no such field.

    `contents` is the history that a model would get next. `meta` and `entries` are set only for our own export, which
    has the whole log; the other fields repeat what is in them, for readers that need no log.
    """

    contents: list[Content]
    system_instruction: str | None = None
    title: str | None = None
    model: str | None = None
    session_id: str | None = None
    created_at: int | None = None
    """Milliseconds since 1970 (UTC)."""
    pins: tuple[str, ...] = ()
    """The texts of the pins in force."""
    meta: SessionMeta | None = None
    entries: tuple[Entry, ...] | None = None
    snapshots_at: tuple[int, ...] = ()
    """Indexes in `contents` of the snapshots that earlier compressions left, as far as the file says so."""
    times: tuple[int | None, ...] = ()
    """When each of `contents` was said, in ms since 1970, as the file says; empty if it says nothing of it."""
    warnings: tuple[str, ...] = ()
    """What could not be read and was left out, as sentences for people."""
