"""Constraints: the rules that a person set, kept beside the history, and the fold that says which are in force.

A pin is one. They are written from the person's side alone (`sessions.constraints`); no content of a history, whoever
wrote it, is one.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.fold import Fold

ConstraintState: TypeAlias = Literal["proposed", "inForce", "released"]
ConstraintScope: TypeAlias = Literal["session", "project"]
ConstraintSource: TypeAlias = Literal["prompt", "pin", "client", "memory"]


class Constraint(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A rule of the person's. In force, it stands word for word in every request to the model that answers."""

    constraint_id: str
    """A pin's is its pin id."""
    text: str
    """Word for word as it was said."""
    scope: ConstraintScope
    """`project`: in every session of the project."""
    state: ConstraintState
    """`proposed`: found in a prompt and not in force; `released`: taken back, or replaced."""
    created_at: int
    """Milliseconds since 1970 (UTC)."""
    source: ConstraintSource
    """Where it was said: in a prompt, by a pin, through a client's list of rules, in a memory file."""
    turn_id: str | None = None
    """The turn whose prompt it stands in."""
    replaces: str | None = None
    """Id of the earlier one that it contradicts, or may, and replaces once it is in force."""
    replaced_by: str | None = None
    note: str | None = None
    """A sentence for people: why it is only proposed, or what is wrong with it."""


def digest_of(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class ConstraintLedger(Fold):
    """The constraints of one session: a pure fold of the entries that tell of them."""

    def __init__(self) -> None:
        self._held: dict[str, Constraint] = {}
        """By id, oldest first."""
        self._told: dict[str, Constraint] = {}
        """By id, as the newest entry told it; a later one may have replaced it since."""
        self._entries: dict[str, str] = {}
        """By id, the id of the newest entry that tells of it."""
        self._in_turn: defaultdict[str, set[str]] = defaultdict(set)
        """By turn, the ids of those whose text ever stood in its prompt."""
        self._brought: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """By turn, the ids of those that its prompt brought about and that nobody has set by hand since."""
        self._brought_in: dict[str, str] = {}
        """The same the other way round."""
        self._before: dict[str, Constraint] = {}
        """By id of a replaced one, how it was before."""

    def get(self, constraint_id: str) -> Constraint | None:
        """The constraint as it is now; `None` if there is none with this id."""
        return self._held.get(constraint_id)

    def all(self) -> tuple[Constraint, ...]:
        """Every constraint, oldest first, released ones included."""
        return tuple(self._held.values())

    def standing(self, without_turn: str | None = None) -> tuple[Constraint, ...]:
        """Those in force, oldest first; as if a turn had never been, if one is named."""
        held: Iterable[Constraint] = self._held.values()
        if without_turn is not None and (gone := self.brought_by(without_turn)):
            back = {gone_one.replaces: gone_one.constraint_id for gone_one in gone}
            held = [
                self._before[one.constraint_id] if self._is_replaced_by(one, back.get(one.constraint_id)) else one
                for one in held
                if one not in gone
            ]
        return tuple(one for one in held if one.state == "inForce")

    def asked(self, without_turn: str | None = None) -> tuple[Constraint, ...]:
        """Later words that may change a rule, which holds until the person takes them in, oldest first; as above."""
        gone = () if without_turn is None else self.brought_by(without_turn)
        return tuple(one for one in self._held.values() if one.state == "proposed" and one.replaces and one not in gone)

    def brought_by(self, turn_id: str) -> list[Constraint]:
        """Those that go with a turn that is replaced: its prompt brought them about, and nobody has set them since."""
        return [self._held[constraint_id] for constraint_id in self._brought.get(turn_id, ())]

    def entry_ids(self, constraint_ids: Iterable[str]) -> tuple[str, ...]:
        """Ids of the newest entries that tell of these constraints."""
        return tuple(self._entries[constraint_id] for constraint_id in constraint_ids if constraint_id in self._entries)

    def is_news(self, shared: Constraint) -> bool:
        """Whether one of the project's constraints is new here or has changed; not one that is this session's own."""
        told = self._told.get(shared.constraint_id)
        return told is None or (told.scope == "project" and told != shared)

    def said_in(self, turn_id: str) -> tuple[str, ...]:
        """Ids of those whose text stands in the turn's prompt."""
        ids = self._in_turn.get(turn_id, ())
        return tuple(constraint_id for constraint_id in ids if self._held[constraint_id].turn_id == turn_id)

    def take(
        self, constraint: Constraint, *, entry_id: str, digest: str = "", by_turn: str | None = None
    ) -> tuple[str, ...]:
        """Take in a constraint as it is from now on. Returns the ids of all that this changes.

        `digest` is that of the text as it was when the person set it; `by_turn` the turn whose prompt brought it.
        """
        constraint_id = constraint.constraint_id
        self._told[constraint_id] = constraint
        if digest and digest != digest_of(constraint.text):
            constraint = msgspec.structs.replace(constraint, note="Its text is no longer what was taken in.")
        self._held[constraint_id] = constraint
        self._entries[constraint_id] = entry_id
        self._set_by_hand(constraint_id)
        if by_turn is not None:
            self._brought[by_turn][constraint_id] = None
            self._brought_in[constraint_id] = by_turn
        if constraint.turn_id is not None:
            self._in_turn[constraint.turn_id].add(constraint_id)
        old = self._held.get(constraint.replaces or "")
        if constraint.state != "inForce" or old is None or old.state == "released" or old is constraint:
            return (constraint_id,)
        self._before[old.constraint_id] = old
        self._held[old.constraint_id] = msgspec.structs.replace(old, state="released", replaced_by=constraint_id)
        return constraint_id, old.constraint_id

    def release(self, constraint_id: str, *, entry_id: str) -> tuple[str, ...]:
        """Take one out of force; returns its id, nothing if there is none."""
        one = self._held.get(constraint_id)
        if one is None:
            return ()
        self._set_by_hand(constraint_id)
        self._entries[constraint_id] = entry_id
        self._held[constraint_id] = msgspec.structs.replace(one, state="released")
        return (constraint_id,)

    def withdraw(self, turn_id: str) -> tuple[str, ...]:
        """The turn was replaced by another one: what its prompt alone brought about is taken back with it."""
        changed: list[str] = []
        for one in self.brought_by(turn_id):
            self._set_by_hand(one.constraint_id)
            self._held[one.constraint_id] = msgspec.structs.replace(one, state="released")
            changed.append(one.constraint_id)
            old = self._held.get(one.replaces or "")
            if old is not None and self._is_replaced_by(old, one.constraint_id):
                self._held[old.constraint_id] = self._before.pop(old.constraint_id)
                changed.append(old.constraint_id)
        return tuple(changed)

    def _set_by_hand(self, constraint_id: str) -> None:
        """It no longer goes with the turn that brought it about."""
        if (turn_id := self._brought_in.pop(constraint_id, None)) is not None:
            self._brought[turn_id].pop(constraint_id, None)

    def _is_replaced_by(self, one: Constraint, other: str | None) -> bool:
        return other is not None and one.replaced_by == other and one.constraint_id in self._before
