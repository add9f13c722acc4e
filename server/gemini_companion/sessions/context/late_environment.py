"""The environment of requests, loaded with the first session of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_companion.sessions.threads import load

if TYPE_CHECKING:
    from gemini_companion.sessions.session import Session


async def refresh_environment(session: Session) -> None:
    """`environment.refresh_environment`."""
    await load("gemini_companion.sessions.context.environment")
    from gemini_companion.sessions.context import environment

    await environment.refresh_environment(session)
