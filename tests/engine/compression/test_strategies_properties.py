"""What holds of every strategy for any history: structure, nothing lost uncovered, exact undo."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings

from tests.support.examples import examples
from tests.support.logs import Book
from tests.support.random_books import write
from tests.support.random_programs import STRATEGIC_PROGRAMS, Step, random_program
from tests.support.strategy_rules import check, check_all


@given(STRATEGIC_PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_every_plan_keeps_the_structure_covers_what_it_hides_and_is_undone_exactly(steps: list[Step]) -> None:
    check_all(write(steps))


@given(STRATEGIC_PROGRAMS)
@settings(max_examples=examples(60), deadline=None)
def test_hiding_up_to_a_turn_or_from_one_on_keeps_the_same_rules(steps: list[Step]) -> None:
    def check_reached(book: Book) -> None:
        plan = book.plan()
        if plan is not None:
            check(book, plan)

    write(steps, before_reached=check_reached)


def test_random_histories_break_no_rule_with_any_strategy() -> None:
    random = Random(7)
    plans = sum(check_all(write(random_program(random, random.randint(4, 30)))) for _ in range(150))
    assert plans > 150
