"""A megabyte of anything is searched in linear time: a pattern that backtracks would run into the suite's time limit."""

from __future__ import annotations

import random

import pytest

from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.facts.sentences import pasted_spans
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from gemini_companion.engine.history.content import user_text
from tests.engine.facts.fact_sources import call, count_words, extract_facts, result, sources_of

MEGABYTE = 1_000_000
UNITS = {
    "slashes": "a/",
    "dots": "a.",
    "backslashes": "c:\\a",
    "quotes": "\"/ '/ ",
    "backticks": "`npm ",
    "prompts": "\n$ ",
    "blanks after a cue": "port " + " " * 995,
    "sentences": "必ず。",
    "one sentence": "you must never ",
    "errors": "AError: ",
    "codes": "A1_a",
    "fences": "```sh\n\\\n",
    "addresses": "http://",
    "tags": "< / state_snapshot",
    "headings": "[1 Ann: ",
    "tasks": "- [ ] next, ",
    "lines": "a\n",
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_megabyte_of_one_unit_is_searched(unit: str):
    text = (unit * (MEGABYTE // len(unit) + 1))[:MEGABYTE]
    assert all(fact.text for fact in extract_facts(sources_of([user_text(text)])))
    assert len(neutralise(text)) == MEGABYTE


@pytest.mark.parametrize(
    "unit", [UNITS["lines"], UNITS["one sentence"], UNITS["slashes"]], ids=["lines", "one sentence", "slashes"]
)
def test_a_megabyte_gives_a_small_snapshot(unit: str):
    text = unit * (MEGABYTE // len(unit))
    items = sources_of([user_text(text), call(text), result(text)])
    snapshot = extractive_snapshot(items, previous=text[:100_000], budget_tokens=500, count_text=count_words)
    assert count_words(snapshot) < 1_500


def test_a_lot_of_noise_is_searched():
    noise = "".join(random.Random(7).choices("ab/.\\`$\"'\n :<>#1-_*[]()必。E", k=MEGABYTE // 4))
    assert extract_facts(sources_of([user_text(noise)]))


@pytest.mark.parametrize("unit", ["\n", ":\n", "raise A\n", "```\na\n```\n", "[1] a=b (c)\n- x\n"])
def test_pasted_text_is_found_in_any_number_of_lines(unit: str):
    text = unit * (200_000 // len(unit))
    assert all(0 <= start < end <= len(text) for start, end in pasted_spans(text))
