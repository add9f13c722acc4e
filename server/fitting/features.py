"""Which coefficients a lexical piece's price is the sum of: the model of `prices.py`, seen from the side of the fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from gemini_companion.engine.tokens.prices import (
    BLOCKS,
    LONGEST_BASE,
    block_of,
    case_of,
    letter_row,
    run_price,
)

Feature = tuple[str | int, ...]
"""The coefficient's table, then its place in it."""

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
CJK_BLOCKS = ("han", "hiragana", "katakana")
SYMBOL_BLOCKS = (
    "latin",
    "punctuation",
    "joiners",
    "signs",
    "boxes",
    "cjk_signs",
    "full_width",
    "private",
    "rare",
    "emoji",
)
SCRIPT_BLOCKS = tuple(sorted({name for _, name in BLOCKS} - set(CJK_BLOCKS) - set(SYMBOL_BLOCKS)))
LENGTHS_OF_SCRIPTS = {"cyrillic": 8, "hangul": 6, "greek": 6, "arabic": 6}
"""Lengths that words of a script have a base for; words of other scripts are linear in length."""
LENGTHS_OF_CJK = 8
"""Lengths that runs of a CJK script have a base for."""
STEPS_OF_CHARACTERS = {
    "han": 10,
    "hiragana": 10,
    "katakana": 10,
    "hangul": 10,
    "cyrillic": 5,
    "cyrillic_rare": 5,
    "arabic": 5,
    "greek": 5,
}
"""Blocks whose characters may cost more or less than the block's, and in steps of how many hundredths of a token."""
FIXED: Feature = ("fixed",)
"""Tokens that are known without a fit."""


def features_of(pieces: Iterable[str]) -> Counter[Feature]:
    """How often each coefficient occurs in the price of `pieces` together; `FIXED` counts tokens."""
    features: Counter[Feature] = Counter()
    for piece in pieces:
        _add_piece(features, piece)
    return features


def least_price_of(features: Counter[Feature]) -> float:
    """The floor under the price of what has these features; 0 where prices have none."""
    tables = {feature[0] for feature in features}
    if tables & {"base", "punctuation_first", "script_run"}:
        return 1.0
    return 0.25 if tables & {"symbol", "cjk_run"} else 0.0


def _add_piece(features: Counter[Feature], piece: str) -> None:
    spaced = piece[0] == " "
    body = piece[1:] if spaced else piece
    first = body[:1]
    if first and first in PUNCTUATION:
        _add_punctuation(features, body, spaced)
    elif first.isascii() and not first.isalpha():
        _add_plain(features, piece)
    elif first.isalpha() and block_of(first) == "latin":
        _add_word(features, body, spaced)
    elif block_of(first) in SCRIPT_BLOCKS:
        features[
            "script_run", block_of(first), int(spaced), min(len(body), LENGTHS_OF_SCRIPTS.get(block_of(first), 1))
        ] += 1
        _add_characters(features, body)
    elif block_of(first) in CJK_BLOCKS:
        features["cjk_run", block_of(first), min(len(body), LENGTHS_OF_CJK)] += 1
        _add_characters(features, body)
    else:
        features["symbol_run", block_of(first)] += 1
        for left, right in pairwise("\0" + body):
            features["symbol", block_of(right), int(left == right)] += 1


def _add_characters(features: Counter[Feature], body: str) -> None:
    for character in body:
        features["block", block_of(character)] += 1
        if block_of(character) in STEPS_OF_CHARACTERS:
            features["character", character] += 1


def _add_plain(features: Counter[Feature], piece: str) -> None:
    newlines = piece.count("\n")
    if piece == "\r":
        features["carriage_return",] += 1
    elif newlines:
        features[FIXED] += -(-newlines // 31) + run_price(len(piece) - newlines)
    else:
        features[FIXED] += run_price(len(piece)) if piece[0] in " \t" and piece[-1] == piece[0] else len(piece)


def _add_word(features: Counter[Feature], word: str, spaced: bool) -> None:
    length = len(word)
    if length == 1:
        features[FIXED] += 1
        return
    features["base", case_of(word), int(spaced), min(length, LONGEST_BASE)] += 1
    if length > LONGEST_BASE:
        features["long",] += length - LONGEST_BASE
    accented = length - len(word.encode("ascii", "ignore"))
    if accented:
        features["accented",] += accented
    rows = [letter_row(letter) for letter in word]
    features["first", int(spaced), rows[0], rows[1]] += 1
    features["last", rows[-2], rows[-1]] += 1
    for (left, right), (left_row, right_row) in zip(pairwise(word), pairwise(rows), strict=True):
        features["pair", left_row, right_row] += 1
        features["case", int(left.isupper()), int(right.isupper())] += 1
        if left.isupper() and right.isupper():
            features["upper", left_row, right_row] += 1


def _add_punctuation(features: Counter[Feature], run: str, spaced: bool) -> None:
    if len(run) == 1:
        features[FIXED] += 1
        return
    features["punctuation_first", int(spaced), PUNCTUATION.index(run[0])] += 1
    for left, right in pairwise(run):
        features["punctuation", PUNCTUATION.index(left), PUNCTUATION.index(right)] += 1
