"""How much of what must survive a compression stands in its snapshot."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gemini_companion.engine.facts.fact import Fact, FactKind
from gemini_companion.engine.facts.neutralise import neutralise


class MissingFact(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A fact that the snapshot does not hold."""

    kind: FactKind
    text: str


class Retention(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The wire's shape: `score` is `kept / facts` from 0 to 1, and 1 where there was nothing to keep."""

    score: float
    facts: int
    kept: int
    repaired: int
    """Of those kept, how many were put back after the model had left them out."""
    missing: tuple[MissingFact, ...]


def measure_retention(facts: Sequence[Fact], snapshot_text: str, *, repaired: int = 0) -> Retention:
    """Look for every certain fact in the snapshot, word for word or neutralised; each text of a kind counts once."""
    wanted: dict[tuple[FactKind, str], None] = dict.fromkeys((fact.kind, fact.text) for fact in facts if fact.certain)
    missing = tuple(MissingFact(kind=fact[0], text=fact[1]) for fact in wanted if not _stands(fact[1], snapshot_text))
    kept = len(wanted) - len(missing)
    return Retention(score=kept / len(wanted) if wanted else 1.0, facts=len(wanted), kept=kept, repaired=min(repaired, kept), missing=missing)


def _stands(text: str, snapshot_text: str) -> bool:
    return text in snapshot_text or neutralise(text) in snapshot_text
