"""Prompts that a person sends to a turn under way; they go along with its next request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gemini_companion.engine.errors import Overloaded
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.sessions.constraints.taking import PromptRules
from gemini_companion.sessions.lane import QUEUE_LIMIT, Steered
from gemini_companion.sessions.session import Draft, Session
from gemini_companion.sessions.tool_events import PromptSteered


class Steering:
    """The prompts that wait for the next request of one turn. Once closed it takes no more."""

    def __init__(self, emit: Callable[[PromptSteered], None]) -> None:
        self._emit = emit
        self._waiting: list[Steered] = []
        self._is_closed = False

    def offer(self, prompt: tuple[Part, ...], client_id: str) -> Steered | None:
        """Take a prompt along; `None` if the turn makes no more requests, so that it must be a turn of its own.

        Raises `Overloaded` where too many wait.
        """
        if self._is_closed:
            return None
        if len(self._waiting) >= QUEUE_LIMIT:
            raise Overloaded(f"{QUEUE_LIMIT} prompts are waiting already.", hint="Wait until the model has seen them.")
        steered = Steered(prompt, client_id)
        self._waiting.append(steered)
        self._emit(PromptSteered(prompt=prompt))
        return steered

    def close_if_empty(self) -> bool:
        """Take no more, unless something waits; true if it is closed."""
        self._is_closed = self._is_closed or not self._waiting
        return self._is_closed

    def close(self) -> None:
        """Take no more."""
        self._is_closed = True

    def waiting(self) -> list[Steered]:
        """What waits, oldest first."""
        return list(self._waiting)

    def taken(self, steered: Sequence[Steered]) -> None:
        """These stand in the log now."""
        for one in steered:
            one.is_taken = True
        self._waiting = [one for one in self._waiting if not one.is_taken]


async def steer_drafts(session: Session, turn_id: str, steered: Sequence[Steered]) -> tuple[list[Draft], PromptRules]:
    """The entries of such prompts, and the rules that they lay down, judged together."""
    parts = [part for one in steered for part in one.prompt]
    return [_draft(session, turn_id, one) for one in steered], await PromptRules.of(session, parts, turn_id, None)


def _draft(session: Session, turn_id: str, steered: Steered) -> Draft:
    stamp, content = session.stamp(), Content(role="user", parts=steered.prompt)
    return lambda seq: SteerEntry(**stamp, seq=seq, turn_id=turn_id, content=content, client=steered.client_id)
