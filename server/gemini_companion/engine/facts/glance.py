"""What a text can hold, going by its words alone: one quick look in place of a search for every kind of fact.

A bit that is missing says that the search would find nothing; one that is there says no more than that it is worth
while. Most words of a conversation stand in it a thousand times, and what a word means here is worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gemini_companion.engine.facts.paths import may_hold_path
from gemini_companion.engine.facts.patterns import ERROR_HINTS, NUMBER_CONTEXT, hinted, lazy, may_hold_symbol
from gemini_companion.engine.facts.rules import PLAN_HINTS, RULE_HINTS, RULE_PATTERN_HINTS, has_cjk
from gemini_companion.engine.facts.sentences import CODE_HEADS, may_be_listed, may_frame_example

RULE: Final = 1
PLAN: Final = 1 << 1
"""A plan or a decision."""
ERROR: Final = 1 << 2
PATH: Final = 1 << 3
URL: Final = 1 << 4
NUMBER: Final = 1 << 5
SYMBOL: Final = 1 << 6
TASK: Final = 1 << 7
"""A line that says itself that something is open."""
COMMAND: Final = 1 << 8
FENCE: Final = 1 << 9
"""A code block."""
EXAMPLE: Final = 1 << 10
LISTING: Final = 1 << 11
"""Lines of a log or of a listing, going by the signs in them."""
CODE_HEAD: Final = 1 << 12
"""The same, going by the words that begin them (`sentences.has_code_heads`)."""

ANYTHING: Final = RULE | PLAN | ERROR | PATH | URL | NUMBER | SYMBOL | TASK | COMMAND | FENCE
"""Without one of these a text has no fact, whatever parts it is made of."""

_RULE_HINT: Final = 1 << 13
_RULE_PATTERN: Final = 1 << 14
_INTEGER: Final = 1 << 15
"""Digits between blanks, which are a fact only beside certain words."""
_CONTEXT: Final = 1 << 16
"""Such a word."""

_KEPT: Final = 65_536
"""Different words whose bits are remembered."""
_LONGEST_KEPT: Final = 24
"""Characters of a word that is likely to come again."""
_LEARNT: Final = 256
"""Words of a text that are looked at one by one, to be remembered: all others together, which takes far less."""

_EVERYWHERE: Final = frozenset(("", "with", "have", "has", "like", "from", "more", "make", "we", "will", "to"))
"""Words that most texts have."""
_DIGIT: Final = lazy(r"\d")
_LETTERS: Final = lazy(r"[A-Za-z]['A-Za-z]|[^\x00-\x7f]")
"""What every hint has."""
_WIDE_BLANK: Final = "\u3000"
"""The one blank that is a Chinese or Japanese character."""
_DASHES: Final = 4
"""Of an id that may have no digit, and then stands only in a text that has some elsewhere."""


def glance(text: str) -> int:
    """What the text can hold, as bits. Its words must be whole: a piece is to be cut at blanks."""
    bits = 0
    fresh: list[str] = []
    for word in set(text.split()):
        known = _known.get(word)
        if known is None:
            fresh.append(word)
        else:
            bits |= known
    if fresh:
        bits |= _of_fresh(fresh)
    if bits & _INTEGER:
        bits |= (NUMBER if bits & _CONTEXT else 0) | (LISTING if "\t" in text else 0)
    if bits & _RULE_PATTERN and (bits & _RULE_HINT or _WIDE_BLANK in text):
        bits |= RULE
    return bits


_known: Final[dict[str, int]] = {}
"""The bits of words, for whoever glances, in whichever thread. Emptied when it is full."""


def _of_fresh(words: Iterable[str]) -> int:
    """The bits of words that are not known; some that look as if they came again are known from then on."""
    bits = 0
    odd: list[str] = []
    learnt = 0
    for word in words:
        if learnt < _LEARNT and len(word) <= _LONGEST_KEPT and not _DIGIT().search(word):
            learnt += 1
            if len(_known) >= _KEPT:
                _known.clear()
            _known[word] = found = _of_words(word)
            bits |= found
        elif word.isdecimal() or (word[-1] in ".,;!?)" and word[:-1].isdecimal()):
            bits |= _INTEGER | (LISTING if may_be_listed(word) else 0)
        else:
            odd.append(word)
    return bits | _of_words(" ".join(odd)) if odd else bits


def _of_words(words: str) -> int:
    """The bits of words with blanks between them."""
    bits = 0
    if _LETTERS().search(words):
        framed = f" {words.lower()} "
        for bit, some in _HINTS:
            if hinted(framed, some):
                bits |= bit
    if may_hold_path(words):
        bits |= PATH
    if "://" in words:
        bits |= URL
    if _DIGIT().search(words):
        bits |= NUMBER
    if may_hold_symbol(words):
        bits |= SYMBOL
    if "[" in words or "TODO" in words or "FIXME" in words or "XXX" in words:
        bits |= TASK
    if "$" in words or "`" in words or "PS " in f"{words} ":
        bits |= COMMAND
    if "```" in words or "~~~" in words:
        bits |= FENCE
    if may_frame_example(words):
        bits |= EXAMPLE
    if may_be_listed(words):
        bits |= LISTING
    if not CODE_HEADS.isdisjoint(words.split(" ")):
        bits |= CODE_HEAD
    if has_cjk(words):
        bits |= _RULE_HINT
    if words.count("-") >= _DASHES or NUMBER_CONTEXT().search(words):
        bits |= _CONTEXT
    return bits


def _anchored(hints: Iterable[str]) -> Iterator[str]:
    """What of each hint stands within one word: the word of it that says most, with a blank where the hint goes on."""
    for hint in hints:
        words = hint.split(" ")
        at = max(range(len(words)), key=lambda at: (words[at] not in _EVERYWHERE, len(words[at])))
        yield f"{' ' if at > 0 else ''}{words[at]}{' ' if at < len(words) - 1 else ''}"


_HINTS: Final = tuple(
    (bit, tuple(dict.fromkeys(_anchored(some))))
    for bit, some in (
        (_RULE_HINT, RULE_HINTS),
        (_RULE_PATTERN, RULE_PATTERN_HINTS),
        (PLAN, PLAN_HINTS),
        (ERROR, ERROR_HINTS),
    )
)
