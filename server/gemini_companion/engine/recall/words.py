"""The words of a text as the index and the queries on it have them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.sentences import pieces

RULES_OF_WORDS: Final = 1
"""Rises whenever `spaced`, `indexed` or what they get of an entry may be another text than before: indexes that were
made by earlier rules are made anew. `tests/engine/recall/test_rules_of_words.py` notices.
"""

_AT_ONCE: Final = 1_000
"""Characters that are normalised in one go."""

_UNSPACED: Final = lazy(
    "[\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Japanese syllables
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
    "\uac00-\ud7af]+"  # Korean, whose words carry their particles
)
"""A run of characters of scripts without spaces."""
_WORD: Final = lazy(r"[^\W_]+")
_TOKEN: Final = lazy(r"[A-Za-z0-9]+")
_SEAM: Final = lazy(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
"""Where one part of an identifier ends and the next begins, and the tokenizer does not see it."""

STOP_WORDS: Final = frozenset(
    "a an the and or but if of to in on at by for with about from into as than then so is are was"  # noqa: SIM905
    " were be been being am do does did doing done has have had having will would can could should"
    " may might must shall it its this that these those there here he she his her hers him they"
    " them their we us our you your i me my mine what which who whom whose when where why how not"
    " no any some all both each such only own same s t d ll re ve m don didn doesn isn wasn aren"
    " weren won wouldn couldn shouldn hasn haven hadn after before during while because until up"
    " down out over under again further once tell know please recall remember mentioned said say".split()
)
"""Words that a question is made with, and that find everything."""

_FORMS: Final = (
    "become became|begin began begun|break broke broken|bring brought|build built|buy bought|catch caught|"
    "choose chose chosen|come came|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|"
    "fall fell fallen|feel felt|fight fought|find found|fly flew flown|forget forgot forgotten|"
    "freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hear heard|hide hid hidden|"
    "hold held|keep kept|know knew known|lead led|leave left|lend lent|lose lost|make made|mean meant|meet met|"
    "pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|sell sold|send sent|"
    "shoot shot|sing sang sung|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|"
    "swim swam swum|take took taken|teach taught|tell told|think thought|throw threw thrown|understand understood|"
    "wake woke woken|wear wore worn|win won|write wrote written|child children|man men|woman women|person people|"
    "foot feet|tooth teeth|mouse mice|life lives|wife wives|good better best|bad worse worst|dad daddy father|"
    "mom mommy mum mother|kid kids"
)
IRREGULAR: Final = {form: base for base, *forms in map(str.split, _FORMS.split("|")) for form in forms}
"""Base forms of the English words that a stemmer does not bring together."""


def normal(text: str) -> str:
    """Compatibility forms, such as full-width letters, as plain ones, so that either form finds the other."""
    if text.isascii():
        return text
    # In pieces: a long run of combining marks costs the square of its length, and nothing else runs meanwhile.
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces(text, _AT_ONCE))


def unspaced_runs(text: str) -> list[re.Match[str]]:
    """The runs of characters of scripts without spaces."""
    return list(_UNSPACED().finditer(text))


def spaced(text: str) -> str:
    """`text` as a tokenizer that knows words by spaces should get it: scripts without them as overlapping pairs."""
    return paired(normal(text))


def paired(text: str) -> str:
    """The same for a text that is normal already."""
    return text if text.isascii() else _UNSPACED().sub(_pairs, text)


def without_unspaced(text: str) -> str:
    """`text` without the scripts that have no spaces."""
    return text if text.isascii() else _UNSPACED().sub(" ", text)


def words_in(text: str) -> list[str]:
    """The words, in small letters, as the tokenizer finds them."""
    return _WORD().findall(text.lower())


def split_identifiers(text: str) -> str:
    """`text` with a blank between the parts of `camelCase` and `utf8`; the tokenizer itself splits at `_` and `.`."""
    return _SEAM().sub(" ", text)


def indexed(text: str) -> str:
    """What is indexed for a text: itself, the parts of its identifiers and the base forms of its words, once each."""
    plain = normal(text)
    parts = dict.fromkeys(part for word in _mixed_words(plain) for part in split_identifiers(word).split())
    bases = dict.fromkeys(IRREGULAR[word] for word in words_in(plain) if word in IRREGULAR)
    return " ".join((paired(plain), *parts, *bases))


def _mixed_words(text: str) -> Iterator[str]:
    """The words of more than one part."""
    seam = _SEAM()
    for word in dict.fromkeys(_TOKEN().findall(text)):
        if not (word.isalpha() and word.islower()) and seam.search(word):
            yield word


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(run[index : index + 2] for index in range(len(run)))} "
