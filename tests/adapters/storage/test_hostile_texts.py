"""Texts that cost more than they should to normalise, for the index and for a query."""

from __future__ import annotations

from gemini_companion.engine.recall.words import spaced


def test_a_long_run_of_combining_marks_is_normalised_in_pieces() -> None:
    """Without that, this many cost minutes in which nothing else runs: the test would not end within its bound."""
    marks = "a" + "\u0301\u0323" * 250_000
    assert len(spaced(marks)) > 400_000


def test_pieces_change_nothing_in_ordinary_text() -> None:
    text = "Ｆｕｌｌ－ｗｉｄｔｈ ｗｏｒｄｓ and others. " * 200
    assert spaced(text).split() == ("Full-width words and others. " * 200).split()
