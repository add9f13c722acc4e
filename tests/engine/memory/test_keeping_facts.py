"""A fact as one line, and where it goes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.memory.imports import imports_in
from gemini_companion.engine.memory.saving import HEADING, MAX_FACT, one_fact, with_fact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Likes\n\ttea. ", "Likes tea."),
        ("- # Likes tea.", "Likes tea."),
        ("See @secrets.md now", "See `@secrets.md` now"),
        ("\u202etea\u200b \x00", "tea"),
        (" \n ", ""),
    ],
)
def test_a_fact_is_one_line_that_imports_nothing(text: str, expected: str):
    assert one_fact(text) == expected


@given(st.text(max_size=100))
def test_whatever_is_given_is_one_line_without_a_heading_or_an_import(text: str):
    fact = one_fact(text)
    assert "\n" not in fact
    assert "\r" not in fact
    assert not fact.startswith("#")
    assert imports_in(fact) == ()


def test_a_fact_that_is_too_long_is_refused():
    with pytest.raises(ValueError, match="at most"):
        one_fact("a" * (MAX_FACT + 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", f"{HEADING}\n- F\n"),
        ("# Rules\n\nTabs.\n", f"# Rules\n\nTabs.\n\n{HEADING}\n- F\n"),
        (f"{HEADING}\n- E\n", f"{HEADING}\n- E\n- F\n"),
        (f"A\n\n{HEADING}\n- E\n\n# Next\nB\n", f"A\n\n{HEADING}\n- E\n- F\n\n# Next\nB\n"),
        (f"A\r\n\r\n{HEADING}\r\n- E\r\n", f"A\r\n\r\n{HEADING}\r\n- E\r\n- F\r\n"),
        (f"A\r\n{HEADING}\r\n\r\n### Sub\r\n- E", f"A\r\n{HEADING}\r\n\r\n### Sub\r\n- E\r\n- F\r\n"),
        (HEADING, f"{HEADING}\n- F\n"),
    ],
)
def test_a_fact_goes_to_the_end_of_its_section_and_nothing_else_changes(text: str, expected: str):
    assert with_fact(text, "F") == expected


@given(st.lists(st.sampled_from(["a", "", "# H", HEADING, "- b", "  "]), max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_every_line_that_was_there_stays_in_its_order(lines: list[str], ending: str):
    after = with_fact(ending.join(lines), "the new fact").splitlines()
    assert after.count("- the new fact") == 1
    kept = [line.strip() for line in after if line.strip() and line != "- the new fact"]
    before = [line.strip() for line in lines if line.strip()]
    assert kept in (before, [*before, HEADING])
