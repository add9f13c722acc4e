"""Turns, loaded with the first of a process: who only looks at chats has none of what answers prompts in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from gemini_companion.engine.history.rounds import last_end
from gemini_companion.sessions.threads import load, load_soon
from gemini_companion.sessions.turn.prompt import slash_compression, unescaped

if TYPE_CHECKING:
    from gemini_companion.engine.history.content import Part
    from gemini_companion.sessions.clients import Client
    from gemini_companion.sessions.session import Session
    from gemini_companion.sessions.tools.tooling import Tooling
    from gemini_companion.sessions.turn.starting import Start

_MODULE: Final = "gemini_companion.sessions.turn.starting"


class LateTurns:
    """Begins the turns of an application. Prompts that wait for the loading keep their order."""

    def __init__(self) -> None:
        self._loading = asyncio.Lock()
        """Taken by every prompt: its waiters go in the order in which they came."""

    def prepare(self) -> None:
        """A prompt has come, or may come soon: load beside what else it waits for."""
        load_soon(_MODULE)

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
