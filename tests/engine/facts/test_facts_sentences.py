"""Sentences are cut where they end, and no character of them changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.facts.sentences import fenced_spans, pieces, prose_lines, sentence_spans, sentences
from tests.engine.facts.fact_sources import texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Use tools, e.g. vim. Not emacs.", ["Use tools, e.g. vim.", "Not emacs."]),
        ("Open fields.py now. Close it.", ["Open fields.py now.", "Close it."]),
        ("- First\n- Second", ["First", "Second"]),
        ("1. Always test. Then ship.", ["1. Always test.", "Then ship."]),
        ("a long line that\ngoes on here. Next", ["a long line that\ngoes on here.", "Next"]),
        ("Heading\nText begins", ["Heading", "Text begins"]),
        ("必ず書く。次に進む!「はい。」と言う", ["必ず書く。", "次に進む!", "「はい。」", "と言う"]),
        ("यह मत बदलो। लॉग देखो।", ["यह मत बदलो।", "लॉग देखो।"]),
        ("استخدم النسخة؟ نعم!", ["استخدم النسخة؟", "نعم!"]),
        ("можно. и т. д. всё.", ["можно.", "и т. д. всё."]),
        ('He said "Stop." Then left.', ['He said "Stop."', "Then left."]),
        ("Read a. b and c.", ["Read a. b and c."]),
        ("Version 1.2 is out. ok", ["Version 1.2 is out. ok"]),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_a_text_is_cut_into_sentences(text: str, expected: list[str]):
    assert sentences(text) == expected


def test_a_german_date_ends_no_sentence():
    assert sentences("Das ist der Bestand vom 31. Januar. Wir nehmen Fall 3. Danach geht es weiter.") == [
        "Das ist der Bestand vom 31. Januar.",
        "Wir nehmen Fall 3.",
        "Danach geht es weiter.",
    ]


def test_who_writes_no_capitals_ends_a_sentence_all_the_same():
    assert sentences("läuft jetzt. achso bitte z. b. nie nach 22 uhr. dann 40027. ok") == [
        "läuft jetzt.",
        "achso bitte z. b. nie nach 22 uhr.",
        "dann 40027.",
        "ok",
    ]
    assert sentences("12 points. pas de triche. «ok», merci. (fini. voilà)") == [
        "12 points.",
        "pas de triche.",
        "«ok», merci.",
        "(fini.",
        "voilà)",
    ]


def test_no_sentence_ends_within_inline_code():
    text = "One more thing: `?? 0` hides what is missing. Then `a ! b` and a lone ` there! Done."
    assert sentences(text) == [
        "One more thing: `?? 0` hides what is missing.",
        "Then `a ! b` and a lone ` there!",
        "Done.",
    ]


def test_code_blocks_and_quotations_are_left_out():
    text = "Before.\n```py\nassert never. Only code.\n```\n> quoted. Never mine.\nAfter."
    assert sentences(text) == ["Before.", "After."]


def test_a_code_block_that_is_left_open_runs_to_the_end():
    assert fenced_spans("a\n```sh\nx\n") == [(2, 10, "sh")]
    assert sentences("Before.\n```\nafter.") == ["Before."]


def test_an_inner_fence_of_another_length_does_not_close_the_outer_one():
    text = "````\n```\ninner.\n```\n````\nOuter."
    assert sentences(text) == ["Outer."]


@given(texts)
def test_sentences_are_in_order_do_not_overlap_and_stand_in_the_text(text: str):
    position = 0
    for low, high in prose_lines(text):
        assert position <= low < high <= len(text)
        position = high
        last = low
        for start, end in sentence_spans(text, low, high):
            assert last <= start < end <= high
            assert text[start:end] == text[start:end].strip()
            last = end


@given(st.text(), st.integers(1, 40))
def test_pieces_are_the_text_again(text: str, size: int):
    cut = list(pieces(text, size))
    assert "".join(cut) == text
    assert all(0 < len(piece) <= size for piece in cut)
