"""Random scripts of edits by number: `python -m tests.edits --count 10000 --seed 1`.

In each a model writes, renames and deletes files of several encodings and runs commands that change, move, link and
delete them with their folders, a person edits them in between and within turns, and what the model did is taken back,
whole or by places, which is taken back in turn. A script that breaks a rule is named by its number:
`--seed S --first N --count 1`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

from tests.support.random_edits import make_studio, play

PER_STUDIO = 100


async def run(seed: int, numbers: range) -> int:
    started, broken, with_conflicts, edited = time.process_time(), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        table = make_studio(Path(folder))
        for number in numbers:
            if number % PER_STUDIO == 0:
                await table.studio.app.close()
                table = make_studio(Path(folder))
            try:
                script = await play(Random(f"{seed}/{number}"), table)
                with_conflicts += bool(script.conflicts)
                edited += script.edited
            except Exception:
                broken += 1
                print(f"script {number} of seed {seed} breaks a rule:")
                traceback.print_exc(file=sys.stdout)
        await table.studio.app.close()
    seconds = time.process_time() - started
    print(
        f"{len(numbers):,} scripts, {edited:,} with edits of the person's, {with_conflicts:,} with conflicts,"
        f" {broken} broken, {seconds:.0f} s"
    )
    return 1 if broken else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.edits")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return asyncio.run(run(options.seed, range(options.first, options.first + options.count)))


if __name__ == "__main__":
    sys.exit(main())
