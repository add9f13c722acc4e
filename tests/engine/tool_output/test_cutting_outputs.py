"""Long outputs cut by their shape: what stays, that it fits, that what is missing is counted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.compression.truncate import MINIMUM_OUTPUT_CHARACTERS
from gemini_companion.engine.tool_output.cutting import COMMAND_LINES, LINE_CHARACTERS, OutputShape, capped, cut_output
from gemini_companion.engine.tool_output.places import whole_file_name
from tests.support.golden import digested, expand, golden_cases

WHERE = 'All of it: recall(tool_call_id="call-1").'
SHAPES: tuple[OutputShape, ...] = ("text", "file", "listing", "search", "command")


def numbered(count: int, text: str = "line") -> str:
    return "\n".join(f"{text} {number}" for number in range(1, count + 1))


def cut(whole: str, shape: OutputShape = "command", limit: int = 40_000) -> str:
    text = cut_output(whole, shape=shape, limit=limit, where=WHERE)
    assert text is not None
    return text


def left_out(text: str) -> int:
    return sum(int(found.replace(",", "")) for found in re.findall(r"\[… ([\d,]+) lines? left out …\]", text))


@pytest.mark.parametrize("shape", SHAPES)
def test_what_fits_stays_as_it_is(shape: OutputShape) -> None:
    for whole in ("", "short", numbered(1_000), "x" * 2_000):
        assert cut_output(whole, shape=shape, limit=40_000, where=WHERE) is None


def test_a_command_keeps_the_first_fifth_and_the_last_four_fifths_of_its_lines() -> None:
    whole = numbered(5_000)
    lines = cut(whole).split("\n")

    assert len(lines) <= COMMAND_LINES
    gap = next(index for index, line in enumerate(lines) if "left out" in line)
    head, tail = lines[1:gap], lines[gap + 1 :]
    assert head == whole.split("\n")[: len(head)]
    assert tail == whole.split("\n")[-len(tail) :]
    assert 0.19 < len(head) / (len(head) + len(tail)) < 0.21
    assert left_out("\n".join(lines)) == 5_000 - len(head) - len(tail)


def test_errors_and_warnings_from_the_middle_are_kept_within_their_share() -> None:
    lines = [f"compiling part {number} of the thing" for number in range(20_000)]
    lines[9_000] = "src/a.c:14: error: expected ';'"
    lines[9_500] = "src/b.c:3: warning: unused variable"
    text = cut("\n".join(lines))

    assert lines[9_000] in text
    assert lines[9_500] in text
    assert len(text) <= 40_000
    assert len(text.split("\n")) <= COMMAND_LINES


def test_errors_go_first_where_there_are_more_reports_than_room() -> None:
    lines = [f"warning: number {number}" for number in range(20_000)]
    lines[12_000] = "ValueError: this one"
    text = cut("\n".join(lines))
    assert "ValueError: this one" in text
    assert len(text) <= 40_000


@pytest.mark.parametrize("shape", ["file", "listing", "search"])
def test_what_is_read_from_its_beginning_keeps_more_of_that(shape: OutputShape) -> None:
    lines = cut(numbered(20_000), shape).split("\n")
    gap = next(index for index, line in enumerate(lines) if "left out" in line)
    assert gap > 3 * (len(lines) - gap)


def test_long_lines_are_cut_each_for_itself() -> None:
    whole = "first\n" + "x" * 9_000 + "\nlast"
    text = cut(whole)
    first, long, last = text.split("\n")[1:]
    assert (first, last) == ("first", "last")
    assert len(long) <= LINE_CHARACTERS
    assert "characters …]" in long


def test_one_endless_line_keeps_both_ends() -> None:
    text = cut("begin" + "x" * 1_000_000 + "end")
    assert "begin" in text
    assert text.endswith("end")


@given(
    pieces=st.lists(
        st.tuples(st.sampled_from(["a", "Error: b", "warning c", "é😀", "\r", "\t\0"]), st.integers(1, 4_000)),
        max_size=12,
    ),
    between=st.sampled_from(["", "\n", "\n\n", "\nerror\n"]),
    shape=st.sampled_from(SHAPES),
    limit=st.integers(-5, 60_000),
)
def test_what_is_left_is_never_longer_than_the_limit_and_says_how_the_whole_is_read(
    pieces: list[tuple[str, int]], between: str, shape: OutputShape, limit: int
) -> None:
    whole = between.join((text + between) * times for text, times in pieces)
    text = cut_output(whole, shape=shape, limit=limit, where=WHERE)
    if text is None:
        assert len(whole) <= max(limit, MINIMUM_OUTPUT_CHARACTERS)
        return
    assert len(text) <= max(limit, MINIMUM_OUTPUT_CHARACTERS)
    assert WHERE in text
    if shape == "command":
        assert text.count("\n") < COMMAND_LINES


@given(line=st.text(max_size=400), limit=st.integers(-1, 500))
def test_a_line_is_never_longer_than_its_limit(line: str, limit: int) -> None:
    text = capped(line, limit)
    assert len(text) <= max(limit, 80)
    if len(line) <= limit:
        assert text == line


DIFFERENCES = {
    "a limit below 2,000 characters is taken as 2,000": lambda limit: limit < MINIMUM_OUTPUT_CHARACTERS,
    "what names the file and what is missing counts to the limit, where theirs comes on top of it": lambda limit: True,
}
"""Why a cut is not Gemini CLI's: reasons, each with the limits that it is about. Characters are code points here, so no
pair of surrogates is cut in two; all wording is ours.
"""


@pytest.mark.parametrize("case", golden_cases("tool_outputs_files", "formatTruncatedToolOutput"))
def test_what_gemini_cli_cuts_is_cut_in_the_same_shares(case: dict[str, Any]) -> None:
    whole, limit = expand(case["input"]["content"]), case["input"]["maxChars"]
    ours = cut_output(whole, shape="text", limit=limit, where=WHERE)
    theirs_is_cut = digested(whole) != digested(case["expected"]["result"])
    reasons = [reason for reason, applies in DIFFERENCES.items() if applies(limit)]
    if ours is None:
        assert not theirs_is_cut or len(whole) <= MINIMUM_OUTPUT_CHARACTERS, reasons
        return
    assert theirs_is_cut
    assert len(ours) <= limit < len(whole)
    head = ours.partition("]\n")[2].partition("\n\n[…")[0]
    tail = ours.rpartition("…]\n\n")[2]
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head) / (len(head) + len(tail)) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("case", golden_cases("tool_outputs_files", "saveTruncatedToolOutput"))
def test_files_of_wholes_have_the_names_that_gemini_cli_gives_them(case: dict[str, Any]) -> None:
    """But a name is never empty, and the folder is the store's."""
    given = case["input"]
    theirs = case["expected"]["result"]["outputFile"].rpartition("/")[2]
    ours = whole_file_name(given["toolName"], str(given["id"]))
    assert ours == ("tool_0.txt" if theirs == ".txt" else theirs)


@pytest.mark.parametrize("case", golden_cases("tool_outputs_files", "truncateOutputIfNeeded"))
def test_every_output_over_the_limit_is_cut_where_gemini_cli_cuts_only_those_of_commands(case: dict[str, Any]) -> None:
    """Files, matches and listings are cut too here; a limit of 0 or less means none, as there, to who asks for cuts."""
    content, limit = expand(case["input"]["content"]), case["input"].get("threshold", 40_000)
    texts = [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]
    for text in texts if limit > 0 else ():
        cut = cut_output(text, shape="text", limit=limit, where=WHERE)
        assert (cut is not None) is (len(text) > limit)


def progress(count: int) -> list[str]:
    return [f"[{number:05d}/{count}] compiling src/part{number % 97}.c" for number in range(count)]


def test_an_output_of_lines_that_are_alike_gets_a_quarter_of_the_room_and_shows_those_that_are_not() -> None:
    lines = progress(20_000)
    lines[9_000] = "note: the cache was built by another compiler"
    lines[12_000] = "src/b.c:3: error: expected ';'"
    text = cut("\n".join(lines))

    assert 5_000 < len(text) <= 10_000
    assert "most are alike" in text.partition("\n")[0]
    assert lines[9_000] in text
    assert lines[12_000] in text
    assert lines[0] in text
    assert lines[-1] in text
    shown = [line for line in text.split("\n")[1:] if "left out" not in line]
    assert left_out(text) == len(lines) - len(shown)


def test_an_output_whose_lines_differ_keeps_all_of_its_room() -> None:
    lines = [
        line if number % 5 else f"{'abcdefghij'[number % 7 :]}{'x' * (number % 311)}"
        for number, line in enumerate(progress(20_000))
    ]
    text = cut("\n".join(lines), limit=40_000)
    assert "most are alike" not in text.partition("\n")[0]
    assert len(text) > 30_000
    assert "most are alike" not in cut(numbered(20_000), "search").partition("\n")[0]


READ_FROM_THE_BEGINNING: tuple[OutputShape, ...] = ("file", "listing", "search")


@pytest.mark.parametrize("shape", [*READ_FROM_THE_BEGINNING, "command"])
@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_beside_a_long_line_no_other_line_is_lost(shape: OutputShape, count: int) -> None:
    lines = [f"line {number}" for number in range(count)]
    for place in (0, count // 2, count):
        text = cut("\n".join([*lines[:place], "W" * 5_400, *lines[place:]]), shape)
        assert left_out(text) == 0
        assert [line for line in text.split("\n")[1:] if "W" not in line] == lines


@pytest.mark.parametrize("shape", READ_FROM_THE_BEGINNING)
def test_a_line_that_its_tool_has_cut_is_not_cut_again(shape: OutputShape) -> None:
    whole = "\n".join([f"12345: {'W' * 2_000}… [line truncated]", "second", "x" * 1_990])
    assert cut_output(whole, shape=shape, limit=40_000, where=WHERE) is None


@pytest.mark.parametrize("shape", READ_FROM_THE_BEGINNING)
def test_of_many_long_lines_all_become_shorter_before_one_is_lost(shape: OutputShape) -> None:
    lines = [f"{number}: needle {'z' * 2_000}" if number % 2 else f"{number}: needle" for number in range(100)]
    text = cut("\n".join(lines), shape)
    assert len(text) <= 40_000
    assert left_out(text) == 0
    assert [line.split(" ")[0] for line in text.split("\n")[1:]] == [f"{number}:" for number in range(100)]
    assert [line for line in text.split("\n") if line.endswith("needle")] == lines[::2]


@given(
    st.lists(st.integers(0, 6_000), min_size=1, max_size=60), st.sampled_from(SHAPES), st.sampled_from([2_000, 40_000])
)
def test_whatever_is_cut_fits_and_what_is_missing_is_counted(sizes: list[int], shape: OutputShape, limit: int) -> None:
    lines = [f"{number}:{'x' * size}" for number, size in enumerate(sizes)]
    text = cut_output("\n".join(lines), shape=shape, limit=limit, where=WHERE)
    if text is not None and shape != "text" and len(lines) > 1:
        assert len(text) <= limit
        shown = [line for line in text.split("\n")[1:] if "left out" not in line]
        assert len(shown) + left_out(text) == len(lines)
