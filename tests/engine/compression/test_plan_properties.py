"""What holds of every plan for every history."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given, settings

from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.compression.truncate import plan_cuts
from gemini_companion.engine.compression.types import Plan
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import PROMPTS, REPLACEMENT_KINDS, Item
from gemini_companion.engine.history.log import CompressionEntry, PreviewEntry, PromptEntry, TurnEndEntry, UndoEntry
from gemini_companion.engine.history.part import is_plain_user, visible_text
from gemini_companion.engine.history.tool_entries import MaskEntry
from gemini_companion.engine.history.view import History
from tests.support.examples import examples
from tests.support.logs import LEDGER, Book
from tests.support.random_books import write
from tests.support.random_programs import PROGRAMS, Step


def contents_of(items: Sequence[Item]) -> list[Content]:
    return [item.content for item in items]


def ids_in(items: Sequence[Item], field: str) -> list[tuple[str, str]]:
    return [(part[field]["id"], part[field]["name"]) for item in items for part in item.content.parts if field in part]


def installed(
    book: Book, plan: Plan, snapshot: str = "<state_snapshot>\nshort\n</state_snapshot>"
) -> tuple[CompressionEntry, History]:
    """The history as it would be, in a log of its own."""
    draft = book.compression(plan, snapshot)
    entry = msgspec.structs.replace(draft, id="new", seq=book.history.version + 1)
    return draft, History(LEDGER.measure, [*book.entries, entry])


@given(PROGRAMS)
@settings(max_examples=examples(70), deadline=None)
def test_a_plan_hides_a_prefix_keeps_the_tail_and_never_parts_what_belongs_together(steps: list[Step]) -> None:
    def check(book: Book, _: Step) -> None:
        plan = book.plan()
        if plan is None or book.history.has_open_call():
            return
        items = book.history.curated()
        before, tail = items[: plan.split_at], items[plan.split_at :]
        kept = plan.kept
        hidden = [
            item
            for item in before
            if item.kind not in REPLACEMENT_KINDS and item.seq not in [prompt.seq for prompt in kept]
        ]
        assert [(item.seq, item.content) for item in hidden] == [(item.seq, item.content) for item in plan.hidden]
        assert any(item.kind != "ide" for item in plan.hidden)
        assert sorted(ids_in(before, "functionCall")) == sorted(ids_in(before, "functionResponse"))
        if tail:
            assert is_plain_user(tail[0].content) or tail[0].content.role == "model"
            assert tail[0].kind not in REPLACEMENT_KINDS
            assert tail[0].kind != "ide" or next(item for item in tail if item.kind != "ide").kind == "prompt"
            assert before[-1].kind != "ide" or tail[0].content.role == "model"
            assert plan.acknowledge == (tail[0].content.role == "user")
        if kept:
            assert {item.kind for item in kept} <= PROMPTS
            assert [item.seq for item in kept] == sorted(item.seq for item in kept)
            assert tail[0].content.role == "model"

    write(steps, after_each=check)


@given(PROGRAMS)
@settings(max_examples=examples(70), deadline=None)
def test_after_an_install_the_view_is_kept_prompt_snapshot_pins_acknowledgement_and_the_tail_word_for_word(
    steps: list[Step],
) -> None:
    def check(book: Book, _: Step) -> None:
        plan = book.plan()
        if plan is None or book.history.has_open_call():
            return
        draft, after = installed(book, plan)
        items = after.curated()
        tail = [item for item in plan.tail if item.kind != "ide"]
        head = items[: len(items) - len(tail)]
        for kept, before in zip(items[len(head) :], tail, strict=True):
            assert kept.seq == before.seq
            # A result that named another one, which is hidden now, is whole again.
            assert kept.content == before.content or "[as " in str(before.content)
        expected = (
            [item.kind for item in plan.kept]
            + ["snapshot"]
            + (["pin"] if book.history.pins else [])
            + ["acknowledgement"] * plan.acknowledge
        )
        assert [item.kind for item in head] == expected
        if plan.kept:
            assert head[0].content == plan.kept[0].content
        assert contents_of(book.history.view_with(draft)) == contents_of(items)
        assert [key for key, entry in after.in_force.items() if entry.hides and key not in draft.covers] == [
            draft.compression_id
        ]
        assert after.epoch == book.history.epoch + 1
        standing = [item for item in book.history.items if item.kind == "snapshot"]
        assert plan.previous_snapshot == (visible_text(standing[-1].content) if standing else None)

    write(steps, after_each=check)


@given(PROGRAMS)
@settings(max_examples=examples(50), deadline=None)
def test_a_history_that_was_compressed_whole_has_nothing_more_to_hide(steps: list[Step]) -> None:
    def check(book: Book, step: Step) -> None:
        plan = book.plan()
        if plan is None or book.history.has_open_call() or plan.tail:
            return
        after = installed(book, plan)[1]
        other = Book()
        other.history = after
        assert other.plan() is None

    write(steps, after_each=check)


@given(PROGRAMS)
@settings(max_examples=examples(70), deadline=None)
def test_a_plan_is_stale_when_its_span_is_no_longer_what_it_was_and_not_for_what_came_behind_it(
    steps: list[Step],
) -> None:
    made: dict[str, dict[int, Content]] = {}

    def touched(book: Book, preview: PreviewEntry) -> dict[int, Content]:
        """By its number, every content of the span, and those outside of it that the plan cuts."""
        hides = preview.compression.hides
        assert hides is not None
        cuts = {cut.seq for cut in preview.compression.cuts}
        return {
            item.seq: item.content
            for item in book.history.items
            if item.kind not in ("ide", "pin") and (item.seq <= hides[1] or item.seq in cuts)
        }

    def check(book: Book, step: Step) -> None:
        preview = book.history.preview
        if preview is None:
            return
        stale = is_stale(book.history, preview.compression, preview.base_seq)
        if step[0] in ("preview", "anew") and preview.compression_id not in made:
            made[preview.compression_id] = touched(book, preview)
            assert not stale
        before, now = made[preview.compression_id], touched(book, preview)
        in_tail = {
            cut.seq for cut in preview.compression.cuts
        }  # from there a turn that is rolled back may take what it likes
        later = [entry for entry in book.entries if entry.seq > preview.base_seq]
        # A mask in the span changes how it looks until it is hidden, and nothing of what is hidden.
        masked = {cut.seq for entry in later if isinstance(entry, MaskEntry) for cut in (*entry.cuts, *entry.repeats)}
        same = {seq: content for seq, content in before.items() if seq not in masked}
        if any(now.get(seq) != content for seq, content in same.items() if seq in now or seq not in in_tail):
            assert stale
        if stale:
            assert any(
                isinstance(entry, CompressionEntry | UndoEntry | MaskEntry)
                or (isinstance(entry, TurnEndEntry) and entry.outcome != "completed")
                for entry in later
            )

    write(steps, after_each=check)


@given(PROGRAMS)
@settings(max_examples=examples(50), deadline=None)
def test_prompts_are_never_cut_and_cut_outputs_keep_everything_but_their_text(steps: list[Step]) -> None:
    def check(book: Book, _: Step) -> None:
        trim = book.trim()
        assert [(item.seq, item.kind, item.shape) for item in trim.cut_items] == [
            (item.seq, item.kind, item.shape) for item in trim.items
        ]
        outputs = {(cut.seq, cut.part): cut for cut in trim.cuts}
        for item, cut_item in zip(trim.items, trim.cut_items, strict=True):
            for index, (part, cut_part) in enumerate(zip(item.content.parts, cut_item.content.parts, strict=True)):
                cut = (
                    outputs.get((item.seq, item.part_number(index)))
                    if "functionResponse" in part and item.kind != "filled"
                    else None
                )
                if cut is None:
                    assert cut_part == part
                    continue
                response = part["functionResponse"]
                assert cut_part == {**part, "functionResponse": {**response, "response": {"output": cut.output}}}
                assert len(cut.output) < len(response["response"]["output"])
                assert len(cut.output) <= book.limit
                assert cut.tokens_saved > 0
        assert len(outputs) == len(trim.cuts)
        planned = plan_cuts(trim.items, count_text=LEDGER.count_text, tag="t", budget=book.budget, limit=book.limit)
        whole = {each.seq: each.whole for each in planned if (each.seq, each.part) in outputs}
        for entry in book.entries:
            if entry.seq in whole and not isinstance(entry, PromptEntry):
                parts = entry.content.parts  # type: ignore[union-attr]
                texts = [part["functionResponse"]["response"]["output"] for part in parts if "functionResponse" in part]
                assert whole[entry.seq] in texts

    write(steps, after_each=check)
