"""Statistics, loaded when somebody first asks for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_companion.sessions.threads import load

if TYPE_CHECKING:
    from gemini_companion.engine.statistics.tally import Tally
    from gemini_companion.sessions.services import Services
    from gemini_companion.sessions.session import Session
    from gemini_companion.sessions.statistics.service import Statistics
    from gemini_companion.sessions.statistics.shapes import Stats


class LateStatistics:
    """`statistics.service.Statistics`; `loaded` finds a session that is loaded."""

    def __init__(self, services: Services, loaded: Callable[[str], Session | None]) -> None:
        self._services = services
        self._loaded = loaded
        self._made: Statistics | None = None

    async def of_session(self, session: Session) -> Stats:
        """`Statistics.of_session`."""
        return await (await self._statistics()).of_session(session)

    async def of_project(self) -> Stats:
        """`Statistics.of_project`."""
        return await (await self._statistics()).of_project()

    async def tally(self, session: Session) -> Tally:
        """`Statistics.tally`."""
        return await (await self._statistics()).tally(session)

    async def _statistics(self) -> Statistics:
        await load("gemini_companion.sessions.statistics.service")
        from gemini_companion.sessions.statistics.service import Statistics

        if self._made is None:
            self._made = Statistics(self._services, self._loaded)
        return self._made
