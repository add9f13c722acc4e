"""From a request to a turn in its session's lane."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.content import Part
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression.service import compress_at_safe_point
from gemini_companion.sessions.events import PromptQueued
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.models.names import requested_model
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.resuming import Resumable, resumable
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.sessions.turn.replacing import check_replaceable
from gemini_companion.sessions.turn.turn import Turn


@dataclass(frozen=True, slots=True)
class Start:
    """Begins turns of one session for one client."""

    session: Session
    client: Client
    tooling: Tooling

    async def chat(
        self, prompt: tuple[Part, ...], *, model: str | None, replaces: str | None, steer: bool
    ) -> ChatResult:
        """Answer a prompt in the lane's order, or along with the turn under way.

        Raises `InvalidInput`, `Overloaded`, and what the turn raises.
        """
        session, client = self.session, self.client
        takes_along = steer and replaces is None and not session.services.slash_commands.may_be_one(prompt)
        if takes_along and (result := await self._steer(prompt)) is not None:
            return result
        if replaces is not None and session.lane.is_idle:  # otherwise the turn checks it when it runs
            check_replaceable(session, replaces)
        return await _submit(self._turn(prompt, model, replaces)).wait(client.client_id)

    async def give_up(self, prompt: tuple[Part, ...], *, model: str | None) -> None:
        """Note a prompt that was cancelled before it came here, and its end; nothing of it is sent. Raises
        `InvalidInput`, `Overloaded`.
        """
        job = _submit(self._turn(prompt, model))
        job.cancel(self.client.client_id)
        await job.settled()

    def _turn(self, prompt: tuple[Part, ...], model: str | None, replaces: str | None = None) -> Turn:
        return Turn(
            session=self.session,
            safe_point=partial(compress_at_safe_point, self.session),
            turn_id=self.session.services.new_id("turn"),
            client=self.client,
            prompt=prompt,
            asked_model=requested_model(model),
            tooling=self.tooling,
            replaces=replaces,
        )

    async def resume(self) -> ChatResult:
        """Go on with the newest turn where it stands. Raises `InvalidInput` if it cannot go on, and what it raises."""
        if self.session.lane.has_turn:  # the log is as that turn leaves it, which nobody knows yet
            raise InvalidInput(
                "A turn is under way in this chat, or waits.", hint="Wait for its end, or send a prompt to it."
            )
        before = resumable(self.session)
        if before is None:
            raise InvalidInput(
                "There is nothing to go on with: the newest turn of this chat is complete, or nothing of it was kept.",
                hint="Send a prompt.",
            )
        return await self._resume(before).wait(self.client.client_id)

    def resume_if_asked(self) -> bool:
        """Go on with a turn that ended with the daemon while a person was being asked, if this client can ask again."""
        if not self.session.lane.is_idle or not self.tooling.can_ask(self.client):
            return False
        if self.session.meta.agent is not None:  # its result would reach no chat
            return False
        before = resumable(self.session)
        if before is None or not before.is_asked or before.outcome != "interrupted":
            return False
        job = self._resume(before)
        listing = asyncio.create_task(_list_after(self.session, job), name=f"listing:{self.session.session_id}")
        self.session.use(listing, self.session.services.clock.monotonic())
        return True

    async def _steer(self, prompt: tuple[Part, ...]) -> ChatResult | None:
        """The end of the turn that took the prompt along; `None` if it must be a turn of its own."""
        running = self.session.lane.current
        if running is None or running.steer is None:
            return None
        if await running.steer(prompt, self.client) is None:
            return None
        result: ChatResult = await running.wait(self.client.client_id)
        return result

    def _resume(self, before: Resumable) -> Job[ChatResult]:
        return _submit(
            Turn(
                session=self.session,
                safe_point=partial(compress_at_safe_point, self.session),
                turn_id=before.turn_id,
                client=self.client,
                prompt=before.prompt.own_parts,
                asked_model=before.model or None,
                tooling=self.tooling,
                resumes=before,
            )
        )


async def _list_after(session: Session, job: Job[ChatResult]) -> None:
    """Bring the listing up to date after a turn that no request waits for."""
    await job.settled()
    await session.update_listing()


def _submit(turn: Turn) -> Job[ChatResult]:
    session = turn.session
    job = Job(
        "turn",
        turn.turn_id,
        turn.run,
        abandon=turn.abandon,
        client=turn.client.client_id,
        steer=turn.steering.offer,
        shown=turn.showing.kept,
    )
    busy_with = session.lane.current.kind if session.lane.current else "turn"
    if position := session.lane.submit(job):
        session.emit(PromptQueued(position=position, because=busy_with), turn.turn_id)
    return job
