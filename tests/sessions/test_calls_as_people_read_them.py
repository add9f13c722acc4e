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
from tests.support.changes_desk import ChangesDesk


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


async def test_of_an_edit_that_failed_the_reason_is_seen_and_not_what_to_do_instead(desk: ChangesDesk) -> None:
    desk.put("a.txt", b"one\n")
    await desk.replace("a.txt", "nothing of the kind", "2")
    seen = await last_call(desk)
    assert seen.diff == ""
    assert seen.output
    assert "\n" not in seen.output


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
