"""From a solution to prices and to the source of `coefficients.py`."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from fitting.features import CJK_BLOCKS, PUNCTUATION, SCRIPT_BLOCKS, SYMBOL_BLOCKS, Feature
from gemini_companion.engine.tokens.prices import LONGEST_BASE

Solution = Mapping[Feature, float]

_LETTERS = 27
_WIDTH = 116


def tables_of(solution: Solution) -> dict[str, Any]:
    """The values of `coefficients.py`, by name. What the solution doesn't have is 0, or the nearest that it has."""

    def get(*feature: str | int) -> float:
        return solution.get(feature, 0.0)

    def hundredths(numbers: Iterable[float]) -> str:
        return " ".join(str(round(number * 100)) for number in numbers)

    letter_pairs = [(left, right) for left in range(_LETTERS) for right in range(_LETTERS)]
    signs = range(len(PUNCTUATION))
    return {
        "WORD_BASES": {case: tuple(_bases(solution, case, spaced) for spaced in (0, 1)) for case in ("lower", "capital", "upper", "mixed")},
        "LONG_WORD_LETTER": round(get("long"), 3),
        "ACCENTED_LETTER": round(get("accented"), 3),
        "CASE_PAIRS": tuple(tuple(round(get("case", left, right), 3) for right in (0, 1)) for left in (0, 1)),
        "CARRIAGE_RETURN": round(get("carriage_return"), 3),
        "SCRIPT_RUNS": {
            name: (round(get("script_run", name, 0), 3), round(get("script_run", name, 1), 3), round(get("script_letter", name), 3))
            for name in SCRIPT_BLOCKS
        },
        "CJK_RUNS": {name: (round(get("cjk_run", name), 3), round(get("cjk_character", name), 3)) for name in CJK_BLOCKS},
        "SYMBOLS": {
            name: (round(get("symbol_run", name), 3), max(0.05, round(get("symbol", name, 0), 3)), max(0.02, round(get("symbol", name, 1), 3)))
            for name in SYMBOL_BLOCKS
        },
        "LETTER_PAIRS": hundredths(get("pair", *pair) for pair in letter_pairs),
        "UPPER_PAIRS": hundredths(get("upper", *pair) for pair in letter_pairs),
        "FIRST_PAIRS": hundredths(get("first", 0, *pair) for pair in letter_pairs),
        "SPACED_FIRST_PAIRS": hundredths(get("first", 1, *pair) for pair in letter_pairs),
        "LAST_PAIRS": hundredths(get("last", *pair) for pair in letter_pairs),
        "PUNCTUATION_FIRST": hundredths(get("punctuation_first", 0, sign) for sign in signs),
        "PUNCTUATION_SPACED_FIRST": hundredths(get("punctuation_first", 1, sign) for sign in signs),
        "PUNCTUATION_PAIRS": hundredths(get("punctuation", left, right) for left in signs for right in signs),
        "CJK_CHARACTERS": _cjk_characters(solution),
    }


def _bases(solution: Solution, case: str, spaced: int) -> tuple[float, ...]:
    bases: list[float] = []
    for length in range(2, LONGEST_BASE + 1):
        found = solution.get(("base", case, spaced, length))
        bases.append(round(found, 2) if found is not None else (bases[-1] if bases else 1.0))
    return tuple(bases)


def _cjk_characters(solution: Solution) -> dict[int, str]:
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for feature, deviation in solution.items():
        if feature[0] == "cjk" and round(deviation * 10):
            groups[round(deviation * 10)].append(str(feature[1]))
    return {tenths: "".join(sorted(groups[tenths])) for tenths in sorted(groups)}


def render(tables: Mapping[str, Any], header: str, comments: Mapping[str, str]) -> str:
    """The source of `coefficients.py`: the header as its docstring, then each table with its comment as its docstring."""
    lines = [f'"""{header.strip()}\n"""', "", "from __future__ import annotations", "", "from typing import Final", ""]
    for name, value in tables.items():
        if isinstance(value, str):
            body = '"""\n' + "\n".join(textwrap.wrap(value, _WIDTH)) + '\n"""'
        elif isinstance(value, dict):
            body = "{\n" + "".join(_entry(key, item) for key, item in value.items()) + "}"  # pyright: ignore[reportUnknownVariableType]
        else:
            body = repr(value)
        lines += [f"{name}: Final = {body}", f'"""{comments[name]}"""', ""]
    return "\n".join(lines)


def _entry(key: object, value: object) -> str:
    quoted = f'"{key}"' if isinstance(key, str) else repr(key)
    if isinstance(value, str):
        pieces = [value[start : start + 56] for start in range(0, len(value), 56)]
        if len(pieces) == 1:
            return f'    {quoted}: "{value}",\n'
        return f"    {quoted}: (\n" + "".join(f'        "{piece}"\n' for piece in pieces) + "    ),\n"
    line = f"    {quoted}: {value!r},\n"
    if len(line) <= _WIDTH or not isinstance(value, tuple):
        return line
    items: tuple[object, ...] = value
    return f"    {quoted}: (\n" + "".join(f"        {item!r},\n" for item in items) + "    ),\n"
