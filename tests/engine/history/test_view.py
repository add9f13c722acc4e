"""The view of a log: spans hidden and given back, cuts, pins, IDE entries, turns rolled back, epochs, what appending costs."""

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
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.history.view import PINS_INTRODUCTION, History
from tests.support.logs import LEDGER, SNAPSHOT, Book, agent_run, call, outcome_of, result, user


def texts(contents: list[Content]) -> list[str]:
    return [visible_text(content) for content in contents]


def talk(turns: int, *, book: Book | None = None, start: int = 0) -> Book:
    book = book or Book()
    for number in range(start, start + turns):
        book.say(f"question {number} " + "word " * 50, f"answer {number} " + "text " * 50)
    return book


def kinds(book: Book) -> list[str]:
    return [item.kind for item in book.history.items]


# --- the log -----------------------------------------------------------------------------------------------------------------------


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
        book.history.apply(PromptEntry(id=f"p{number}", seq=number * 10 + 5, time=0, turn_id=f"t{number}", content=user_text(f"q{number} " * 30)))
        book.history.apply(ReplyEntry(id=f"r{number}", seq=number * 10 + 8, time=0, turn_id=f"t{number}", content=user_text("a")))
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
    book.add(RatingEntry, compaction_id="c1", rating=4)
    book.unpin(next(iter(book.history.pins)))
    stored = [decode_entry(encode_entry(entry)) for entry in book.entries]
    assert stored == book.entries
    assert [item.content for item in History(LEDGER.measure, stored).items] == [item.content for item in book.history.items]


def test_a_fork_is_the_log_so_far_and_both_go_on_by_themselves() -> None:
    book = talk(6)
    book.compress()
    fork = History(LEDGER.measure, book.entries)
    talk(1, book=book, start=9)
    assert [item.content for item in fork.items] == [item.content for item in book.history.items][:-2]


# --- compactions -------------------------------------------------------------------------------------------------------------------


def test_a_compaction_hides_its_span_and_stands_in_its_place() -> None:
    book = talk(10)
    before = book.view
    entry = book.compress()
    assert entry is not None
    assert kinds(book)[:2] == ["snapshot", "acknowledgement"]
    assert texts(book.view)[:2] == [SNAPSHOT, "Got it. Thanks for the additional context!"]
    assert book.view[2:] == before[-len(book.view[2:]) :]


def test_what_comes_after_a_compaction_stands_behind_its_tail() -> None:
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


def test_nested_compactions_come_back_one_by_one_newest_first() -> None:
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
    assert second.covers == (first.compaction_id,)
    undo = book.undo(first.compaction_id)
    assert undo.undone == (second.compaction_id, first.compaction_id)
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
    draft = book.compaction(plan)
    before, epoch = book.view, book.history.epoch
    shown = [item.content for item in book.history.view_with(draft)]
    assert (book.view, book.history.epoch) == (before, epoch)
    book.install(draft)
    assert book.view == shown
    assert [item.content for item in book.history.view_without([draft.compaction_id])] == before


# --- tool outputs ------------------------------------------------------------------------------------------------------------------


def test_a_truncation_cuts_the_old_outputs_and_its_undo_gives_them_back() -> None:
    book = Book(budget=2_000, limit=2_000)
    agent_run(book, 6, output="line of output\n" * 400)
    before = book.view
    truncation = book.truncate()
    assert truncation is not None
    assert truncation.hides is None
    outputs = [part["functionResponse"]["response"]["output"] for content in book.view for part in content.parts if "functionResponse" in part]
    assert [len(output) <= 2_000 for output in outputs] == [True] * 5 + [False]
    talk(1, book=book, start=9)
    later = book.view[-2:]
    book.undo(truncation.compaction_id)
    assert book.view == [*before, *later]


def test_a_cut_finds_its_output_behind_results_that_curation_drops() -> None:
    book = Book(budget=10, limit=2_000)
    book.prompt("go")
    book.reply(call(call_id="a"), call(call_id="b"))
    book.results(result(call_id="nobody"), result(call_id="a", output="small"), {"text": "see"}, result(call_id="b", output="big " * 2_000))
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
    assert book.undo(first.compaction_id).undone == (second.compaction_id, first.compaction_id)
    assert book.view == before


def test_a_compaction_that_hides_a_cut_output_stands_on_the_truncation() -> None:
    book = Book(budget=2_000, limit=2_000)
    agent_run(book, 10, output="line of output\n" * 400)
    before = book.view
    truncation = book.truncate()
    compaction = book.compress()
    assert truncation is not None
    assert compaction is not None
    assert compaction.covers == (truncation.compaction_id,)
    book.undo(truncation.compaction_id)
    assert book.view == before


def test_a_compactions_own_cuts_in_the_tail_go_with_it() -> None:
    book = Book(budget=2_000, limit=2_000)
    talk(60, book=book)
    agent_run(book, 6, output="line of output\n" * 400)
    before = book.view
    compaction = book.compress()
    assert compaction is not None
    assert compaction.cuts
    assert all(cut.seq > compaction.hides[1] for cut in compaction.cuts if compaction.hides)
    book.undo()
    assert book.view == before


# --- pins --------------------------------------------------------------------------------------------------------------------------


def test_pins_stand_word_for_word_between_snapshot_and_acknowledgement() -> None:
    book = talk(8)
    book.pin("never touch legacy/")
    assert "pin" not in kinds(book)
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


def test_pins_are_no_part_of_what_a_later_compaction_summarises() -> None:
    book = talk(8)
    book.pin("tabs")
    book.compress()
    talk(8, book=book, start=20)
    plan = book.plan()
    assert plan is not None
    assert {item.kind for item in plan.hidden} == {"prompt", "reply"}


# --- IDE entries -------------------------------------------------------------------------------------------------------------------


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


# --- turns -------------------------------------------------------------------------------------------------------------------------


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


# --- epoch, version, preview -------------------------------------------------------------------------------------------------------


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
    assert not rose()
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
    book.install(second.compaction)
    assert book.history.preview is None


def test_an_empty_log_has_an_empty_view() -> None:
    history = History(LEDGER.measure)
    assert (history.version, history.epoch, history.curated(close=True), history.totals().all, history.has_open_call()) == (0, 1, [], 0, False)
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


def test_what_is_set_aside_is_out_of_the_view_and_comes_back_as_it_was() -> None:
    book = Book()
    book.say("one", "first")
    book.ide("[editor]")
    book.say("two", "second")
    before, told, epoch = book.view, list(book.history.ide_entries), book.history.epoch
    book.history.set_aside(book.history.newest_turn or "")
    assert book.view == before[:2]
    assert book.history.ide_entries == []
    assert book.history.totals().ide_context == 0
    book.history.bring_back()
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


def test_a_compaction_planned_while_a_turn_is_set_aside_does_not_hide_it() -> None:
    book = Book()
    for number in range(6):
        book.say(f"question {number} " * 12, "answer " * 20)
    book.say("the newest", "its answer")
    newest = book.history.newest_turn or ""
    book.anew("anew", None, between=book.compress)
    assert book.history.in_force
    assert not book.history.is_hidden(newest)
    assert [content.parts[0]["text"] for content in book.view][-2:] == ["the newest", "its answer"]


def test_nothing_that_was_said_behind_a_turn_set_aside_is_hidden() -> None:
    book = Book()
    for number in range(6):
        book.say(f"question {number} " * 12, "answer " * 20)
    book.say("the newest", "its answer")
    book.history.set_aside(book.history.newest_turn or "")
    book.prompt("anew " * 200)
    plan = book.plan()
    assert plan is not None
    assert plan.hides[1] < (book.history.aside_from or 0)
    book.reply("answer " * 2_000)
    book.end()
    assert book.plan() is None


def test_logs_of_earlier_versions_are_read() -> None:
    prompt = decode_entry('{"type":"prompt","id":"e1","seq":1,"time":1,"turnId":"t","content":{"role":"user","parts":[{"text":"hi"}]}}')
    assert isinstance(prompt, PromptEntry)
    assert (prompt.said, prompt.attachments) == (({"text": "hi"},), ())
    ide = decode_entry(
        '{"type":"ideContext","id":"e2","seq":2,"time":1,"turnId":"t","content":{"role":"user","parts":[]},"kind":"full","client":"c","epoch":1}'
    )
    assert isinstance(ide, IdeContextEntry)
    assert (ide.selection_chars, ide.withheld) == (0, ())
    end = decode_entry('{"type":"turnEnd","id":"e3","seq":3,"time":1,"turnId":"t","outcome":"completed","keptTo":2}')
    assert isinstance(end, TurnEndEntry)
    assert end.duration_ms is None
