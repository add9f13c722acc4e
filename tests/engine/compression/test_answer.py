"""Reading the summariser's answer, however it misbehaves, and taking in a person's edit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.compression.answer import edited_snapshot, read_snapshot, wrap
from gemini_companion.engine.facts.neutralise import SECTIONS, neutralise
from tests.support.examples import examples

FULL = "".join(f"<{name}>about {name}</{name}>\n" for name in SECTIONS).strip()


def snapshot(body: str) -> str:
    return f"<state_snapshot>\n{body}\n</state_snapshot>"


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ("<state_snapshot>two</state_snapshot>", "two"),
        (f"Here it is:\n{snapshot(FULL)}\nDone.", FULL),
        ("<state_snapshot>one</state_snapshot> better: <state_snapshot>two</state_snapshot>", "two"),
        (
            f"{snapshot('<overall_goal>one</overall_goal>')}{snapshot('<overall_goal>two</overall_goal>')}",
            "<overall_goal>two</overall_goal>",
        ),
        ("<STATE_SNAPSHOT>\n<Overall_Goal>x</Overall_Goal></State_Snapshot >", "<Overall_Goal>x</Overall_Goal>"),
        ('<state_snapshot version="2">\nx\n</state_snapshot>', "x"),
        ("<state_snapshot\n>x</state_snapshot>", "x"),
        ("```xml\n<state_snapshot>x</state_snapshot>\n```", "x"),
        ("<state_snapshot>half <state_snapshot>whole</state_snapshot>", "whole"),
        (snapshot("whole") + "<state_snapshot>cut off", "whole"),
        (snapshot(FULL) + "<state_snapshot>\n<overall_goal>cut off", FULL),
        (snapshot("said") + "<state_snapshot> \n </state_snapshot>", "said"),
        (snapshot("said") + snapshot("".join(f"<{name}></{name}>" for name in SECTIONS)), "said"),
        ("</state_snapshot><state_snapshot>x</state_snapshot></state_snapshot>", "x"),
        ("<state_snapshot>outer <state_snapshot>inner</state_snapshot> rest</state_snapshot>", "inner"),
    ],
)
def test_the_last_complete_snapshot_is_taken(answer: str, body: str) -> None:
    assert read_snapshot(answer) == snapshot(body)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "plain",
        "<state_snapshot>cut off",
        "cut off</state_snapshot>",
        "</state_snapshot><state_snapshot>",
        "<state_snapshot></state_snapshot>",
        snapshot("<overall_goal>\n</overall_goal><task_state> </task_state>"),
        "<state_snapshots>x</state_snapshots>",
        "<my_state_snapshot>x</my_state_snapshot>",
        "&lt;state_snapshot&gt;x&lt;/state_snapshot&gt;",
        "‹state_snapshot>x‹/state_snapshot>",
        "<scratchpad><state_snapshot>draft</state_snapshot></scratchpad>",
        "<scratchpad>a <scratchpad>b</scratchpad> <state_snapshot>draft</state_snapshot></scratchpad>",
        "<SCRATCHPAD id='1'><state_snapshot>draft</state_snapshot></ScratchPad >",
    ],
)
def test_without_a_complete_snapshot_there_is_none(answer: str) -> None:
    assert read_snapshot(answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        "<scratchpad><state_snapshot>draft</state_snapshot></scratchpad>" + snapshot("final"),
        snapshot("final") + "<scratchpad><state_snapshot>draft</state_snapshot></scratchpad>",
        "<scratchpad>not closed " + snapshot("final"),
        "<scratchpad>I open <scratchpad> and close </scratchpad>" + snapshot("final"),
        "<scratchpad>1</scratchpad>" + snapshot("draft") + "<scratchpad>2</scratchpad>" + snapshot("final"),
        "</scratchpad>" + snapshot("final") + "<scratchpad>",
    ],
)
def test_a_draft_in_a_scratchpad_is_never_taken_and_a_broken_scratchpad_costs_nothing(answer: str) -> None:
    assert read_snapshot(answer) == snapshot("final")


def test_a_snapshot_may_speak_of_the_tags() -> None:
    body = (
        "<overall_goal>Parse <state_snapshot> and </state_snapshot> tags.</overall_goal>\n<task_state>none</task_state>"
    )
    read = read_snapshot(f"<state_snapshot>\n{body}\n</state_snapshot>")
    assert read == snapshot(
        body.replace("<state_snapshot>", "‹state_snapshot>").replace("</state_snapshot>", "‹/state_snapshot>")
    )


def test_everything_else_inside_is_kept_byte_for_byte() -> None:
    body = "<overall_goal>  x < y && a</b>\t<script>\r\n日本\x00</overall_goal>\n\n<task_state>&amp;</task_state>"
    assert read_snapshot(snapshot(body)) == snapshot(body)


@pytest.mark.parametrize(
    "piece",
    [
        "<state_snapshot",
        "<state_snapshot ",
        "<state_snapshot>",
        "</state_snapshot>",
        "<state_snapshot></state_snapshot>",
        "<state_snapshot><overall_goal></state_snapshot>",
        "<scratchpad>",
        "<scratchpad></scratchpad>",
        "<scratchpad",
        "<overall_goal>",
        "< / state_snapshot " + " " * 50,
        "<state_snapshot>" + " " * 190,
    ],
)
def test_a_megabyte_of_tags_is_read_in_one_pass(piece: str) -> None:
    """Quadratic reading would take minutes here; the suite's timeout is the bound."""
    hostile = piece * (1_000_000 // len(piece))
    read_snapshot(hostile)
    edited_snapshot(hostile)
    assert read_snapshot(hostile.replace(">", "") + snapshot("real")) == snapshot("real")


@given(
    st.lists(
        st.sampled_from(
            [
                "<state_snapshot>",
                "</state_snapshot>",
                "<scratchpad>",
                "</scratchpad>",
                "<overall_goal>",
                "</overall_goal>",
                "a",
                " ",
                "\n",
            ]
        )
    )
)
@settings(max_examples=examples(100), deadline=None)
def test_what_is_read_is_one_snapshot_and_reads_as_itself(pieces: list[str]) -> None:
    read = read_snapshot("".join(pieces))
    if read is not None:
        assert read.startswith("<state_snapshot>\n")
        assert read.endswith("\n</state_snapshot>")
        assert (read.count("<state_snapshot"), read.count("</state_snapshot"), read.count("scratchpad>")) == (
            1,
            1,
            read.count("‹scratchpad") + read.count("‹/scratchpad"),
        )
        assert read_snapshot(read) == read


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("Just go on.", "Just go on."),
        (f"  {snapshot(FULL)}  ", FULL),
        ('<state_snapshot v="1">x</state_snapshot>', "x"),
        ("note <state_snapshot>x</state_snapshot>", "note ‹state_snapshot>x‹/state_snapshot>"),
        ("<state_snapshot>a</state_snapshot><state_snapshot>b</state_snapshot>", "a‹/state_snapshot>‹state_snapshot>b"),
        ("<scratchpad>x</scratchpad>", "‹scratchpad>x‹/scratchpad>"),
        ("<overall_goal>x</overall_goal>", "<overall_goal>x</overall_goal>"),
        ("<state_snapshot>not closed", "‹state_snapshot>not closed"),
    ],
)
def test_an_edited_text_is_wrapped_where_it_has_no_tag_and_foreign_tags_are_escaped(text: str, body: str) -> None:
    assert edited_snapshot(text) == snapshot(body)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "<state_snapshot></state_snapshot>",
        "<state_snapshot>\n<overall_goal> </overall_goal>\n</state_snapshot>",
    ],
)
def test_an_edited_text_without_a_word_is_none(text: str) -> None:
    assert edited_snapshot(text) is None


@given(st.text(max_size=200))
@settings(max_examples=examples(100), deadline=None)
def test_wrapping_changes_nothing_but_reserved_tags(text: str) -> None:
    wrapped = wrap(text).removeprefix("<state_snapshot>\n").removesuffix("\n</state_snapshot>")
    assert wrapped.replace("‹", "<") == text.replace("‹", "<")
    assert neutralise(text).count("‹") >= wrapped.count("‹")
