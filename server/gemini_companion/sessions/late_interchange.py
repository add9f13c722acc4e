"""Session files in and out, loaded with the first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_companion.sessions.threads import CHARACTERS_A_UNIT, load, uncollected

if TYPE_CHECKING:
    from gemini_companion.engine.history.log import Entry
    from gemini_companion.sessions.interchange.imported import ImportedSession
    from gemini_companion.sessions.results import ExportFormat
    from gemini_companion.sessions.services import Services
    from gemini_companion.sessions.session import Session


async def export_text(session: Session, format: ExportFormat) -> list[str]:
    """The session as the text of a file of that format, in pieces, with marks for secrets."""
    await load("gemini_companion.sessions.interchange")
    from gemini_companion.sessions.interchange import encode_session, text_of
    from gemini_companion.sessions.interchange.compressed import snapshot_places

    services, view = session.services, session.history.curated()
    entries, contents, places = session.history.entries.copied(), [item.content for item in view], snapshot_places(view)
    vouch = services.vouched if format == "companion" else None

    def work() -> list[str]:
        pieces = encode_session(session.meta, list(entries), contents, format, snapshots_at=places)
        return text_of(pieces, services.marked, vouch)

    with uncollected(len(entries)):
        return await asyncio.to_thread(work)


@asynccontextmanager
async def imported_file(path: str, services: Services) -> AsyncGenerator[tuple[ImportedSession, tuple[Entry, ...]]]:
    """The content of a session file, and the log of the session that it becomes, which is to be made within this block.

    Nothing is collected while a long one is read. Raises what `importing.read_file` and
    `importing.imported` raise.
    """
    await load("gemini_companion.sessions.interchange.importing")
    from gemini_companion.sessions.interchange import importing

    data = await asyncio.to_thread(importing.read_file, path)
    with uncollected(len(data) // CHARACTERS_A_UNIT):
        imported = await importing.imported(data, Path(path).name, services)
        del data
        yield imported
