"""From a solution to prices and to the source of `coefficients.py`."""

from __future__ import annotations

import json
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from fitting.features import (
    CJK_BLOCKS,
    LENGTHS_OF_CJK,
    LENGTHS_OF_SCRIPTS,
    PUNCTUATION,
    SCRIPT_BLOCKS,
    STEPS_OF_CHARACTERS,
    SYMBOL_BLOCKS,
    Feature,
)
from gemini_companion.engine.tokens.prices import LONGEST_BASE, block_of

Solution = Mapping[Feature, float]

_LETTERS = 27
TYPES = {
    "KNOWN_PIECES": "Mapping[int, tuple[str, ...]]",
    "WORD_BASES": "Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]",
    "SCRIPT_RUNS": "Mapping[str, tuple[tuple[float, ...], tuple[float, ...], float]]",
    "CJK_RUNS": "Mapping[str, tuple[tuple[float, ...], float]]",
    "SYMBOLS": "Mapping[str, tuple[float, float, float]]",
    "CHARACTERS": "Mapping[int, str]",
}
"""Types of the tables that are collections."""

_WIDTH = 116
_CJK_LINE = 52


def tables_of(solution: Solution, known: Mapping[str, int]) -> dict[str, Any]:
    """The values of `coefficients.py`, by name. What the solution doesn't have is 0, or the nearest that it has."""

    def get(*feature: str | int) -> float:
        return solution.get(feature, 0.0)

    def hundredths(numbers: Iterable[float]) -> str:
        return " ".join(str(round(number * 100)) for number in numbers)

    letter_pairs = [(left, right) for left in range(_LETTERS) for right in range(_LETTERS)]
    signs = range(len(PUNCTUATION))
    return {
        "KNOWN_PIECES": {
            tokens: tuple(sorted(piece for piece in known if known[piece] == tokens))
            for tokens in sorted(set(known.values()))
        },
        "WORD_BASES": {
            case: tuple(_bases(solution, case, spaced) for spaced in (0, 1))
            for case in ("lower", "capital", "upper", "mixed")
        },
        "LONG_WORD_LETTER": round(get("long"), 3),
        "ACCENTED_LETTER": round(get("accented"), 3),
        "CASE_PAIRS": tuple(tuple(round(get("case", left, right), 3) for right in (0, 1)) for left in (0, 1)),
        "CARRIAGE_RETURN": round(get("carriage_return"), 3),
        "SCRIPT_RUNS": {
            name: (_script_bases(solution, name, 0), _script_bases(solution, name, 1), round(get("block", name), 3))
            for name in SCRIPT_BLOCKS
        },
        "CJK_RUNS": {
            name: (
                tuple(round(get("cjk_run", name, n), 2) for n in range(1, LENGTHS_OF_CJK + 1)),
                round(get("block", name), 3),
            )
            for name in CJK_BLOCKS
        },
        "SYMBOLS": {
            name: (
                round(get("symbol_run", name), 3),
                max(0.05, round(get("symbol", name, 0), 3)),
                max(0.02, round(get("symbol", name, 1), 3)),
            )
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
        "CHARACTERS": _characters(solution),
    }


def _bases(solution: Solution, case: str, spaced: int) -> tuple[float, ...]:
    bases: list[float] = []
    for length in range(2, LONGEST_BASE + 1):
        found = solution.get(("base", case, spaced, length))
        bases.append(round(found, 2) if found is not None else (bases[-1] if bases else 1.0))
    return tuple(bases)


def _script_bases(solution: Solution, name: str, spaced: int) -> tuple[float, ...]:
    lengths = range(1, LENGTHS_OF_SCRIPTS.get(name, 1) + 1)
    return tuple(round(solution.get(("script_run", name, spaced, length), 0.0), 2) for length in lengths)


def _characters(solution: Solution) -> dict[int, str]:
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for feature, deviation in solution.items():
        if feature[0] == "character":
            character = str(feature[1])
            step = STEPS_OF_CHARACTERS[block_of(character)]
            groups[round(deviation * 100 / step) * step].append(character)
    return {hundredths: "".join(sorted(groups[hundredths])) for hundredths in sorted(groups) if hundredths}


def render(tables: Mapping[str, Any], header: str, comments: Mapping[str, str]) -> str:
    """The source of `coefficients.py`: the header as its docstring, then each table with its comment as its
    docstring.
    """
    lines = [f'"""{header.strip()}\n"""', "", "from __future__ import annotations", ""]
    lines += ["from collections.abc import Mapping", "from typing import Final", ""]
    for name, value in tables.items():
        declared = f"Final[{TYPES[name]}]" if name in TYPES else "Final"
        lines += [f"{name}: {declared} = {_literal(value, '')}", f'"""{comments[name]}"""', ""]
    return "\n".join(lines)


def _literal(value: object, indent: str) -> str:
    """Python for `value`, over several lines where it must be; a string may be broken anywhere in CJK, and at spaces in
    numbers.
    """
    inner = indent + "    "
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return (
            "{\n" + "".join(f"{inner}{_quoted(key)}: {_literal(item, inner)},\n" for key, item in items) + indent + "}"
        )
    if isinstance(value, tuple):
        shown = [_quoted(item) for item in cast("tuple[object, ...]", value)]
        if len(", ".join(shown)) < _WIDTH - len(indent) - 20:
            return "(" + ", ".join(shown) + (",)" if len(shown) == 1 else ")")
        return "(\n" + "".join(f"{inner}{line}\n" for line in _filled(shown, _WIDTH - len(inner))) + indent + ")"
    if isinstance(value, str) and len(value) > _CJK_LINE:
        if value.isascii():
            return '"""\n' + "\n".join(textwrap.wrap(value, _WIDTH)) + '\n"""'
        pieces = [value[start : start + _CJK_LINE] for start in range(0, len(value), _CJK_LINE)]
        return "(\n" + "".join(f'{inner}"{piece}"\n' for piece in pieces) + indent + ")"
    return _quoted(value)


def _filled(shown: Iterable[str], width: int) -> Iterator[str]:
    line = ""
    for item in shown:
        if line and len(line) + len(item) + 2 > width:
            yield line
            line = ""
        line += f" {item}," if line else f"{item},"
    yield line


def _quoted(value: object) -> str:
    if isinstance(value, str) and '"' not in value:
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
