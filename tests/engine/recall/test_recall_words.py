"""What of a text can be found by words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.recall.words import indexed, spaced, split_identifiers, words_in


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("parseConfigFile", ["parse", "Config", "File"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("utf8", ["utf", "8"]),
        ("the ThreadingMixIn of socketserver", ["Threading", "Mix", "In"]),
        ("my_parseConfig.py", ["parse", "Config"]),
    ],
)
def test_the_parts_of_an_identifier_are_indexed_beside_it(text: str, parts: list[str]):
    assert indexed(text).startswith(text)
    assert indexed(text).split()[-len(parts) :] == parts


@pytest.mark.parametrize("text", ["plain words only", "ALL CAPS", "snake_case", "a/path/to.py", ""])
def test_what_the_tokenizer_splits_by_itself_is_indexed_as_it_is(text: str):
    assert indexed(text) == text


def test_the_base_of_an_irregular_word_is_indexed_once():
    assert indexed("we went, they went, he had gone") == "we went, they went, he had gone go"


def test_scripts_without_spaces_are_indexed_as_pairs_and_forms_as_plain_ones():
    assert spaced("再試行 ｒｅｔｒｙ") == " 再試 試行 行  retry"


@given(st.text())
def test_every_text_can_be_indexed_and_keeps_its_words(text: str):
    assert set(words_in(spaced(text))) <= set(words_in(indexed(text)))


@given(st.text(alphabet="aB1_ "))
def test_splitting_an_identifier_adds_nothing_but_blanks(text: str):
    assert split_identifiers(text).replace(" ", "") == text.replace(" ", "")
