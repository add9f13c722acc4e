"""What is known of contents is asked for by two threads at once: by who looks ahead, and by a compression that began."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from gemini_companion.engine.facts import vocabulary
from gemini_companion.engine.facts.retention import FactCache
from gemini_companion.engine.history.content import Content, user_text

WORDS = {"parser", "lexer", "cursor"}
MOMENTS = 60
"""More than there are lines to run through."""


def words_asked_for_at(moment: int, contents: list[Content]) -> set[str] | None:
    """The words that a second one gets who asks when the first one comes to its nth line; `None` if it ends before."""
    cache = FactCache()
    left, got = moment, None

    def other_thread(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left, got
        if frame.f_code.co_filename != vocabulary.__file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                got = set(cache.words_of((), contents, lambda: None))
        return other_thread

    before = sys.gettrace()
    sys.settrace(other_thread)
    try:
        cache.words_of((), contents, lambda: None)
    finally:
        sys.settrace(before)
    return got


def test_whoever_asks_while_another_one_reads_gets_every_word() -> None:
    contents = [user_text(word) for word in WORDS]
    asked = [words_asked_for_at(moment, contents) for moment in range(1, MOMENTS)]
    answers = [words for words in asked if words is not None]
    assert len(answers) > 3
    for words in answers:
        assert words >= WORDS
