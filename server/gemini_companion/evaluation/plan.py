"""Which cells an evaluation has."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.evaluation.arms import named_arm
from gemini_companion.evaluation.cell import Cell
from gemini_companion.evaluation.conversations import Conversation
from gemini_companion.evaluation.script import Measured, can_be_measured, measured_of


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared, and how often."""

    arms: tuple[str, ...]
    strategies: tuple[str, ...]
    summarisers: tuple[str, ...]
    seeds: int
    replicates: int
    passes: tuple[int, ...]
    """After which passes the table has a row; the last is how many there are."""
    measured: tuple[Measured, ...] = ()
    """The graders; for none each conversation has the one that suits it."""


def cells_of(
    plan: Plan,
    chosen: Sequence[Conversation],
    corpus: Sequence[Conversation],
    models: Mapping[str, str] | None = None,
) -> list[Cell]:
    """Every cell, seed by seed, so that an interrupted run has some of everything.

    `corpus` is what conversations go on with; `chosen` are those that are measured; `models` says what summarisers
    stand for whose names alone do not.
    """
    families: dict[str, str] = {}
    for conversation in corpus:
        known = families.get(conversation.family, "")
        families[conversation.family] = hashlib.blake2b(
            f"{known}{conversation.name}{conversation.digest}".encode(), digest_size=8
        ).hexdigest()
    return [
        Cell(
            conversation=conversation.name,
            digest=families[conversation.family],
            measured=measured,
            arm=arm,
            strategy=strategy,
            summariser=summariser,
            seed=seed,
            replicate=replicate,
            passes=max(plan.passes),
            model=(models or {}).get(summariser, ""),
        )
        for seed in range(1, plan.seeds + 1)
        for replicate in range(plan.replicates)
        for conversation in chosen
        for measured in plan.measured or (measured_of(conversation),)
        if can_be_measured(conversation, measured, max(plan.passes))
        for arm, strategy, summariser in combinations(plan)
    ]


def combinations(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Arm, strategy and summariser. A baseline has no strategy; one that asks no model has no summariser of its own."""
    first = plan.summarisers[0]
    for name in plan.arms:
        arm = named_arm(name)
        if arm.baseline is None:
            yield from ((name, strategy, summariser) for strategy in plan.strategies for summariser in plan.summarisers)
        elif arm.baseline == "none":
            yield name, "", first
        else:
            yield from ((name, "", summariser) for summariser in plan.summarisers)


def parse_passes(text: str) -> tuple[int, ...]:
    """`1,5,10` as rising numbers. Raises `InvalidInput`."""
    try:
        numbers = sorted({int(piece) for piece in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1 or numbers[-1] > 100:
        raise InvalidInput(f"{text!r} does not name passes.", hint="Write numbers from 1 to 100, such as 1,5,10.")
    return tuple(numbers)
