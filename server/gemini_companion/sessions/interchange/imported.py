"""`ImportedSession`: what a session file held, whoever wrote it."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import Entry
from gemini_companion.sessions.ports import SessionMeta


class ImportedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session as a file tells it. `None` is what the file does not say.

    `contents` is the history that a model would get next. `meta` and `entries` are there only for our own export, which alone
    holds the whole log; the other fields repeat what they say, so that a reader who needs no log can do without them.
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
    warnings: tuple[str, ...] = ()
    """What could not be read and was left out, as sentences for people."""
