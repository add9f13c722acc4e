"""From a solution to prices and to the source of the modules that hold them."""

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

COMMENTS = {
    "KNOWN_PIECES": "The commonest pieces, by how many tokens they are: facts, not fitted.",
    "WORD_BASES": "By letter case, without and with a space: tokens of words of 2 to 14 letters, before their pairs.",
    "LONG_WORD_LETTER": "Tokens per letter past the 14th.",
    "ACCENTED_LETTER": "Tokens per letter of a word that is not ASCII.",
    "CASE_PAIRS": "Tokens per two neighbouring letters, by whether the left and the right are upper case.",
    "CARRIAGE_RETURN": "Tokens per carriage return.",
    "SCRIPT_RUNS": "By block: tokens of words by length (the last for longer), without and with a space, and a letter.",
    "CJK_RUNS": "By block: tokens of runs by length (the last for longer ones), and tokens a character.",
    "SYMBOLS": "By block: tokens of a run, of each symbol in it, and of one that repeats the symbol before it.",
    "LETTER_PAIRS": "Hundredths of a token per two neighbouring letters: rows and columns a to z, then all others.",
    "UPPER_PAIRS": "The same, added where both letters are upper case.",
    "FIRST_PAIRS": "The same, added for the first two letters of a word without a space before it.",
    "SPACED_FIRST_PAIRS": "The same, added for the first two letters of a word with a space before it.",
    "LAST_PAIRS": "The same, added for the last two letters of a word.",
    "PUNCTUATION_FIRST": "Hundredths of a token of a run of two signs or more, by its first sign, in ASCII's order.",
    "PUNCTUATION_SPACED_FIRST": "The same for runs with a space before them.",
    "PUNCTUATION_PAIRS": "Hundredths of a token per two neighbouring signs: rows and columns in ASCII's order.",
    "CHARACTERS": "Characters that cost more or less than others of their block, by how many hundredths of a token.",
}
"""What each table holds, for its docstring."""

_WIDTH = 116
_CJK_LINE = 52


def tables_of(solution: Solution, known: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """The values of each module of `engine/tokens` that is written, by its name and theirs.

    What the solution doesn't have is 0, or the nearest that it has.
    """
    pieces = {
        tokens: tuple(sorted(piece for piece in known if known[piece] == tokens))
        for tokens in sorted(set(known.values()))
    }
    return {"known_pieces": {"KNOWN_PIECES": pieces}, "coefficients": _coefficients(solution)}


def _coefficients(solution: Solution) -> dict[str, Any]:

    def get(*feature: str | int) -> float:
        return solution.get(feature, 0.0)

    def hundredths(numbers: Iterable[float]) -> str:
        return " ".join(str(round(number * 100)) for number in numbers)

    letter_pairs = [(left, right) for left in range(_LETTERS) for right in range(_LETTERS)]
    signs = range(len(PUNCTUATION))
    return {
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


def render(tables: Mapping[str, Any], header: str) -> str:
    """The source of a module, to be put into form by `ruff format`: the header is its docstring, and each table has one
    of its own.
    """
    lines = [f'"""{header.strip()}\n"""', "", "from __future__ import annotations", ""]
    lines += ["from collections.abc import Mapping", "from typing import Final", ""]
    for name, value in tables.items():
        declared = f"Final[{TYPES[name]}]" if name in TYPES else "Final"
        lines += [f"{name}: {declared} = {_literal(value, '')}", f'"""{COMMENTS[name]}"""', ""]
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
