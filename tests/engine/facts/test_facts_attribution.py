"""Lines without a citation find their source by what they name; none is better than a wrong one."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gemini_companion.engine.compression.citations import read_citations
from gemini_companion.engine.facts.attribution import attribute, lines_to_attribute
from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from gemini_companion.engine.history.content import Content, model_text, user_text
from tests.engine.facts.fact_sources import call, count_words, result, sources_of

CHAT = sources_of(
    [
        user_text("Never push to the release branch without asking the maintainers."),
        model_text("Understood."),
        user_text("The billing job fails at night."),
        call("pytest tests/test_billing_job.py -q"),
        result("E   InvoiceMismatchError: totals differ by 3 cents"),
        model_text("Rounding happens twice; I will mend src/billing/rounding.py."),
        *(text for n in range(20) for text in (user_text(f"And what of step {n}?"), model_text(f"Step {n} is done."))),
    ]
)


def sources(*lines: str) -> list[tuple[int, ...]]:
    found = attribute(dict(enumerate(lines)), CHAT)
    return [found.get(number, ()) for number in range(len(lines))]


def test_a_line_is_given_the_content_that_says_it():
    assert sources(
        "- Never push to the release branch without asking the maintainers.",
        "- InvoiceMismatchError in the totals: they differ by 3 cents",
        "- src/billing/rounding.py: rounding happens twice",
    ) == [(1,), (5,), (6,)]


def test_a_line_in_other_words_or_about_something_else_is_given_none():
    assert sources("- The user prefers caution.", "- Deploy the website to Frankfurt tomorrow", "- step", "none") == [
        (),
        (),
        (),
        (),
    ]


def test_tags_and_empty_sections_are_no_lines():
    snapshot = (
        "<state_snapshot>\n<overall_goal>\nMend it.\n</overall_goal>\n<task_state>none</task_state>\n</state_snapshot>"
    )
    assert lines_to_attribute(snapshot) == {2: "Mend it."}


def test_on_the_corpus_most_lines_find_a_source_and_it_says_what_they_say(corpus: dict[str, dict[str, Any]]):
    """A source is right if most words of the line stand in it. The lines are the built-in model's, which cites them."""
    lines = cited = attributed = right = either = 0
    for document in corpus.values():
        history = msgspec.convert(document["history"], list[Content])
        hidden = sources_of(history[: len(history) * 7 // 10])
        tokens = sum(count_words(text_of_content(source.content)) for source in hidden)
        snapshot, numbers = read_citations(
            extractive_snapshot(
                hidden, previous=None, budget_tokens=int(tokens // 5), count_text=count_words, cite=True
            )
        )
        told = lines_to_attribute(snapshot)
        found = attribute(told, hidden)
        lines += len(told)
        cited += len(numbers.keys() & told.keys())
        attributed += len(found)
        either += len((numbers.keys() | found.keys()) & told.keys())
        texts = {source.seq: frozenset(_words(text_of_content(source.content))) for source in hidden}
        for line, seqs in found.items():
            words = _words(told[line])
            right += any(sum(word in texts[seq] for word in words) >= 0.5 * len(words) for seq in seqs)
    assert lines > 1_000
    assert cited > 0.8 * lines
    assert attributed > 0.7 * lines
    assert either > 0.9 * lines
    assert right > 0.97 * attributed


def _words(text: str) -> list[str]:
    return re.findall(r"\w{3,}", text.casefold())
