"""Taking in the rules that a prompt lays down: out of the person's own words, and out of nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.constraints.budget import BEYOND_BUDGET, is_beyond_budget
from gemini_companion.engine.constraints.contradiction import contradicted, key_of, left_standing, weighed
from gemini_companion.engine.constraints.detect import LOOKED_THROUGH, Found, detect
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import is_thought, text_of
from gemini_companion.sessions.constraints.entries import draft_of
from gemini_companion.sessions.constraints.news import emit_constraints
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop

MOST_PROPOSED: Final = 50
"""Rules that wait for a person's word at most."""

MOST_COMPARED: Final = 200
"""The newest rules in force that a new one is compared with; pins have no number of their own."""

_ASKED_FIRST: Final = "Only proposed: by your settings you are asked about every rule."
MAY_END: Final = "Only proposed: it may change an earlier rule, which holds until you take this in."
_ENDED: Final = "Not a rule any more: a later prompt says “{}”."
_FORGOTTEN: Final = f"Not taken in: more than {MOST_PROPOSED} proposals were waiting, and this was the oldest."
_LINE: Final = 10
"""Characters of a prompt that take about as long as a content takes elsewhere."""


def proposed_by(
    prompts: Iterable[tuple[str, str]], rule_id: Callable[[], str], now: int, note: str
) -> list[Constraint]:
    """What lays down a rule in prompts that were not typed here, each with its turn: proposed, whatever it says.

    Only what is plainly a rule, the newest, without what later prompts took back or replaced. The newest prompts are
    looked through, as much of them as of one that is typed.
    """
    left, read = LOOKED_THROUGH, deque[tuple[str, str]]()
    for turn_id, text in reversed(list(prompts)):
        if left <= 0:
            break
        read.appendleft((turn_id, text[:left]))
        left -= len(text)
    return [
        Constraint(
            constraint_id=rule_id(),
            text=rule.text,
            scope="session",
            state="proposed",
            created_at=now,
            source="prompt",
            turn_id=read[rule.prompt][0],
            note=note,
        )
        for rule in left_standing(text for _, text in read)[-MOST_PROPOSED:]
    ]


class PromptRules:
    """The rules of one turn's prompt: out of the person's own parts, and not out of what goes along with them.

    The rules of a turn that replaces another one are logged with its answer, as that other turn's are withdrawn then;
    otherwise with the prompt, so that they hold whatever becomes of the turn.
    """

    def __init__(self, session: Session, found: Sequence[Found], turn_id: str, replaces: str | None) -> None:
        self._session = session
        self._turn_id = turn_id
        self._replaces = replaces
        self._found = found
        self._known = session.history.constraints.all()

    @classmethod
    async def of(cls, session: Session, prompt: Sequence[Part], turn_id: str, replaces: str | None) -> PromptRules:
        """The rules in the person's own parts of a prompt; a long one is looked through in a thread."""
        texts = [text for part in prompt if not is_thought(part) and (text := text_of(part))]
        lines = sum(len(text) // _LINE for text in texts)
        found = await off_loop(lines, lambda: [found for text in texts for found in detect(text)])
        return cls(session, found, turn_id, replaces)

    def with_prompt(self) -> list[Draft]:
        """The entries to log with the prompt, by the rules in force now: have the lock of the rules until then."""
        return [] if self._replaces is not None else self._drafts()

    def with_answer(self) -> list[Draft]:
        """The entries to log with the answer; as above."""
        return [] if self._replaces is None else self._drafts()

    def tell(self) -> None:
        """Emit the rules if they have changed since."""
        if (now := self._session.history.constraints.all()) != self._known:
            self._known = now
            emit_constraints(self._session, self._turn_id)

    def _drafts(self) -> list[Draft]:
        return [draft_of(self._session, rule, by_turn=self._turn_id) for rule in self._taken(self._found)]

    def _taken(self, found_in_prompt: Sequence[Found]) -> list[Constraint]:
        ledger = self._session.history.constraints
        self._known = ledger.all()
        mode = self._session.services.settings().compression_constraints
        if mode == "off":
            return []
        standing = list(self._session.history.standing)
        held = {key_of(one.text) for one in standing}
        going = ledger.brought_by(self._replaces) if self._replaces is not None else []
        waiting = [one for one in self._known if one.state == "proposed" and one not in going]
        proposed = {key_of(one.text): one for one in waiting}
        taken: list[Constraint] = []
        for found in found_in_prompt:
            key = key_of(found.text)
            if key in held:
                continue
            rule = self._rule(found, standing, may_hold=mode == "auto", earlier=proposed.get(key))
            if rule is None or rule.state == "inForce":
                settled = {one.constraint_id for one in (*taken, rule) if one is not None}
                taken += _ended(found, rule, [one for one in waiting if one.constraint_id not in settled])
            if rule is None:
                continue
            held.add(key)
            taken.append(rule)
            if rule.state == "inForce":
                standing = [*(one for one in standing if one.constraint_id != rule.replaces), rule]
        return [*taken, *_forgotten(taken, waiting)]

    def _rule(
        self, found: Found, standing: Sequence[Constraint], *, may_hold: bool, earlier: Constraint | None
    ) -> Constraint | None:
        against = weighed(found.text, standing[-MOST_COMPARED:])
        is_permission = found.certainty == "permission"
        if is_permission and against is None:
            return None
        is_asked = is_permission and against is not None and not against.is_plain
        holds = may_hold and found.certainty != "probable" and not is_asked
        if earlier is not None and not holds:
            return None
        rule = Constraint(
            constraint_id=earlier.constraint_id if earlier else self._session.services.new_id("constraint"),
            text=found.text,
            scope="session",
            state="inForce" if holds else "proposed",
            created_at=earlier.created_at if earlier else self._session.services.clock.now(),
            source="prompt",
            turn_id=self._turn_id,
            replaces=against.rule.constraint_id if against and (against.is_plain or not holds) else None,
            note=None if holds else found.why or (MAY_END if is_asked else _ASKED_FIRST),
        )
        if holds and is_beyond_budget(rule, standing):
            return msgspec.structs.replace(rule, state="proposed", note=BEYOND_BUDGET)
        return rule


def _ended(found: Found, rule: Constraint | None, waiting: Sequence[Constraint]) -> list[Constraint]:
    """The proposals that a person's later words take back or replace: what is waiting is what is still meant. So too
    those that might have ended what the words, now in force as a rule, ended plainly.
    """
    if found.certainty == "probable":
        return []
    own = [one for one in waiting if one.scope == "session"]
    against = contradicted(found.text, own)
    gone = [one for one in own if one is against or (rule and rule.replaces and one.replaces == rule.replaces)]
    return [msgspec.structs.replace(one, state="released", note=_ENDED.format(found.text)) for one in gone]


def _forgotten(taken: Sequence[Constraint], waiting: Sequence[Constraint]) -> list[Constraint]:
    """The oldest proposals that nobody answered, released where there are too many. The project's are not ours."""
    settled = {rule.constraint_id for rule in taken}
    own = [one for one in waiting if one.scope == "session" and one.constraint_id not in settled]
    surplus = len(own) + sum(rule.state == "proposed" for rule in taken) - MOST_PROPOSED
    return [msgspec.structs.replace(one, state="released", note=_FORGOTTEN) for one in own[: max(0, surplus)]]
