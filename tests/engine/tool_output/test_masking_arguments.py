"""Long arguments of finished calls are masked like outputs, and what stands for them is arguments again."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import MaskEntry
from gemini_companion.engine.history.masks import masked_part, unmasked
from gemini_companion.engine.history.part import SKIP_SIGNATURE
from gemini_companion.engine.history.tool_entries import CallRecord
from gemini_companion.engine.tool_output.arguments import shortened_arguments
from gemini_companion.engine.tool_output.levels import level
from gemini_companion.engine.tool_output.masking import plan_masks
from gemini_companion.engine.tool_output.places import find_arguments, reference_to
from tests.support.logs import LEDGER, Book, call, result, user

LONG = "".join(f"line {number}\n" for number in range(8_000))


def refer_to(item: Item, number: int) -> str:
    return f"recall({item.seq}-{number})"


def mask(book: Book, least_saved: int = 1_000) -> MaskEntry | None:
    history = book.history
    cuts = plan_masks(
        history.curated(), history.masks, measure=history.measure, refer_to=refer_to, least_saved=least_saved
    )
    return book.add(MaskEntry, cuts=cuts) if cuts else None


def shown(book: Book) -> list[dict[str, Any]]:
    return [part["functionCall"]["args"] for one in book.view for part in one.parts if "functionCall" in part]


def written(count: int, *, more: Part | None = None) -> Book:
    """A run in which the model wrote this many long files."""
    book = Book()
    book.prompt("Write them.")
    for number in range(count):
        made = call("write_file", f"c{number}", file_path=f"{number}.txt", content=LONG)
        book.reply({**made, **(more or {})})
        book.results(result("write_file", f"c{number}", "Written."))
    return book


def test_the_newest_arguments_stay_and_older_ones_show_beginning_end_and_digest() -> None:
    book = written(6)
    book.reply("done")
    assert mask(book) is not None
    args = shown(book)
    whole = [one["content"] == LONG for one in args]
    assert whole == sorted(whole)
    assert 0 < whole.count(True) < 6
    assert [one["file_path"] for one in args] == [f"{number}.txt" for number in range(6)]
    assert sha256(LONG.encode()).hexdigest()[:16] in args[0]["content"]
    assert "line 0\n" in args[0]["content"]
    assert "line 7999" in args[0]["content"]
    assert refer_to(book.history.items[1], 0) in args[0]["content"]
    assert mask(book) is None


def test_a_call_that_the_model_has_not_seen_the_result_of_keeps_its_arguments() -> None:
    book = written(1)
    assert mask(book, least_saved=0) is None
    assert shown(book)[0]["content"] == LONG


def test_a_masked_call_has_no_signature_that_was_made_for_other_arguments() -> None:
    book = written(6, more={"thoughtSignature": "c2lnbmVk"})
    book.reply("done")
    mask(book)
    parts = [part for one in book.view for part in one.parts if "functionCall" in part]
    assert [part["thoughtSignature"] for part in (parts[0], parts[-1])] == [SKIP_SIGNATURE, "c2lnbmVk"]
    first = next(item for item in book.history.items if item.content.role == "model")
    assert unmasked(first, LEDGER.measure).content == first.original


def test_the_calls_id_leads_back_to_the_whole_arguments() -> None:
    book = Book()
    book.prompt("Go.")
    reply = book.reply(call("run", "a", text="first"), call("run", "b", text=LONG))
    records = tuple(CallRecord(call_id=f"call_{name}", name="run", outcome="ok") for name in "ab")
    content = user(result("run", "a"), result("run", "b"))
    book.add(type(book.results()), turn_id=book.turn, content=content, calls=records)
    assert reference_to(book.entries, reply.seq, reply.id, 1) == 'recall(entry_id="e2")'  # an empty round came first
    entries = [entry for entry in book.entries if entry.seq != 3]
    assert reference_to(entries, reply.seq, reply.id, 1) == 'recall(tool_call_id="call_b", arguments=true)'
    found = find_arguments(entries, "call_b")
    assert found is not None
    assert found.args == {"text": LONG}
    assert find_arguments(entries, "call_c") is None


_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3_000),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=30), inner, max_size=30),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=300), _json, max_size=40), st.integers(0, 10_000))
def test_shortened_arguments_are_bounded_and_still_one_object(args: dict[str, Any], room: int) -> None:
    text = shortened_arguments(args, room=room, reference="recall(x)")
    assert isinstance(json.loads(text), dict)
    assert len(json.dumps(json.loads(text), ensure_ascii=False)) <= 6 * room + 40_000
    assert "functionCall" in masked_part({"functionCall": {"name": "run", "args": args}}, text)


@given(st.text())
def test_whatever_a_log_says_stands_for_arguments_becomes_arguments(output: str) -> None:
    part = masked_part({"functionCall": {"name": "run", "args": {"a": 1}}}, output)
    assert isinstance(part["functionCall"]["args"], dict)


@given(st.lists(st.integers(0, 10_000)), st.integers(-100, 50_000))
def test_a_level_fills_its_room_and_no_more(sizes: list[int], room: int) -> None:
    top = level(sizes, room)
    cut = [min(size, top) for size in sizes]
    assert sum(cut) <= max(room, 0)
    if sum(sizes) > room > len(sizes):
        assert sum(min(size, top + 1) for size in sizes) > room
