"""What makes a plan stale, and what an undo takes back."""

from __future__ import annotations

import msgspec
import pytest

from gemini_companion.engine.compression.messages import message_for
from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.compression.strategies.split import SplitStrategy
from gemini_companion.engine.compression.undo import plan_undo
from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.history.content import model_text, user_text
from gemini_companion.engine.history.log import CompressionEntry
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT
from tests.support.logs import SNAPSHOT, Book, agent_run, outcome_of


def book_with(turns: int = 8) -> Book:
    book = Book(budget=2_000, limit=2_000)
    talk(book, turns)
    return book


def talk(book: Book, turns: int) -> None:
    for number in range(turns):
        book.say(f"question {number} " + "word " * 50, f"answer {number} " + "text " * 50)


def drafted(book: Book) -> tuple[CompressionEntry, int]:
    plan = book.plan()
    assert plan is not None
    return book.compression(plan), plan.base_version


# --- stale


def test_contents_pins_previews_and_resumptions_touch_no_span() -> None:
    book = book_with()
    draft, base = drafted(book)
    talk(book, 3)
    agent_run(book, 3)
    book.end()
    book.pin("tabs")
    book.preview()
    book.resume()
    book.prompt("no answer comes")
    book.end("failed")
    assert not is_stale(book.history, draft, base)


def test_another_compression_touches_it_even_if_it_is_undone_at_once() -> None:
    book = book_with()
    draft, base = drafted(book)
    talk(book, 4)
    book.compress()
    assert is_stale(book.history, draft, base)
    book.undo()
    assert is_stale(book.history, draft, base)


def test_undoing_what_the_plan_stands_on_touches_it() -> None:
    book = book_with()
    book.compress()
    talk(book, 6)
    draft, base = drafted(book)
    assert draft.covers
    book.undo()
    assert is_stale(book.history, draft, base)


def test_a_plan_made_before_a_compression_that_it_does_not_know_is_stale_whatever_version_it_names() -> None:
    book = book_with()
    draft, _ = drafted(book)
    book.compress()
    assert is_stale(book.history, draft, book.history.version)


def test_a_truncation_inside_the_span_touches_it_and_one_behind_it_does_not() -> None:
    book = Book(budget=3_000, limit=2_000)
    agent_run(book, 3, output="line of output\n" * 200)
    book.end()
    talk(book, 12)
    draft, base = drafted(book)
    assert draft.hides is not None
    agent_run(book, 8, output="line of output\n" * 200)
    truncation = book.truncate()
    assert truncation is not None
    assert is_stale(book.history, draft, base) == any(cut.seq <= draft.hides[1] for cut in truncation.cuts)
    behind = msgspec.structs.replace(
        truncation, cuts=tuple(cut for cut in truncation.cuts if cut.seq > draft.hides[1]), seq=0
    )
    other = Book()
    for entry in book.entries[:-1]:
        other.history.apply(entry)
    other.install(behind)
    assert behind.cuts
    assert not is_stale(other.history, draft, base)


def test_cutting_an_output_that_the_plan_cuts_in_its_tail_touches_it() -> None:
    book = Book(budget=2_000, limit=4_000)
    talk(book, 60)
    agent_run(book, 6, output="line of output\n" * 400)
    draft, base = drafted(book)
    assert draft.cuts
    book.limit = 3_000
    truncation = book.truncate()
    assert truncation is not None
    assert is_stale(book.history, draft, base)


def test_undoing_a_truncation_inside_the_span_touches_it() -> None:
    book = Book(budget=2_000, limit=2_000)
    agent_run(book, 10, output="line of output\n" * 400)
    truncation = book.truncate()
    assert truncation is not None
    draft, base = drafted(book)
    book.undo(truncation.compression_id)
    assert is_stale(book.history, draft, base)


def test_a_turn_that_is_rolled_back_touches_the_span_if_it_stood_there() -> None:
    book = Book()
    agent_run(book, 30)
    draft, base = drafted(book)
    assert draft.hides is not None
    kept = book.history.version
    for kept_to, stale in ((kept, False), (draft.hides[1], False), (draft.hides[1] - 1, True), (0, True)):
        fork = Book()
        for entry in book.entries:
            fork.history.apply(entry)
        fork.turn = book.turn
        fork.end("cancelled", kept_to=kept_to)
        assert is_stale(fork.history, draft, base) == stale


def test_a_truncations_own_plan_is_stale_when_a_cut_of_it_is_hidden_meanwhile() -> None:
    book = Book(budget=2_000, limit=2_000)
    agent_run(book, 10, output="line of output\n" * 400)
    book.end()
    base = book.history.version
    trim = book.trim()
    draft = CompressionEntry(
        id="t", seq=0, time=0, compression_id="t", result=outcome_of("CONTENT_TRUNCATED"), cuts=trim.cuts
    )
    assert not is_stale(book.history, draft, base)
    book.compress()
    assert is_stale(book.history, draft, base)


def test_a_truncations_own_plan_is_stale_when_what_it_cuts_again_is_given_back_meanwhile() -> None:
    book = Book(budget=10, limit=8_000)
    agent_run(book, 2, output="line of output\n" * 900)
    first = book.truncate()
    assert first is not None
    book.limit = 3_000
    draft = CompressionEntry(
        id="t", seq=0, time=0, compression_id="t", result=outcome_of("CONTENT_TRUNCATED"), cuts=book.trim().cuts
    )
    base = book.history.version
    book.undo(first.compression_id)
    assert is_stale(book.history, draft, base)


# --- undo


def test_without_an_id_the_newest_in_force_is_undone() -> None:
    book = book_with()
    first = book.compress()
    talk(book, 6)
    second = book.compress()
    assert first is not None
    assert second is not None
    assert plan_undo(book.history, None) == (second.compression_id,)
    book.undo()
    assert plan_undo(book.history, None) == (first.compression_id,)


def test_independent_truncations_are_undone_by_themselves() -> None:
    book = Book(budget=2_000, limit=2_000)
    talk(book, 60)
    agent_run(book, 3, output="line of output\n" * 400)
    first = book.truncate()
    agent_run(book, 3, output="line of output\n" * 400)
    second = book.truncate()
    assert first is not None
    assert second is not None
    assert {(cut.seq, cut.part) for cut in first.cuts}.isdisjoint({(cut.seq, cut.part) for cut in second.cuts})
    assert plan_undo(book.history, first.compression_id) == (first.compression_id,)


def test_undoing_the_second_cut_of_an_output_leaves_the_first() -> None:
    book = Book(budget=10, limit=8_000)
    agent_run(book, 2, output="line of output\n" * 900)
    book.truncate()
    once = book.view
    book.limit = 3_000
    second = book.truncate()
    assert second is not None
    assert plan_undo(book.history, None) == (second.compression_id,)
    book.undo()
    assert book.view == once


def test_what_cannot_be_undone_says_why() -> None:
    book = book_with()
    with pytest.raises(CompressionNotFound, match="nothing to undo"):
        plan_undo(book.history, None)
    entry = book.compress()
    assert entry is not None
    with pytest.raises(CompressionNotFound, match="no compression"):
        plan_undo(book.history, "unknown")
    book.undo()
    talk(book, 4)
    book.compress()
    with pytest.raises(CompressionNotFound, match="undone already"):
        plan_undo(book.history, entry.compression_id)


# --- what is installed


def test_the_replacement_is_the_snapshot_and_the_acknowledgement_that_other_programs_look_for() -> None:
    plan = book_with().plan()
    assert plan is not None
    replacement = SplitStrategy().conclude(plan, SNAPSHOT).replacement
    assert replacement == (user_text(SNAPSHOT), model_text("Got it. Thanks for the additional context!"))
    assert ACKNOWLEDGEMENT == "Got it. Thanks for the additional context!"


@pytest.mark.parametrize(
    "status",
    [
        "COMPRESSED",
        "PREVIEW",
        "CONTENT_TRUNCATED",
        "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT",
        "COMPRESSION_FAILED_TOKEN_COUNT_ERROR",
        "COMPRESSION_FAILED_EMPTY_SUMMARY",
        "UNDONE",
        "NOOP",
    ],
)
def test_every_outcome_has_a_sentence_for_people(status: str) -> None:
    sentence = message_for(status, 60_000, 70_000)  # type: ignore[arg-type]
    assert sentence.endswith((".", "…"))
    if status not in ("COMPRESSION_FAILED_TOKEN_COUNT_ERROR", "COMPRESSION_FAILED_EMPTY_SUMMARY", "NOOP"):
        assert "70,000" in sentence


def test_an_inflated_result_is_blamed_on_the_size_only_where_the_history_is_small() -> None:
    small = message_for("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", 49_999, 60_000)
    large = message_for("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", 50_000, 60_000)
    assert "small" in small
    assert "small" not in large.replace("smaller", "")
