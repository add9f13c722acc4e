"""The view of a log: turns that were cancelled, that failed or were replaced."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.log import (
    PromptEntry,
    decode_entry,
    encode_entry,
)
from gemini_companion.engine.history.view import History
from tests.engine.history.view_texts import kinds, talk, texts
from tests.support.logs import LEDGER, Book, call

# --- turns


@pytest.mark.parametrize("outcome", ["cancelled", "failed", "interrupted", "stopped"])
def test_a_turn_without_a_finished_round_leaves_the_view_as_it_was(outcome: str) -> None:
    book = talk(2)
    before, epoch = list(book.history.items), book.history.epoch
    book.ide()
    book.prompt("go on")
    book.reply(call(call_id="a"))
    assert book.history.has_open_call()
    book.end(outcome)  # type: ignore[arg-type]
    assert book.history.items == before
    assert book.history.ide_entries == []
    assert book.history.epoch == epoch
    assert not book.history.has_open_call()
    assert book.history.previous_client == "editor"


def test_finished_rounds_of_a_cancelled_turn_stay() -> None:
    book = talk(1)
    book.prompt("go on")
    book.round(1)
    finished = book.history.version
    book.reply(call(call_id="c2"))
    book.end("cancelled", kept_to=finished)
    assert kinds(book) == ["prompt", "reply", "prompt", "reply", "toolResult"]


def test_a_completed_turn_keeps_everything_whatever_kept_to_says() -> None:
    book = talk(1)
    book.prompt("go on")
    book.reply("done")
    book.end("completed", kept_to=0)
    assert len(book.history.items) == 4


def test_a_prompt_that_was_cancelled_while_it_waited_leaves_the_running_turn_alone() -> None:
    book = Book()
    book.prompt("running")
    running = book.turn
    book.turn = "waiting"
    book.prompt("waits")
    book.end("cancelled")
    book.turn = running
    book.reply("done")
    book.end()
    assert texts(book.view) == ["running", "done"]
    assert [type(entry) for entry in book.entries].count(PromptEntry) == 2


def test_a_turn_that_fails_after_it_was_compressed_leaves_the_snapshot() -> None:
    book = talk(8)
    book.prompt("go on")
    book.compress()
    book.end("failed")
    assert kinds(book)[:2] == ["snapshot", "acknowledgement"]
    assert "go on" not in texts(book.view)
    book.undo()
    assert texts(book.view) == texts(talk(8).view)


def test_what_is_excluded_is_out_of_the_view_and_is_restored_as_it_was() -> None:
    book = Book()
    book.say("one", "first")
    book.ide("[editor]")
    book.say("two", "second")
    before, told, epoch = book.view, list(book.history.ide_entries), book.history.epoch
    book.history.exclude(book.history.newest_turn or "")
    assert book.view == before[:2]
    assert book.history.ide_entries == []
    assert book.history.totals().ide_context == 0
    book.history.restore()
    assert (book.view, book.history.ide_entries, book.history.epoch) == (before, told, epoch)


def test_a_replaced_turn_leaves_the_view_for_good_and_raises_the_epoch() -> None:
    book = Book()
    book.say("one", "first")
    book.say("two", "second")
    epoch = book.history.epoch
    book.anew("two", "another")
    assert [content.parts[0]["text"] for content in book.view] == ["one", "first", "two", "another"]
    assert book.history.epoch == epoch + 1
    folded = History(LEDGER.measure, [decode_entry(encode_entry(entry)) for entry in book.entries])
    assert folded.contents() == book.history.contents()


def test_a_compression_planned_while_a_turn_is_excluded_does_not_hide_it() -> None:
    book = Book()
    for number in range(6):
        book.say(f"question {number} " * 12, "answer " * 20)
    book.say("the newest", "its answer")
    newest = book.history.newest_turn or ""
    book.anew("anew", None, between=book.compress)
    assert book.history.in_force
    assert not book.history.is_hidden(newest)
    assert [content.parts[0]["text"] for content in book.view][-2:] == ["the newest", "its answer"]


def test_nothing_that_was_said_behind_an_excluded_turn_is_hidden() -> None:
    book = Book()
    for number in range(6):
        book.say(f"question {number} " * 12, "answer " * 20)
    book.say("the newest", "its answer")
    book.history.exclude(book.history.newest_turn or "")
    book.prompt("anew " * 200)
    plan = book.plan()
    assert plan is not None
    assert plan.hides[1] < (book.history.excluded_from or 0)
    book.reply("answer " * 2_000)
    book.end()
    assert book.plan() is None
