"""The hooks of a session, event by event. Where none are set, nothing is done and nothing is awaited for long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from gemini_companion.engine.hooks.events import HookEvent
from gemini_companion.engine.hooks.merging import NOTHING, Verdict
from gemini_companion.sessions.events import Event, HookRan
from gemini_companion.sessions.hooks.firing import HookRun, Surroundings, fire
from gemini_companion.sessions.hooks.port import HookRunner, NoRunner
from gemini_companion.sessions.ports import Clock, SessionMeta
from gemini_companion.settings.effective import Settings

MOST_AGAIN: Final = 5
"""How often one turn is sent back to work by `AfterAgent`."""
END_SECONDS: Final = 2.0
"""How long hooks may take when the daemon ends."""
_MOST_PENDING: Final = 20

logger = logging.getLogger(__name__)


class _Services(Protocol):
    @property
    def clock(self) -> Clock: ...
    @property
    def settings(self) -> Callable[[], Settings]: ...
    @property
    def trusted(self) -> Callable[[], bool]: ...


class Hooked(Protocol):
    """What of a session its hooks need."""

    @property
    def session_id(self) -> str:
        """The session's id."""
        ...

    @property
    def meta(self) -> SessionMeta:
        """What listings show of it."""
        ...

    @property
    def services(self) -> _Services:
        """What it shares with others."""
        ...

    @property
    def turns(self) -> int:
        """Turns in its log."""
        ...

    def emit(self, event: Event, turn_id: str | None = None) -> None:
        """Send an event to every subscriber."""
        ...


@dataclass(slots=True)
class _OfSession:
    """What hooks of a session left for later."""

    pending: list[str] = field(default_factory=list[str])
    """Contexts for the next prompt."""


class HooksOfSessions:
    """Runs the hooks of every session. One per application."""

    def __init__(self, runner: HookRunner | None = None, *, home: str = "/") -> None:
        self._runner = runner or NoRunner()
        self._home = home
        self._begun: dict[str, _OfSession] = {}
        self._tasks: dict[asyncio.Task[None], str] = {}
        """What runs beside, and the session whose next prompt waits for it."""

    def has(self, session: Hooked, event: HookEvent) -> bool:
        """Whether any hook is set for an event."""
        options = session.services.settings().hooks
        return any(hook.event == event and options.is_on(hook) for hook in options.hooks)

    async def run(
        self,
        session: Hooked,
        event: HookEvent,
        fields: Mapping[str, Any],
        *,
        subject: str = "",
        turn_id: str | None = None,
        folders: Iterable[str] = (),
    ) -> Verdict:
        """Run the hooks of an event; what they want. `fields` is what they are told of it."""
        if not self.has(session, event):
            return NOTHING

        def report(run: HookRun) -> None:
            session.emit(
                HookRan(
                    event=run.event,
                    name=run.name,
                    outcome=run.outcome,
                    duration_ms=run.duration_ms,
                    message=run.message,
                    is_notable=run.is_notable,
                ),
                turn_id,
            )

        services = session.services
        return await fire(
            services.settings().hooks,
            self._runner,
            event,
            fields,
            self._surroundings(session, folders),
            subject=subject,
            now_ms=services.clock.now(),
            report=report,
        )

    async def begin(self, session: Hooked, turn_id: str) -> None:
        """Run `SessionStart` with the first turn that this process runs of a session."""
        if session.session_id in self._begun:
            return
        self._begun[session.session_id] = _OfSession()
        source = "resume" if session.turns else "startup"
        verdict = await self.run(session, "SessionStart", {"source": source}, subject=source, turn_id=turn_id)
        self.keep_for_next(session, verdict.context)

    async def end(self, session: Hooked, reason: str) -> None:
        """Run `SessionEnd` of a session that began here."""
        if self._begun.pop(session.session_id, None) is not None:
            await self.run(session, "SessionEnd", {"reason": reason}, subject=reason)

    def run_beside(
        self, session: Hooked, event: HookEvent, fields: Mapping[str, Any], *, subject: str = "", keep: bool = False
    ) -> None:
        """Run the hooks of an event while everything goes on; with `keep` their context goes with the next prompt,
        which waits for them.
        """
        if not self.has(session, event):
            return

        async def run() -> None:
            verdict = await self.run(session, event, fields, subject=subject)
            if keep:
                self.keep_for_next(session, verdict.context)

        task = asyncio.create_task(run(), name=f"hooks {event}")
        self._tasks[task] = session.session_id if keep else ""
        task.add_done_callback(self._done)

    async def settled(self, session: Hooked) -> None:
        """Wait for the hooks that may have something for the session's next prompt."""
        waiting = [task for task, of_session in self._tasks.items() if of_session == session.session_id]
        if waiting:
            await asyncio.wait(waiting)

    async def close(self, sessions: Iterable[Hooked]) -> None:
        """The daemon ends: run `SessionEnd` of every session that began here, and end all that still runs; bounded."""
        ending = [asyncio.create_task(self.end(session, "exit"), name="hooks SessionEnd") for session in sessions]
        tasks = [*ending, *self._tasks]
        if not tasks:
            return
        await asyncio.wait(tasks, timeout=END_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (fault := task.exception()) is not None:
            logger.error("Hooks failed", exc_info=fault)

    def keep_for_next(self, session: Hooked, context: str) -> None:
        """Keep a context for the session's next prompt."""
        if context:
            pending = self._begun.setdefault(session.session_id, _OfSession()).pending
            pending.append(context)
            del pending[:-_MOST_PENDING]

    def take_pending(self, session: Hooked) -> list[str]:
        """The contexts that are kept for this prompt; once."""
        held = self._begun.get(session.session_id)
        if held is None:
            return []
        taken, held.pending = held.pending, []
        return taken

    def _surroundings(self, session: Hooked, folders: Iterable[str]) -> Surroundings:
        known = [*folders, *session.meta.workspace_folders]
        return Surroundings(
            session_id=session.session_id,
            cwd=known[0] if known else self._home,
            home=self._home,
            is_trusted=session.services.trusted(),
        )
