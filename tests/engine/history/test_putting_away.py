"""What no view shows is packed: nobody who reads a log, its view or its transcript can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.engine.compression.sources import sources_of
from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.retention import FactCache, wanted_facts
from gemini_companion.engine.history import block as blocks
from gemini_companion.engine.history import putting_away
from gemini_companion.engine.history.block import packed
from gemini_companion.engine.history.entries import Entries
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import ContentEntry, Entry, PromptEntry, ReplyEntry, ToolResultEntry
from gemini_companion.engine.history.putting_away import to_be_put_away
from gemini_companion.engine.history.sources import PastItem
from gemini_companion.engine.history.tool_entries import CallRecord
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.engine.history.view import History
from tests.support.examples import examples
from tests.support.logs import Book, call, result, user
from tests.support.packing import Packing
from tests.support.random_books import write
from tests.support.random_programs import PROGRAMS, PROGRAMS_WITH_RULES, Step


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever can be put away is, in blocks of three entries."""
    monkeypatch.setattr(putting_away, "FEWEST", 1)
    monkeypatch.setattr(blocks, "ENTRIES", 3)


def item_as_seen(item: Item) -> tuple[Any, ...]:
    return (
        item.seq,
        item.entry_id,
        item.turn_id,
        item.kind,
        item.content,
        item.measure,
        item.compression_id,
        item.weight,
    )


def as_seen(history: History, transcript: Transcript) -> Iterator[tuple[str, Any]]:
    """Everything that can be asked."""
    yield "version", history.version
    yield "epoch", history.epoch
    yield "items", list(map(item_as_seen, history.items))
    yield "curated", list(map(item_as_seen, history.curated(close=True)))
    yield "totals", history.totals()
    yield "provenance", [history.provenance(item) for item in history.items]
    yield "entries", list(history.entries)
    yield "entries backwards", list(reversed(history.entries))
    yield "single entries", [history.entries[index] for index in range(-len(history.entries), len(history.entries))]
    yield "prompts", list(history.prompts)
    yield "sources", list(map(item_as_seen, history.sources))
    yield "sources backwards", [item.seq for item in reversed(history.sources)]
    yield "some sources", [item.seq for item in history.sources[1:-1]]
    yield "shapes", [(item.shape, item.original) for item in history.sources]
    yield "newest", (history.newest_turn, history.previous_client, history.excluded_from)
    turns = sorted({entry.turn_id for entry in history.entries if isinstance(entry, ContentEntry)})
    yield "hidden", [history.is_hidden(turn) for turn in (*turns, "nothing")]
    yield "without", [[item.seq for item in history.view_without([key])] for key in history.in_force]
    yield "transcript", list(transcript.page(0, None))
    yield "a page", list(transcript.page(1, max(1, len(transcript) - 1)))
    yield "unfinished", (transcript.unfinished, transcript.last_in_view, transcript.turns)
    ends = {turn: transcript.end_of(turn) for turn in turns}
    yield "ends", {turn: (end.outcome, end.kept_to > 0) for turn, end in ends.items() if end is not None}
    replies = [entry for entry in history.entries if isinstance(entry, ReplyEntry)]
    yield "durations", [transcript.duration_ms(reply) for reply in replies]


def the_same(packing: Packing, plain: Packing) -> None:
    theirs = dict(as_seen(plain.history, plain.transcript))
    for what, ours in as_seen(packing.history, packing.transcript):
        assert ours == theirs[what], what


@given(PROGRAMS | PROGRAMS_WITH_RULES, st.lists(st.booleans(), min_size=1, max_size=7))
@settings(max_examples=examples(150), deadline=None)
def test_nobody_can_tell_what_is_put_away_however_the_log_goes_on(program: list[Step], when: list[bool]) -> None:
    entries = list(write(program).history.entries)
    packing, plain = Packing(), Packing()
    for number, entry in enumerate(entries):
        packing.apply(entry)
        plain.apply(entry)
        if when[number % len(when)]:
            packing.pack()
    the_same(packing, plain)
    copies = Packing(), Packing()
    for copy, of in zip(copies, (packing, plain), strict=True):
        copy.history, copy.transcript = of.history.copied(), of.transcript.copied()
    packing.pack()
    the_same(*copies)


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_facts_of_what_is_put_away_are_the_same_and_nothing_is_read_for_them(program: list[Step]) -> None:
    packing = Packing()
    for entry in write(program).history.entries:
        packing.apply(entry)
    items = tuple(packing.history.sources)
    expected = wanted_facts(sources_of(items))
    before = [*sources_of(items, packing.facts)]
    packing.facts.look_through(before, lambda: None)
    words = set(packing.facts.words_of(before, (), lambda: None))
    packing.pack()
    after = sources_of(tuple(packing.history.sources), packing.facts)
    assert wanted_facts(after, cache=packing.facts) == expected
    assert packing.facts.words_of(after, (), lambda: None) == words
    assert [text_of_content(one.content) for one in after] == [text_of_content(one.content) for one in before]


def test_what_was_never_looked_through_is_looked_through_where_it_lies() -> None:
    packing = Packing()
    for entry in long_chat().history.entries:
        packing.apply(entry)
    before = sources_of(tuple(packing.history.sources))
    expected, words = wanted_facts(before), FactCache().words_of(before, (), lambda: None)
    packing.pack()
    after = sources_of(tuple(packing.history.sources), packing.facts)
    assert [one.known is not None for one in after].count(True) > 10
    assert wanted_facts(after, cache=packing.facts) == expected
    assert packing.facts.words_of(after, (), lambda: None) == words


def long_chat() -> Book:
    book = Book()
    for number in range(12):
        book.say(f"Look at src/module_{number}.py, always with care. TODO: clean up later.", f"Done with {number}.")
    book.compress("<state_snapshot>\nall of it\n</state_snapshot>")
    book.say("And then?", "Nothing.")
    return book


def test_most_of_a_compressed_chat_is_put_away_and_an_undo_brings_it_back() -> None:
    packing, book = Packing(), long_chat()
    for entry in book.history.entries:
        packing.apply(entry)
    items = list(map(item_as_seen, packing.history.items))
    packing.pack()
    assert packing.gone > 12
    assert any(isinstance(item, PastItem) for item in packing.history.sources)
    assert list(map(item_as_seen, packing.history.items)) == items
    written = len(book.entries)
    book.undo()
    for entry in book.entries[written:]:
        packing.apply(entry)
    assert not any(isinstance(item, PastItem) for item in packing.history.sources)
    assert list(map(item_as_seen, packing.history.items)) == list(map(item_as_seen, book.history.items))


def test_turns_that_may_still_change_stay() -> None:
    packing = Packing()
    for entry in long_chat().history.entries:
        packing.apply(entry)
    packing.history.counting.take_fresh(10_000)
    everything = to_be_put_away(packing.history, ())
    third = [entry for entry in packing.history.entries if isinstance(entry, PromptEntry)][2]
    assert 0 < to_be_put_away(packing.history, {third.turn_id: None}) < third.seq < everything
    packing.history.exclude(packing.history.newest_turn or "")
    assert to_be_put_away(packing.history, ()) == 0


def test_contents_whose_sizes_are_still_to_be_kept_stay() -> None:
    packing = Packing()
    for entry in long_chat().history.entries:
        packing.apply(entry)
    assert to_be_put_away(packing.history, ()) == 0


@pytest.mark.parametrize("strange", [float("nan"), float("-inf"), "\ud800", (1, 2)], ids=ascii)
def test_an_entry_that_does_not_come_back_as_it_is_is_kept_as_it_is_and_all_around_it_is_packed(
    strange: object,
) -> None:
    book = Book()
    for number in range(40):
        book.say(f"prompt {number}", "yes")
    book.prompt("one")
    book.reply({"text": "two", "weight": strange})
    book.end()
    for number in range(40):
        book.say(f"prompt {number}", "yes")
    entries = list(book.entries)
    blocks = list(packed(entries))
    assert [seq for block in blocks for seq in block.seqs] == [entry.seq for entry in entries]
    as_they_are = [one for block in blocks for one in block.entries if any(one is entry for entry in entries)]
    assert [
        one for one in entries if isinstance(one, ReplyEntry) and one.content.parts[0].get("weight") is strange
    ] == (as_they_are)
    assert sum(len(block) == 1 for block in blocks) < 6
    assert [repr(one) for block in blocks for one in block.unpack()] == [repr(entry) for entry in entries]


def test_a_long_entry_has_a_block_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BYTES", 1_000)
    book = Book()
    for text in ("short", "long " * 1_000, "short"):
        book.say(text, "yes")
    assert max(len(block) for block in packed(list(book.entries))) == 3
    assert any(len(block) == 1 for block in packed(list(book.entries)))


def test_entries_are_found_by_number_and_kind() -> None:
    entries = Entries[Entry](long_chat().entries)
    wanted = list(entries)
    entries.put_away(list(packed(wanted[:20])))
    assert entries.gone == 20
    assert [entries.at(entry.seq) for entry in wanted] == wanted
    assert entries.at(wanted[-1].seq + 1) is None
    assert entries.since(wanted[7].seq) == wanted[7:]
    assert entries.since(wanted[25].seq) == wanted[25:]
    assert list(entries.of(PromptEntry)) == [entry for entry in wanted if isinstance(entry, PromptEntry)]
    few = {wanted[3].seq, wanted[30].seq}
    assert [entry.seq for entry in entries.of(*map(type, wanted), among=few.__contains__)] == sorted(few)
    assert [wanted[at] for at in entries.where(PromptEntry)] == list(entries.of(PromptEntry))
    assert entries[5:30:3] == wanted[5:30:3]
    assert entries[::-1] == wanted[::-1]
    assert entries == wanted
    with pytest.raises(IndexError):
        entries[len(wanted)]
    with pytest.raises(IndexError):
        entries[-len(wanted) - 1]


def test_results_of_a_tool_are_found_the_newest_first_and_nothing_else_is_unpacked() -> None:
    book = Book()
    for name in ("activate_skill", "run", "activate_skill", "run"):
        book.prompt(name)
        book.reply(call(name, name))
        record = CallRecord(call_id=name, name=name, outcome="ok")
        book.add(ToolResultEntry, turn_id=book.turn, content=user(result(name, "done")), calls=(record,))
        book.reply("Yes.")
        book.end()
    entries = Entries[Entry](book.entries)
    wanted = [one for one in book.entries if isinstance(one, ToolResultEntry)]
    entries.put_away(list(packed(list(book.entries)[:15])))
    found = [one.calls[0].name for one in entries.results_of("activate_skill")]
    assert found == ["run", "activate_skill", "activate_skill"]  # what is not put away may have others
    assert wanted[0] in entries.results_of("activate_skill")


def test_whoever_reads_while_entries_are_put_away_reads_on() -> None:
    """In another thread, that is: what it began with is what it goes on with."""
    entries = Entries[Entry](long_chat().entries)
    wanted = list(entries)
    reading = iter(entries)
    first = [next(reading) for _ in range(5)]
    entries.put_away(list(packed(wanted[:20])))
    assert [*first, *reading] == wanted


def test_of_a_long_log_no_more_is_looked_at_in_one_go_than_is_packed_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(putting_away, "MOST_ENTRIES", 4)
    packing, book = Packing(), Book()
    for number in range(20):
        book.say(f"question {number} " + "word " * 300, f"answer {number}")
    book.compress()
    for entry in book.entries:
        packing.apply(entry)
    gone = [0]
    for _ in book.entries:
        packing.pack()
        gone.append(packing.history.entries.gone)
    gone = sorted({*gone})
    assert len(gone) > 3
    assert gone[:-1] == [4 * number for number in range(len(gone) - 1)]


def test_prompts_that_were_unpacked_are_found_in_the_earlier_blocks_again() -> None:
    book = long_chat()
    made = list(packed(list(book.entries)))
    prompts = Entries[PromptEntry](one for one in book.entries if isinstance(one, PromptEntry))
    wanted = list(prompts)
    prompts.put_away(made[:4])
    gone = wanted.pop(1)
    prompts.drop({gone.seq})
    assert prompts.gone == 0
    prompts.put_away(made)
    assert prompts.gone == len(wanted)
    assert prompts == wanted


def test_what_comes_behind_an_entry_that_is_in_no_block_stays() -> None:
    book = long_chat()
    made = list(packed(list(book.entries)))
    prompts = Entries[PromptEntry](one for one in book.entries if isinstance(one, PromptEntry))
    wanted = list(prompts)
    prompts.put_away(made[4:])
    assert prompts.gone == 0
    assert prompts == wanted
