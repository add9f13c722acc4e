"""The view of a log: cut tool outputs, pins, IDE entries."""

from __future__ import annotations

from gemini_companion.engine.history.pinned import PINS_INTRODUCTION
from tests.engine.history.view_texts import kinds, talk
from tests.support.logs import Book, agent_run, call, result

# --- tool outputs


def test_a_truncation_cuts_the_old_outputs_and_its_undo_gives_them_back() -> None:
    book = Book(budget=2_000, limit=2_000)
    agent_run(book, 6, output="line of output\n" * 400)
    before = book.view
    truncation = book.truncate()
    assert truncation is not None
    assert truncation.hides is None
    outputs = [
        part["functionResponse"]["response"]["output"]
        for content in book.view
        for part in content.parts
        if "functionResponse" in part
    ]
    assert [len(output) <= 2_000 for output in outputs] == [True] * 5 + [False]
    talk(1, book=book, start=9)
    later = book.view[-2:]
    book.undo(truncation.compression_id)
    assert book.view == [*before, *later]


def test_a_cut_finds_its_output_behind_results_that_curation_drops() -> None:
    book = Book(budget=10, limit=2_000)
    book.prompt("go")
    book.reply(call(call_id="a"), call(call_id="b"))
    book.results(
        result(call_id="nobody"),
        result(call_id="a", output="small"),
        {"text": "see"},
        result(call_id="b", output="big " * 2_000),
    )
    book.reply("done")
    whole = book.view
    assert book.truncate() is not None
    small, note, big = book.view[2].parts
    assert (small, note) == whole[2].parts[:2]
    assert len(big["functionResponse"]["response"]["output"]) <= 2_000
    assert big["functionResponse"]["response"]["output"].startswith("[Shortened")


def test_an_output_is_cut_again_from_its_whole_text_and_both_cuts_are_undone_together() -> None:
    book = Book(budget=10, limit=8_000)
    agent_run(book, 2, output="".join(f"{number:06}\n" for number in range(3_000)))
    before = book.view
    first = book.truncate()
    book.limit = 3_000
    second = book.truncate()
    assert first is not None
    assert second is not None
    output = book.view[2].parts[0]["functionResponse"]["response"]["output"]
    assert len(output) <= 3_000
    assert output.count("[Shortened") == 1
    assert "of 21,000" in output
    assert book.truncate() is None
    assert book.undo(first.compression_id).undone == (second.compression_id, first.compression_id)
    assert book.view == before


def test_a_compression_that_hides_a_cut_output_stands_on_the_truncation() -> None:
    book = Book(budget=2_000, limit=2_000)
    agent_run(book, 10, output="line of output\n" * 400)
    before = book.view
    truncation = book.truncate()
    compression = book.compress()
    assert truncation is not None
    assert compression is not None
    assert compression.covers == (truncation.compression_id,)
    book.undo(truncation.compression_id)
    assert book.view == before


def test_a_compressions_own_cuts_in_the_tail_go_with_it() -> None:
    book = Book(budget=2_000, limit=2_000)
    talk(60, book=book)
    agent_run(book, 6, output="line of output\n" * 400)
    before = book.view
    compression = book.compress()
    assert compression is not None
    assert compression.cuts
    assert all(cut.seq > compression.hides[1] for cut in compression.cuts if compression.hides)
    book.undo()
    assert book.view == before


# --- pins


def test_pins_stand_word_for_word_between_snapshot_and_acknowledgement() -> None:
    book = talk(8)
    book.pin("never touch legacy/")
    book.compress()
    book.pin("tabs, <state_snapshot> or not")
    assert kinds(book)[:3] == ["snapshot", "pin", "acknowledgement"]
    assert [part["text"] for part in book.history.items[1].content.parts] == [
        PINS_INTRODUCTION,
        "never touch legacy/",
        "tabs, <state_snapshot> or not",
    ]
    for pin_id in list(book.history.pins):
        book.unpin(pin_id)
    assert kinds(book)[:2] == ["snapshot", "acknowledgement"]


def test_pins_stand_ahead_of_everything_while_nothing_is_compressed() -> None:
    book = talk(3)
    before = book.view
    book.pin("never touch legacy/")
    assert kinds(book)[:3] == ["pin", "acknowledgement", "prompt"]
    book.unpin(next(iter(book.history.pins)))
    assert book.view == before


def test_pins_are_no_part_of_what_a_later_compression_summarises() -> None:
    book = talk(8)
    book.pin("tabs")
    book.compress()
    talk(8, book=book, start=20)
    plan = book.plan()
    assert plan is not None
    assert {item.kind for item in plan.hidden} == {"prompt", "reply"}


# --- IDE entries


def test_an_ide_entry_stays_until_the_next_change_of_epoch_and_then_leaves() -> None:
    book = talk(8)
    book.ide("[shown]")
    book.prompt("what is this?")
    book.reply("a parser")
    book.end()
    assert kinds(book).count("ide") == 1
    talk(1, book=book, start=30)
    assert len(book.history.ide_entries) == 1
    book.compress()
    assert kinds(book).count("ide") == 0
    assert book.history.ide_entries == []


def test_an_ide_entry_of_another_epoch_never_enters_the_view() -> None:
    book = talk(2)
    book.resume()
    book.ide("[old]", epoch=1)
    book.prompt("and?")
    assert "ide" not in kinds(book)
