"""What of an editor may be told: order, bounds, masking."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.ide_context import (
    MAX_ACTIVE_TEXT,
    MAX_EXTRAS,
    MAX_SELECTION,
    TRUNCATED,
    Cursor,
    Diagnostic,
    FileText,
    LineRange,
    OpenFile,
    normalise,
)
from tests.engine.ide_context.editor_states import editors
from tests.support.examples import examples


def active(**fields: object) -> OpenFile:
    return msgspec.structs.replace(OpenFile(path="/w/a.py", last_focused_at=9, is_active=True), **fields)


def only(file: OpenFile, max_extras: int = MAX_EXTRAS, max_active_text: int = MAX_ACTIVE_TEXT) -> OpenFile:
    (told,) = normalise([file], max_extras=max_extras, max_active_text=max_active_text).files
    return told


def unsaved(path: str, text: str, at: int = 0) -> OpenFile:
    return OpenFile(path=path, last_focused_at=at, text=text, is_unsaved=True)


def shown(file: OpenFile) -> FileText:
    assert file.shown is not None
    return file.shown


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
        unsaved("/a", "new", at=5),
    ]
    (told,) = normalise(files).files
    assert (told.last_focused_at, told.is_active, shown(told).text) == (5, False, "new")


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
        text="kept",
        is_unsaved=True,
    )
    (first, other) = normalise([full, msgspec.structs.replace(full, path="/w/b.py", last_focused_at=1)]).files
    assert (first.cursor, first.selected_text, len(first.diagnostics)) == (Cursor(line=1, character=1), "sel", 1)
    assert other == OpenFile(path="/w/b.py", last_focused_at=1, is_unsaved=True, shown=FileText(text="kept"))


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
    told = only(active(selected_text=secret, text=secret, diagnostics=(diagnostic,)))
    other = normalise([active(), unsaved("/w/b", secret)]).files[1]
    assert told.masked == 3
    assert other.masked == 1
    for text in (told.selected_text, shown(told).text, told.diagnostics[0].message, shown(other).text):
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
    files = [active(diagnostics=found), unsaved("/b", "u" * 600)]
    told, other = normalise(files, max_extras=1000).files
    assert (len(told.diagnostics), told.omitted_diagnostics) == (1, 8)
    assert shown(other).text == "u" * 600


@pytest.mark.parametrize("is_unsaved", [True, False])
def test_a_small_active_file_is_told_whole_saved_or_not(is_unsaved: bool):
    told = only(active(text="a\nb\n", is_unsaved=is_unsaved))
    assert (told.shown, told.is_unsaved, told.path_only) == (FileText(text="a\nb\n"), is_unsaved, "")


def test_an_empty_text_is_still_told():
    assert shown(only(active(text=""))).text == ""
    assert shown(normalise([active(), unsaved("/b", "")]).files[1]).text == ""


def test_saved_texts_of_files_without_the_focus_are_not_told():
    assert normalise([active(), OpenFile(path="/b", text="b")]).files[1].shown is None


@pytest.mark.parametrize("lines_of", ["cursor", "selection", "visible range"])
def test_of_a_long_text_whole_lines_around_selection_cursor_or_visible_range_are_told(lines_of: str):
    lines = [f"line {number}\n" for number in range(1, 5001)]
    around = LineRange(start_line=2500, end_line=2510)
    where = {
        "cursor": active(cursor=Cursor(line=2500, character=1)),
        "selection": active(selected_lines=around, cursor=Cursor(line=1, character=1)),
        "visible range": active(visible_range=around),
    }[lines_of]
    told = shown(only(msgspec.structs.replace(where, text="".join(lines))))
    assert told.lines is not None
    assert told.lines.start_line < 2500 < 2510 < told.lines.end_line
    assert told.text == "".join(lines[told.lines.start_line - 1 : told.lines.end_line])
    assert (told.line_count, told.is_cut) == (5000, False)
    assert MAX_ACTIVE_TEXT - 20 <= len(told.text) <= MAX_ACTIVE_TEXT


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_the_lines_of_an_excerpt_are_counted_whatever_ends_them(line_break: str):
    text = "".join(f"line {number}{line_break}" for number in range(1, 2001))
    told = shown(only(active(text=text, cursor=Cursor(line=1000, character=1)), max_active_text=400))
    assert told.lines is not None
    first, last = told.lines.start_line, told.lines.end_line
    assert told.text == "".join(f"line {number}\n" for number in range(first, last + 1))
    assert told.line_count == 2000


def test_an_excerpt_stays_while_the_cursor_moves_a_little():
    text = "".join(f"line {number}\n" for number in range(1, 5001))
    first, second = (only(active(text=text, cursor=Cursor(line=line, character=1))) for line in (2501, 2520))
    assert first.shown == second.shown


def test_an_excerpt_does_not_show_the_inside_of_a_key_that_starts_before_it():
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2 for _ in range(60))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n"
    text = "before\n" * 2000 + key + "after\n" * 2000
    told = only(active(text=text, cursor=Cursor(line=2030, character=1)), max_active_text=2000)
    assert told.masked == 1
    assert "MIIE" not in shown(told).text
    assert "[masked: private key]" in shown(told).text


def test_masks_leave_the_lines_after_them_where_they_are():
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2 for _ in range(10))
    text = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nlast\n"
    assert shown(only(active(text=text))).text.split("\n").index("last") == text.split("\n").index("last")


def test_one_line_longer_than_the_budget_is_cut_within():
    told = shown(only(active(text="ab" * 50_000)))
    assert (told.lines, told.is_cut, told.line_count) == (LineRange(start_line=1, end_line=1), True, 1)
    assert len(told.text) == MAX_ACTIVE_TEXT


def test_unsaved_texts_of_other_files_come_whole_while_there_is_room_else_only_the_fact():
    files = [active(), unsaved("/b", "b" * 5000, at=3), unsaved("/c", "c" * 5000, at=2), unsaved("/d", "d", at=1)]
    _, b, c, d = normalise(files).files
    assert shown(b).text == "b" * 5000
    assert (c.shown, c.is_unsaved) == (None, True)
    assert shown(d).text == "d"


def test_without_room_the_settings_are_named_as_the_reason():
    told = only(active(text="a", is_unsaved=True), max_active_text=0)
    assert (told.shown, told.is_unsaved, told.path_only) == (None, True, "turned off in the settings")
    assert normalise([active(), unsaved("/b", "b")], max_extras=0).files[1].shown is None


def test_a_reason_for_the_path_alone_is_kept():
    assert only(active(path_only="not a text file")).path_only == "not a text file"


def test_a_selection_that_is_too_long_ends_with_a_whole_line_and_says_which_lines_it_is():
    lines = [f"line {number:04}\n" for number in range(101, 2101)]
    told = only(active(selected_text="".join(lines), selected_lines=LineRange(start_line=101, end_line=2100)))
    assert told.selection_cut is not None
    first, last = told.selection_cut.sent
    assert told.selected_text == "".join(lines[: last - 100]) + TRUNCATED
    assert (first, told.selection_cut.selected) == (101, (101, 2100))
    assert MAX_SELECTION - 10 <= len(told.selected_text or "") - len(TRUNCATED) <= MAX_SELECTION


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
    assert told.path == "/w/😀\\ud83d.py"
    assert told.cursor == Cursor(line=1, character=2**31)
    assert told.visible_range == LineRange(start_line=9, end_line=9)
    assert told.selected_text == r"\udfff"


@settings(max_examples=examples(100), deadline=None)
@given(editors, st.integers(0, 12), st.integers(0, 60))
def test_every_state_is_bounded_ordered_and_has_distinct_paths(files: list[OpenFile], max_files: int, max_extras: int):
    state = normalise(files, max_files=max_files, max_selection=10, max_active_text=10, max_extras=max_extras)
    told = [file.path for file in state.files]
    assert len(told) == len(set(told)) == min(max_files, len({file.path for file in files}))
    assert [file.last_focused_at for file in state.files] == sorted(
        (file.last_focused_at for file in state.files), reverse=True
    )
    assert all(not file.is_active for file in state.files[1:])
    texts = [len(file.shown.text) if file.shown else 0 for file in state.files if file is not state.active]
    assert sum(texts) + sum(len(each.message) for file in state.files for each in file.diagnostics) <= max_extras
    assert state.active is None or state.active.shown is None or len(state.active.shown.text) <= 10
    assert all(len(file.selected_text or "") <= 10 + len(TRUNCATED) for file in state.files)
    assert all(file.shown is None or file.is_unsaved or file.is_active for file in state.files)
    assert all(file.shown is None or not file.path_only for file in state.files)


@settings(max_examples=examples(100), deadline=None)
@given(st.text(alphabet="ab\n\r", max_size=300), st.integers(-3, 400), st.integers(1, 60))
def test_an_excerpt_is_part_of_the_text_at_the_lines_that_it_names(text: str, line: int, budget: int):
    told = shown(only(active(text=text, cursor=Cursor(line=line, character=1)), max_active_text=budget))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    assert len(told.text) <= budget
    if told.lines is None:
        assert told.text == text
        return
    first, last = told.lines.start_line, told.lines.end_line
    assert 1 <= first <= last <= told.line_count == len(lines) - text.endswith("\n")
    whole_lines = "\n".join(lines[first - 1 : last])
    if told.is_cut:
        assert told.text.removesuffix("\n") in whole_lines
    else:
        assert told.text.removesuffix("\n") == whole_lines
