"""A session as listings show it, and what a person says of it: its title, and that it stays."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from gemini_companion.sessions.events import TitleChanged
from gemini_companion.sessions.listed_counts import is_surrounded, kept_count
from gemini_companion.sessions.ports import SessionMeta, SessionPage
from gemini_companion.sessions.results import SessionInfo, SessionList
from gemini_companion.sessions.retention import leaves_at, surplus
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session


def session_info(meta: SessionMeta, session: Session | None) -> SessionInfo:
    """From the store's metadata, and from the session if it is loaded; `held_by` always comes from the store."""
    if session is not None:
        meta = msgspec.structs.replace(session.meta, turns=session.turns, held_by=meta.held_by)
    choice = session.choice() if session is not None else None
    is_known = session is not None and is_surrounded(session.environment, session.services)
    count = session.token_count(choice) if session and choice and is_known else kept_count(meta)
    return SessionInfo(
        session_id=meta.session_id,
        title=meta.title,
        model=meta.model or (choice.name if choice else ""),
        created_at=meta.created_at,
        updated_at=meta.updated_at,
        turns=meta.turns,
        token_count=count.tokens,
        token_count_source=count.source,
        workspace_folders=tuple(
            Path(folder).as_uri() for folder in meta.workspace_folders if Path(folder).is_absolute()
        ),
        parent=meta.parent,
        held_by=meta.held_by,
        running_turn=session.lane.running_turn if session is not None else None,
        mode=session.mode if session is not None else "ask",
        is_kept=meta.is_kept,
    )


async def listed(
    page: SessionPage, services: Services, held: Callable[[str], Session | None], *, hidden: Collection[str] = ()
) -> SessionList:
    """A page of the store without the `hidden` ids, with what each session takes and when it goes. Raises
    `StorageFault`.
    """
    limits, now = services.settings().session_retention, services.clock.now()
    shown = frozenset(meta.session_id for meta in page.sessions)
    stored = await services.store.stored(
        shown if limits.max_bytes is None else None,
        alone=limits.max_sessions is None and limits.max_bytes is None,  # no other one matters to these
    )
    leaving = frozenset(one.session_id for one in surplus(stored, limits, now))
    takes = {one.session_id: one for one in stored}
    found: list[SessionInfo] = []
    for meta in page.sessions:
        if meta.session_id in hidden:
            continue
        info = session_info(meta, held(meta.session_id))
        if (one := takes.get(meta.session_id)) is not None:
            info = msgspec.structs.replace(info, size=one.size, leaves_at=leaves_at(one, limits, leaving, now))
        found.append(info)
    return SessionList(sessions=tuple(found), next_cursor=page.next_cursor, unindexed=page.unindexed)


async def titled(session: Session, title: str) -> Session:
    """The session with a title that a person gave it. Raises `SessionBusy`, `StorageFault`."""
    session.meta = msgspec.structs.replace(session.meta, title=title, titled_at=0)
    await session.save_meta()
    session.emit(TitleChanged(title=title))
    return session


async def kept(session: Session, *, on: bool) -> Session:
    """The session, kept whatever the limits for sessions say, or no longer. Raises `SessionBusy`, `StorageFault`."""
    session.meta = msgspec.structs.replace(session.meta, is_kept=on)
    await session.save_meta()
    return session
