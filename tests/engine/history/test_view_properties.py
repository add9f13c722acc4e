"""What holds of every view of every log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given, settings

from gemini_companion.engine.history.content import Content, user_text
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item
from gemini_companion.engine.history.log import (
    CompressionEntry,
    ContentEntry,
    Entry,
    IdeContextEntry,
    MaskEntry,
    PinEntry,
    PromptEntry,
    ReplyEntry,
    ResumeEntry,
    ToolResultEntry,
    TurnEndEntry,
    UndoEntry,
    UnpinEntry,
    decode_entry,
    encode_entry,
)
from gemini_companion.engine.history.sendable import sendable
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.engine.history.totals import Totals, add_totals
from gemini_companion.engine.history.view import History
from tests.support.examples import examples
from tests.support.logs import LEDGER, Book
from tests.support.random_books import write
from tests.support.random_programs import PROGRAMS, Step


def seen(items: Sequence[Item]) -> list[tuple[Any, ...]]:
    return [
        (item.kind, item.seq, item.entry_id, item.turn_id, item.compression_id, item.content, item.measure)
        for item in items
    ]


def state(history: History) -> list[Any]:
    return [
        history.epoch,
        history.version,
        seen(history.items),
        seen(history.curated()),
        seen(history.curated(close=True)),
        history.totals(),
        history.has_open_call(),
        list(history.in_force),
        list(history.compressions),
        list(history.pins),
        history.preview,
        history.ide_entries,
        history.previous_client,
    ]


def calls_of(content: Content) -> list[str]:
    return [part["functionCall"]["id"] for part in content.parts if "functionCall" in part]


def results_of(content: Content) -> list[str]:
    return [part["functionResponse"]["id"] for part in content.parts if "functionResponse" in part]


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_folding_at_once_gives_what_folding_step_by_step_gives_whatever_was_read_between(steps: list[Step]) -> None:
    def read(book: Book, _: Step) -> None:
        state(book.history)

    book = write(steps, after_each=read)
    stored = [decode_entry(encode_entry(entry)) for entry in book.entries]
    assert state(History(LEDGER.measure, stored)) == state(book.history)


@given(PROGRAMS)
@settings(max_examples=examples(80), deadline=None)
def test_what_is_sent_alternates_and_pairs_every_call_with_one_result(steps: list[Step]) -> None:
    def check(book: Book, _: Step) -> None:
        sent = sendable([item.content for item in book.history.curated(close=True)])
        assert all(content.parts for content in sent)
        assert all(first.role != second.role for first, second in pairwise(sent))
        for index, content in enumerate(sent):
            assert not any(part.get("thought") for part in content.parts)
            following = results_of(sent[index + 1]) if index + 1 < len(sent) else []
            before = calls_of(sent[index - 1]) if index else []
            assert (
                Counter(calls_of(content)) == Counter(following) if content.role == "model" else not calls_of(content)
            )
            assert (
                Counter(results_of(content)) == Counter(before) if content.role == "user" else not results_of(content)
            )
            assert len(set(calls_of(content))) == len(calls_of(content))
            kinds = ["functionResponse" in part for part in content.parts]
            assert kinds == sorted(kinds, reverse=True) or content.role == "model"

    write(steps, after_each=check)


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_what_is_sent_of_a_growing_view_is_what_the_whole_view_gives(steps: list[Step]) -> None:
    more = user_text("And then?")

    def check(book: Book, _: Step) -> None:
        view = [item.content for item in book.history.curated(close=True)]
        for head in (None, user_text("The folder is /project.")):
            heads = [] if head is None else [head]
            assert book.history.request_contents(head, (more,), close=True) == sendable([*heads, *view, more])
            assert book.history.request_contents(head, (), close=True) == sendable([*heads, *view])

    write(steps, after_each=check)


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_the_epoch_rises_with_every_change_but_appending_and_never_otherwise(steps: list[Step]) -> None:
    last: list[Any] = [1, [], 0]

    def check(book: Book, _: Step) -> None:
        epoch, before, version = last
        fresh = [entry for entry in book.entries if entry.seq > version]
        now = seen([item for item in book.history.items if item.kind != "ide"])
        dropped = {entry.turn_id for entry in fresh if isinstance(entry, TurnEndEntry) and entry.outcome != "completed"}
        stayed = [
            row for row in before if row[3] not in dropped or row in now
        ]  # a turn that is rolled back was never built on
        if any(isinstance(entry, MaskEntry) for entry in fresh):  # what no request has had may be shortened
            while stayed and stayed[-1][5].role == "user":
                stayed.pop()
        if book.history.epoch == epoch:
            assert now[: len(stayed)] == stayed
        else:
            replaced = any(isinstance(entry, TurnEndEntry) and entry.outcome == "replaced" for entry in fresh)
            assert replaced or any(
                isinstance(entry, CompressionEntry | UndoEntry | ResumeEntry | PinEntry | UnpinEntry | MaskEntry)
                for entry in fresh
            )
            # A resumption or masking twice changes nothing, and an undo may give back outputs of a turn that is gone.
            assert now != before or any(isinstance(entry, ResumeEntry | UndoEntry | MaskEntry) for entry in fresh)
        assert book.history.epoch >= epoch
        last[:] = [book.history.epoch, now, book.history.version]

    write(steps, after_each=check)


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_provenance_leads_from_the_view_back_to_every_entry_that_stayed_and_to_no_other(steps: list[Step]) -> None:
    def check(book: Book, _: Step) -> None:
        history = book.history
        back = Counter(
            entry_id
            for item in history.items
            if item.kind not in REPLACEMENT_KINDS
            for entry_id in history.provenance(item)
        )
        hidden = {
            entry_id for item in history.items if item.kind == "snapshot" for entry_id in history.provenance(item)
        }
        assert set(back.values()) <= {1}
        assert hidden.isdisjoint(back)
        dropped = _dropped(book.entries)
        told = {
            entry.id
            for entry in history.entries
            if isinstance(entry, PromptEntry | SteerEntry | ReplyEntry | ToolResultEntry) and entry.seq not in dropped
        }
        assert {*back, *hidden} == told | {entry.id for entry in history.ide_entries}
        for item in history.items:
            if item.kind == "pin":
                assert set(history.provenance(item)) == {pin.id for pin in history.pins.values()}

    write(steps, after_each=check)


def _dropped(entries: Sequence[Entry]) -> set[int]:
    ends = {
        entry.turn_id: entry for entry in entries if isinstance(entry, TurnEndEntry) and entry.outcome != "completed"
    }
    contents = [entry for entry in entries if isinstance(entry, ContentEntry)]
    return {entry.seq for entry in contents if entry.turn_id in ends and entry.seq > ends[entry.turn_id].kept_to}


@given(PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_an_undone_compression_leaves_the_view_as_if_it_had_never_been(steps: list[Step]) -> None:
    def check(book: Book, step: Step) -> None:
        if step[0] != "undo":
            return
        gone = {
            compression_id for entry in book.entries if isinstance(entry, UndoEntry) for compression_id in entry.undone
        }
        kept = [
            entry
            for entry in book.entries
            if not isinstance(entry, UndoEntry)
            and not (isinstance(entry, CompressionEntry) and entry.compression_id in gone)
        ]
        other = History(LEDGER.measure, [entry for entry in kept if not isinstance(entry, IdeContextEntry)])
        assert encoded(book.view) == encoded([item.content for item in other.curated(close=True)])

    write(steps, after_each=check)


def encoded(contents: Sequence[Content]) -> list[bytes]:
    return [encode_entry(PromptEntry(id="", seq=1, time=0, turn_id="", content=content)) for content in contents]


@given(PROGRAMS)
@settings(max_examples=examples(40), deadline=None)
def test_no_entry_is_ever_changed_or_lost(steps: list[Step]) -> None:
    written: list[bytes] = []

    def check(book: Book, _: Step) -> None:
        written.extend(encode_entry(entry) for entry in book.entries[len(written) :])

    book = write(steps, after_each=check)
    assert [encode_entry(entry) for entry in book.entries] == written


@given(PROGRAMS)
@settings(max_examples=examples(40), deadline=None)
def test_totals_are_the_sum_over_the_curated_view(steps: list[Step]) -> None:
    def check(book: Book, _: Step) -> None:
        items = book.history.curated()
        assert book.history.totals() == add_totals(Totals(), items)
        assert book.history.totals().all == sum(LEDGER.measure(item.content).tokens for item in items)

    write(steps, after_each=check)
