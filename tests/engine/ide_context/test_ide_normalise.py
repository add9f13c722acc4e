"""What of an editor may be told: order, bounds, masking."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.ide_context import (
    MAX_EXTRAS,
    MAX_SELECTION,
    TRUNCATED,
    Cursor,
    Diagnostic,
    LineRange,
    OpenFile,
    normalise,
)
from gemini_companion.engine.ide_context.positions import count_line_breaks
from tests.engine.ide_context.editor_states import editors


def active(**fields: object) -> OpenFile:
    return msgspec.structs.replace(OpenFile(path="/w/a.py", last_focused_at=9, is_active=True), **fields)


def only(file: OpenFile, max_extras: int = MAX_EXTRAS) -> OpenFile:
    (told,) = normalise([file], max_extras=max_extras).files
    return told


def paths(*files: OpenFile, max_files: int = 10) -> list[str]:
    return [file.path for file in normalise(files, max_files=max_files).files]


def test_the_newest_files_come_first_and_equally_new_ones_keep_their_order():
    files = [
        OpenFile(path=path, last_focused_at=at) for path, at in (("/a", 1), ("/b", 3), ("/c", 1), ("/d", 3), ("/e", 2))
    ]
    assert paths(*files) == ["/b", "/d", "/e", "/a", "/c"]


def test_at_most_ten_files_are_told():
    files = [OpenFile(path=f"/{number}", last_focused_at=number) for number in range(13)]
    assert paths(*files) == [f"/{number}" for number in range(12, 2, -1)]
    assert paths(*files, max_files=2) == ["/12", "/11"]
    assert paths(*files, max_files=0) == []


def test_a_path_is_told_once_and_its_newest_state_counts():
    files = [
        OpenFile(path="/a", last_focused_at=1, is_active=True),
        OpenFile(path="/a", last_focused_at=5, unsaved_text="new"),
    ]
    (told,) = normalise(files).files
    assert (told.last_focused_at, told.is_active, told.unsaved_text) == (5, False, "new")


def test_only_the_newest_file_can_be_active():
    state = normalise([active(last_focused_at=1), OpenFile(path="/w/newer", last_focused_at=2)])
    assert state.active is None
    assert not any(file.is_active for file in state.files)


def test_files_without_the_focus_lose_cursor_selection_visible_range_and_diagnostics():
    full = active(
        cursor=Cursor(line=1, character=1),
        selected_text="sel",
        visible_range=LineRange(start_line=1, end_line=2),
        diagnostics=(Diagnostic(line=1, character=1, severity="error", message="no"),),
        unsaved_text="kept",
    )
    (first, other) = normalise([full, msgspec.structs.replace(full, path="/w/b.py", last_focused_at=1)]).files
    assert (first.cursor, first.selected_text, len(first.diagnostics)) == (Cursor(line=1, character=1), "sel", 1)
    assert other == OpenFile(path="/w/b.py", last_focused_at=1, unsaved_text="kept")


def test_a_selection_of_the_limit_stays_whole_and_a_longer_one_is_cut_and_marked():
    assert only(active(selected_text="é" * MAX_SELECTION)).selected_text == "é" * MAX_SELECTION
    assert only(active(selected_text="😀" * (MAX_SELECTION + 1))).selected_text == "😀" * MAX_SELECTION + TRUNCATED


def test_a_secret_that_the_cut_runs_through_is_masked_whole():
    token = "ghp_" + "a1B2c3D4e5" * 4
    shown = only(active(selected_text="x" * (MAX_SELECTION - 10) + "\n" + token)).selected_text or ""
    assert "ghp_" not in shown
    assert len(shown) <= MAX_SELECTION + len(TRUNCATED)


def test_secrets_are_masked_in_every_text_and_counted():
    secret = "password = 'hunter2345'"
    diagnostic = Diagnostic(line=1, character=1, severity="error", message=f"unused: {secret}")
    told = only(active(selected_text=secret, unsaved_text=secret, diagnostics=(diagnostic,)))
    other = normalise([active(), OpenFile(path="/w/b", unsaved_text=secret)]).files[1]
    assert told.masked == 3
    assert other.masked == 1
    for text in (told.selected_text, told.unsaved_text, told.diagnostics[0].message, other.unsaved_text):
        assert text is not None
        assert "hunter" not in text


def test_an_empty_selection_is_no_selection():
    assert only(active(selected_text="")).selected_text is None


def test_the_worst_diagnostics_come_first_and_the_rest_is_counted():
    found = tuple(
        Diagnostic(line=line, character=1, severity="hint" if line % 2 else "error", message="m")
        for line in range(1, 41)
    )
    told = only(active(diagnostics=found))
    assert [diagnostic.line for diagnostic in told.diagnostics] == list(range(2, 41, 2))
    assert told.omitted_diagnostics == 20


def test_diagnostics_take_at_most_half_of_the_budget():
    found = tuple(Diagnostic(line=line, character=1, severity="error", message="m" * 300) for line in range(1, 10))
    told = only(active(diagnostics=found, unsaved_text="u" * 500), max_extras=1000)
    assert (len(told.diagnostics), told.omitted_diagnostics) == (1, 8)
    assert told.unsaved_text == "u" * 500


def test_a_short_unsaved_text_is_told_whole():
    told = only(active(unsaved_text="a\nb\n"))
    assert (told.unsaved_text, told.unsaved_lines, told.unsaved_omitted) == ("a\nb\n", None, False)


def test_an_unsaved_text_that_is_empty_is_still_told():
    assert only(active(unsaved_text="")).unsaved_text == ""


def test_of_a_long_unsaved_text_whole_lines_around_the_cursor_are_told():
    lines = [f"line {number}\n" for number in range(1, 5001)]
    told = only(active(unsaved_text="".join(lines), cursor=Cursor(line=2500, character=1)))
    shown = told.unsaved_lines
    assert shown is not None
    assert shown.start_line < 2500 < shown.end_line
    assert told.unsaved_text == "".join(lines[shown.start_line - 1 : shown.end_line])
    assert MAX_EXTRAS - 20 <= len(told.unsaved_text or "") <= MAX_EXTRAS


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_the_lines_of_an_excerpt_are_counted_whatever_ends_them(line_break: str):
    lines = [f"line {number}{line_break}" for number in range(1, 2001)]
    told = only(active(unsaved_text="".join(lines), cursor=Cursor(line=1000, character=1)), max_extras=400)
    shown = told.unsaved_lines
    assert shown is not None
    assert f"line {shown.start_line + 1}{line_break}" in (told.unsaved_text or "")
    assert shown.end_line - shown.start_line + 1 == len(
        (told.unsaved_text or "").removesuffix(line_break).split(line_break)
    )


def test_the_excerpt_of_an_unsaved_text_stays_while_the_cursor_moves_a_little():
    text = "".join(f"line {number}\n" for number in range(1, 5001))
    first, second = (only(active(unsaved_text=text, cursor=Cursor(line=line, character=1))) for line in (2501, 2520))
    assert first.unsaved_text == second.unsaved_text


def test_an_excerpt_does_not_show_the_inside_of_a_key_that_starts_before_it():
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2 for _ in range(60))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
    text = "before\n" * 2000 + key + "after\n" * 2000
    told = only(active(unsaved_text=text, cursor=Cursor(line=2030, character=1)), max_extras=2000)
    assert told.masked == 1
    assert "MIIE" not in (told.unsaved_text or "")
    assert "[masked: private key]" in (told.unsaved_text or "")


def test_one_line_longer_than_the_budget_is_cut_within():
    told = only(active(unsaved_text="ab" * 50_000))
    assert told.unsaved_lines == LineRange(start_line=1, end_line=1)
    assert len(told.unsaved_text or "") == MAX_EXTRAS


def test_unsaved_texts_of_other_files_come_whole_while_there_is_room_else_only_the_fact():
    files = [
        active(unsaved_text="a" * 5000),
        OpenFile(path="/b", last_focused_at=3, unsaved_text="b" * 5000),
        OpenFile(path="/c", last_focused_at=2, unsaved_text="c"),
    ]
    _, b, c = normalise(files).files
    assert (b.unsaved_text, b.unsaved_omitted) == (None, True)
    assert (c.unsaved_text, c.unsaved_omitted) == ("c", False)


def test_without_a_budget_the_fact_alone_is_told():
    told = only(active(unsaved_text="a"), max_extras=0)
    assert (told.unsaved_text, told.unsaved_omitted) == (None, True)


def test_hostile_numbers_and_texts_become_harmless():
    told = only(
        active(
            path="/w/\ud83d\ude00\ud83d.py",
            last_focused_at=float("nan"),
            cursor=Cursor(line=-5, character=10**30),
            visible_range=LineRange(start_line=9, end_line=-1),
            selected_text="\udfff",
        )
    )
    assert told.path == "/w/😀\ufffd.py"
    assert told.cursor == Cursor(line=1, character=2**31)
    assert told.visible_range == LineRange(start_line=9, end_line=9)
    assert told.selected_text == "\ufffd"


@settings(max_examples=100, deadline=None)
@given(editors, st.integers(0, 12), st.integers(0, 60))
def test_every_state_is_bounded_ordered_and_has_distinct_paths(files: list[OpenFile], max_files: int, max_extras: int):
    state = normalise(files, max_files=max_files, max_selection=10, max_extras=max_extras)
    told = [file.path for file in state.files]
    assert len(told) == len(set(told)) == min(max_files, len({file.path for file in files}))
    assert [file.last_focused_at for file in state.files] == sorted(
        (file.last_focused_at for file in state.files), reverse=True
    )
    assert all(not file.is_active for file in state.files[1:])
    extras = sum(
        len(file.unsaved_text or "") + sum(len(each.message) for each in file.diagnostics) for file in state.files
    )
    assert extras <= max_extras
    assert all(len(file.selected_text or "") <= 10 + len(TRUNCATED) for file in state.files)
    for file in state.files:
        said = [given for given in files if given.path == file.path and given.unsaved_text is not None]
        assert not (file.unsaved_omitted or file.unsaved_text is not None) or said


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab\n\r", max_size=300), st.integers(-3, 400), st.integers(1, 60))
def test_an_excerpt_is_part_of_the_text_at_the_lines_that_it_names(text: str, line: int, budget: int):
    told = only(active(unsaved_text=text, cursor=Cursor(line=line, character=1)), max_extras=budget)
    shown = told.unsaved_text
    assert shown is not None
    assert shown in text
    if told.unsaved_lines is None:
        assert shown == text
    else:
        assert told.unsaved_lines.end_line - told.unsaved_lines.start_line == count_line_breaks(shown) - shown.endswith(
            ("\n", "\r")
        )
        assert (
            1 <= told.unsaved_lines.start_line <= told.unsaved_lines.end_line <= 1 + text.count("\n") + text.count("\r")
        )
