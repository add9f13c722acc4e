"""Where a text stands that is to be replaced, and that nothing else is touched."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.edits.encoding import decoded, encode
from gemini_companion.engine.edits.lines import LineFeedView, with_line_feeds
from gemini_companion.engine.edits.matching import Match, NoMatch, Span, find, trimmed
from gemini_companion.engine.edits.nearest import nearest, shown
from gemini_companion.engine.edits.rewriting import rewritten

TEXTS = st.text(st.sampled_from("ab \t\n\r$&\\é\u2028\f"), max_size=60) | st.lists(
    st.sampled_from(["a\n", "b\r\n", "  c\n", "\td\r\n", "\n", "\r\n", "e\rf\n", "$& \\1\n"]), max_size=15
).map("".join)


def replaced(text: str, old: str, new: str, *, several: bool = False) -> str | NoMatch:
    view = LineFeedView(text)
    match = find(view.text, with_line_feeds(old), with_line_feeds(new), several=several)
    if isinstance(match, NoMatch):
        return match
    spans = [trimmed(view.text, span) for span in match.spans]
    return view.replaced((span.start, span.end, span.new) for span in spans)


@given(text=TEXTS, start=st.integers(0, 60), length=st.integers(1, 20), new=TEXTS)
def test_bytes_outside_the_match_are_untouched(text: str, start: int, length: int, new: str):
    view = LineFeedView(text)
    old = view.text[start : start + length]
    new = with_line_feeds(new)
    result = replaced(text, old, new)
    if isinstance(result, NoMatch):
        assert (
            not old.strip()
            or old == new
            or view.text.count(old) > 1
            or view.text.find(old, view.text.find(old) + 1) > 0
        )
        return
    at = view.text.find(old)
    before, after = text[: view.offset(at)], text[view.offset(at + len(old)) :]
    assert result.startswith(before)
    assert result.endswith(after)
    # The carriage return of a seam at either end belongs to the line end that it makes.
    assert with_line_feeds(result) in (
        view.text[:at] + new + view.text[at + len(old) :],
        with_line_feeds(view.text[:at] + new + view.text[at + len(old) :]),
    )


@given(TEXTS)
def test_every_place_of_a_view_is_one_of_the_text(text: str):
    view = LineFeedView(text)
    assert view.text == text.replace("\r\n", "\n")
    for at in range(len(view.text) + 1):
        assert with_line_feeds(text[: view.offset(at)]) == view.text[:at]
    assert view.replaced([]) == text
    assert [view.ending(at) for at, sign in enumerate(view.text) if sign == "\n"] == view.endings()


@given(
    st.binary(max_size=60)
    | TEXTS.map(lambda text: text.encode("utf-16"))
    | TEXTS.map(lambda text: text.encode("latin-1", "replace"))
)
def test_every_text_goes_back_to_its_bytes(data: bytes):
    text = decoded(data)
    if text is not None:
        assert encode(text.text, text.encoded) == data


@given(old=TEXTS, new=TEXTS)
def test_a_text_that_is_written_anew_keeps_the_endings_of_the_old_one(old: str, new: str):
    result = rewritten(old, new)
    wanted = with_line_feeds(new)
    if with_line_feeds(old).endswith("\n") and wanted and not wanted.endswith("\n"):
        wanted += "\n"
    assert with_line_feeds(result) in (wanted, with_line_feeds(wanted))
    if "\r\n" not in old:
        assert result == wanted
    assert rewritten(old, old) == old


def test_mixed_endings_stay_where_they_are():
    text = "one\r\ntwo\nthree\r\nfour\n"
    assert replaced(text, "two\nthree\n", "two\n2½\nthree\n") == "one\r\ntwo\n2½\r\nthree\r\nfour\n"
    assert replaced(text, "three", "3\n3½") == "one\r\ntwo\n3\r\n3½\r\nfour\n"
    assert rewritten(text, "one\nnew\ntwo\nthree\nfour\n") == "one\r\nnew\r\ntwo\nthree\r\nfour\n"
    assert rewritten("a\r\nkeep\nb\r\nc\r\n", "A\nkeep\nB\nc2\n") == "A\r\nkeep\nB\nc2\n"


def test_a_lone_carriage_return_is_a_character():
    assert replaced("a\rb\r\nc", "b\nc", "b\nd") == "a\rb\r\nd"


def test_a_replacement_is_taken_literally():
    assert replaced("price\n", "price", "$& \\1 $1") == "$& \\1 $1\n"


def test_places_that_overlap_are_several():
    assert replaced("aaa", "aa", "b") == NoMatch(reason="several", count=2, at=(0, 1))
    assert replaced("aaaa", "aa", "b", several=True) == "bb"


@pytest.mark.parametrize("old", ["", " ", "\n", "\t\n  "])
def test_white_space_alone_is_not_searched_for(old: str):
    assert replaced("a b\n\n", old, "x") == NoMatch(reason="blank")


def test_lines_may_be_indented_otherwise_by_one_difference():
    text = "class A:\n\tdef f(self):\n\t\treturn 1\n\n\tx = 2\n"
    new = "def f(self):\n    return 2\n"
    assert replaced(text, "def f(self):\n    return 1\n", new) == "class A:\n\tdef f(self):\n\t\treturn 2\n\n\tx = 2\n"
    assert (
        replaced("    if a:\n        b\n", "if a:\n    b", "if a:\n    c\n    d") == "    if a:\n        c\n        d\n"
    )
    assert replaced("    a\n    b\n", "        a\n        b\n", "        a\n") == "    a\n"


def test_an_indentation_that_fits_twice_is_refused():
    text = "  a = 1\n  b = 2\n\n    a = 1\n    b = 2\n"
    assert replaced(text, "a = 1\nb = 2\n", "a = 3\n") == NoMatch(reason="several", count=2, at=(0, 17))


def test_lines_that_are_indented_differently_among_themselves_do_not_match():
    assert isinstance(replaced("  a\n      b\n", "a\n  b\n", "c\n"), NoMatch)
    assert isinstance(replaced("  a\n  b\n", "    a\n    b\n", "c\n"), NoMatch)  # the replacement stands further left


def test_likeness_replaces_nothing():
    assert replaced("total = price + taxes\n", "total = price + taxis", "x") == NoMatch(reason="absent")


def test_the_nearest_windows_name_the_first_difference():
    text = "import os\n\n\tdef read(path):\n\t\treturn open(path).read()\n\ndef write(path, data):\n    pass\n"
    windows = nearest(text, "    def read(path):\n        return open(path).read()\n")
    assert windows[0].first == 3
    assert windows[0].difference == (
        "Line 3 differs in its indentation: the file has 1 tab, searched for was 4 spaces."
    )
    assert "    3: →def read(path):" in shown(windows)
    other = nearest("a = compute(1, 2)\nb = 3\n", "a = compute(1, 3)")
    assert other[0].difference == "Line 1 differs first in column 16: the file has '2', searched for was '3'."
    assert nearest("a \n", "a")[0].difference == (
        "Line 1 differs in white space at its end: the file has 1 space, searched for was none."
    )


@given(text=TEXTS, old=TEXTS.filter(str.strip))
def test_there_are_at_most_three_windows_and_all_are_of_the_file(text: str, old: str):
    windows = nearest(text, old)
    assert len(windows) <= 3
    lines = text.split("\n")
    for window in windows:
        assert list(window.lines) == lines[window.first - 1 : window.first - 1 + len(window.lines)]


def test_a_match_says_how_it_was_found():
    exact, shifted = find("a\n", "a", "b"), find("  a\n  b\n", "a\nb", "c")
    assert isinstance(exact, Match)
    assert isinstance(shifted, Match)
    assert (exact.how, shifted.how) == ("exact", "indentation")


def test_more_places_than_can_be_kept_are_refused_and_not_done_in_part():
    assert replaced("a" * 10_001, "a", "b", several=True) == NoMatch(reason="too many", count=10_001)
    assert replaced("a" * 10_000, "a", "b", several=True) == "b" * 10_000


LINES = st.lists(st.sampled_from(["if a:", "  b = 1", "\tc", "", "return x", "}"]), min_size=1, max_size=6)


@given(
    block=LINES,
    new=LINES,
    had=st.sampled_from(["", "  ", "\t", "\t\t"]),
    given=st.sampled_from(["", " ", "    ", "\t"]),
)
def test_a_block_that_is_indented_otherwise_is_replaced_as_if_it_were_not(
    block: list[str], new: list[str], had: str, given: str
):
    def indented(lines: list[str], by: str) -> str:
        return "".join(f"{by}{line}\n" if line else "\n" for line in lines)

    text = indented(block, had).join(("BEGIN\n", "END\n"))
    old, given_new = indented(block, given), indented(new, given)
    result = replaced(text, old, given_new)
    if not isinstance(result, NoMatch):
        # Where the text stands word for word, for instance at the end of a line, it is taken word for word.
        exact = text.replace(old, given_new, 1)
        assert result == (exact if old in text else indented(new, had).join(("BEGIN\n", "END\n")))


FORMS = {
    "German": "Größe für Übung",
    "French": "déjà vu à l'été",
    "Vietnamese": "Tiếng Việt đầy đủ",
    "Korean": "안녕하세요 세계",
    "Greek": "Ελλάδα ΐ",
}


@pytest.mark.parametrize("words", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(("own", "other"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_text_in_another_form_of_unicode_is_found_and_replaced_in_the_form_that_the_file_has(
    words: str, own: Literal["NFC", "NFD"], other: Literal["NFC", "NFD"]
) -> None:
    normal = unicodedata.normalize
    text = normal(own, f"é one\n{words}\nü two\n")
    match = find(text, normal(other, f"{words}\n"), normal(other, f"{words} ê\n"))
    assert isinstance(match, Match)
    assert match.how == "form"
    (span,) = match.spans
    assert text[: span.start] + span.new + text[span.end :] == normal(own, f"é one\n{words} ê\nü two\n")


def test_a_text_that_mixes_both_forms_is_found_and_what_takes_its_place_is_as_it_was_written() -> None:
    text = "e\u0301 and \u00e9\n"
    match = find(text, "\u00e9 and e\u0301", "\u00e9 or e\u0301")
    assert match == Match(spans=(Span(start=0, end=8, new="\u00e9 or e\u0301"),), how="form")
    assert isinstance(find("e\u0301 e\u0301", "\u00e9", "x"), NoMatch)
    assert isinstance(find("e\u0301 e\u0301", "\u00e9", "x", several=True), Match)


@given(st.text(st.sampled_from("e\u00e9\u0301\u0323ạ\u1100\u1161\u11a8\uac00\uac01a\n \u00c5\u212b"), max_size=12))
def test_a_place_in_another_form_is_a_whole_number_of_signs_with_their_marks(text: str) -> None:
    for size in (1, 2, 3):
        old = unicodedata.normalize("NFC", text)[:size]
        match = find(text, old, "x")
        if isinstance(match, Match) and match.how == "form":
            (span,) = match.spans
            assert unicodedata.normalize("NFC", text[span.start : span.end]) == old


DECLARED = st.sampled_from(
    ["", "gbk", "latin1", "utf-8-bom", "utf-16le", "cp037", "utf-7", "rot13", "hex", "idna", "iso2022_jp"]
)
PIECES = st.sampled_from(
    [b"coding: gbk\n", b"\xff\xfe", b"\0", b"\xb1\xe4\xc1\xbf", b"caf\xe9 ", b"\x1b$B", "é".encode(), b"a\n"]
)


@given(st.binary(max_size=200) | st.lists(PIECES, max_size=12).map(b"".join), DECLARED | st.text(max_size=12))
def test_whatever_is_said_of_its_encoding_a_file_comes_back_byte_for_byte(data: bytes, declared: str) -> None:
    text = decoded(data, declared)
    if text is not None:
        assert encode(text.text, text.encoded) == data
        if text.encoded.encoding not in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
            assert encode(text.text + "a", text.encoded).endswith(b"a")
