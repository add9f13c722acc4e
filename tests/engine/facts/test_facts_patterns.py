"""Every row of the pattern table finds what its examples show, and no hint hides what a row would find."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.facts.patterns import (
    DIRECTIVE_HINTS,
    DIRECTIVES,
    ERROR_HINTS,
    ERRORS,
    JAPANESE_DIRECTIVES,
    NUMBERS,
    PLAN_HINTS,
    PLANS,
    TABLE,
    TASK_HINTS,
    TASKS,
    Row,
    binding_rule,
    directive_cue,
    hinted,
    number,
)

HINTS = {
    **dict.fromkeys(DIRECTIVES + JAPANESE_DIRECTIVES, DIRECTIVE_HINTS),
    **dict.fromkeys(ERRORS, ERROR_HINTS),
    **dict.fromkeys(TASKS, TASK_HINTS),
    **dict.fromkeys(PLANS, PLAN_HINTS),
}


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.kind}: {row.examples[0]}")
def test_a_row_finds_its_examples_and_its_hints_let_them_through(row: Row):
    flags = row.flags | (re.IGNORECASE if row in DIRECTIVES else 0)
    for example in row.examples:
        assert re.search(row.pattern, example, flags)
        assert row not in HINTS or hinted(example.lower(), HINTS[row])


@pytest.mark.parametrize("row", [*DIRECTIVES, *JAPANESE_DIRECTIVES], ids=lambda row: row.examples[0])
def test_every_cue_is_part_of_the_whole(row: Row):
    for example in row.examples:
        assert directive_cue().search(example)
        if row.certain:
            assert directive_cue(certain=True).search(example)


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.examples[0])
def test_every_number_is_part_of_the_whole(row: Row):
    for example in row.examples:
        assert number().search(example)


@settings(max_examples=100)
@given(st.from_regex(directive_cue(), fullmatch=False))
def test_no_hint_hides_a_directive(text: str):
    assert hinted(text.lower().replace("\n", " "), DIRECTIVE_HINTS)


@settings(max_examples=100)
@given(st.sampled_from(ERRORS).flatmap(lambda row: st.from_regex(re.compile(row.pattern, row.flags))))
def test_no_hint_hides_an_error(text: str):
    assert hinted(text.lower(), ERROR_HINTS)


@settings(max_examples=60)
@given(st.sampled_from(TASKS).flatmap(lambda row: st.from_regex(re.compile(row.pattern, row.flags))))
def test_no_hint_hides_a_task(text: str):
    assert hinted(text.lower(), TASK_HINTS)


@pytest.mark.parametrize("text", ["I've always liked horses.", "Can't wait!", "That must have been awesome.", "Don't worry!", "It was only once."])
def test_chatter_with_a_cue_in_it_binds_nobody(text: str):
    assert directive_cue().search(text)
    assert not binding_rule().search(text)


@pytest.mark.parametrize(
    "text", ["Never push to main.", "You must ask.", "Please don't rename it.", "I prefer tabs.", "1. Always test.", "必ず確認する", "消さないで"]
)
def test_a_rule_binds(text: str):
    assert binding_rule().search(text)
