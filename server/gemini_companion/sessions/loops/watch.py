"""`LoopWatch`: sees one turn's texts, calls and rounds, and says when it goes round in circles."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from gemini_companion.engine.history.content import Content, Part, visible_text_of
from gemini_companion.engine.history.loop_entry import LoopEntry, LoopKind, LoopOutcome
from gemini_companion.engine.history.part import is_thought, text_of
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.engine.ide_context.secrets import mask_secrets
from gemini_companion.engine.loops.chanting import Chant, Chanting
from gemini_companion.engine.loops.cycles import LONGEST, CallCycles, digest_of
from gemini_companion.engine.loops.opinion import SURE, Schedule
from gemini_companion.engine.loops.words import LONGEST_DETAIL, reminder_of, stopped_by
from gemini_companion.sessions.events import Event, LoopDetected, MessageDelta, MessageDiscarded
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.loops.asking import ask_whether_stuck
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.called import Called, Ended

_LONGEST_ARGUMENT: Final = 2_000
"""Characters of one of a call's arguments that are looked through for secrets before they are cut for people."""


class Loop(NamedTuple):
    """What the turn repeats."""

    kind: LoopKind
    detail: str


class Noticed(NamedTuple):
    """A loop, and what follows from it."""

    drafts: list[Draft]
    """The first time: to be written behind what was repeated."""
    stopped: str
    """Why the turn ends, for people; empty the first time."""


@dataclass(slots=True)
class LoopWatch:
    """Watches a turn. What it keeps does not grow with the turn.

    A turn that is gone on with has a new one: the count begins anew.
    """

    session: Session
    turn_id: str
    rounds: int = 0
    _told: bool = False
    _chanting: Chanting = field(default_factory=Chanting)
    _before: Chanting | None = None
    """As it was when the answer began, to go back to if an attempt is void."""
    _chant: Chant | None = None
    """Noticed in the answer under way."""
    _listens: bool = False
    _calls: CallCycles = field(default_factory=CallCycles)
    _recent: deque[str] = field(default_factory=lambda: deque(maxlen=LONGEST))
    _schedule: Schedule = field(default_factory=Schedule)

    # --- an answer

    def begin_attempt(self) -> None:
        """An answer begins, or is asked for again: what a void attempt said was not said."""
        if self._before is None:
            self._before = self._chanting.copy()
        else:
            self._chanting = self._before.copy()
        self._chant, self._listens = None, self._is_on

    def hear(self, text: str) -> bool:
        """The next piece of an answer. True once it repeats itself: the rest is not worth waiting for."""
        if self._chant is None and self._listens:
            self._chant = self._chanting.feed(text)
        return self._chant is not None

    def answered(self, parts: tuple[Part, ...], attempt: int, emit: Callable[[Event], None]) -> tuple[Part, ...]:
        """The answer is whole, or was cut: then without what it repeats. What was shown of it is corrected."""
        self._before = None
        if self._chant is None:
            if self._listens:
                self._chanting.end_answer()  # a line that waits is too short to make a chant of what was none
            return parts
        text = visible_text_of(parts)
        kept = self._chant.kept_of(text)
        if kept == text:
            return parts
        emit(MessageDiscarded(attempt=attempt, reason="The answer repeated itself."))
        emit(MessageDelta(text=kept, attempt=attempt + 1))
        return _cut(parts, len(kept))

    # --- a round

    def round_ended(self, ended: Sequence[Ended]) -> Noticed | None:
        """The calls of an answer have their results. The loop that is plain now, if one is."""
        self.rounds += bool(ended)
        chant, self._chant = self._chant, None
        if not self._is_on:
            return None
        loop = Loop("repeatedText", _shown(chant.excerpt)) if chant is not None else None
        for one in ended:
            self._recent.append(_said(one.called))
            call, result = _digests(one)
            cycle = self._calls.add(call, result)
            self._chanting.mark(f"{call} {result}")
            if cycle is not None and loop is None:
                loop = Loop(
                    "repeatedCalls", _shown(f"{cycle.repeats} × {' → '.join(list(self._recent)[-cycle.length :])}")
                )
        return self._noticed(loop) if loop is not None else None

    async def look(self, choice: ModelChoice) -> Noticed | None:
        """Ask a model about a long turn, if that is due."""
        if not self._is_on or not self._schedule.is_due(self.rounds):
            return None
        opinion = await ask_whether_stuck(self.session, choice, self.turn_id)
        if opinion is None:
            return None
        self._schedule.take_in(opinion)
        if opinion.confidence < SURE:
            return None
        return self._noticed(Loop("noProgress", _shown(opinion.reason)))

    def begin_anew(self) -> None:
        """A person has said something: what the model does from here on is another matter."""
        self._told, self._chant = False, None
        self._forget()

    # --- what follows

    @property
    def _is_on(self) -> bool:
        return self.session.services.settings().loop_detection

    def _forget(self) -> None:
        self._chanting, self._calls = Chanting(), CallCycles()

    def _noticed(self, loop: Loop) -> Noticed:
        """Tell the model the first time, end the turn the second time; either way begin to count anew."""
        outcome: LoopOutcome = "stopped" if self._told else "told"
        self._told = True
        self._forget()
        self.session.emit(LoopDetected(kind=loop.kind, detail=loop.detail, outcome=outcome), self.turn_id)
        entry = self._entry(loop, outcome)
        if outcome == "told":
            return Noticed([entry, self._reminder(loop)], "")
        self.session.write_later(entry)
        return Noticed([], stopped_by(loop.kind, loop.detail))

    def _entry(self, loop: Loop, outcome: LoopOutcome) -> Draft:
        entry = LoopEntry(
            **self.session.stamp(), seq=0, turn_id=self.turn_id, kind=loop.kind, detail=loop.detail, outcome=outcome
        )
        return lambda seq: msgspec.structs.replace(entry, seq=seq)

    def _reminder(self, loop: Loop) -> Draft:
        content = Content(role="user", parts=({"text": reminder_of(loop.kind, loop.detail)},))
        stamp, reminder = self.session.stamp(), loop.detail or loop.kind
        return lambda seq: SteerEntry(**stamp, seq=seq, turn_id=self.turn_id, content=content, reminder=reminder)


def _digests(ended: Ended) -> tuple[str, str]:
    """Of a call, and of its result without what only the call's own id tells apart."""
    call = ended.called.call
    response: dict[str, Any] = ended.part["functionResponse"]
    return digest_of(call.name, call.args), digest_of(response.get("response"), response.get("parts"))


def _said(called: Called) -> str:
    args = ", ".join(f"{name}: {str(value)[:_LONGEST_ARGUMENT]}" for name, value in called.call.args.items())
    return f"{called.call.name}({args})"[: 2 * _LONGEST_ARGUMENT]


def _shown(text: str) -> str:
    """For people and the log: one line, without secrets."""
    line = " ".join(mask_secrets(text)[0].split())
    return line if len(line) <= LONGEST_DETAIL else f"{line[: LONGEST_DETAIL - 1]}…"


def _cut(parts: Sequence[Part], length: int) -> tuple[Part, ...]:
    """The parts, of whose visible text only the first characters are left."""
    kept: list[Part] = []
    for part in parts:
        text = text_of(part)
        if not text or is_thought(part):
            kept.append(part)
            continue
        if length > 0:
            kept.append(part if len(text) <= length else {**part, "text": text[:length]})
        length -= len(text)
    return tuple(kept)
