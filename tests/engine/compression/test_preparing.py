"""When a compression is prepared, and which prepared one may still be installed."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.compression.preparing import (
    IDLE_SHARE,
    SOFT_SHARE,
    Behind,
    Moment,
    Prepared,
    behind,
    is_installable,
    next_step,
    retry_at,
)
from gemini_companion.engine.history.log import PreviewEntry, ResumeEntry, Trigger
from gemini_companion.engine.history.verdict import BackgroundMode
from tests.support.logs import Book

MODES: tuple[BackgroundMode, ...] = get_args(BackgroundMode)

counts = st.integers(min_value=0, max_value=2_000_000)
tails = st.builds(lambda new, old: Behind(new + old, new), counts, counts)
moments = st.builds(
    Moment,
    mode=st.sampled_from(MODES),
    tokens=counts,
    trigger=st.none() | counts,
    is_idle=st.booleans(),
    is_under_way=st.booleans(),
    not_before=counts,
    ready=st.none() | tails,
    has_preview=st.booleans(),
)


def changed(moment: Moment, **fields: Any) -> Moment:
    """The same moment with other values."""
    return Moment(**{name: fields.get(name, getattr(moment, name)) for name in Moment.__annotations__})


@given(moments)
def test_nothing_is_installed_before_the_trigger_outside_of_a_turn_or_without_anything_ready(moment: Moment) -> None:
    if next_step(moment) == "install":
        assert moment.trigger is not None
        assert moment.tokens >= moment.trigger
        assert moment.ready is not None
        assert not moment.is_idle
        assert not moment.has_preview
        assert moment.mode != "off"


@given(moments)
def test_nothing_is_prepared_twice_nor_too_early_nor_again_before_the_count_has_grown(moment: Moment) -> None:
    if next_step(moment) != "prepare":
        return
    assert not moment.is_under_way
    assert moment.tokens >= moment.not_before
    assert moment.mode != "off"
    assert moment.trigger is not None
    assert moment.tokens >= (IDLE_SHARE if moment.is_idle else SOFT_SHARE) * moment.trigger
    assert moment.ready is None or moment.ready.is_outgrown
    if moment.mode == "idle":
        assert moment.is_idle or moment.tokens >= moment.trigger


@given(moments)
def test_what_is_due_in_a_turn_is_installed_or_prepared_unless_it_is_on_its_way_failed_or_holds_up(
    moment: Moment,
) -> None:
    is_due = moment.trigger is not None and moment.tokens >= moment.trigger and moment.mode != "off"
    if is_due and not moment.is_idle and not moment.is_under_way and moment.tokens >= moment.not_before:
        otherwise = "nothing" if moment.holds_up else "prepare"
        assert next_step(moment) == (otherwise if moment.ready is None else "install")


@given(moments, counts)
def test_more_tokens_never_end_a_wish_to_prepare_but_by_installing(moment: Moment, more: int) -> None:
    later = changed(moment, tokens=moment.tokens + more)
    if next_step(moment) == "prepare":
        assert next_step(later) in ("prepare", "install")


@given(st.lists(st.integers(min_value=1, max_value=10_000), min_size=1, max_size=60), st.integers(1, 1_000_000))
def test_failures_in_a_row_are_few_however_the_count_grows(growths: list[int], trigger: int) -> None:
    tokens, not_before, failures = trigger, 0, 0
    for growth in growths:
        tokens += growth
        if tokens >= not_before:
            failures += 1
            not_before = retry_at(tokens, trigger, failures)
            assert not_before > tokens
    step = max(1, round(trigger / 10))
    assert failures <= 1 or step * (2 ** min(failures - 1, 10) - 1) <= tokens - trigger


@pytest.mark.parametrize(
    ("tokens", "mode", "is_idle", "step"),
    [
        (799, "auto", False, "nothing"),
        (800, "auto", False, "prepare"),
        (800, "idle", False, "nothing"),
        (699, "auto", True, "nothing"),
        (700, "auto", True, "prepare"),
        (700, "idle", True, "prepare"),
        (1_000, "idle", False, "prepare"),
        (1_000, "off", False, "nothing"),
    ],
)
def test_the_soft_mark_is_four_fifths_of_the_trigger_and_idle_time_counts_from_seven_tenths(
    tokens: int, mode: BackgroundMode, is_idle: bool, step: str
) -> None:
    assert next_step(Moment(mode=mode, tokens=tokens, trigger=1_000, is_idle=is_idle)) == step


def test_one_is_prepared_anew_once_more_than_half_of_what_stands_behind_it_is_new() -> None:
    moment = Moment(mode="auto", tokens=900, trigger=1_000, ready=Behind(200, 100))
    assert next_step(moment) == "nothing"
    assert next_step(changed(moment, ready=Behind(202, 102))) == "prepare"


def test_where_a_turn_would_wait_for_it_one_is_prepared_in_idle_time_alone() -> None:
    moment = Moment(mode="auto", tokens=1_000, trigger=1_000, holds_up=True)
    assert next_step(moment) == "nothing"
    assert next_step(changed(moment, is_idle=True)) == "prepare"
    assert next_step(changed(moment, ready=Behind(1, 0))) == "install"


def test_none_is_prepared_anew_for_little_of_what_it_hides_nor_a_second_time() -> None:
    moment = Moment(mode="auto", tokens=900, trigger=1_000)
    assert next_step(changed(moment, ready=Behind(202, 102, 400))) == "prepare"
    assert next_step(changed(moment, ready=Behind(202, 102, 410))) == "nothing"
    assert next_step(changed(moment, ready=Behind(202, 102, 400, is_anew=True))) == "nothing"


def book_with(turns: int = 8) -> Book:
    book = Book(budget=2_000, limit=2_000)
    talk(book, turns)
    return book


def talk(book: Book, turns: int) -> None:
    for number in range(turns):
        book.say(f"question {number} " + "word " * 50, f"answer {number} " + "text " * 50)


def prepare(book: Book, trigger: Trigger = "background") -> PreviewEntry:
    """Log what a preparing run keeps at its end."""
    plan = book.plan()
    assert plan is not None
    draft = book.compression(plan)
    draft = msgspec.structs.replace(draft, result=msgspec.structs.replace(draft.result, trigger=trigger))
    return book.add(PreviewEntry, compression_id=draft.compression_id, compression=draft, base_seq=book.history.version)


def folded(book: Book) -> Prepared:
    return Prepared(book.entries)


def test_what_is_prepared_is_no_preview_of_a_persons_and_the_other_way_round() -> None:
    book = book_with()
    mine = prepare(book, "manual")
    own = prepare(book)
    assert (book.history.preview, folded(book).entry) == (mine, own)


def test_what_comes_behind_it_leaves_it_installable_and_off_does_not() -> None:
    book = book_with()
    entry = prepare(book)
    talk(book, 5)
    book.rule("Use tabs.")
    book.pin("Never touch legacy/.")
    book.prompt("no answer comes")
    book.end("failed")
    assert folded(book).installable(book.history, "auto") is entry
    assert folded(book).installable(book.history, "off") is None


@pytest.mark.parametrize("what", ["compression", "undo", "release", "unpin", "clear", "import", "fork"])
def test_what_changes_the_span_or_takes_a_rule_back_voids_it(what: str) -> None:
    book = book_with()
    book.compress() if what == "undo" else None
    pin, rule = book.pin("tabs"), book.rule("Use tabs.")
    talk(book, 4)
    prepare(book)
    talk(book, 3)
    assert folded(book).entry is not None
    match what:
        case "compression":
            book.compress()
        case "undo":
            book.undo()
        case "release":
            book.release(rule.constraint.constraint_id)
        case "unpin":
            book.unpin(pin.pin_id)
        case _:
            book.add(ResumeEntry, reason=what)
    assert folded(book).entry is None


@pytest.mark.parametrize("what", ["release", "unpin"])
def test_a_rule_that_is_taken_back_while_one_is_prepared_voids_it(what: str) -> None:
    book = book_with()
    pin, rule = book.pin("tabs"), book.rule("Use tabs.")
    talk(book, 4)
    begun = book.history.version
    match what:
        case "release":
            book.release(rule.constraint.constraint_id)
        case _:
            book.unpin(pin.pin_id)
    draft = prepare(book)
    late = msgspec.structs.replace(draft, base_seq=begun)
    assert Prepared([*book.entries[:-1], draft]).entry is draft
    assert Prepared([*book.entries[:-1], late]).entry is None


def test_answering_anew_voids_what_saw_the_turn_that_is_gone_and_nothing_else() -> None:
    book = book_with()
    entry = prepare(book)
    talk(book, 1)
    book.anew("said better", "another answer")
    assert folded(book).installable(book.history, "auto") is entry
    later = prepare(book)
    assert folded(book).installable(book.history, "auto") is later
    book.anew("said best", "a third answer")
    assert folded(book).installable(book.history, "auto") is None


def test_answering_a_turn_anew_that_set_a_rule_voids_what_may_state_it() -> None:
    book = book_with()
    entry = prepare(book)
    book.prompt("Use tabs.")
    book.rule("Use tabs.", by_turn=book.turn)
    book.reply("Yes.")
    book.end()
    assert folded(book).installable(book.history, "auto") is entry
    book.anew("Use spaces.", "Yes.")
    assert folded(book).installable(book.history, "auto") is None


def test_those_prepared_are_counted_anew_once_one_is_installed() -> None:
    book = book_with()
    prepare(book)
    prepare(book)
    assert folded(book).made == len([entry for entry in book.entries if isinstance(entry, PreviewEntry)]) > 1
    book.compress()
    assert folded(book).made == 0


def test_what_another_strategy_prepared_is_not_installable() -> None:
    book = book_with()
    entry = prepare(book)
    draft = entry.compression
    result = msgspec.structs.replace(draft.result, strategy="userMessages")
    entry = msgspec.structs.replace(entry, compression=msgspec.structs.replace(draft, result=result))
    known = Prepared([entry])
    assert known.installable(book.history, "auto", ("split",)) is None
    assert known.installable(book.history, "auto", ("split", "userMessages")) is entry


def test_it_is_not_installable_while_a_turn_that_it_hides_is_answered_anew() -> None:
    book = book_with()
    entry = prepare(book)
    hides = entry.compression.hides
    assert hides is not None
    turn = [item.turn_id for item in book.history.sources if item.seq <= hides[1]][-1]
    book.history.exclude(turn)
    assert not is_installable(book.history, entry)
    book.history.restore()
    assert is_installable(book.history, entry)


def test_what_stands_behind_it_is_counted_without_what_the_editor_showed() -> None:
    book = book_with()
    entry = prepare(book)
    before = behind(book.history, entry)
    assert before.new_tokens == 0 < before.tokens
    book.ide("[editor] " + "line " * 500)
    talk(book, 2)
    after = behind(book.history, entry)
    assert after.hidden_tokens == before.hidden_tokens > 0
    assert after.tokens - before.tokens == after.new_tokens > 0
    talk(book, 8)
    assert behind(book.history, entry).is_outgrown
