"""No regular expression of the daemon takes long, whatever text it is given."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import pytest

from tests.hostile.attacks import Attack, attacks
from tests.hostile.expressions import Expression, expressions
from tests.hostile.timing import cpu_seconds

MEBIBYTE: Final = 1 << 20
SIZES: Final = (1 << 10, 1 << 13, 1 << 16)
LIMIT: Final = 0.25
"""Seconds for a mebibyte. A linear pattern takes 5 to 50 ms, a quadratic one hours."""
WORST: Final = 2
"""How many of a pattern's attacks are tried with the whole mebibyte."""

SHORT: Final[Mapping[str, int]] = {}
"""Patterns that only ever meet text of at most so many characters, and are tried with that."""

EXPRESSIONS: Final = expressions()


def run(expression: Expression, method: str, text: Any) -> None:
    pattern: Any = expression.pattern
    if method == "finditer":
        deque(pattern.finditer(text), maxlen=0)
    elif method in ("sub", "subn"):
        pattern.sub("" if isinstance(text, str) else b"", text)
    else:
        getattr(pattern, method)(text)


def seconds(expression: Expression, method: str, attack: Attack, size: int) -> float:
    text = attack.text(size)
    subject = text if isinstance(expression.pattern.pattern, str) else text.encode("latin-1", "replace")
    return cpu_seconds(lambda: run(expression, method, subject), enough=LIMIT)


def dearest(expression: Expression, method: str) -> tuple[float, Attack, int]:
    """The most seconds that a text costs, the text and its size; the first one over the limit ends the search."""
    size = SHORT.get(expression.name, MEBIBYTE)
    tried = attacks(expression.pattern)
    worst = (0.0, tried[0], 0)
    for step in (*(step for step in SIZES if step < size), size):
        costs: list[tuple[float, Attack]] = []
        for attack in tried:
            cost = seconds(expression, method, attack, step)
            costs.append((cost, attack))
            if cost > LIMIT:
                return cost, attack, step
        costs.sort(key=lambda pair: -pair[0])
        worst = (*costs[0], step)
        tried = [attack for _, attack in costs[: WORST if step == SIZES[-1] else max(WORST, len(costs) // 4)]]
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda expression: expression.name)
def test_the_worst_mebibyte_costs_an_expression_no_more_than_any_other(expression: Expression):
    for method in sorted(expression.methods):
        cost, attack, size = dearest(expression, method)
        assert cost < LIMIT, f"{method} takes {cost:.2f} s for {size} characters of {attack}"


def test_the_expressions_that_are_found_are_all_there_are():
    """Those of a few modules, to see that the search finds each kind: assigned, called at once, lazy, made at run time."""
    names = {expression.name for expression in EXPRESSIONS}
    assert len(names) > 150
    assert {"protocol.frames._LENGTH", "engine.facts.paths._DOT", "engine.compression.truncate:128"} <= names
