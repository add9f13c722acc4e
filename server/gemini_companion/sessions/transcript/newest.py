"""What a session shows before it is loaded: how it is listed, and the newest of its turns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile

from gemini_companion.engine.history.hiding import in_force
from gemini_companion.engine.history.log import ContentEntry
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.session_info import session_info
from gemini_companion.sessions.threads import off_loop
from gemini_companion.sessions.transcript.pages import logged_page
from gemini_companion.sessions.transcript.results import NewestContents


async def newest_contents(services: Services, held: Session | None, session_id: str, limit: int) -> NewestContents:
    """The newest turns of a session, whole, of about `limit` contents in all; none if the last one has more than that.

    A session that is `held` is read in memory, any other in the store, which loads nothing and costs what is read.
    What a process that ended left open still is. Raises `SessionNotFound`, `StorageFault`.
    """
    if held is not None:
        meta = await services.store.meta(session_id)
        transcript, hiding, has_begin = held.transcript, held.history.in_force, True
    else:
        meta, entries = await services.store.load_newest(session_id, limit)
        transcript, hiding = await off_loop(len(entries), lambda: (Transcript(entries), in_force(entries)))
        has_begin = not entries or entries[0].seq == 1
    total = len(transcript)
    contents = transcript.page(max(0, total - limit), total)
    if total > limit or not has_begin:
        contents = _whole_turns(contents)
    return NewestContents(
        session=session_info(meta, held), contents=await logged_page(contents, transcript, hiding.values())
    )


def _whole_turns(contents: Sequence[ContentEntry]) -> list[ContentEntry]:
    """Without those of the first turn, of which earlier ones may be missing."""
    return list(dropwhile(lambda content: content.turn_id == contents[0].turn_id, contents))
