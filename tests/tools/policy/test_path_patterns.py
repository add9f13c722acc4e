"""Path patterns of rules, as ignore files have them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.tools.policy.patterns import is_pattern, matches, pattern_of


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a.py", "a.py", True),
        ("a.py", "src/deep/a.py", True),
        ("a.py", "src/aXpy", False),
        ("/a.py", "a.py", True),
        ("/a.py", "src/a.py", False),
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "x/src/a.py", False),
        ("*.py", "src/a.py", True),
        ("*.py", "src/a.pyc", False),
        ("src/*", "src/deep/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/test/*", "a/b/test/c", True),
        ("**", "anything/at/all", True),
        ("src/**", "src/x", True),
        ("docs/", "docs/x", True),
        ("docs/", "a/docs/x", True),
        ("docs/", "docs", False),
        ("docs", "docs/x/y", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[!a-c]x", "dx", True),
        ("[^a]x", "bx", True),
        ("[", "[", True),
        ("[]]", "]", True),
        ("\\*", "*", True),
        ("\\*", "x", False),
        ("*", "", False),
        ("", "a", False),
        ("a*b*c", "aXbXbXc", True),
        ("a*b*c", "aXbXbX", False),
    ],
)
def test_a_pattern_matches_what_git_would_match(pattern: str, path: str, expected: bool):
    assert matches(pattern, path) == expected


def test_composed_and_decomposed_letters_are_the_same():
    assert matches(unicodedata.normalize("NFD", "caf\u00e9"), "caf\u00e9")
    assert matches("caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9"))


def test_loosely_case_does_not_matter():
    assert matches("Stra\u00dfe", "STRASSE/x", is_loose=True)
    assert not matches("Src", "src")


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=8).filter(
    lambda name: name.strip(" ") and name not in (".", "..")
)


@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=4))
def test_the_pattern_of_a_path_matches_that_path_alone(names: list[str], others: list[str]):
    path, other = "/".join(names), "/".join(others)
    assert matches(pattern_of(path), path)
    composed, composed_other = (unicodedata.normalize("NFC", each) for each in (path, other))
    is_within = f"{composed_other}/".startswith(f"{composed}/")
    assert matches(pattern_of(path), other) == is_within


@given(st.text(max_size=30), st.text(max_size=30))
def test_whatever_is_matched_nothing_raises(pattern: str, path: str):
    assert matches(pattern, path) in (True, False)
    assert is_pattern(pattern) in (True, False)


def test_hostile_patterns_end():
    assert not matches("*a" * 500 + "b", "a" * 4_000)
    assert not matches("/" + "**/x/" * 200 + "b", "x/" * 2_000 + "c")
