"""No regular expression of the daemon takes long, whatever text it is given."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import pytest

from gemini_companion.engine.facts.sentences import PIECE
from tests.hostile.attacks import Attack, attacks
from tests.hostile.expressions import Expression, expressions_of, modules
from tests.hostile.timing import cpu_seconds, may_exceed

MEBIBYTE: Final = 1 << 20
SIZES: Final = (1 << 10, 1 << 13, 1 << 16)
LIMIT: Final = 2.0
"""Seconds for a mebibyte. A linear pattern takes 5 to 700 ms on a slow machine, a quadratic one minutes to hours."""
WORST: Final = 2
"""How many of a pattern's attacks are tried with the whole mebibyte."""

SHORT: Final[Mapping[str, int]] = {
    "adapters.offline.question": 8_002,  # the head and the tail of a prompt
    "adapters.gemini.faults._OVERFLOW": 4_096,
    "engine.compression.citations._CITED": 8_000,  # the end of a line
    "engine.constraints.": 600,  # a sentence
    "engine.constraints.detect": PIECE,
    "engine.facts.": PIECE,
    "engine.facts.extract._SPEAKER": MEBIBYTE,
    "engine.facts.neutralise": MEBIBYTE,
    "engine.facts.page.": MEBIBYTE,
    "engine.facts.sentences.": MEBIBYTE,
    "engine.facts.actions._OPEN_FILE": 2_000,
    "engine.facts.actions._VERDICT": 400,
    "engine.facts.rules.": 600,
    "engine.ide_context.secret_names.": 255,
    "engine.ide_context.secret_patterns.LINE_START": 80,
}
"""Expressions, or whole modules, that only ever meet so many characters at once, and are tried with that."""
SHORT_LIMIT: Final = 0.08
"""Seconds for such a text."""


def bounds(expression: Expression) -> tuple[int, float]:
    """The characters that it is tried with, and the seconds that it may take."""
    known = [prefix for prefix in SHORT if expression.name.startswith(prefix)]
    size = SHORT[max(known, key=len)] if known else MEBIBYTE
    return size, LIMIT if size == MEBIBYTE else SHORT_LIMIT


def run(expression: Expression, method: str, text: Any) -> None:
    pattern: Any = expression.pattern
    if method == "finditer":
        deque(pattern.finditer(text), maxlen=0)
    elif method in ("sub", "subn"):
        pattern.sub("" if isinstance(text, str) else b"", text)
    else:
        getattr(pattern, method)(text)


def seconds(expression: Expression, method: str, attack: Attack, size: int, enough: float) -> float:
    text = attack.text(size)
    subject = text if isinstance(expression.pattern.pattern, str) else text.encode("latin-1", "replace")
    return cpu_seconds(lambda: run(expression, method, subject), enough=enough)


def dearest(
    expression: Expression, method: str, size: int, limit: float, *, is_thorough: bool
) -> tuple[float, Attack, int]:
    """The most seconds that a text costs, the text and its size; the first one over the limit ends the search.

    Of every step the dearest texts go on to the next, fewer where it is not thorough; then the whole mebibyte is tried
    only with those whose cost at the smaller sizes says that it may be too much.
    """
    tried = attacks(expression.pattern)
    worst = (0.0, tried[0], 0)
    known: dict[Attack, list[tuple[int, float]]] = {attack: [] for attack in tried}
    for step in (*(step for step in SIZES if step < size), size):
        if step == MEBIBYTE and not is_thorough:
            tried = [attack for attack in tried if may_exceed(limit, step, known[attack][-2], known[attack][-1])]
        costs: list[tuple[float, Attack]] = []
        for attack in tried:
            cost = seconds(expression, method, attack, step, limit)
            known[attack].append((step, cost))
            costs.append((cost, attack))
            if cost > limit:
                return cost, attack, step
        costs.sort(key=lambda pair: -pair[0])
        if costs:
            worst = (*costs[0], step)
        share = 4 if is_thorough else 16
        tried = [attack for _, attack in costs[: WORST if step == SIZES[-1] else max(WORST, len(costs) // share)]]
    return worst


def check(module: str, *, is_thorough: bool) -> None:
    for expression in expressions_of(module):
        longest, limit = bounds(expression)
        for method in sorted(expression.methods):
            cost, attack, size = dearest(expression, method, longest, limit, is_thorough=is_thorough)
            assert cost <= limit, f"{expression.name}: {method} takes {cost:.2f} s for {size} characters of {attack}"


@pytest.mark.parametrize("module", modules())
def test_no_text_seems_to_cost_an_expression_more_than_its_length_says(module: str):
    check(module, is_thorough=False)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("module", modules())
def test_the_worst_mebibyte_costs_an_expression_no_more_than_any_other(module: str):
    check(module, is_thorough=True)


def test_an_expression_that_is_quadratic_is_found_by_the_short_search_too():
    quadratic = Expression("made up", re.compile(r"a*c"), frozenset({"finditer"}))
    cost, _, size = dearest(quadratic, "finditer", MEBIBYTE, 0.01, is_thorough=False)
    assert cost > 0.01
    assert size < MEBIBYTE


def test_the_expressions_that_are_found_are_all_there_are():
    """Those of a few modules, to see that the search finds each kind: assigned, called at once, lazy, made at run time."""
    names = {expression.name for module in modules() for expression in expressions_of(module)}
    assert len(names) > 150
    assert {"protocol.frames._LENGTH", "engine.facts.paths._DOT"} <= names
    assert any(name.startswith("engine.compression.truncate:") for name in names)
