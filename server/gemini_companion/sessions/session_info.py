"""A session as listings show it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import SessionInfo
from gemini_companion.sessions.session import Session


def session_info(meta: SessionMeta, session: Session | None) -> SessionInfo:
    """From the store's metadata, and from the session if it is loaded; `held_by` always comes from the store."""
    if session is not None:
        meta = msgspec.structs.replace(session.meta, turns=session.turns, held_by=meta.held_by)
    return SessionInfo(
        session_id=meta.session_id,
        title=meta.title,
        model=meta.model or (session.choice().name if session else ""),
        created_at=meta.created_at,
        updated_at=meta.updated_at,
        turns=meta.turns,
        token_count=session.token_count(session.choice()).tokens if session else meta.token_count,
        workspace_folders=tuple(
            Path(folder).as_uri() for folder in meta.workspace_folders if Path(folder).is_absolute()
        ),
        parent=meta.parent,
        held_by=meta.held_by,
        mode=session.mode if session is not None else "ask",
    )
