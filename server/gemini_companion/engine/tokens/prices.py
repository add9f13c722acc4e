"""The price of one lexical piece in tokens: sums of fitted coefficients, cached per piece.

The model, per kind of piece: the commonest pieces have known prices. A word costs a base by its length and letter case,
plus the likelihood of a token boundary between each two neighbouring letters, with separate terms at its start and end.
Punctuation works the same way. Digits cost one each. White space costs exactly what the tokenizer makes of it. Runs of
CJK cost by character; words in other scripts by length; other symbols by their block.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import pairwise
from typing import Final, Generic, Literal, TypeVar
from weakref import WeakValueDictionary

from gemini_companion.engine.tokens import coefficients, known_pieces

LATIN: Final = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
"""Inside of a character class: letters of words in the Latin script."""

SCRIPTS: Final = "\u0250-\u1dff\u1f00-\u1fff\u2c00-\u2dff\ua000-\uabff\uac00-\ud7ff\ufb1d-\ufdff\ufe70-\ufefc"
"""Inside of a character class: letters of the other alphabets, syllables (Hangul among them), and combining signs."""

CJK_CLASSES: Final = ("\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", "\u3041-\u309f", "\u30a0-\u30ff")
"""Insides of character classes: Han, hiragana, katakana."""

BLOCKS: Final = (
    (0x0000, "latin"), (0x0250, "letters"), (0x0370, "greek"), (0x0400, "cyrillic_rare"), (0x0410, "cyrillic"),
    (0x0450, "cyrillic_rare"), (0x0530, "armenian"), (0x0590, "hebrew"), (0x0600, "arabic"), (0x0900, "devanagari"),
    (0x0980, "bengali"), (0x0A00, "indic"), (0x0B80, "tamil"), (0x0C00, "telugu"), (0x0C80, "indic"),
    (0x0E00, "thai"), (0x0E80, "southeast"), (0x10A0, "georgian"), (0x1100, "hangul"), (0x1200, "letters"),
    (0x1780, "southeast"), (0x1800, "letters"), (0x1E00, "latin"), (0x1F00, "greek"), (0x2000, "punctuation"),
    (0x200B, "joiners"), (0x2010, "punctuation"), (0x2060, "joiners"), (0x2070, "signs"), (0x2500, "boxes"),
    (0x25A0, "signs"), (0x2C00, "letters"), (0x2E00, "signs"), (0x3000, "cjk_signs"), (0x3005, "han"),
    (0x3006, "cjk_signs"), (0x3041, "hiragana"), (0x30A0, "katakana"), (0x3100, "cjk_signs"), (0x3400, "han"),
    (0xA000, "letters"), (0xAC00, "hangul"), (0xD800, "private"), (0xF900, "han"), (0xFB00, "signs"),
    (0xFB1D, "arabic"), (0xFE00, "joiners"), (0xFE10, "cjk_signs"), (0xFE70, "arabic"), (0xFEFF, "joiners"),
    (0xFF00, "full_width"), (0xFFF0, "private"), (0x10000, "rare"), (0x1D400, "signs"), (0x1D800, "rare"),
    (0x1F000, "emoji"), (0x1FB00, "rare"),
)  # fmt: skip
"""First code point and name of each block with prices of its own, ascending."""

REMEMBERED_PIECES: Final = 50_000
"""Prices kept at most (some 6 MB); then all are dropped."""

LONGEST_BASE: Final = 14
"""Letters from which on a word's base grows by a constant per letter."""

LONGEST_REMEMBERED: Final = 24
"""Characters past which a piece's price is not cached."""

_ACCENTED: Final = 26
_PUNCTUATION: Final = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_LONGEST_RUN: Final = 31
_SPLIT_RUN: Final = 16
_STARTS: Final = [start for start, _ in BLOCKS]
_REMEMBERED_COSTS: Final = 10_000
_LEAST: Final = 0.25

Case = Literal["lower", "capital", "upper", "mixed"]
_Pair = tuple[str, str]
_Key = TypeVar("_Key")


def block_of(character: str) -> str:
    """The name of the block that `character` is priced with."""
    return BLOCKS[bisect_right(_STARTS, ord(character)) - 1][1]


def letter_row(letter: str) -> int:
    """A Latin letter's row in the tables of letter pairs: 0 to 25 for a to z in either case, 26 for all others."""
    row = (ord(letter) | 0x20) - 0x61
    return row if 0 <= row < _ACCENTED else _ACCENTED


def case_of(word: str) -> Case:
    """`lower`, `capital` (only the first letter), `upper` or `mixed`."""
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper"
    return "capital" if word[1:].islower() else "mixed"


class PriceTable(dict[str, float]):
    """Prices in tokens by piece. Looking a piece up computes its price; prices are cached, within bounds."""

    def __missing__(self, piece: str) -> float:
        price = price_of(piece)
        if len(piece) <= LONGEST_REMEMBERED:
            if len(self) >= REMEMBERED_PIECES:
                self.clear()
            self[piece] = price
        return price


def shared_prices() -> PriceTable:
    """The one table of all who hold it. Once nobody does it is gone, and who asks next gets an empty one.

    Pricing new words takes a third to a half of counting a chat, and most of them were in the chats before it.
    """
    return SHARED.setdefault(PriceTable.__name__, PriceTable())


def price_of(piece: str) -> float:
    """Expected tokens of one piece, as `lexical.cut` makes them; more than 0. Raises `IndexError` on an empty piece."""
    spaced = piece[0] == " "
    body = piece[1:] if spaced else piece
    first = body[:1]
    if first.isascii():
        if first.isalpha():
            return _word_price(body, spaced)
        if not first or first not in _PUNCTUATION:
            return _plain_price(piece)
        known = _known_pieces().get(piece)  # all of them are punctuation
        return _punctuation_price(body, spaced) if known is None else known
    block = block_of(first)
    if block == "latin" and first.isalpha():
        return _word_price(body, spaced)
    if block in coefficients.SCRIPT_RUNS:
        without_space, with_space, _ = coefficients.SCRIPT_RUNS[block]
        bases = with_space if spaced else without_space
        return max(1.0, bases[min(len(body), len(bases)) - 1] + sum(map(_CHARACTERS.__getitem__, body)))
    if block in coefficients.CJK_RUNS:
        bases = coefficients.CJK_RUNS[block][0]
        return max(_LEAST, bases[min(len(body), len(bases)) - 1] + sum(map(_CHARACTERS.__getitem__, body)))
    symbols = coefficients.SYMBOLS[block][0] + sum(map(_SYMBOL_PAIRS.__getitem__, pairwise("\0" + body)))
    return max(_LEAST, symbols)


def run_price(length: int) -> int:
    """Tokens of a run of `length` spaces or tabs: exact up to 31 characters, and within one past that."""
    return (length > 0) if length <= _LONGEST_RUN else length // _SPLIT_RUN


def _plain_price(piece: str) -> float:
    """The price of numbers, white space and control characters, for which the tokenizer's rule is known."""
    newlines = piece.count("\n")
    if newlines:
        return -(-newlines // _LONGEST_RUN) + run_price(len(piece) - newlines)
    if piece[0] in " \t" and piece[-1] == piece[0]:
        return float(run_price(len(piece)))
    return coefficients.CARRIAGE_RETURN if piece == "\r" else float(len(piece))


def _word_price(word: str, spaced: bool) -> float:
    # Most of a new text's time: plain comparisons take half of what calls of `min` and `max` do.
    length = len(word)
    if length == 1:
        return 1.0
    bases = (_LOWER_BASES if word.islower() else coefficients.WORD_BASES[case_of(word)])[spaced]
    price = bases[length - 2] if length <= LONGEST_BASE else bases[-1]
    if length > LONGEST_BASE:
        price += (length - LONGEST_BASE) * coefficients.LONG_WORD_LETTER
    price += (_SPACED_FIRST_PAIRS if spaced else _FIRST_PAIRS)[word[0], word[1]] + _LAST_PAIRS[word[-2], word[-1]]
    price += sum(map(_inner_price, pairwise(word)))
    if not word.isascii():
        price += (length - len(word.encode("ascii", "ignore"))) * coefficients.ACCENTED_LETTER
    elif price > length:
        return float(length)
    return price if price > 1.0 else 1.0


def _punctuation_price(run: str, spaced: bool) -> float:
    if len(run) == 1:
        return 1.0
    price = _punctuation_firsts()[spaced][_PUNCTUATION.index(run[0])] + sum(
        map(_PUNCTUATION_PAIRS.__getitem__, pairwise(run))
    )
    return min(max(price, 1.0), float(len(run) + spaced))


class _Costs(dict[_Key, float], Generic[_Key]):
    """Costs computed when first looked up, and cached within bounds; `read` reads a table, with the first of them."""

    def __init__(self, read: Callable[[], Callable[[_Key], float]]) -> None:
        super().__init__()
        self._cost = cache(read)

    def __missing__(self, key: _Key) -> float:
        cost = self._cost()(key)
        if len(self) < _REMEMBERED_COSTS:
            self[key] = cost
        return cost


def _hundredths(table: str) -> list[float]:
    return [int(number) / 100 for number in table.split()]


def _by_letters(table: str) -> Callable[[_Pair], float]:
    costs = _hundredths(table)
    return lambda pair: costs[letter_row(pair[0]) * (_ACCENTED + 1) + letter_row(pair[1])]


def _inner_pairs() -> Callable[[_Pair], float]:
    in_any_case, in_upper_case = _by_letters(coefficients.LETTER_PAIRS), _by_letters(coefficients.UPPER_PAIRS)

    def cost(pair: _Pair) -> float:
        left, right = pair[0].isupper(), pair[1].isupper()
        return (
            in_any_case(pair) + coefficients.CASE_PAIRS[left][right] + (in_upper_case(pair) if left and right else 0.0)
        )

    return cost


def _by_punctuation(table: str) -> Callable[[_Pair], float]:
    costs = _hundredths(table)
    return lambda pair: costs[_PUNCTUATION.index(pair[0]) * len(_PUNCTUATION) + _PUNCTUATION.index(pair[1])]


def _characters() -> Callable[[str], float]:
    deviations = {c: hundredths / 100 for hundredths, group in coefficients.CHARACTERS.items() for c in group}
    ordinary = {block: run[-1] for block, run in coefficients.SCRIPT_RUNS.items()} | {
        block: run[-1] for block, run in coefficients.CJK_RUNS.items()
    }
    return lambda character: ordinary.get(block_of(character), 1.0) + deviations.get(character, 0.0)


def _symbols() -> Callable[[_Pair], float]:
    return _symbol


def _symbol(pair: _Pair) -> float:
    # Some blocks of letters have signs among them, hexagrams say, which stand in runs of symbols.
    _, each, repeated = coefficients.SYMBOLS.get(block_of(pair[1]), coefficients.SYMBOLS["signs"])
    return repeated if pair[0] == pair[1] else each


@cache
def _known_pieces() -> Mapping[str, float]:
    return {piece: float(tokens) for tokens, pieces in known_pieces.KNOWN_PIECES.items() for piece in pieces}


@cache
def _punctuation_firsts() -> tuple[list[float], list[float]]:
    return _hundredths(coefficients.PUNCTUATION_FIRST), _hundredths(coefficients.PUNCTUATION_SPACED_FIRST)


_INNER_PAIRS: Final = _Costs(_inner_pairs)
_inner_price: Final = _INNER_PAIRS.__getitem__
_LOWER_BASES: Final = coefficients.WORD_BASES["lower"]
_FIRST_PAIRS: Final = _Costs(partial(_by_letters, coefficients.FIRST_PAIRS))
_SPACED_FIRST_PAIRS: Final = _Costs(partial(_by_letters, coefficients.SPACED_FIRST_PAIRS))
_LAST_PAIRS: Final = _Costs(partial(_by_letters, coefficients.LAST_PAIRS))
_PUNCTUATION_PAIRS: Final = _Costs(partial(_by_punctuation, coefficients.PUNCTUATION_PAIRS))
_CHARACTERS: Final = _Costs(_characters)
_SYMBOL_PAIRS: Final = _Costs(_symbols)
SHARED: Final = WeakValueDictionary[str, PriceTable]()
"""What `shared_prices` gives, while anybody holds it."""
