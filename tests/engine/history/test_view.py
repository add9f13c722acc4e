"""The view of a log: spans hidden and given back, epochs, what appending costs."""

from __future__ import annotations

import pytest

from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.item import Measure
from gemini_companion.engine.history.log import (
    IdeContextEntry,
    ModelChangeEntry,
    PromptEntry,
    RatingEntry,
    ReplyEntry,
    TurnEndEntry,
    decode_entry,
    encode_entry,
)
from gemini_companion.engine.history.view import History
from tests.engine.history.view_texts import kinds, talk, texts
from tests.support.logs import LEDGER, SNAPSHOT, Book, agent_run, outcome_of, result, user

# --- the log


def test_a_sequence_number_that_does_not_rise_is_refused_and_changes_nothing() -> None:
    book = talk(1)
    before = book.view
    for seq in (0, 3, -1):
        with pytest.raises(ValueError, match="seq"):
            book.history.apply(PromptEntry(id="x", seq=seq, time=0, turn_id="t", content=user_text("again")))
    assert book.view == before
    assert book.history.version == 3


def test_gaps_in_the_sequence_are_harmless() -> None:
    book = Book()
    for number in range(12):
        book.history.apply(
            PromptEntry(
                id=f"p{number}",
                seq=number * 10 + 5,
                time=0,
                turn_id=f"t{number}",
                content=user_text(f"q{number} " * 30),
            )
        )
        book.history.apply(
            ReplyEntry(id=f"r{number}", seq=number * 10 + 8, time=0, turn_id=f"t{number}", content=user_text("a"))
        )
    before = book.view
    assert book.compress() is not None
    assert book.view != before
    book.undo()
    assert book.view == before


def test_entries_of_every_kind_survive_storage() -> None:
    book = Book(budget=100, limit=2_000)
    talk(3, book=book)
    book.ide()
    agent_run(book, 6, output="long " * 600)
    book.end()
    book.pin("tabs")
    book.preview()
    book.truncate()
    book.compress()
    book.undo()
    book.resume()
    book.add(ModelChangeEntry, model="gemini-2.5-pro")
    book.add(RatingEntry, compression_id="c1", rating=4)
    book.unpin(next(iter(book.history.pins)))
    stored = [decode_entry(encode_entry(entry)) for entry in book.entries]
    assert stored == book.entries
    assert [item.content for item in History(LEDGER.measure, stored).items] == [
        item.content for item in book.history.items
    ]


def test_a_fork_is_the_log_so_far_and_both_go_on_by_themselves() -> None:
    book = talk(6)
    book.compress()
    fork = History(LEDGER.measure, book.entries)
    talk(1, book=book, start=9)
    assert [item.content for item in fork.items] == [item.content for item in book.history.items][:-2]


# --- compressions


def test_a_compression_hides_its_span_and_stands_in_its_place() -> None:
    book = talk(10)
    before = book.view
    entry = book.compress()
    assert entry is not None
    assert kinds(book)[:2] == ["snapshot", "acknowledgement"]
    assert texts(book.view)[:2] == [SNAPSHOT, "Got it. Thanks for the additional context!"]
    assert book.view[2:] == before[-len(book.view[2:]) :]


def test_what_comes_after_a_compression_stands_behind_its_tail() -> None:
    book = talk(10)
    book.compress()
    compressed = book.view
    talk(1, book=book, start=50)
    assert book.view[: len(compressed)] == compressed
    assert texts(book.view)[-2].startswith("question 50")


def test_undo_gives_back_what_was_there_with_the_later_turns_behind_it() -> None:
    book = talk(10)
    before = book.view
    book.compress()
    talk(2, book=book, start=50)
    later = book.view[-4:]
    book.undo()
    assert book.view == [*before, *later]


def test_nested_compressions_come_back_one_by_one_newest_first() -> None:
    book = talk(8)
    views = [book.view]
    for start in (20, 40, 60):
        assert book.compress(f"<state_snapshot>\n{start}\n</state_snapshot>") is not None
        talk(6, book=book, start=start)
        views.append(book.view)
    for before in reversed(views[:-1]):
        book.undo()
        assert book.view[: len(before)] == before
    assert texts(book.view)[:16] == texts(talk(8).view)


def test_undoing_an_older_one_undoes_in_one_entry_all_that_cover_it() -> None:
    book = talk(8)
    before = book.view
    first = book.compress()
    talk(6, book=book, start=20)
    second = book.compress()
    assert first is not None
    assert second is not None
    assert second.covers == (first.compression_id,)
    undo = book.undo(first.compression_id)
    assert undo.undone == (second.compression_id, first.compression_id)
    assert book.history.in_force == {}
    assert book.view[: len(before)] == before
    assert len(book.view) == len(before) + 12


def test_a_span_that_holds_contents_curation_drops_takes_them_with_it() -> None:
    """Left behind, the invalid answer would stand in one run with the acknowledgement and drop it."""
    book = talk(8)
    book.prompt("go on")
    book.reply({})
    book.end()
    book.prompt("last question " + "word " * 400)
    entry = book.compress()
    assert entry is not None
    assert kinds(book) == ["snapshot", "acknowledgement", "prompt"]
    assert [item.kind for item in book.history.curated()] == ["snapshot", "acknowledgement", "prompt"]


def test_the_kept_prompt_of_a_run_stands_beside_the_snapshot_and_nothing_else_of_the_span_does() -> None:
    book = Book()
    prompt = agent_run(book, 30)
    entry = book.compress()
    assert entry is not None
    assert entry.keeps == (prompt.seq,)
    assert kinds(book)[:3] == ["prompt", "snapshot", "reply"]
    assert book.history.items[0].entry_id == prompt.id
    assert prompt.id not in book.history.provenance(book.history.items[1])


def test_a_candidate_shows_the_view_that_its_install_gives_and_changes_nothing() -> None:
    book = talk(8)
    book.ide()
    book.prompt("and now?")
    book.pin("tabs")
    plan = book.plan()
    assert plan is not None
    draft = book.compression(plan)
    before, epoch = book.view, book.history.epoch
    shown = [item.content for item in book.history.view_with(draft)]
    assert (book.view, book.history.epoch) == (before, epoch)
    book.install(draft)
    assert book.view == shown
    assert [item.content for item in book.history.view_without([draft.compression_id])] == before


# --- epoch, version, preview


def test_what_raises_the_epoch() -> None:
    book = Book(budget=100, limit=2_000)
    epochs = [book.history.epoch]

    def rose() -> bool:
        epochs.append(book.history.epoch)
        return epochs[-1] == epochs[-2] + 1 or (epochs[-1] != epochs[-2] and pytest.fail("the epoch jumped"))

    talk(10, book=book)
    agent_run(book, 3, output="long " * 600)
    book.end()
    assert not rose()
    book.pin("tabs")
    assert rose()
    book.preview()
    assert not rose()
    assert book.truncate() is not None
    assert rose()
    assert book.compress() is not None
    assert rose()
    book.pin("more")
    assert rose()
    book.unpin("nothing")
    assert not rose()
    book.unpin(next(iter(book.history.pins)))
    assert rose()
    book.undo()
    assert rose()
    book.resume()
    assert rose()
    book.add(ModelChangeEntry, model="x")
    book.add(TurnEndEntry, turn_id="nothing", outcome="cancelled")
    assert not rose()


def test_a_preview_is_kept_until_it_is_applied_or_superseded() -> None:
    book = talk(8)
    first = book.preview()
    talk(4, book=book, start=20)
    second = book.preview()
    assert first is not None
    assert book.history.preview == second
    book.compress()
    assert book.history.preview == second  # applying it now answers that it is stale, not that it is unknown
    book.undo()
    assert second is not None
    book.install(second.compression)
    assert book.history.preview is None


def test_an_empty_log_has_an_empty_view() -> None:
    history = History(LEDGER.measure)
    assert (
        history.version,
        history.epoch,
        history.curated(close=True),
        history.totals().all,
        history.has_open_call(),
    ) == (0, 1, [], 0, False)
    assert history.previous_client is None


@pytest.mark.parametrize("length", [10, 10_000])
def test_appending_measures_only_what_is_appended_however_long_the_history_is(length: int) -> None:
    measured: list[int] = []

    def counting(content: Content) -> Measure:
        measured.append(1)
        return Measure(len(content.parts), 0)

    book = Book(measure=counting)
    for number in range(length // 4):
        book.prompt(f"q{number}")
        book.round(number)
        book.reply({"text": "hm", "thought": True}, {"text": "fine"})
        book.end()
    book.history.totals()
    measured.clear()
    book.prompt("one more")
    book.history.totals()
    book.round(0)
    book.history.totals()
    book.history.has_open_call()
    assert len(measured) <= 8


def test_totals_tell_the_parts_apart() -> None:
    book = talk(8)
    book.compress()
    book.ide("[editor] " * 10)
    book.prompt("go")
    book.round(1, "output " * 100)
    totals = book.history.totals()
    items = book.history.curated()
    assert totals.snapshot == sum(item.measure.tokens for item in items if item.kind in ("snapshot", "acknowledgement"))
    assert totals.ide_context == LEDGER.measure(user_text("[editor] " * 10)).tokens
    assert totals.tool_outputs >= 175
    assert totals.all == sum(item.measure.tokens for item in items)
    assert outcome_of("NOOP").status == "NOOP"
    assert LEDGER.measure(user(result(output="x" * 400))).tool_tokens >= 100


def test_logs_of_earlier_versions_are_read() -> None:
    prompt = decode_entry(
        '{"type":"prompt","id":"e1","seq":1,"time":1,"turnId":"t","content":{"role":"user","parts":[{"text":"hi"}]}}'
    )
    assert isinstance(prompt, PromptEntry)
    assert (prompt.own_parts, prompt.attachments) == (({"text": "hi"},), ())
    ide = decode_entry(
        '{"type":"ideContext","id":"e2","seq":2,"time":1,"turnId":"t","content":{"role":"user","parts":[]},"kind":"full","client":"c","epoch":1}'
    )
    assert isinstance(ide, IdeContextEntry)
    assert (ide.selection_chars, ide.withheld) == (0, ())
    end = decode_entry('{"type":"turnEnd","id":"e3","seq":3,"time":1,"turnId":"t","outcome":"completed","keptTo":2}')
    assert isinstance(end, TurnEndEntry)
    assert end.duration_ms is None
