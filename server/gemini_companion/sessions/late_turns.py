"""Turns, loaded with the first of a process: who only looks at chats has none of what answers prompts in memory.

Where a chat is begun or opened, a prompt is likely: then what the first one needs is loaded while nobody waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.rounds import last_end
from gemini_companion.sessions.threads import load, load_soon
from gemini_companion.sessions.turn.prompt import slash_compression, unescaped

if TYPE_CHECKING:
    from gemini_companion.engine.history.content import Part
    from gemini_companion.sessions.clients import Client
    from gemini_companion.sessions.models.registry import ModelRegistry
    from gemini_companion.sessions.session import Session
    from gemini_companion.sessions.tools.tooling import Tooling
    from gemini_companion.sessions.turn.starting import Start

logger = logging.getLogger(__name__)

EXPECT_AFTER: Final = 0.3
"""Seconds from the moment when a chat is there: a prompt that comes with it comes first."""

_MODULE: Final = "gemini_companion.sessions.turn.starting"
_REHEARSAL: Final = "gemini_companion.sessions.turn.rehearsal"


class LateTurns:
    """Begins the turns of an application. Prompts that wait for the loading keep their order."""

    def __init__(self) -> None:
        self._loading = asyncio.Lock()
        """Taken by every prompt: its waiters go in the order in which they came."""
        self._has_begun = False
        self._expecting: asyncio.TimerHandle | asyncio.Task[None] | None = None

    def prepare(self) -> None:
        """A prompt has come: load beside what else it waits for."""
        self._has_begun = True
        load_soon(_MODULE)

    def expect(self, models: ModelRegistry) -> None:
        """A prompt may come: soon, load and try once what the first one needs, unless it has come by then."""
        if self._expecting is None and not self._has_begun:
            self._expecting = asyncio.get_running_loop().call_later(EXPECT_AFTER, self._warm_up_soon, models)

    def close(self) -> None:
        """No prompt comes any more."""
        self._has_begun = True
        if self._expecting is not None:
            self._expecting.cancel()

    def _warm_up_soon(self, models: ModelRegistry) -> None:
        self._expecting = asyncio.create_task(self._warm_up(models), name="warming up for a prompt")

    async def _warm_up(self, models: ModelRegistry) -> None:
        """Take the steps while no prompt has come. Faults go to the log: whoever needs it then is told."""
        try:
            for step in (partial(load, _MODULE), _rehearse, models.warm_up_fallback):
                if not self._has_begun:
                    await step()
        except (CompanionError, ImportError) as fault:
            logger.warning("Warming up for a prompt failed: %s", fault)
        except Exception:  # nobody waits for it
            logger.exception("Warming up for a prompt failed")

    async def start(self, session: Session, client: Client, tooling: Tooling) -> Start:
        """What begins one."""
        async with self._loading:
            await load(_MODULE)
        from gemini_companion.sessions.turn.starting import Start

        return Start(session, client, tooling)

    async def begin(
        self,
        hold: Callable[..., Awaitable[Session]],
        client: Client,
        tooling: Tooling,
        prompt: tuple[Part, ...],
        model: str | None,
    ) -> tuple[Session, Start]:
        """The session of a prompt, by `Application.hold`, and what begins its turn.

        Of one that is cancelled so early that it is in no lane yet, the transcript has it and its end all the same.
        """
        try:
            session = await hold()
            return session, await self.start(session, client, tooling)
        except asyncio.CancelledError:
            session = await hold(as_it_is=True)
            if slash_compression(prompt) is None:
                await (await self.start(session, client, tooling)).give_up(unescaped(prompt), model=model)
            raise

    async def reached(self) -> None:
        """Every prompt that came before this has reached its lane. For whoever stops, ends or compresses what is there.

        The lock's waiters go in order, and a prompt that has had it goes on to its lane without a pause.
        """
        async with self._loading:
            pass

    async def resume_if_asked(self, session: Session, client: Client, tooling: Tooling) -> None:
        """`Start.resume_if_asked`. Nothing is loaded where the newest turn did not end with a daemon."""
        turn_id = session.history.newest_turn
        end = last_end(session.history.entries, turn_id) if turn_id is not None else None
        if end is not None and end.outcome == "interrupted":
            (await self.start(session, client, tooling)).resume_if_asked()


async def _rehearse() -> None:
    await load(_REHEARSAL)
    from gemini_companion.sessions.turn.rehearsal import rehearse

    await rehearse()
