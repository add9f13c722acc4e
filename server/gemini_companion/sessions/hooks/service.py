"""The hooks of a session, event by event. Where none are set, nothing is done and nothing is awaited for long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.view import History
from gemini_companion.engine.hooks.config import Hook
from gemini_companion.engine.hooks.events import HookEvent
from gemini_companion.engine.hooks.merging import NOTHING, Verdict
from gemini_companion.sessions.events import HookRan
from gemini_companion.sessions.hooks.port import HookRunner, NoRunner
from gemini_companion.sessions.ports import Clock, SessionMeta, SessionStore
from gemini_companion.sessions.slots import Asking, Slots, hook_slot
from gemini_companion.settings.effective import Settings

if TYPE_CHECKING:
    from gemini_companion.sessions.hooks.firing import HookRun, Surroundings
    from gemini_companion.sessions.hooks.transcript import Transcript, TranscriptFiles

MOST_AGAIN: Final = 5
"""How often one turn is sent back to work by `AfterAgent`."""
END_SECONDS: Final = 2.0
"""How long hooks may take when a session or the daemon ends."""
_MOST_LATEST: Final = 1_000
_MOST_PENDING: Final = 20

logger = logging.getLogger(__name__)


class _Services(Protocol):
    @property
    def clock(self) -> Clock: ...
    @property
    def slots(self) -> Slots: ...
    @property
    def settings(self) -> Callable[[], Settings]: ...
    @property
    def store(self) -> SessionStore: ...
    @property
    def trusted(self) -> Callable[[], bool]: ...


class Hooked(Asking, Protocol):
    """What of a session its hooks need."""

    @property
    def meta(self) -> SessionMeta:
        """What listings show of it."""
        ...

    @property
    def services(self) -> _Services:
        """What it shares with others."""
        ...

    @property
    def history(self) -> History:
        """Its log and view."""
        ...

    @property
    def turns(self) -> int:
        """Turns in its log."""
        ...


@dataclass(slots=True)
class _OfSession:
    """What hooks of a session left for later."""

    pending: list[str] = field(default_factory=list[str])
    """Contexts for the next prompt."""
    transcript: Transcript | None = None


class HooksOfSessions:
    """Runs the hooks of every session. One per application."""

    def __init__(
        self, runner: HookRunner | None = None, *, home: str = "/", files: TranscriptFiles | None = None
    ) -> None:
        self._runner = runner or NoRunner()
        self._home = home
        self._files = files
        self._kept: dict[str, _OfSession] = {}
        self._begun: set[str] = set()
        """Sessions that `SessionStart` was run of, and not yet `SessionEnd`."""
        self._after_clear: set[str] = set()
        """New ones that were begun in place of another."""
        self._is_closing = False
        self.latest: dict[tuple[str, str, str], HookRun] = {}
        """The last run by event, name and command, oldest first; of every session."""
        self._tasks: dict[asyncio.Task[None], tuple[str, ...]] = {}
        """What runs beside, and the sessions whose next prompts wait for it."""

    def has(self, session: Hooked, event: HookEvent, subject: str | None = None) -> bool:
        """Whether any hook is set for an event; with a `subject`, whether one would run for that."""
        options = session.services.settings().hooks
        if not any(hook.event == event and options.is_on(hook) for hook in options.hooks):
            return False
        if subject is None:
            return True
        from gemini_companion.sessions.hooks.firing import wanted_hooks

        return bool(wanted_hooks(options, event, subject, is_trusted=session.services.trusted()).hooks)

    async def run(
        self,
        session: Hooked,
        event: HookEvent,
        fields: Mapping[str, Any],
        *,
        subject: str = "",
        turn_id: str | None = None,
        folders: Iterable[str] = (),
        is_partial: bool = False,
        answer: Content | None = None,
    ) -> Verdict:
        """Run the hooks of an event; what they want. `fields` is what they are told of it. Of a partial event only
        refusals and failures are told to people. `answer` is one that is not in the log yet.
        """
        from gemini_companion.sessions.hooks.firing import fire, wanted_hooks

        services = session.services
        options = services.settings().hooks
        plan = wanted_hooks(options, event, subject, is_trusted=services.trusted())
        if not plan.hooks:
            return NOTHING

        def report(hook: Hook, run: HookRun) -> None:
            self._note(hook, run)
            session.emit(
                HookRan(
                    event=run.event,
                    name=run.name,
                    outcome=run.outcome,
                    duration_ms=run.duration_ms,
                    message=run.message,
                    is_notable=run.is_notable and not (is_partial and run.outcome in ("ok", "changed")),
                ),
                turn_id,
            )

        return await fire(
            options,
            plan,
            self._runner,
            event,
            fields,
            await self._surroundings(session, folders, answer),
            now_ms=services.clock.now(),
            report=report,
            slot=lambda: hook_slot(session),
        )

    async def begin(self, session: Hooked, turn_id: str) -> None:
        """Run `SessionStart` with the first turn that this process runs of a session."""
        session_id = session.session_id
        if session_id in self._begun:
            return
        self._begun.add(session_id)
        source = "resume" if session.turns else "clear" if session_id in self._after_clear else "startup"
        self._after_clear.discard(session_id)
        verdict = await self.run(session, "SessionStart", {"source": source}, subject=source, turn_id=turn_id)
        self.keep_for_next(session, verdict.context)

    async def finish(self, session: Hooked, reason: str) -> None:
        """Run `SessionEnd` of a session that began here, within `END_SECONDS`: it is let go, or deleted."""
        if (ending := self._ending(session, reason)) is not None:
            await asyncio.wait({ending})
        if (held := self._kept.get(session.session_id)) is not None:
            held.transcript = None  # it is written anew if the session is taken up again

    def leave(self, left: Hooked, begun: Hooked) -> None:
        """A person left a session for a new one: run `SessionEnd` of the one beside, within `END_SECONDS`. The next
        prompts of both wait for it.
        """
        if self._ending(left, "clear", before=begun.session_id) is not None:
            self._after_clear.add(begun.session_id)

    def _ending(self, session: Hooked, reason: str, *, before: str = "") -> asyncio.Task[None] | None:
        if session.session_id not in self._begun or self._is_closing:
            return None
        self._begun.discard(session.session_id)

        async def run() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self.run(session, "SessionEnd", {"reason": reason}, subject=reason)

        return self._beside(run(), "hooks SessionEnd", before=(session.session_id, before))

    def forget(self, session_id: str) -> None:
        """A session was deleted."""
        self._kept.pop(session_id, None)

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

        self._beside(run(), f"hooks {event}", before=(session.session_id,) if keep else ())

    def _beside(self, work: Coroutine[Any, Any, None], name: str, *, before: tuple[str, ...]) -> asyncio.Task[None]:
        """Begin a task; the next prompts of the sessions `before` wait for it."""
        task = asyncio.create_task(work, name=name)
        self._tasks[task] = before
        task.add_done_callback(self._done)
        return task

    async def settled(self, session: Hooked) -> None:
        """Wait for the hooks that may have something for the session's next prompt."""
        waiting = [task for task, sessions in self._tasks.items() if session.session_id in sessions]
        if waiting:
            await asyncio.wait(waiting)

    async def close(self, sessions: Iterable[Hooked]) -> None:
        """The daemon ends: run `SessionEnd` of every session that began here, and end all that still runs; bounded."""
        for session in sessions:
            self._ending(session, "exit")
        self._is_closing = True
        tasks = list(self._tasks)
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
            pending = self._kept.setdefault(session.session_id, _OfSession()).pending
            pending.append(context)
            del pending[:-_MOST_PENDING]

    def take_pending(self, session: Hooked) -> list[str]:
        """The contexts that are kept for this prompt; once."""
        held = self._kept.get(session.session_id)
        if held is None:
            return []
        taken, held.pending = held.pending, []
        return taken

    def _note(self, hook: Hook, run: HookRun) -> None:
        key = (hook.event, hook.name, hook.command)
        self.latest.pop(key, None)
        self.latest[key] = run
        while len(self.latest) > _MOST_LATEST:
            del self.latest[next(iter(self.latest))]

    async def _surroundings(self, session: Hooked, folders: Iterable[str], answer: Content | None) -> Surroundings:
        from gemini_companion.sessions.hooks.firing import Surroundings
        from gemini_companion.sessions.hooks.transcript import Transcript, folder_beside

        known = [*folders, *session.meta.workspace_folders]
        where = Surroundings(
            session_id=session.session_id,
            cwd=known[0] if known else self._home,
            home=self._home,
            is_trusted=session.services.trusted(),
        )
        if self._files is None:
            return where
        held = self._kept.setdefault(session.session_id, _OfSession())
        transcript = held.transcript
        if transcript is None:
            folder = folder_beside(session.services.store.text_path(session.session_id, "x"))
            transcript = held.transcript = Transcript(folder, self._files)
        path = await transcript.update(session.meta, session.history, answer)
        return replace(where, transcript_path=path, plans=transcript.plans)
