"""Where a snapshot's lines come from: read off what its author said, and taken out of the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.compression.citations import carried_sources, line_sources, read_citations
from gemini_companion.engine.history.retention import LineSource


@pytest.mark.parametrize(
    ("line", "text", "numbers"),
    [
        ("- Never push to main. [c3]", "- Never push to main.", (3,)),
        ("- a [c3, c12]", "- a", (3, 12)),
        ("- a [c3,c12] [c4]", "- a", (3, 12, 4)),
        ("- a [c3, 12]", "- a", (3, 12)),
        ("- a [c3].", "- a.", (3,)),
        ("<overall_goal>Mend it. [c0]</overall_goal>", "<overall_goal>Mend it.</overall_goal>", (0,)),
    ],
)
def test_citations_at_the_end_of_a_line_are_read_and_taken_out(line: str, text: str, numbers: tuple[int, ...]):
    assert read_citations(line) == (text, {0: numbers})


@pytest.mark.parametrize(
    "line", ["See issue [#12].", "board[c1] = 4", "The mark [c1] is read first.", "[c]", "[c1", "[12]", "a [c99999999]"]
)
def test_what_is_no_citation_stays(line: str):
    assert read_citations(line) == (line, {})


def test_lines_are_counted_from_0_and_a_text_without_any_is_the_same():
    assert read_citations("a\nb [c1]\n\nc [c2]") == ("a\nb\n\nc", {1: (1,), 3: (2,)})
    assert read_citations("a\nb") == ("a\nb", {})


def test_numbers_without_an_entry_are_dropped_and_a_line_with_no_other_has_no_source():
    assert line_sources({0: (1, 9), 2: (7,), 3: (2, 0)}, [10, 20, 30]) == (
        LineSource(line=0, seqs=(20,)),
        LineSource(line=3, seqs=(10, 30)),
    )


def test_a_line_that_is_carried_over_keeps_its_sources_unless_it_names_others():
    earlier, known = "- A rule.\n- [TODO] A step.", (LineSource(line=0, seqs=(4,)), LineSource(line=1, seqs=(5,)))
    carried = carried_sources(
        "new\n* a  rule.\n- [DONE] a step.\n- A rule.", (LineSource(line=3, seqs=(9,)),), earlier, known
    )
    assert {source.line: source.seqs for source in carried} == {1: (4,), 2: (5,), 3: (9,)}
    assert carried_sources("x", (), None, known) == ()


@given(st.text(alphabet="ac1[], .\n<>/x9", max_size=200))
def test_it_is_total_and_never_adds_a_line(text: str):
    found = read_citations(text)
    assert found.text.count("\n") == text.count("\n")
    assert len(found.text) <= len(text)
    assert all(0 <= line <= text.count("\n") for line in found.numbers)
