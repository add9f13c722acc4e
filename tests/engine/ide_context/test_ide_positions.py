"""LSP positions to 1-based characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.ide_context import Cursor
from gemini_companion.engine.ide_context.positions import (
    PositionEncoding,
    characters_before,
    count_line_breaks,
    cursor_at,
    line_span,
    offset_at,
    text_between,
)

ENCODINGS: tuple[PositionEncoding, ...] = ("utf-8", "utf-16", "utf-32")
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
encodings = st.sampled_from(ENCODINGS)
plain = st.text(st.characters(exclude_categories=["Cs"]))
lines = plain.map(lambda text: text.replace("\r", "").replace("\n", ""))


def units(text: str, encoding: PositionEncoding) -> int:
    codec, size = CODECS[encoding]
    return len(text.encode(codec)) // size


@pytest.mark.parametrize(("encoding", "offset"), [("utf-8", 8), ("utf-16", 4), ("utf-32", 3)])
def test_a_position_counts_in_the_negotiated_encoding(encoding: PositionEncoding, offset: int):
    assert cursor_at("one\nab😀c", 1, 2, encoding) == Cursor(line=2, character=3)
    assert characters_before("é😀世"[:2] + "世x", offset, encoding) == (3 if encoding != "utf-8" else 2)


def test_a_position_inside_a_character_is_the_one_before_it():
    assert characters_before("😀x", 1, "utf-16") == 0
    assert characters_before("😀x", 3, "utf-8") == 0


@pytest.mark.parametrize(
    ("line", "character", "expected"),
    [(-1, -1, (1, 1)), (0, 10**9, (1, 4)), (10**30, 0, (2, 1)), (99, 99, (2, 3)), (1, -5, (2, 1))],
)
def test_hostile_positions_are_clamped_into_the_text(line: int, character: int, expected: tuple[int, int]):
    assert cursor_at("one\nab", line, character, "utf-16") == Cursor(line=expected[0], character=expected[1])


def test_without_a_text_the_position_is_taken_as_it_is_and_bounded():
    assert cursor_at(None, 4, 7, "utf-16") == Cursor(line=5, character=8)
    assert cursor_at(None, -4, 10**40, "utf-16") == Cursor(line=1, character=2**31)


def test_every_line_break_of_lsp_ends_a_line_and_no_other():
    text = "a\r\nb\rc\nd\u2028e\x0cf"
    assert [text[slice(*line_span(text, line))] for line in range(4)] == ["a", "b", "c", "d\u2028e\x0cf"]
    assert count_line_breaks(text) == 3


def test_a_range_gives_its_text_in_either_direction():
    text = "first 😀\nsecond\nthird"
    assert text_between(text, (0, 6), (1, 3), "utf-16") == "😀\nsec"
    assert text_between(text, (1, 3), (0, 6), "utf-16") == "😀\nsec"
    assert text_between(text, (0, 0), (99, 99), "utf-16") == text
    assert text_between(text, (1, 0), (1, 0), "utf-16") == ""


@given(lines, encodings, st.data())
def test_every_character_boundary_is_found(line: str, encoding: PositionEncoding, data: st.DataObject):
    index = data.draw(st.integers(0, len(line)))
    assert characters_before(line, units(line[:index], encoding), encoding) == index


@given(plain, st.integers(-5, 50), st.integers(-5, 50), encodings)
def test_an_offset_is_always_inside_the_text(text: str, line: int, character: int, encoding: PositionEncoding):
    offset = offset_at(text, line, character, encoding)
    assert 0 <= offset <= len(text)
    cursor = cursor_at(text, line, character, encoding)
    assert cursor.line == 1 + count_line_breaks(text[:offset])
    assert cursor.character == 1 + offset - line_span(text, cursor.line - 1)[0]


@given(st.text(st.characters()), st.integers(), encodings)
def test_lone_surrogates_raise_nothing(line: str, offset: int, encoding: PositionEncoding):
    assert 0 <= characters_before(line, offset, encoding) <= len(line)
