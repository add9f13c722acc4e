"""What is written out of a text on its way to a model, and how it is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.escapes import for_model, joined, signs_back, value_for_model
from gemini_companion.engine.ide_context.secrets import mask_secrets

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\0b", r"a\x00b"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m\x9d0;t\x9c", r"\x9b31m\x9d0;t\x9c"),
        ("half \ud83d of it", r"half \ud83d of it"),
        ("whole \ud83d\ude00\0", "whole \U0001f600\\x00"),
        (f"{ENGLAND} plays", f"{ENGLAND} plays"),
        ("hidden\U000e0068\U000e0069", r"hidden\U000e0068\U000e0069"),
        ("\U0001f3f4" + "\U000e0068" * 12 + "\U000e007f", "\U0001f3f4" + r"\U000e0068" * 12 + r"\U000e007f"),
        ("10\u00a0000 \u3000 \u200d \ue0b0 \ufeff \f \v \u0085 \u2028 \r\n", None),
    ],
    ids=ascii,
)
def test_what_no_request_holds_what_steers_a_terminal_and_hidden_tags_are_written_out(
    text: str, shown: str | None
) -> None:
    assert for_model(text) == (text if shown is None else shown)


def test_a_value_is_the_same_where_nothing_is_written_out() -> None:
    value = {"a": ["x", 1, None, {"b": "\u00a0"}], "c": ("y",)}
    assert value_for_model(value) is value
    assert value_for_model({"a\0": ["\x1b", 1]}) == {r"a\x00": [r"\x1b", 1]}


@given(st.text(st.sampled_from("ab \0\x1b\x9b\u00a0\U000e0041\U0001f3f4\U000e007f\ud83d\ude00\\")))
def test_what_is_shown_can_be_sent_has_none_of_it_and_leads_back(text: str) -> None:
    shown = for_model(text)
    shown.encode()
    assert not {"\0", "\x1b", "\x9b"} & set(shown)
    assert for_model(shown) == shown
    assert signs_back(shown) == joined(text)


@pytest.mark.parametrize("between", ["\0", "\x1b[01;31m\x1b[K", "\x1b[m"], ids=ascii)
def test_a_secret_is_found_behind_what_is_written_out_too(between: str) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert mask_secrets(for_model(f"{token[:2]}{between}{token[2:]}"))[1] == 1
    assert mask_secrets(for_model("\0".join(token)))[1] == 1
