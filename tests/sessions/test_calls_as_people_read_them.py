"""What one call did, for people: a diff of what it changed, and its output without what only the model was told."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemini_companion.engine.history.log import ToolResultEntry
from gemini_companion.sessions.tool_results import ShownCall
from gemini_companion.sessions.tools.call_shown import MOST_CHARACTERS, call_shown
from gemini_companion.tools.ports import CommandEnd
from gemini_companion.tools.shell.run_shell_command import output_of, put_out
from gemini_companion.tools.workspace.excerpts import shown, without_lead
from gemini_companion.tools.workspace.grep_search import lines_alone
from gemini_companion.tools.workspace.list_directory import names_alone
from tests.support.changes_desk import ChangesDesk

KEPT_BACK = "Files that the user's rules keep from you were left out."
FOR_PEOPLE = "Files that your rules keep from Gemini were left out."


@pytest.fixture
def desk(tmp_path: Path) -> ChangesDesk:
    return ChangesDesk(tmp_path)


async def last_call(desk: ChangesDesk) -> ShownCall:
    session = await desk.session()
    results = [entry for entry in session.history.entries if isinstance(entry, ToolResultEntry)]
    return await call_shown(session, results[-1].calls[-1].call_id)


async def test_of_an_edit_there_is_its_own_diff_and_no_word_that_was_for_the_model(desk: ChangesDesk) -> None:
    desk.put("a.txt", b"one\ntwo\nthree\n")
    await desk.replace("a.txt", "two", "2")
    await desk.replace("a.txt", "three", "3")
    seen = await last_call(desk)
    assert seen.output == ""
    assert [
        line for line in seen.diff.split("\n") if line.startswith(("+", "-")) and line[:3] not in ("+++", "---")
    ] == [
        "-three",
        "+3",
    ]


async def test_of_a_new_file_all_of_it_is_added(desk: ChangesDesk) -> None:
    await desk.write("new.txt", "x\ny\n")
    assert "\n+x\n+y\n" in (await last_call(desk)).diff


async def test_of_an_edit_that_failed_all_of_its_fault_is_seen(desk: ChangesDesk) -> None:
    desk.put("a.txt", b"one\ntwo\n")
    call = ("replace", {"file_path": "a.txt", "old_string": "one\ntwo!", "new_string": "2"})
    await desk.turn(call)
    first = await last_call(desk)
    assert first.diff == ""
    assert "old_string stands there 0 times" in first.output
    assert "What is most like it" in first.output
    assert "two" in first.output
    await desk.turn(call)
    assert await last_call(desk) == first  # how often it failed is for the model


async def test_of_a_refused_text_what_has_changed_is_seen_and_not_what_the_model_may_do(desk: ChangesDesk) -> None:
    desk.put("a.txt", b"one\n")
    await desk.turn(("read_file", {"file_path": "a.txt"}))
    desk.put("a.txt", b"one and more\n")
    await desk.write("a.txt", "two\n")
    seen = (await last_call(desk)).output
    assert "has changed since it was last read" in seen
    assert "+one and more" in seen
    assert "Call again" not in seen


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        ("2 matches in 1 file\na.py\n1: x\n2: x", "a.py\n1: x\n2: x"),
        (f"1 match in 1 file ({KEPT_BACK})\na.py\n1: x", f"a.py\n1: x\n\n{FOR_PEOPLE}"),
        (f"No line matches x. {KEPT_BACK}", f"No line matches x. {FOR_PEOPLE}"),
    ],
)
def test_of_a_search_in_texts_what_was_left_out_stands_below(told: str, seen: str) -> None:
    assert lines_alone(told) == seen


def test_a_name_in_brackets_is_no_note() -> None:
    listed = "app: 1 name\n[slug].py (3 B)"
    assert names_alone(listed) == listed


async def test_a_call_that_is_not_known_is_empty(desk: ChangesDesk) -> None:
    await desk.write("new.txt", "x\n")
    assert await call_shown(await desk.session(), "call-of-nobody") == ShownCall()


@pytest.mark.parametrize(
    ("output", "end", "seen"),
    [
        ("one\ntwo\n", {"exit_code": 0}, "one\ntwo\n"),
        ("", {"exit_code": 0}, ""),
        ("[1, 2]\n[Exit code: 9]\n", {"exit_code": 1}, "[1, 2]\n[Exit code: 9]\n"),
        ("half\n", {"exit_code": None, "signal": "SIGKILL"}, "half\n"),
        ("half\n", {"exit_code": 1, "timed_out": True}, "half\n"),
        ("read-only\n", {"exit_code": 1, "sandbox": "Sandbox: writes only here."}, "read-only\n"),
    ],
)
def test_of_a_command_what_it_put_out_is_seen(output: str, end: dict[str, object], seen: str) -> None:
    told = output_of(CommandEnd(output=output, **end), was_stopped=False).output  # type: ignore[arg-type]
    assert told != seen
    assert put_out(told) == seen


def test_of_a_command_in_the_background_what_it_had_put_out_is_seen() -> None:
    assert put_out("It runs in the background with the id 7. stop_background_process ends it. So far:\nup\n") == "up\n"
    assert put_out("It runs in the background with the id 7. It has put out nothing so far.") == ""


def test_of_a_file_that_was_read_in_part_the_lines_are_seen_and_a_first_line_in_brackets_stays() -> None:
    part = shown("[section]\n" + "a\n" * 9, 1, 3)
    assert without_lead(f"[{' '.join(part.notes())}]\n{part.text}") == "[section]\na\na\n"
    assert without_lead("[section]\na\n") == "[section]\na\n"


async def test_of_a_long_output_the_end_is_seen(desk: ChangesDesk) -> None:
    desk.put("long.txt", b"x" * 1_500 + b"\n" + b"a longer line of the file\n" * 1_500)
    await desk.turn(("read_file", {"file_path": "long.txt"}))
    seen = await last_call(desk)
    assert seen.is_cut
    assert len(seen.output) == MOST_CHARACTERS
