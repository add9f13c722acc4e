"""Prompts that a person sends to a turn under way; they go along with its next request.

Each is in the log before it is acknowledged. One that the turn ends without becomes a prompt of its own that ended as
that turn did: it stands in the transcript, and the person sends it again, or does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gemini_companion.engine.errors import CompanionError, Overloaded
from gemini_companion.engine.escapes import value_for_model
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import PromptEntry, TurnEndEntry, TurnOutcome
from gemini_companion.engine.history.tool_entries import SteerEntry, SteerOfferedEntry
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.constraints.taking import PromptRules
from gemini_companion.sessions.context.mentions import Attached, attach
from gemini_companion.sessions.events import TurnStarted
from gemini_companion.sessions.lane import QUEUE_LIMIT, Steered
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import PromptSteered


class Steering:
    """The prompts that wait for the next request of one turn. Once closed it takes no more."""

    def __init__(self, session: Session, turn_id: str, emit: Callable[[PromptSteered], None]) -> None:
        self._session = session
        self._turn_id = turn_id
        self._emit = emit
        self._waiting: list[Steered] = []
        self._is_closed = False

    async def offer(self, prompt: tuple[Part, ...], client: Client) -> Steered | None:
        """Take a prompt along; `None` if the turn makes no more requests, so that it must be a turn of its own.

        It is in the log then. Raises `Overloaded` where too many wait, `StorageFault` where it could not be written.
        """
        if self._is_closed:
            return None
        if len(self._waiting) >= QUEUE_LIMIT:
            raise Overloaded(f"{QUEUE_LIMIT} prompts are waiting already.", hint="Wait until the model has seen them.")
        steered = Steered(prompt, client, self._session.services.new_id("steer"))
        self._waiting.append(steered)  # from here on the turn makes another request for it
        try:
            await self._session.append(self._offered(steered))
        except asyncio.CancelledError:  # it was written all the same: whoever sent it does not wait, and it goes along
            self._acknowledge(steered)
            raise
        except CompanionError:
            if not steered.is_taken:
                self._waiting.remove(steered)
                raise
        self._acknowledge(steered)
        return steered

    def close_if_empty(self) -> bool:
        """Take no more, unless something waits; true if it is closed."""
        self._is_closed = self._is_closed or not self._waiting
        return self._is_closed

    def close(self) -> list[Steered]:
        """Take no more. Returns what still waits; it does not any longer."""
        self._is_closed = True
        left = self._waiting
        self._settle(left)
        return left

    def waiting(self) -> list[Steered]:
        """What waits, oldest first."""
        return list(self._waiting)

    def taken(self, steered: Sequence[Steered]) -> None:
        """These stand in the log now."""
        self._settle(steered)

    def _settle(self, steered: Sequence[Steered]) -> None:
        for one in steered:
            one.is_taken = True
        self._waiting = [one for one in self._waiting if not one.is_taken]

    def _offered(self, steered: Steered) -> Draft:
        stamp, turn_id = self._session.stamp(), self._turn_id
        content = Content(role="user", parts=steered.prompt)
        return lambda seq: SteerOfferedEntry(
            **stamp,
            seq=seq,
            turn_id=turn_id,
            steer_id=steered.steer_id,
            content=content,
            client=steered.client.client_id,
        )

    def _acknowledge(self, steered: Steered) -> None:
        if steered.is_taken or steered.steer_id in self._session.tools_state.offered:
            self._emit(PromptSteered(prompt=steered.prompt, steer_id=steered.steer_id))


class Taken(NamedTuple):
    """Prompts that go along now."""

    drafts: list[Draft]
    rules: PromptRules
    """The rules that they lay down, judged together."""
    attached: list[Attached]
    """What goes along with each."""


async def taken_along(session: Session, turn_id: str, steered: Sequence[Steered]) -> Taken:
    """The entries of such prompts, with the files that they mention, as these are now."""
    attached = [await attach(session, one.client, one.prompt) for one in steered]
    drafts = [_draft(session, turn_id, one, files) for one, files in zip(steered, attached, strict=True)]
    parts = [part for one in steered for part in one.prompt]
    return Taken(drafts, await PromptRules.of(session, parts, turn_id, None), attached)


def _draft(session: Session, turn_id: str, steered: Steered, attached: Attached) -> Draft:
    stamp, content = session.stamp(), Content(role="user", parts=value_for_model((*steered.prompt, *attached.parts)))
    return lambda seq: SteerEntry(
        **stamp,
        seq=seq,
        turn_id=turn_id,
        content=content,
        client=steered.client.client_id,
        attachments=tuple(attached.attachments),
        withheld=tuple(attached.withheld),
        steer_id=steered.steer_id,
    )


class Untaken(NamedTuple):
    """A prompt that its turn ended without, as a turn of its own that has ended."""

    turn_id: str
    prompt: tuple[Part, ...]
    steer_id: str
    client_id: str

    def started(self, model: str) -> TurnStarted:
        """The event of its beginning."""
        return TurnStarted(prompt=self.prompt, model=model, steer_id=self.steer_id)

    def drafts(self, session: Session, outcome: TurnOutcome, *, reason: str = "", by: str = "") -> list[Draft]:
        """Its entries: the prompt, and how it ended."""
        first, last = session.stamp(), session.stamp()
        content = Content(role="user", parts=value_for_model(self.prompt))
        return [
            lambda seq: PromptEntry(
                **first,
                seq=seq,
                turn_id=self.turn_id,
                content=content,
                client=self.client_id,
                steer_id=self.steer_id,
            ),
            lambda seq: TurnEndEntry(**last, seq=seq, turn_id=self.turn_id, outcome=outcome, reason=reason, by=by),
        ]


def untaken(session: Session, steered: Iterable[Steered]) -> list[Untaken]:
    """Those that a turn ended without."""
    new_id = session.services.new_id
    return [Untaken(new_id("turn"), one.prompt, one.steer_id, one.client.client_id) for one in steered]


def untaken_before(session: Session) -> list[Untaken]:
    """Those that an earlier process had acknowledged when it ended."""
    new_id = session.services.new_id
    return [
        Untaken(new_id("turn"), one.content.parts, one.steer_id, one.client)
        for one in session.tools_state.offered.values()
    ]
