"""Session files in and out, loaded with the first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gemini_companion.sessions.threads import load

if TYPE_CHECKING:
    from gemini_companion.engine.history.log import Entry
    from gemini_companion.sessions.interchange.imported import ImportedSession
    from gemini_companion.sessions.results import ExportFormat
    from gemini_companion.sessions.services import Services
    from gemini_companion.sessions.session import Session


async def export_text(session: Session, format: ExportFormat) -> str:
    """The session as the text of a file of that format, with marks for secrets."""
    await load("gemini_companion.sessions.interchange")
    from gemini_companion.sessions.interchange import encode_session
    from gemini_companion.sessions.interchange.compressed import snapshot_places

    services, view = session.services, session.history.curated()
    log, contents, places = list(session.history.entries), [item.content for item in view], snapshot_places(view)
    text = await asyncio.to_thread(encode_session, session.meta, log, contents, format, snapshots_at=places)
    write = services.exported_session if format == "companion" else services.exported
    return await asyncio.to_thread(write, text)


async def import_file(path: str, services: Services) -> tuple[ImportedSession, tuple[Entry, ...]]:
    """`interchange.importing.import_file`."""
    await load("gemini_companion.sessions.interchange.importing")
    from gemini_companion.sessions.interchange import importing

    return await importing.import_file(path, services)
