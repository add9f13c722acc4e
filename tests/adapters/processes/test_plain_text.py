from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.processes.output import Lines, Output
from gemini_companion.adapters.processes.plain_text import LONGEST_LINE, PlainText
from gemini_companion.engine.tool_output.cutting import cut_output
from gemini_companion.tools.ports import CommandEnd
from gemini_companion.tools.shell.run_shell_command import output_of

SHOWN = {
    "colours": ("\x1b[31mred\x1b[0m \x1b[1;38;5;200mx\x1b[m\n", "red x\n"),
    "a title": ("\x1b]0;title\x07a\x1b]2;x\x1b\\b\n", r"\x1b]0;title\x07a\x1b]2;x\x1b\b" "\n"),
    "a link": ("\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\\n", r"\x1b]8;;http://x\x1b\text\x1b]8;;\x1b" "\\\n"),
    "something for the clipboard": ("\x1b]52;c;aWQ=\x07ok\n", r"\x1b]52;c;aWQ=\x07ok" "\n"),
    "the cursor": ("a\x1b[2J\x1b[H\x1b[?25lb\x1b7\x1b8\x1bc\x1b(B\n", "ab\n"),
    "signs of one byte": ("a\x9b31mb\x9d0;t\x9cc\n", r"ab\x9d0;t\x9cc" "\n"),
    "a progress bar": ("10%\r20%\r\x1b[K100%\ndone\n", "100%\ndone\n"),
    "a bar that is wiped away": ("10%\r20%\r\r\nx\n", "20%\nx\n"),
    "line ends of Windows": ("a\r\nb\r\r\nc\r\n", "a\nb\nc\n"),
    "a bar that does not end": ("1\r2\r3", "3"),
    "an error between steps": (
        "step 1 ok\rstep 2 ok\rERROR: step 3\rstep 4 ok\rdone\n",
        "step 2 ok\nERROR: step 3\nstep 4 ok\ndone\n",
    ),
    "line ends of old Macs": ("id,name\r1,Anna\r2,Bob\r", "id,name\n1,Anna\n2,Bob"),
    "rows of numbers": ("1,2,3\r4,5,6\r", "1,2,3\n4,5,6"),
    "an error that is written over": ("ERROR important\rok\n", "ERROR important\nok\n"),
    "the last state of git": (
        "Objects: 1% (1/9)\rObjects: 99% (9/9)\rObjects: 100% (9/9), done.\n",
        "Objects: 100% (9/9), done.\n",
    ),
    "a bar with times": ("10%|#   | 1/9 [00:01<00:09]\r99%|### | 9/9 [00:09<00:00]\n", "99%|### | 9/9 [00:09<00:00]\n"),
    "a spinner": ("|\r/\r-\r\\\rready\n", "\\\nready\n"),
    "letters twice": ("b\bbo\bol\bld _\bu\n", "bold u\n"),
    "too many steps back": ("\b\b\ba\n", "a\n"),
    "what is no text": ("a\0b\x01c\x7f\a\n", "a\\x00b\\x01c\\x7f\n"),
    "an escape that stays one": ("a\x1b", "a\\x1b"),
    "tabs": ("a\tb\n", "a\tb\n"),
    "other blanks": ("a\fb\vc\x85d\u2028e\xa0f\n", "a\fb\vc\x85d\u2028e\xa0f\n"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_what_a_terminal_would_show_in_the_end(name: str) -> None:
    text, wanted = SHOWN[name]
    assert PlainText().feed(text, is_last=True)[0] == wanted


PIECES = st.sampled_from(
    ["a", "b\n", "\r", "\r\n", "\x1b", "[31m", "]0;t", "\x07", "\x1b\\", "\b", "\x9b", "5%", "é", "\0", "\n", "\x1b[2K", "\\", "\x90"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30))
def test_it_does_not_matter_in_which_pieces_it_comes_and_nothing_is_left_that_moves_a_cursor(pieces: list[str]) -> None:
    plain = PlainText()
    text = "".join(plain.feed(piece)[0] for piece in pieces) + plain.feed("", is_last=True)[0]
    assert text == PlainText().feed("".join(pieces), is_last=True)[0]
    assert not set(text) & {*map(chr, range(9)), "\r", "\x1b", *map(chr, range(0x7F, 0xA0))}


@given(st.lists(st.sampled_from(["a", "b\n", "\n", "é\n\n", "c d"]), max_size=20))
def test_those_who_watch_see_ordinary_text_as_it_comes(pieces: list[str]) -> None:
    plain = PlainText()
    watched = [plain.feed(piece)[1] for piece in pieces]
    assert watched == pieces


@given(
    st.lists(st.sampled_from(["error", "step 1", "step 2", "9%", "1,2", "done", "", " "]), max_size=12), st.booleans()
)
def test_no_word_of_what_is_written_over_is_lost_and_what_is_left_out_is_counted(states: list[str], ends: bool) -> None:
    plain = PlainText()
    shown = plain.feed("\r".join(states) + "\n" * ends, is_last=True)[0]
    assert set(" ".join(states).replace("1", "2").split()) <= set(shown.replace("1", "2").split())
    assert len([one for one in states if one.strip()]) == len(shown.split()) - shown.count("step ") + plain.repaints


def test_the_model_is_told_how_many_states_of_lines_are_left_out() -> None:
    told = output_of(CommandEnd(exit_code=0, output="done\n", repaints=1_234), was_stopped=False).output or ""
    assert "[1,234 states of lines that were written over (\\r) are left out" in told
    assert "tr '\\r' '\\n'" in told
    assert "written over" not in (output_of(CommandEnd(exit_code=0), was_stopped=False).output or "")


def test_those_who_watch_see_an_error_between_steps() -> None:
    plain = PlainText()
    steps = [*(f"step {number}\r" for number in range(9)), "ERROR\r", "step 9\n"]
    assert "ERROR\n" in "".join(plain.feed(step)[1] for step in steps)
    assert plain.repaints == 8


def test_those_who_watch_see_the_first_and_the_last_state_of_a_bar() -> None:
    plain = PlainText()
    watched = "".join(plain.feed(f"{number}%\r")[1] for number in range(101)) + plain.feed("\nend\n")[1]
    assert watched == "0%\n100%\nend\n"


def test_a_line_without_end_is_not_held() -> None:
    plain = PlainText()
    for _ in range(100):
        plain.feed("x" * 10_000)
        assert len(plain.line) <= LONGEST_LINE
    plain.feed("\n\x1b]" + "y" * 1_000_000)
    assert len(plain.line) <= LONGEST_LINE


def test_the_state_of_a_bar_counts_as_output_while_the_command_runs() -> None:
    output = Output(None)
    output.add(b"begun\n10%\r5")
    output.add(b"0%\r6")
    assert output.text() == output.latest(100) == "begun\n6"


PASCAL = "// operações é ação\r\nx := 1; // até\r\n"
SEEN = {
    "a western file": (PASCAL.encode("cp1252"), PASCAL.replace("\r", ""), "cp1252"),
    "beside UTF-8": ("größe\n".encode() + PASCAL.encode("cp1252"), "größe\n" + PASCAL.replace("\r", ""), "cp1252"),
    "Russian": ("Привет, мир. Это ошибка\n".encode("cp1251"), "Привет, мир. Это ошибка\n", "cp1251"),
    "a stray byte beside UTF-8": ("größe ".encode() + b"\xe9\n", "größe \\xe9\n", ""),
    "too little to guess by": (b"caf\xe9 latin\n", "caf\\xe9 latin\n", ""),
    "what is no text": (b"\xff\xfe\x00bin\n", "\\xff\\xfe\\x00bin\n", ""),
    "half of a sign": ("größe ü".encode()[:-1], "größe \\xc3", ""),
}


@pytest.mark.parametrize("name", SEEN)
def test_lines_that_are_no_utf_8_are_read_as_files_are_or_their_bytes_are_shown(name: str) -> None:
    data, text, guessed = SEEN[name]
    output = Output(None)
    output.add(data, is_last=True)
    assert (output.text(), output.lines.guessed) == (text, guessed)


BYTES = st.lists(
    st.sampled_from(["é\n".encode(), b"\xe9", b"\n", b"a", "é".encode()[:1], "€".encode(), b"\r", b"\xff\n"])
)


@given(BYTES, st.integers(0, 40))
def test_utf_8_comes_as_it_is_in_whatever_pieces_and_no_byte_is_replaced(pieces: list[bytes], at: int) -> None:
    data = b"".join(pieces)
    lines = Lines()
    text = lines.decode(data[:at]) + lines.decode(data[at:]) + lines.decode(b"", is_last=True)
    assert "\ufffd" not in text
    assert text.count("\n") == data.count(b"\n")
    whole = "".join(f"größe {number} €\n" for number in range(9)).encode()
    utf_8 = Lines()
    assert utf_8.decode(whole[:at]) + utf_8.decode(whole[at:], is_last=True) == whole.decode()


def test_a_line_that_is_no_utf_8_and_has_no_end_is_not_held() -> None:
    lines = Lines()
    lines.guess("ação".encode("cp1252"))
    assert len("".join(lines.decode(b"\xe3" * 10_000) for _ in range(20))) > 50_000


def test_the_model_is_told_that_an_encoding_was_guessed() -> None:
    end = CommandEnd(exit_code=0, output="ação", guessed="cp1252")
    assert "[Lines that are no UTF-8 were read as cp1252, which is a guess]" in (
        output_of(end, was_stopped=False).output or ""
    )


@pytest.mark.parametrize("count", [1_000, 60_000, 100_000, 750_000])
@pytest.mark.parametrize("text", ["", "line of a log "])
def test_lines_that_were_never_held_are_counted(count: int, text: str) -> None:
    output = Output(None)
    lines = [f"{text}{number}" for number in range(count)]
    for at in range(0, count, 5_000):
        output.add("".join(f"{line}\n" for line in lines[at : at + 5_000]).encode())
    shown = cut_output(output.text(), shape="command", limit=40_000, where="") or output.text()
    gone = sum(int(one.replace(",", "")) for one in re.findall(r"\[… ([\d,]+) lines? left out …\]", shown))
    ends = len([line for line in shown.split("\n") if line and line[0] != "["])
    assert ends + gone == count
    if said := re.search(r"([\d,]+) of ([\d,]+) lines are shown", shown):
        kept, total = (int(one.replace(",", "")) for one in said.groups())
        assert (kept, total) == (ends + 1, count + 1)  # behind the last line end an empty one stands
