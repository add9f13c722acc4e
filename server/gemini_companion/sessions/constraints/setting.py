"""What a person does to a rule: take it in, propose it, release it, reword it, share it with the whole project."""

from __future__ import annotations

from typing import Final

import msgspec

from gemini_companion.engine.constraints.budget import BUDGET_CHARACTERS, is_beyond_budget
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.constraint import Constraint, ConstraintScope, ConstraintState
from gemini_companion.engine.history.log import PinEntry, UnpinEntry
from gemini_companion.sessions.constraints.entries import draft_of
from gemini_companion.sessions.constraints.news import tell
from gemini_companion.sessions.constraints.project import log_project_rules
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session

_SETTLED: Final = "Not a rule: it was about an earlier one, which you released."


def check_wish(constraint_id: str | None, text: str | None) -> None:
    """Raises `InvalidInput` unless there is an id or a text, and the text is one that a rule can have."""
    if constraint_id is None and text is None:
        raise InvalidInput(
            "Give the `constraintId` of a rule, or the `text` of a new one.",
            path="$.constraintId",
            hint="gemini/constraints lists them.",
        )
    if text is not None and not text.strip():
        raise InvalidInput("The rule's text is empty.", path="$.text")
    if text is not None and len(text) > BUDGET_CHARACTERS:
        raise InvalidInput(
            f"The rule has {len(text):,} characters; {BUDGET_CHARACTERS:,} may go along with every request.",
            path="$.text",
            hint="Shorten it, or keep it in a file that a prompt mentions.",
        )


async def set_constraint(
    session: Session,
    *,
    constraint_id: str | None = None,
    state: ConstraintState,
    scope: ConstraintScope | None = None,
    text: str | None = None,
) -> Constraint:
    """Set a constraint as the person wants it; one without an id is new. Returns it as it is now.

    One of the scope `project` is written for the project first. Raises `InvalidInput` for an id that nobody has, for
    what a pin cannot be, and for a rule in force beyond what may go along with every request.
    """
    check_wish(constraint_id, text)
    async with session.rules_lock:
        wished = await _set(session, constraint_id, state, scope, text)
    await tell(session)
    return session.history.constraints.get(wished.constraint_id) or wished


async def _set(
    session: Session,
    constraint_id: str | None,
    state: ConstraintState,
    scope: ConstraintScope | None,
    text: str | None,
) -> Constraint:
    before = None if constraint_id is None else _found(session, constraint_id)
    wished = _wished(session, before, state, scope, text)
    if wished.state == "inForce" and is_beyond_budget(wished, session.history.standing):
        raise InvalidInput(
            "The rules in force would be longer than what may go along with every request.",
            path="$.state",
            hint="Release a rule that you no longer need, or shorten this one.",
        )
    replaced = session.history.constraints.get(wished.replaces or "")
    shared = _shared(before, wished, replaced)
    reconciled = _reconciled(session, wished)
    for_all = [*shared, *(other for other in reconciled if other.scope == "project")]
    if for_all and not await session.services.store.save_constraints(for_all):
        await log_project_rules(session)  # those of other sessions, so that they can be released here
        raise InvalidInput(
            "The project's rules in force would be longer than what may go along with every request.",
            path="$.state",
            hint="Those that other chats set count too: gemini/constraints lists them. Release one, or keep this rule"
            " to its chat.",
        )
    drafts = _drafts(session, before, wished, shared)
    await session.append(*drafts, *(draft_of(session, one) for one in reconciled))
    return wished


def _found(session: Session, constraint_id: str) -> Constraint:
    one = session.history.constraints.get(constraint_id)
    if one is None:
        raise InvalidInput(
            f"There is no rule {constraint_id}.", path="$.constraintId", hint="gemini/constraints lists them."
        )
    return one


def _wished(
    session: Session,
    before: Constraint | None,
    state: ConstraintState,
    scope: ConstraintScope | None,
    text: str | None,
) -> Constraint:
    if before is None:
        one = Constraint(
            constraint_id=session.services.new_id("constraint"),
            text=text or "",
            scope=scope or "session",
            state=state,
            created_at=session.services.clock.now(),
            source="client",
        )
    else:
        if before.source == "pin" and state == "proposed":
            raise InvalidInput(
                "A pin is in force or released.", path="$.state", hint="Set it to inForce or to released."
            )
        one = msgspec.structs.replace(
            before,
            state=state,
            scope=scope or before.scope,
            text=before.text if text is None else text,
            turn_id=before.turn_id if text in (None, before.text) else None,
            replaced_by=None,
            note=None,
        )
    if state == "inForce" and (before is None or one.text != before.text):
        others = [other for other in session.history.standing if other.constraint_id != one.constraint_id]
        from gemini_companion.engine.constraints.contradiction import contradicted

        against = contradicted(one.text, others)
        one = msgspec.structs.replace(one, replaces=against.constraint_id if against else one.replaces)
    return one


def _reconciled(session: Session, wished: Constraint) -> list[Constraint]:
    """Rules that replaced one which the person puts in force again: both hold from now on, wherever they are told. Of
    one that they release, the later words that were only about it.
    """
    if wished.state == "released":
        from gemini_companion.engine.constraints.detect import rules_in

        about = [one for one in session.history.constraints.asked() if one.replaces == wished.constraint_id]
        return [
            msgspec.structs.replace(one, replaces=None)
            if rules_in(one.text)
            else msgspec.structs.replace(one, state="released", note=_SETTLED)
            for one in about
        ]
    if wished.state != "inForce":
        return []
    return [
        msgspec.structs.replace(one, replaces=None)
        for one in session.history.standing
        if one.replaces == wished.constraint_id
    ]


def _shared(before: Constraint | None, wished: Constraint, replaced: Constraint | None) -> list[Constraint]:
    """What the project's other sessions are to know of it."""
    if wished.scope == "project":
        is_replacing = wished.state == "inForce" and replaced is not None and replaced.scope == "project"
        if is_replacing and replaced is not None and replaced.state != "released":
            gone = msgspec.structs.replace(replaced, state="released", replaced_by=wished.constraint_id)
            return [wished, gone]
        return [wished]
    if before is not None and before.scope == "project":
        return [msgspec.structs.replace(before, state="released")]
    return []


def _drafts(session: Session, before: Constraint | None, wished: Constraint, shared: list[Constraint]) -> list[Draft]:
    """The entries of it. A pin of this session alone is kept as one, and taken away as one."""
    if (
        before is not None
        and before.source == "pin"
        and (before.scope, before.text) == (wished.scope, wished.text) == ("session", before.text)
        and before.state != wished.state
    ):
        stamp = session.stamp()
        if wished.state == "released":
            return [lambda seq: UnpinEntry(**stamp, seq=seq, pin_id=wished.constraint_id)]
        return [
            lambda seq: PinEntry(
                **stamp, seq=seq, pin_id=wished.constraint_id, text=wished.text, turn_id=wished.turn_id
            )
        ]
    others = [one for one in shared if one.constraint_id != wished.constraint_id]
    return [draft_of(session, one) for one in (wished, *others)]
