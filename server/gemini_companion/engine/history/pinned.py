"""Which of the person's rules stand in a content of their own, and how that content is put into a view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from gemini_companion.engine.history.constraint import Constraint, ConstraintLedger
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.item import PROMPTS, Item, ItemKind, MeasureContent
from gemini_companion.engine.history.log import ConstraintEntry, PinEntry, UnpinEntry
from gemini_companion.engine.history.part import text_of

PINS_INTRODUCTION: Final = "The user pinned these texts. They hold word for word:"

NEWER: Final = "The user said later, which may or may not change the text above; it holds until they say so: "
"""Stands ahead of words that only the person can judge, behind the rule that they may change."""

ACKNOWLEDGEMENT: Final = "Got it. Thanks for the additional context!"
"""The model's answer to a snapshot, and to pinned texts ahead of a prompt; a literal that other programs look for."""


class PinnedTexts(Fold):
    """The constraints of a session, and those of them whose texts its view shows in a content of their own."""

    def __init__(self) -> None:
        self.constraints = ConstraintLedger()
        self.pins: dict[str, PinEntry] = {}
        """The pins in force by id, oldest first; they are among the constraints too."""
        self.shown: frozenset[str] = frozenset()
        """Ids of the constraints in that content."""
        self._texts: list[str] = []
        self._is_compressed = False
        """Whether the view has a snapshot."""

    def take_in(self, entry: PinEntry | UnpinEntry | ConstraintEntry) -> tuple[str, ...]:
        """Apply an entry; returns the ids of the constraints that it changes."""
        match entry:
            case PinEntry():
                self.pins[entry.pin_id] = entry
                return self.constraints.take(constraint_of(entry), entry_id=entry.id)
            case UnpinEntry():
                was_there = self.pins.pop(entry.pin_id, None) is not None
                return self.constraints.release(entry.pin_id, entry_id=entry.id) if was_there else ()
            case ConstraintEntry():
                changed = self.constraints.take(
                    entry.constraint, entry_id=entry.id, digest=entry.digest, by_turn=entry.by_turn
                )
                for pin_id in changed:
                    self._keep_pin(pin_id, entry)
                return changed

    def _keep_pin(self, pin_id: str, entry: ConstraintEntry) -> None:
        """See to it that a pin is among the pins exactly while it is in force."""
        one = self.constraints.get(pin_id)
        if one is None or one.source != "pin" or one.state != "inForce":
            self.pins.pop(pin_id, None)
        else:
            self.pins[pin_id] = PinEntry(
                id=entry.id, seq=entry.seq, time=one.created_at, pin_id=pin_id, text=one.text, turn_id=one.turn_id
            )

    def are_stale(
        self,
        changed: Iterable[str],
        rules: Callable[[], Sequence[Constraint]],
        prompts: Mapping[str, Sequence[Item]],
    ) -> bool:
        """Whether the content is no longer the right one, these constraints having changed.

        One that stands in a visible prompt changes nothing: saying a rule costs no cached prefix.
        """
        if not any(
            constraint_id in self.shown or self._must_be_shown(constraint_id, prompts) for constraint_id in changed
        ):
            return False
        pinned = _pinned(rules(), prompts, is_compressed=self._is_compressed)
        if _texts(pinned) != self._texts:
            return True
        self.shown = frozenset(one.constraint_id for one in pinned)
        return False

    def _must_be_shown(self, constraint_id: str, prompts: Mapping[str, Sequence[Item]]) -> bool:
        one = self.constraints.get(constraint_id)
        return (
            one is not None
            and (one.state == "inForce" or (one.state == "proposed" and one.replaces in self.shown))
            and must_be_pinned(one, prompts, is_compressed=self._is_compressed)
        )

    def show(self, items: Sequence[Item], pinned: Sequence[Constraint]) -> None:
        """Note what the view is now, and which constraints that content has in it."""
        self._is_compressed = any(item.kind == "snapshot" for item in items)
        self.shown = frozenset(one.constraint_id for one in pinned)
        self._texts = _texts(pinned)

    def added_to(
        self, items: list[Item], rules: Sequence[Constraint], measure: MeasureContent
    ) -> tuple[list[Item], list[Constraint]]:
        """The items with that content, and the constraints in it; the list itself is changed.

        It stands behind the last snapshot, or at the front where there is none.
        """
        if not rules:
            return items, []
        place = next((index for index in range(len(items) - 1, -1, -1) if items[index].kind == "snapshot"), None)
        prompts = prompts_in(items)
        pinned = _pinned(rules, prompts, is_compressed=place is not None)
        if not pinned:
            return items, []
        beside = None if place is None else items[place]
        entry_id = beside.entry_id if beside else self.constraints.entry_ids([pinned[-1].constraint_id])[0]

        def item(content: Content, kind: ItemKind) -> Item:
            return Item(
                content,
                seq=beside.seq if beside else 0,
                entry_id=entry_id,
                kind=kind,
                measure=measure(content),
                compression_id=beside.compression_id if beside else None,
            )

        added = [item(pins_content(_texts(pinned)), "pin")]
        if place is None and not (
            items and items[0].content.role == "model"
        ):  # else the prompt would look pinned as well
            added.append(item(model_text(ACKNOWLEDGEMENT), "acknowledgement"))
        at = 0 if place is None else place + 1
        items[at:at] = added
        return items, pinned

    def entry_ids(self) -> tuple[str, ...]:
        """Ids of the entries that the content represents."""
        return self.constraints.entry_ids(
            one.constraint_id for one in self.constraints.all() if one.constraint_id in self.shown
        )


def prompts_in(items: Iterable[Item]) -> dict[str, tuple[Item, ...]]:
    """The prompts of a view, steering ones too, by the ids of their turns."""
    prompts: dict[str, tuple[Item, ...]] = {}
    for item in items:
        if item.kind in PROMPTS:
            prompts[item.turn_id] = (*prompts.get(item.turn_id, ()), item)
    return prompts


def must_be_pinned(constraint: Constraint, prompts: Mapping[str, Sequence[Item]], *, is_compressed: bool) -> bool:
    """False while a prompt in which it was said stands in the view, with its text word for word.

    A pin stands behind a snapshot in any case: the person asked for that.
    """
    if is_compressed and constraint.source == "pin":
        return True
    said = prompts.get(constraint.turn_id or "", ())
    return not any(constraint.text in (text_of(part) or "") for item in said for part in item.content.parts)


def _pinned(
    rules: Sequence[Constraint], prompts: Mapping[str, Sequence[Item]], *, is_compressed: bool
) -> list[Constraint]:
    """Those of the rules that must be, each with the later words that may change it and stand nowhere else."""
    wanted = [one for one in rules if must_be_pinned(one, prompts, is_compressed=is_compressed)]
    newer: defaultdict[str | None, list[Constraint]] = defaultdict(list)
    for one in wanted:
        if one.state == "proposed":
            newer[one.replaces].append(one)
    standing = [one for one in wanted if one.state == "inForce"]
    return [each for one in standing for each in (one, *newer[one.constraint_id])]


def _texts(pinned: Iterable[Constraint]) -> list[str]:
    """What is shown of them, each once."""
    return list(dict.fromkeys(one.text if one.state == "inForce" else f"{NEWER}{one.text}" for one in pinned))


def pins_content(texts: Iterable[str]) -> Content:
    """The user content that holds pinned texts: an introduction, then each once in a part of its own, word for word."""
    intro = user_text(PINS_INTRODUCTION)
    return Content(role="user", parts=(*intro.parts, *({"text": text} for text in dict.fromkeys(texts))))


def constraint_of(pin: PinEntry) -> Constraint:
    """The constraint that a pin is."""
    return Constraint(
        constraint_id=pin.pin_id,
        text=pin.text,
        scope="session",
        state="inForce",
        created_at=pin.time,
        source="pin",
        turn_id=pin.turn_id,
    )
