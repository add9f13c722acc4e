"""What holds of every plan of every strategy, for any history. `check` raises `AssertionError` where one does not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import get_args

import msgspec

from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.compression.strategies.layout import standing_spans
from gemini_companion.engine.compression.types import Counts, Plan, judge
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item
from gemini_companion.engine.history.part import is_truthy
from gemini_companion.engine.history.sendable import sendable
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.engine.history.view import History
from tests.support.logs import LEDGER, Book

NAMES: tuple[StrategyName, ...] = get_args(StrategyName)
SHORT = "<state_snapshot>\n<overall_goal>short</overall_goal>\n</state_snapshot>"


def check_all(book: Book, names: Sequence[StrategyName] = NAMES) -> int:
    """Check the plans of these strategies for the book as it stands; how many there were."""
    if book.history.has_open_call():
        return 0
    before, plans = book.strategy, 0
    for name in names:
        book.strategy = name
        plan = book.plan()
        if plan is not None:
            check(book, plan)
            plans += 1
    book.strategy = before
    return plans


def check(book: Book, plan: Plan) -> None:
    """Every rule, for one plan."""
    history = book.history
    before = history.curated()
    draft = book.compression(plan, SHORT)
    assert not is_stale(history, draft, plan.base_version)
    entry = msgspec.structs.replace(draft, id="new", seq=history.version + 1)
    after = History(LEDGER.measure, [*book.entries, entry])
    _is_what_the_plan_says(history, plan, before, after.curated())
    _is_well_formed(after)
    _spans_stand_apart(after)
    _undo_is_exact(book, after, entry.compression_id)
    smaller = sum(item.measure.tokens for item in after.curated()) < sum(item.measure.tokens for item in before)
    counts = Counts(
        sum(item.measure.tokens for item in before), sum(item.measure.tokens for item in after.curated()), "estimate"
    )
    assert (judge(counts) == "COMPRESSED") == smaller


def _is_what_the_plan_says(history: History, plan: Plan, before: list[Item], after: list[Item]) -> None:
    """The view falls into what stays and the replacement; all that left it is hidden, covered or the editor's state."""
    front = _said(plan.trim.cut_items[: plan.start_at])
    kept, tail = _said(plan.kept), _said(plan.tail)
    pins = 1 if history.pins else 0
    old_pins = sum(item.kind == "pin" for item in [*plan.trim.items[: plan.start_at], *plan.tail])
    shown = [item for item in after if item.kind != "pin"]
    expected = len(front) + len(kept) + 1 + plan.acknowledge + len(tail)
    assert len(shown) == expected, (len(shown), expected)
    assert sum(item.kind == "pin" for item in after) == pins or not history.pins or old_pins
    assert _same(shown[: len(front)], front)
    assert _same(shown[len(front) : len(front) + len(kept)], kept)
    assert shown[len(front) + len(kept)].kind == "snapshot"
    assert _same(shown[len(shown) - len(tail) :] if tail else [], tail)
    hidden = {item.seq for item in plan.hidden}
    stays = {item.seq for item in plan.stays}
    for item in before:
        if item.kind in REPLACEMENT_KINDS:
            in_span = plan.hides[0] <= item.seq <= plan.hides[1]
            assert not in_span or item.compression_id in plan.covers
        elif item.kind != "ide":
            assert (item.seq in hidden) != (item.seq in stays), item
    assert any(item.kind != "ide" for item in plan.hidden)


def _is_well_formed(history: History) -> None:
    """Roles alternate, and every call is answered by the next content, every result asked for by the one before."""
    sent = sendable([item.content for item in history.curated(close=True)])
    for first, second in pairwise(sent):
        assert first.role != second.role
        assert sorted(_ids(first, "functionCall")) == sorted(_ids(second, "functionResponse"))
    if sent:
        assert not _ids(sent[0], "functionResponse")
        assert not _ids(sent[-1], "functionCall")


def _spans_stand_apart(history: History) -> None:
    spans = standing_spans(tuple(history.in_force.values()))
    assert all(first[1] < second[0] for first, second in pairwise(spans)), spans


def _undo_is_exact(book: Book, after: History, compression_id: str) -> None:
    """With a later turn behind it, an undo brings back what was there, and leaves the turn."""
    later = Book(budget=book.budget, limit=book.limit)
    later.history = after
    later.turn = book.turn
    if not later.turn:
        later.say("later", "turn")
    later.undo(compression_id)
    was = [item.content for item in book.history.curated(close=True) if item.kind != "ide"]
    assert _encoded(later.view[: len(was)]) == _encoded(was)
    assert len(later.view) == len(was) + (0 if book.turn else 2)


def _said(items: Sequence[Item]) -> list[Item]:
    """Without the pins, and what answers them where they stand in front of everything."""
    return [
        item
        for item in items
        if item.kind not in ("ide", "pin") and not (item.kind == "acknowledgement" and item.compression_id is None)
    ]


def _same(after: list[Item], before: list[Item]) -> bool:
    """Equal contents, but for results that named another one, which is hidden now: they are whole again."""
    pairs = zip(_contents(after), _contents(before), strict=True)
    return all(now == then or "[as " in str(then) for now, then in pairs)


def _contents(items: Sequence[Item]) -> list[Content]:
    return [item.content for item in items]


def _encoded(contents: Sequence[Content]) -> bytes:
    return msgspec.json.encode(list(contents))


def _ids(content: Content, field: str) -> list[str]:
    return [str(part[field].get("id")) for part in content.parts if is_truthy(part.get(field))]
