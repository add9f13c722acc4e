"""Random histories by number: `python -m tests.histories --count 100000 --seed 1`.

Each has compressions of random strategies, up to turns and from turns on, undone and stacked, with pins, previews, turns
that failed and answers given anew; at its end every strategy plans once more. Each plan is checked by
`tests.support.strategy_rules`. A history that breaks a rule is named by its number: `--seed S --first N --count 1`.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from random import Random

from tests.support.logs import Book
from tests.support.random_books import write
from tests.support.random_programs import random_program
from tests.support.strategy_rules import check, check_all


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.histories")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started, plans, broken = time.process_time(), 0, 0

    def check_reached(book: Book) -> None:
        nonlocal plans
        plan = book.plan()
        if plan is not None:
            check(book, plan)
            plans += 1

    for number in range(options.first, options.first + options.count):
        random = Random(f"{options.seed}/{number}")
        try:
            book = write(random_program(random, random.randint(4, 30)), before_reached=check_reached)
            plans += check_all(book)
        except Exception:
            broken += 1
            print(f"history {number} of seed {options.seed} breaks a rule:")
            traceback.print_exc(file=sys.stdout)
    seconds = time.process_time() - started
    print(f"{options.count:,} histories, {plans:,} plans checked, {broken} broken, {seconds:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
