"""One result for each call, where Gemini CLI's file has it in several places.

A result is recorded with its call and, once the model has been told, as a message of the user; a session that was
resumed may tell it again. Ids differ between the places: a message's may have the tool's name before it, or be missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from gemini_companion.engine.facts.extract import as_json
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import response_of


class RoundAnswers:
    """What the user's messages of one round answer: the round of some answers of the model and what follows them."""

    def __init__(self, parts: Iterable[Part], recorded: Collection[str]) -> None:
        """`parts` are all that the messages hold, `recorded` the ids of the calls that results are recorded with."""
        told = (_keys(part) for part in parts if response_of(part) is not None)
        self._told = Counter(identity if identity in recorded else said for identity, said in told)
        self._given: set[str] = set()

    def missing(self, parts: Sequence[Part]) -> tuple[Part, ...]:
        """Of the parts that are recorded with the calls, those whose result no message tells, each result once.

        What follows a result, such as an image, goes with it.
        """
        kept: list[Part] = []
        is_told = False
        for part in parts:
            if response_of(part) is not None:
                key = next((key for key in _keys(part) if self._told[key] > 0), None)
                self._told[key or ""] -= 1
                is_told = key is not None or self._is_given(part)
            if not is_told:
                kept.append(part)
        return tuple(kept)

    def once(self, parts: Sequence[Part]) -> tuple[Part, ...]:
        """The parts of a message of the user without results that an earlier one of the round has told."""
        return tuple(part for part in parts if response_of(part) is None or not self._is_given(part))

    def _is_given(self, part: Part) -> bool:
        """True if a result with the same id, name and content was there before; remembers this one."""
        response = response_of(part) or {}
        if not response.get("id"):
            return False
        known = as_json(response)
        if known in self._given:
            return True
        self._given.add(known)
        return False


def _keys(part: Part) -> tuple[str, str]:
    """What a result is known by: its id, and what it says, for one that is told under another id."""
    response = response_of(part) or {}
    identity = response.get("id")
    return identity if isinstance(identity, str) else "", f"{response.get('name')}\0{as_json(response.get('response'))}"
