"""The weight of a content: UTF-16 units of its compact JSON as JavaScript writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.json_length import json_length
from tests.support.examples import examples

FRAME = len('{"role":"user","parts":[{"text":""}]}')
VALUE = len('{"role":"user","parts":[{"v":}]}')


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("plain", 5),
        ('"\\', 4),
        ("\b\f\n\r\t", 10),
        ("\x00\x1f\x0b", 18),
        ("\x7f\u2028\u2029", 3),
        ("é日", 2),
        ("😀", 2),
        ("\ud800", 6),
        ("a\udfffb😀\n", 12),
    ],
)
def test_what_a_text_costs(text: str, length: int) -> None:
    assert json_length(user_text(text)) == FRAME + length


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-9, "1.25e-9"),
        (123456.789, "123456.789"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740992"),
        (123456789012345678901, "123456789012345680000"),
        (10**400, "null"),
        (float("inf"), "null"),
        (float("nan"), "null"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_what_a_number_costs(number: Any, written: str) -> None:
    assert json_length(Content(role="user", parts=({"v": number},))) == VALUE + len(written)


def test_absent_parts_weigh_less_than_empty_ones() -> None:
    assert json_length(Content(role="user")) == len('{"role":"user"}')
    assert json_length(Content(role="model", parts=())) == len('{"role":"model","parts":[]}')


def test_digits_inside_a_text_are_no_numbers() -> None:
    text = "1.0 and 1e21 and 12345678901234567890, -0}"
    assert json_length(user_text(text)) == FRAME + len(text)


def test_a_value_nested_deep_is_measured_without_the_stack() -> None:
    value: Any = 1.5
    for _ in range(50_000):
        value = [value]
    assert json_length(Content(role="user", parts=({"v": value},))) == VALUE + 100_000 + 3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), JSON, max_size=3), max_size=3))
@settings(max_examples=examples(100), deadline=None)
def test_with_whole_numbers_it_is_what_any_compact_writer_gives(parts: list[dict[str, Any]]) -> None:
    written = json.dumps({"role": "user", "parts": parts}, ensure_ascii=False, separators=(",", ":"))
    assert json_length(Content(role="user", parts=tuple(parts))) == units(written)
    with_fraction = [*parts, {"x": 0.5}]
    written = json.dumps({"role": "user", "parts": with_fraction}, ensure_ascii=False, separators=(",", ":"))
    assert json_length(Content(role="user", parts=tuple(with_fraction))) == units(written)


@given(st.text(st.characters()))
@settings(max_examples=examples(100), deadline=None)
def test_any_string_at_all_is_measured(text: str) -> None:
    assert json_length(user_text(text)) >= FRAME + len(text)
