"""Questions taken apart."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.recall.query import MAX_WORDS, NamedDate, parse_query


def ms(*date: int) -> int:
    return int(datetime.datetime(*date, tzinfo=datetime.UTC).timestamp() * 1000)  # type: ignore[arg-type]


def test_stop_words_are_left_out_unless_nothing_else_is_there():
    assert parse_query("What did we say about the parser?").words == ("parser",)
    assert parse_query("who was it").words == ("who", "was", "it")


def test_identifiers_are_split_irregular_words_get_their_base_and_unspaced_scripts_become_pairs():
    assert parse_query("parseConfig went").words == ("parse", "config", "went", "go")
    assert parse_query("接続回数").words == ("接続", "続回", "回数")


def test_neighbouring_words_are_phrases():
    assert parse_query("the retry limit of the database").phrases == ("retry limit", "limit database")


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("What did I say about tabs?", "user"),
        ("the library you suggested", "model"),
        ("Which port had you already mentioned?", "model"),
        ("you said what I said", "model"),
        ("who suggested tabs", None),
        ("is it better if I use tabs", None),
    ],
)
def test_a_question_may_say_whose_words_are_meant(question: str, speaker: str | None):
    assert parse_query(question).said_by == speaker


def test_where_speakers_have_names_a_name_means_the_speaker_and_is_no_word():
    names = {"ann": "user", "bob": "model"}
    asked = parse_query("Where did Ann meet the dog?", names=names)  # pyright: ignore[reportArgumentType]
    assert (asked.words, asked.said_by) == (("meet", "dog"), "user")
    both = parse_query("Ann Bob", names=names)  # pyright: ignore[reportArgumentType]
    assert (both.words, both.said_by) == (("ann", "bob"), None)


@pytest.mark.parametrize(
    ("question", "date"),
    [
        ("what happened on 7 May 2023", NamedDate(year=2023, month=5, day=7)),
        ("on May 7th", NamedDate(month=5, day=7)),
        ("in the 3rd of june", NamedDate(month=6, day=3)),
        ("in August 2022", NamedDate(year=2022, month=8)),
        ("in 2021", NamedDate(year=2021)),
        ("what broke on 2026-02-28", NamedDate(year=2026, month=2, day=28)),
        ("it may break", None),
        ("port 8123 in use", None),
    ],
)
def test_a_question_may_name_a_date(question: str, date: NamedDate | None):
    assert parse_query(question).date == date


@pytest.mark.parametrize(
    ("date", "near", "far"),
    [
        (
            NamedDate(year=2023, month=5, day=7),
            [(2023, 5, 5), (2023, 5, 23)],
            [(2023, 5, 4), (2023, 5, 24), (2022, 5, 7)],
        ),
        (NamedDate(month=12, day=30), [(2023, 12, 28), (2024, 1, 10)], [(2024, 1, 20), (2023, 12, 27)]),
        (NamedDate(year=2022, month=12), [(2022, 12, 1), (2023, 1, 14)], [(2022, 11, 30), (2023, 1, 15)]),
        (NamedDate(year=2021), [(2021, 1, 1), (2021, 12, 31)], [(2020, 12, 31), (2022, 1, 1)]),
        (NamedDate(year=2021, month=2, day=31), [], [(2021, 2, 28), (2021, 3, 3)]),
        (NamedDate(year=9999, month=12, day=31), [], [(2021, 2, 28)]),
    ],
)
def test_one_speaks_of_a_date_about_then_or_soon_after(
    date: NamedDate, near: list[tuple[int, ...]], far: list[tuple[int, ...]]
):
    assert [day for day in near + far if date.is_near(ms(*day))] == near


@given(st.text(), st.integers(0, 2**45))
def test_any_text_is_a_question(text: str, time: int):
    asked = parse_query(text)
    assert len(asked.words) <= MAX_WORDS
    assert not any("\0" in word or '"' in word for word in (*asked.words, *asked.phrases))
    if asked.date is not None:
        asked.date.is_near(time)
