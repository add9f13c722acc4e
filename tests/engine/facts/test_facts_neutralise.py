"""Reserved tags are broken, everything else stays."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.neutralise import SCRATCHPAD_TAG, SECTIONS, SNAPSHOT_TAG, neutralise

RESERVED = (SNAPSHOT_TAG, SCRATCHPAD_TAG, *SECTIONS)
scraps = st.lists(
    st.one_of(
        st.sampled_from((*RESERVED, "<", ">", "/", " ", "\n", "</", "‹", "state", "_x", "<b>", "-")),
        st.text(max_size=4),
    ),
    max_size=20,
).map("".join)


@pytest.mark.parametrize("name", RESERVED)
@pytest.mark.parametrize("form", ["<{}>", "</{}>", "< {}>", "<\n/\t{} >", '<{} a="b">', "<{}/>", "<{}"])
def test_every_form_of_a_reserved_tag_is_broken_and_keeps_its_letters(name: str, form: str):
    for text in (form.format(name), form.format(name.upper()), form.format(name.title())):
        broken = neutralise(f"a{text} b")
        assert "<" not in broken
        assert broken.replace("‹", "<") == f"a{text} b"


@pytest.mark.parametrize(
    "text",
    [
        "<state>",
        "a < b",
        "<state_snapshots>",
        "<div>",
        "state_snapshot",
        "&lt;state_snapshot>",
        "<x state_snapshot>",
        "",
    ],
)
def test_what_is_no_reserved_tag_is_left_byte_for_byte(text: str):
    assert neutralise(text) == text


@given(scraps)
def test_it_is_idempotent_and_changes_nothing_but_opening_brackets(text: str):
    once = neutralise(text)
    assert neutralise(once) == once
    assert len(once) == len(text)
    assert all(after == before or (before, after) == ("<", "‹") for before, after in zip(text, once, strict=True))


@given(scraps)
def test_no_reader_finds_a_reserved_tag_afterwards(text: str):
    assert not re.search(rf"<\s*/?\s*(?:{'|'.join(RESERVED)})\b", neutralise(text), re.IGNORECASE)
