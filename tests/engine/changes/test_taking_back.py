"""Taking a change back leaves every byte that the change did not touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.changes.matching import LineMatcher
from gemini_companion.engine.changes.merging import taken_back, without_hunks
from gemini_companion.engine.changes.text import difference, lines_of

_LINES = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"d\x0c\n", b"\n", b"e\r", "\u2028ü\n".encode()]), max_size=12
)
_TEXTS = st.builds(lambda lines, last: b"".join(lines) + last, _LINES, st.sampled_from([b"", b"z", b"\r"]))


@given(_TEXTS)
def test_lines_put_together_are_the_text(data: bytes) -> None:
    assert b"".join(lines_of(data)) == data


@given(_TEXTS, _TEXTS)
def test_an_untouched_change_is_taken_back_whole(before: bytes, after: bytes) -> None:
    assert taken_back(before, after, after) == before


@given(_TEXTS, _TEXTS, st.lists(st.sampled_from([b"x\n", b"y\n"]), min_size=1, max_size=3))
def test_what_the_person_wrote_at_the_end_stays(before: bytes, after: bytes, added: list[bytes]) -> None:
    middle = b"".join(b"same %d\n" % number for number in range(4))
    before, after = before + middle, after + middle
    if b"\r\n" in before or b"\r\n" in after:
        return
    assert taken_back(before, after, after + b"".join(added)) == before + b"".join(added)


@given(_TEXTS, _TEXTS, _TEXTS)
def test_nothing_is_invented(before: bytes, after: bytes, now: bytes) -> None:
    result = taken_back(before, after, now)
    if result is not None:
        known = {line.rstrip(b"\r\n") for text in (before, after, now) for line in lines_of(text)}
        assert {line.rstrip(b"\r\n") for line in lines_of(result)} <= known


def test_a_line_that_both_changed_is_a_conflict() -> None:
    assert taken_back(b"1\n2\n3\n", b"1\nmodel\n3\n", b"1\nperson\n3\n") is None


def test_a_formatter_that_changed_the_ends_of_lines_is_no_conflict() -> None:
    before, after = b"1\n2\n3\n4\n5\n", b"1\n2\nx\n4\n5\n"
    now = after.replace(b"\n", b"\r\n") + b"6\r\n"
    assert taken_back(before, after, now) == before.replace(b"\n", b"\r\n") + b"6\r\n"


@given(_TEXTS, _TEXTS)
def test_all_places_together_are_the_whole_change(before: bytes, after: bytes) -> None:
    hunks = difference(before, after, "f").hunks
    assert without_hunks(before, after, after, range(len(hunks))) == before
    assert without_hunks(before, after, after, ()) == after


def test_one_place_of_two_is_taken_back() -> None:
    before = b"a\nb\nc\nd\ne\nf\ng\n"
    after = b"A\nb\nc\nd\ne\nf\nG\n"
    assert without_hunks(before, after, after, [0]) == b"a\nb\nc\nd\ne\nf\nG\n"
    with pytest.raises(IndexError):
        without_hunks(before, after, after, [2])


def test_a_diff_is_what_other_tools_write() -> None:
    found = difference(b"a\nb\nc", b"a\nB\nc", "src/f.py")
    assert found.diff == (
        "--- a/src/f.py\n+++ b/src/f.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n"
    )
    assert (found.added, found.removed) == (1, 1)


def test_a_new_file_comes_from_nothing() -> None:
    found = difference(None, b"a\n", "f")
    assert found.diff == "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"


def test_what_is_no_text_has_no_diff() -> None:
    assert difference(b"\0\1", b"\0\2", "f").diff == ""


def test_a_text_of_many_megabytes_is_merged_and_one_beyond_the_bound_is_not() -> None:
    lines = [b"line %d of a large file\n" % number for number in range(200_000)]
    after = [*lines[:7], b"model\n", *lines[8:]]
    now = [*after[:-9], b"person\n", *after[-9:]]
    wished = [*lines[:-9], b"person\n", *lines[-9:]]
    assert taken_back(b"".join(lines), b"".join(after), b"".join(now)) == b"".join(wished)
    many = b"\n" * 1_000_001
    assert taken_back(many, many + b"model\n", many + b"model\nperson\n") is None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_text_in_utf_16_without_a_mark_is_merged_by_lines(encoding: str) -> None:
    before, after, now, wished = (
        text.encode(encoding)
        for text in ("one\ntwo\nthree\n", "one\n2\nthree\n", "one\n2\nthree\nfour\n", "one\ntwo\nthree\nfour\n")
    )
    assert taken_back(before, after, now) == wished


_FEW = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"]), max_size=60)


@given(_FEW, _FEW)
def test_matching_blocks_are_equal_lines_that_rise_in_both_texts(old: list[bytes], new: list[bytes]) -> None:
    at = (0, 0)
    for block in LineMatcher(None, old, new).get_matching_blocks():
        assert (block.a, block.b) >= at
        assert old[block.a : block.a + block.size] == new[block.b : block.b + block.size]
        at = (block.a + block.size, block.b + block.size)
    assert at == (len(old), len(new))
