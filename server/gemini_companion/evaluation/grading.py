"""Whether something stands in a text: the measure of the evaluation, apart from the one that the product uses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.history.content import Content
from gemini_companion.evaluation.probes import Fact, Rule

_SIGNS: Final = str.maketrans({"‹": "<", "’": "'", "`": None, "*": None, "“": '"', "”": '"'})
_WORD_ENDS: Final = re.compile(r"[a-z0-9]")


def plain(text: str) -> str:
    """A text without capitals, emphasis, escaped tags, and runs of blanks."""
    return " ".join(text.translate(_SIGNS).casefold().split())


def plain_contents(contents: Iterable[Content]) -> str:
    """Everything that contents say, in plain form: texts, what calls were given, what they returned."""
    return "\n".join(plain(text_of_content(content)) for content in contents)


def stands(needle: str, haystack: str) -> bool:
    """Whether a plain text stands in another one as whole words: `80` does not in `8080`."""
    start = haystack.find(needle)
    while needle and start >= 0:
        end = start + len(needle)
        before, after = haystack[max(0, start - 1) : start], haystack[end : end + 1]
        inside_left = _WORD_ENDS.match(before) and _WORD_ENDS.match(needle[0])
        inside_right = _WORD_ENDS.match(after) and _WORD_ENDS.match(needle[-1])
        if not inside_left and not inside_right:
            return True
        start = haystack.find(needle, start + 1)
    return False


def rule_stands(rule: Rule, haystack: str) -> bool:
    """Whether a rule stands there word for word, but for the full stop at its end. `haystack` is plain."""
    return stands(plain(rule.text).rstrip("."), haystack)


def fact_stands(fact: Fact, haystack: str) -> bool:
    """Whether all keys of a planted fact stand there. `haystack` is plain."""
    return all(stands(plain(key), haystack) for key in fact.keys)
