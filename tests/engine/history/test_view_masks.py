"""Masked outputs in a view: over an unchanged log, whatever is compressed or undone beside them."""

from __future__ import annotations

from typing import Any

import msgspec

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import decode_entry, encode_entry
from gemini_companion.engine.history.masks import Masks, unmasked
from gemini_companion.engine.history.view import History
from tests.support.logs import LEDGER, Book, agent_run, call, result

LONG = "a line of output\n" * 200


def outputs(view: list[Content]) -> list[str]:
    return [
        part["functionResponse"]["response"]["output"]
        for content in view
        for part in content.parts
        if "functionResponse" in part
    ]


def results_of(book: Book) -> list[int]:
    return [item.seq for item in book.history.sources if item.kind == "toolResult"]


def test_a_masked_output_is_shown_shortened_and_counted_so_while_the_log_keeps_the_whole() -> None:
    book = Book()
    agent_run(book, 3, output=LONG)
    before, epoch = book.history.totals(), book.history.epoch
    first = results_of(book)[0]
    book.mask((first, 0))

    assert outputs(book.view) == [f"[masked {first}-0]", LONG, LONG]
    assert book.history.epoch == epoch + 1
    assert book.history.totals().tool_outputs < before.tool_outputs - 500
    masked = next(item for item in book.history.items if item.seq == first)
    assert masked.original.parts[0]["functionResponse"]["response"] == {"output": LONG}
    assert unmasked(masked, LEDGER.measure).content == masked.original


def test_undoing_a_compression_keeps_the_masks() -> None:
    book = Book()
    agent_run(book, 12, output=LONG)
    first = results_of(book)[0]
    book.mask((first, 0))
    before = book.view
    assert book.compress() is not None
    assert book.view != before
    book.undo()
    assert book.view == before


def test_a_mask_holds_where_a_compression_cut_the_same_output() -> None:
    book = Book(budget=100, limit=2_000)
    agent_run(book, 4, output=LONG)
    first = results_of(book)[0]
    book.mask((first, 0))
    assert book.truncate() is not None
    assert outputs(book.view)[0] == f"[masked {first}-0]"
    book.undo()
    assert outputs(book.view)[0] == f"[masked {first}-0]"


def test_media_of_a_masked_output_and_of_a_prompt_are_no_longer_sent() -> None:
    picture: dict[str, Any] = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    book = Book()
    shown = book.prompt("look", picture)
    book.reply(call(call_id="a"))
    made = book.results(result(call_id="a", parts=[picture]))
    book.reply("I see.")
    book.mask((shown.seq, 1), (made.seq, 0))

    assert book.view[0].parts == ({"text": "look"}, {"text": f"[masked {shown.seq}-1]"})
    assert "parts" not in book.view[2].parts[0]["functionResponse"]
    items = book.history.curated()
    assert [unmasked(item, LEDGER.measure).content for item in items] == [item.original for item in items]


def test_a_repeat_of_what_is_in_view_names_it_and_leaves_the_epoch_alone() -> None:
    book = Book()
    agent_run(book, 2, output=LONG)
    first, second = results_of(book)
    epoch = book.history.epoch
    book.repeat((first, 0), (second, 0))
    assert outputs(book.view) == [LONG, f"[as {first}-0]"]
    assert book.history.epoch == epoch


def test_a_repeat_names_what_is_in_view_as_another_object_too() -> None:
    """One that was packed comes back as another object each time."""
    book = Book()
    agent_run(book, 2, output=LONG)
    first, second = results_of(book)
    masks = Masks()
    masks.take_in(book.repeat((first, 0), (second, 0)), ())
    items = [unmasked(item, LEDGER.measure) for item in book.history.items]
    again = [
        item.with_content(msgspec.convert(msgspec.to_builtins(item.content), Content), item.measure) for item in items
    ]
    assert outputs([item.content for item in masks.applied(again, LEDGER.measure)]) == [LONG, f"[as {first}-0]"]


def test_a_repeat_is_whole_again_once_what_it_repeats_is_out_of_view() -> None:
    book = Book()
    agent_run(book, 2, output=LONG)
    first, second = results_of(book)
    book.repeat((first, 0), (second, 0))
    book.reply("So it is.")
    book.mask((first, 0))
    assert outputs(book.view) == [f"[masked {first}-0]", LONG]


def test_a_repeat_of_what_a_compression_hides_is_whole_until_that_is_undone() -> None:
    book = Book()
    agent_run(book, 12, output=LONG)
    first, last = results_of(book)[0], results_of(book)[-1]
    book.repeat((first, 0), (last, 0))
    before = book.view
    assert outputs(before)[-1] == f"[as {first}-0]"
    assert book.compress() is not None
    assert outputs(book.view)[-1] == LONG
    book.undo()
    assert book.view == before


def test_a_log_with_masks_survives_storage() -> None:
    book = Book()
    agent_run(book, 3, output=LONG)
    first, second, third = results_of(book)
    book.repeat((first, 0), (third, 0))
    book.mask((second, 0))
    stored = [decode_entry(encode_entry(entry)) for entry in book.entries]
    assert stored == book.entries
    assert History(LEDGER.measure, stored).contents() == book.history.contents()
