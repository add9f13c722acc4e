"""The rules that a person set stand in every view, and only they do."""

from __future__ import annotations

from hypothesis import given, settings

from gemini_companion.engine.constraints.assurance import lacking
from gemini_companion.engine.history.constraint import Constraint
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import decode_entry, encode_entry
from gemini_companion.engine.history.pinned import PINS_INTRODUCTION
from gemini_companion.engine.history.sendable import sendable
from gemini_companion.engine.history.view import History
from tests.engine.history.view_texts import talk
from tests.support.examples import examples
from tests.support.logs import LEDGER, Book
from tests.support.random_books import write
from tests.support.random_programs import PROGRAMS_WITH_RULES, Step


def pinned(book: Book) -> list[str]:
    """The texts in the content of their own."""
    for item in book.history.items:
        if item.kind == "pin":
            texts = [part["text"] for part in item.content.parts]
            assert texts[0] == PINS_INTRODUCTION
            return texts[1:]
    return []


def said(book: Book, text: str, *, prompt: str = "") -> str:
    """A turn whose prompt lays down a rule; returns its id."""
    book.begin()
    turn = book.turn
    book.prompt(prompt or f"{text} Now go on.")
    book.rule(text, by_turn=turn)
    book.reply("done")
    book.end()
    return turn


def missing(history: History) -> list[Constraint]:
    contents = sendable(item.content for item in history.curated(close=True))
    own_parts: dict[str, tuple[Part, ...]] = {}
    for prompt in history.prompts:
        own_parts[prompt.turn_id] = (*own_parts.get(prompt.turn_id, ()), *prompt.own_parts)
    return lacking(history.standing, contents, None, own_parts)


def test_a_rule_stands_in_its_prompt_while_that_is_visible_and_saying_it_changes_nothing_else() -> None:
    book = talk(4)
    epoch = book.history.epoch
    said(book, "Never push.")
    assert pinned(book) == []
    assert book.history.epoch == epoch
    assert [one.text for one in book.history.standing] == ["Never push."]


def test_a_rule_is_pinned_as_soon_as_its_prompt_is_hidden_and_no_longer_once_that_is_undone() -> None:
    book = talk(2)
    said(book, "Never push.")
    talk(8, book=book, start=20)
    before = book.view
    book.compress()
    assert pinned(book) == ["Never push."]
    book.undo()
    assert pinned(book) == []
    assert book.view == before


def test_a_rule_that_was_set_by_hand_stands_ahead_of_everything() -> None:
    book = talk(3)
    book.rule("Never push.")
    assert [item.kind for item in book.history.items][:3] == ["pin", "acknowledgement", "prompt"]
    assert pinned(book) == ["Never push."]


def test_an_empty_session_has_them_too_and_the_prompt_after_them_is_not_among_them() -> None:
    book = Book()
    book.rule("Never push.")
    book.say("hello", "hi")
    assert [item.kind for item in book.history.items] == ["pin", "acknowledgement", "prompt", "reply"]


def test_what_is_proposed_or_released_stands_nowhere() -> None:
    book = talk(3)
    rule = book.rule("Never push.", "proposed")
    assert pinned(book) == []
    book.rule("Never push.", constraint_id=rule.constraint.constraint_id)
    assert pinned(book) == ["Never push."]
    book.release(rule.constraint.constraint_id)
    assert pinned(book) == []
    assert [one.state for one in book.history.constraints.all()] == ["released"]


def test_a_rule_outlives_the_turn_that_failed_or_was_cancelled() -> None:
    book = talk(3)
    book.begin()
    book.prompt("Never push. Go on.")
    book.rule("Never push.", by_turn=book.turn)
    book.end("failed")
    assert pinned(book) == ["Never push."]


def test_a_rule_goes_with_the_turn_that_was_replaced_and_what_it_replaced_comes_back() -> None:
    book = talk(3)
    old = book.rule("Use spaces.")
    book.begin()
    turn = book.turn
    book.prompt("From now on tabs. Go on.")
    book.rule("From now on tabs.", by_turn=turn, replaces=old.constraint.constraint_id)
    book.reply("done")
    book.end()
    assert [one.text for one in book.history.standing] == ["From now on tabs."]
    book.history.exclude(turn)
    assert pinned(book) == ["Use spaces."]
    book.history.restore()
    assert [one.text for one in book.history.standing] == ["From now on tabs."]
    book.anew("go on", "done again")
    assert [one.text for one in book.history.standing] == ["Use spaces."]
    assert pinned(book) == ["Use spaces."]


def test_a_rule_that_a_person_set_by_hand_since_outlives_its_turn() -> None:
    book = talk(3)
    turn = said(book, "Never push.")
    (one,) = book.history.standing
    book.rule("Never push.", constraint_id=one.constraint_id, turn_id=turn, source="prompt")
    book.anew("go on", "done again")
    assert pinned(book) == ["Never push."]


def test_two_rules_of_one_text_stand_there_once() -> None:
    book = talk(3)
    book.rule("Never push.")
    epoch = book.history.epoch
    again = book.rule("Never push.")
    assert pinned(book) == ["Never push."]
    book.release(again.constraint.constraint_id)
    assert pinned(book) == ["Never push."]
    assert book.history.epoch == epoch


def test_a_text_that_is_no_longer_what_was_taken_in_is_told() -> None:
    book = talk(1)
    entry = book.rule("Never push.")
    stored = encode_entry(entry).replace(b"Never push.", b"Always push.")
    history = History(LEDGER.measure, [decode_entry(stored)])
    (one,) = history.constraints.all()
    assert one.note is not None


@given(PROGRAMS_WITH_RULES)
@settings(max_examples=examples(150), deadline=None)
def test_every_rule_in_force_stands_in_every_view_and_no_other_text_is_pinned(steps: list[Step]) -> None:
    def check(book: Book, _: Step) -> None:
        history = book.history
        assert missing(history) == []
        shown = pinned(book)
        assert len(set(shown)) == len(shown)
        assert set(shown) <= {one.text for one in history.standing}

    write(steps, after_each=check)


@given(PROGRAMS_WITH_RULES)
@settings(max_examples=examples(60), deadline=None)
def test_with_rules_too_folding_at_once_gives_what_folding_step_by_step_gives(steps: list[Step]) -> None:
    def read(book: Book, _: Step) -> None:
        book.history.curated()

    book = write(steps, after_each=read)
    stored = [decode_entry(encode_entry(entry)) for entry in book.entries]
    again = History(LEDGER.measure, stored)
    assert (again.epoch, again.contents()) == (book.history.epoch, book.history.contents())
    assert again.constraints.all() == book.history.constraints.all()
