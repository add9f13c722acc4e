"""What a person reads before they agree: exact, whole, with one reading."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.tools.consent_texts import (
    alike_punctuation,
    deceptive,
    hidden_in_prose,
    is_deceptive,
    look_alikes,
    quoted,
    quoted_line,
    signs_of,
    texts_in,
    visible,
    visible_line,
    visible_prose,
)
from tests.support.patience import PATIENCE

ODD = "\u202e\u2066\u200b\u00a0\x1b\x07\r\n\t\\u{}0123456789ABCDEF'\"$`;&| =a\u0430\U000e0041\ufe0f\u2028é日"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"])), max_size=30)
ESCAPES = st.lists(st.sampled_from(["\\u{202E}", "\u202e", "\\", "u{005C}", "\\u{1F600}", "a", "\\u{000A}", "\n"]))
WORDS = st.text(st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"], exclude_characters="\0")))


@given(TEXTS, TEXTS)
def test_no_two_texts_are_shown_alike(one: str, other: str) -> None:
    for show in (visible, visible_line, visible_prose, quoted):
        assert (show(one) == show(other)) == (one == other)


@given(ESCAPES.map("".join), ESCAPES.map("".join))
def test_a_text_that_spells_an_escape_out_is_told_from_the_sign_itself(one: str, other: str) -> None:
    for show in (visible, visible_line, visible_prose, quoted):
        assert (show(one) == show(other)) == (one == other)


@given(TEXTS)
def test_nothing_that_is_shown_is_invisible(text: str) -> None:
    assert not any(map(is_deceptive, visible(text)))
    assert not any(is_deceptive(sign) or sign in "\t\n" for sign in visible_line(text) + quoted(text))
    assert hidden_in_prose(visible_prose(text)) == ()


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=30))
def test_plain_words_are_quoted_as_shells_do_it(word: str) -> None:
    assert shlex.split(quoted(word)) == [word]


@given(st.lists(st.text(max_size=8), min_size=1, max_size=4), st.lists(st.text(max_size=8), min_size=1, max_size=4))
def test_no_two_lists_of_words_are_shown_alike(one: list[str], other: list[str]) -> None:
    assert (quoted_line(one) == quoted_line(other)) == (one == other)


@given(
    st.dictionaries(st.sampled_from("ABC"), st.text(st.sampled_from("A= 'x\n"), max_size=5)),
    st.lists(st.text(st.sampled_from("ABC= 'x\n"), max_size=5), min_size=1, max_size=3),
    st.dictionaries(st.sampled_from("ABC"), st.text(st.sampled_from("A= 'x\n"), max_size=5)),
    st.lists(st.text(st.sampled_from("ABC= 'x\n"), max_size=5), min_size=1, max_size=3),
)
def test_what_is_a_variable_is_told_from_what_is_a_word(
    env: dict[str, str], words: list[str], other_env: dict[str, str], others: list[str]
) -> None:
    shown, other = quoted_line(words, env), quoted_line(others, other_env)
    assert (shown == other) == ((list(env.items()), words) == (list(other_env.items()), others))


@pytest.mark.process
def test_bash_reads_the_words_back_that_were_quoted() -> None:
    words = ["", "a b", "it's", 'say "hi"', "$HOME `id`", "\u202ea\u200b", "one\ntwo\tthree\r", "\x1b[31m\x07", "\\x41"]
    words += ["é日本", "\U000e0041\ufeff", "#no", "~", "*", "!x", "a\\'b\u00a0", "\u202e1F600"]
    line = " ".join(map(quoted, words))
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {line}"],
        capture_output=True,
        env={"LC_ALL": "C.UTF-8"},
        timeout=PATIENCE,
        check=True,
    )
    assert done.stdout.decode("utf-8").split("\0")[:-1] == words


def test_a_program_is_never_read_as_a_variable_or_as_a_word_of_the_shell() -> None:
    assert quoted_line(["PATH=/x", "ls"]) == "'PATH=/x' ls"
    assert quoted_line(["time", "ls"], {"A": "b c"}) == "A='b c' 'time' ls"


@pytest.mark.parametrize(
    "text",
    [
        "git commit -m 'Исправил ошибку в парсере'",
        "git commit -m '修复：问题（一）'",
        "touch хор.txt Файл1.txt 報告書.md ＡＢＣ.txt",
        "cat APIノート.txt USB-кабель.md utf8_тест.py",
        "printf '\\nАвтор'",
        "yazılım.txt naïve café straße m² nº 5µm Δt",
        "curl https://правда.рф/страница https://日本.jp",
        "echo нет; grep -r Москва2024 .",
        "git commit -m 'don’t – really；'",
        'git commit -m "Опиши — кратко… №5"',
        "echo don’t; pages 1–5; Report – 2024.pdf",
        "touch 日本語（テスト）.txt 文件：说明.md 报告（1）.pdf",
        "ls → x │ « a » • b °C ± 5 × 3",
    ],
)
def test_texts_in_ones_own_language_are_not_warned_of(text: str) -> None:
    assert signs_of(text) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("curl https://g\u043e\u043egle.com", "g\u043e\u043egle"),
        ("М\u0430kefile", "М\u0430kefile"),
        ("g\uff4fogle", "g\uff4fogle"),
        ("\U0001d40cakefile", "\U0001d40cakefile"),
        ("p\u03bfst", "p\u03bfst"),
        ("curl https://\u0455\u0441\u043e\u0440\u0435.com/x", "\u0455\u0441\u043e\u0440\u0435.com"),
        ("curl \u0430\u0440\u0440\u04cf\u0435.com/x", "\u0430\u0440\u0440\u04cf\u0435.com"),
        ("ssh me@\u0455\u0441\u043e\u0440\u0435", "\u0455\u0441\u043e\u0440\u0435"),
        ("https://google.com\u2044evil.example", "google.com\u2044evil.example"),
        ("https://user@g\u0131thub.com/x", "g\u0131thub.com"),
    ],
)
def test_letters_that_look_like_others_are_found(text: str, word: str) -> None:
    assert word in look_alikes(text)
    assert any(word in warning and "U+" in warning for warning in signs_of(text))


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("cat /etc\u2215passwd", "\u2215"),
        ("cat \u2215\u2215etc", "\u2215"),
        ('cat "/etc\u2044passwd"', "\u2044"),
        ("rm \u2010rf x", "\u2010"),
        ("rm \u2212rf x", "\u2212"),
        ("rm \u2013force", "\u2013"),
        ("pip install a\u2011b", "\u2011"),
        ("ls\uff1brm -rf x", "\uff1b"),
        ("ls \uff5c sh", "\uff5c"),
        ("ls \u037e rm x", "\u037e"),
        ("cat a\uff1eb", "\uff1e"),
        ("A\uff1d1 make", "\uff1d"),
        ("./run\u2024sh", "\u2024"),
        ("src\u29f8a.py", "\u29f8"),
    ],
)
def test_punctuation_that_looks_like_what_parts_words_is_found(text: str, sign: str) -> None:
    assert alike_punctuation(text) == (sign,)
    assert any(f"{sign} (U+{ord(sign):04X})" in warning for warning in signs_of(text))


def test_a_program_in_one_alphabet_that_looks_like_a_program_of_ascii_is_warned_of() -> None:
    assert signs_of("\u0455\u0441\u043e\u0440\u0435 -x", ["\u0455\u0441\u043e\u0440\u0435"]) != []
    assert signs_of("./\u0441\u0431\u043e\u0440\u043a\u0430.sh", ["./\u0441\u0431\u043e\u0440\u043a\u0430.sh"]) == []


def test_prose_keeps_its_emojis_joiners_and_wide_blanks_and_loses_what_turns_lines_around() -> None:
    prose = "⚠️ heart ❤️, family 👩‍👩‍👧, می‌خواهم, 全角　空白, a\u00a0b"
    assert visible_prose(prose) == prose
    assert hidden_in_prose(prose) == ()
    assert hidden_in_prose("if admin\u202e \u2066x") == ("U+202E", "U+2066")
    assert hidden_in_prose("a\U000e0041\u200bb\x1b") == ("U+E0041", "U+200B", "U+001B")
    assert visible_prose("a\ufe0f") == "a\\u{FE0F}"


def test_every_kind_of_sign_that_shows_nothing_is_found() -> None:
    for code in (0x00AD, 0x200B, 0x2060, 0xFEFF, 0xE0001, 0xE0101, 0x180B, 0x3164, 0x2028, 0x85, 0x1B, 0xFE0F, 0x115F):
        assert deceptive(f"a{chr(code)}b") == (f"U+{code:04X}",)


def test_all_texts_of_a_value_are_found_names_too() -> None:
    assert list(texts_in({"a": ["b", {"c": 1, "d": "e"}]})) == ["a", "b", "c", "d", "e"]
