"""The default estimate: a text is cut into lexical pieces, each with a price fitted against the real tokenizer.

Gemini's tokenizer never merges across a change of script, so a text's tokens are those of its pieces, and only the
price of a word, of a run of punctuation or of a run of CJK has to be estimated. Cutting is one pass of one pattern;
prices are cached, one cache for all counters.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Final

from gemini_companion.engine.tokens.prices import CJK_CLASSES, LATIN, SCRIPTS, PriceTable, shared_prices

SAMPLED_PAST: Final = 65_536
"""Characters up to which a text is counted in full; of a longer one only as many are read, as samples."""

_WINDOWS: Final = 64
_WINDOW: Final = SAMPLED_PAST // _WINDOWS

_PUNCTUATION: Final = r"!-/:-@\[-`{-~"
_HAN, _HIRAGANA, _KATAKANA = CJK_CLASSES
# The first character says which alternative begins a piece, or behind a space the second one, and no run has to give
# anything back. So a space stands before a group instead of being optional before each run, and quantifiers are
# possessive: a tenth to a fifth off the search, which is more than half of what a text of known words takes.
_CUT_ASCII: Final = re.compile(
    rf" (?:[A-Za-z]++|[{_PUNCTUATION}]++|[0-9]{{1,3}}+| *+)"
    rf"|[A-Za-z]++|[{_PUNCTUATION}]++|[0-9]{{1,3}}+|\n++(?: {{2,}}+)?|\t++|.",
    re.DOTALL,
)
_CUT: Final = (
    rf" (?:[{LATIN}]++|[{_PUNCTUATION}]++|[0-9]{{1,3}}+|[{SCRIPTS}]++| *+)"
    rf"|[{LATIN}]++|[{_PUNCTUATION}]++|[0-9]{{1,3}}+|\n++(?: {{2,}}+)?"
    rf"|[{_HAN}]++|[{_HIRAGANA}]++|[{_KATAKANA}]++|[{SCRIPTS}]++|\t++"
    rf"|[^\x00-\x7f{LATIN}{SCRIPTS}{_HAN}{_HIRAGANA}{_KATAKANA}]++|."
)

_TAG: Final = re.compile(
    r"</?(?:table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|s|sub|sup|code)>"
)
"""The HTML tags that the tokenizer has a token for."""

_ONE_TOKEN: Final = "\x7f"


def cut(text: str) -> list[str]:
    """Split `text` into pieces, in order; joined they are `text`, except that each tag in `_TAG` is one U+007F.

    A piece is a word, a number of up to three digits or a run of punctuation, each with the one space before it; a run
    of one CJK script, of other symbols, of spaces or tabs; newlines with the indentation after them; or one control
    character.
    """
    if "<" in text:
        text = _TAG.sub(_ONE_TOKEN, text)
    return (_CUT_ASCII if text.isascii() else _cut_all()).findall(text)


@cache
def _cut_all() -> re.Pattern[str]:
    """Five milliseconds of compiling, which a daemon that sees plain ASCII alone is spared."""
    return re.compile(_CUT, re.DOTALL)


class LexicalTokenCounter:
    """Estimates tokens by a linear model over lexical features; deterministic, and safe to share between threads.

    Errors against the real tokenizer are in the header of `coefficients.py`.
    """

    @cached_property
    def _prices(self) -> PriceTable:
        """Held from the first text on: a counter that counts nothing keeps no prices in memory."""
        return shared_prices()

    def count_text(self, text: str) -> float:
        """Estimate the tokens of `text`, at least 0. Any string will do, lone surrogates included.

        Linear in the length up to `SAMPLED_PAST` characters, constant past it: there, evenly spaced windows are
        counted, and their sum is scaled to the whole length.
        """
        if len(text) <= SAMPLED_PAST:
            return self._count(text)
        last_start = len(text) - _WINDOW
        starts = [last_start * window // (_WINDOWS - 1) for window in range(_WINDOWS)]
        return sum(self._count(text[start : start + _WINDOW]) for start in starts) * (len(text) / SAMPLED_PAST)

    def _count(self, text: str) -> float:
        return sum(map(self._prices.__getitem__, cut(text)), 0.0)
