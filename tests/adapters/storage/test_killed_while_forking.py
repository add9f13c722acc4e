"""A process that is killed while it forks and deletes leaves every chat whole or not there, and no row of nobody's."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.adapters.storage.forked_chats import log_of
from tests.adapters.storage.stores import MakeStore, execute
from tests.support.patience import PATIENCE
from tests.support.processes import running

CHILD = """
import asyncio
import itertools
import random
import sys
from gemini_companion.adapters.storage import open_store
from gemini_companion.sessions.shared_entries import ranges_of
from tests.adapters.storage.forked_chats import talk
from tests.adapters.storage.stores import ManualClock, meta

async def main(data_dir, seed):
    store, dice, chats = open_store(data_dir, "default", clock=ManualClock()), random.Random(seed), {}
    for number in itertools.count():
        name = f"{seed}-{number}"
        if len(chats) > 6:
            gone = dice.choice(list(chats))
            print("deleting", gone, flush=True)
            await store.delete(gone)
            del chats[gone]
            print("deleted", gone, flush=True)
        parent = dice.choice([None, *chats])
        shared = chats[parent][: dice.randint(1, len(chats[parent]))] if parent else []
        own = talk(*(f"{name} {one}" for one in range(dice.randint(1, 20))), first=len(shared) + 1)
        print("making", name, len(shared) + len(own), flush=True)
        await store.create(meta(name, parent=parent), own, ranges_of(shared))
        chats[name] = [*shared, *own]
        print("made", name, len(chats[name]), flush=True)
"""


def child(data_dir: Path, seed: int) -> AbstractContextManager[subprocess.Popen[str]]:
    program = f"{CHILD}\nasyncio.run(main({str(data_dir)!r}, {seed}))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return running([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment)


@pytest.mark.process
async def test_a_kill_leaves_forks_whole_and_no_row_of_nobodys(tmp_path: Path, make_store: MakeStore) -> None:
    dice = random.Random(7)
    there: dict[str, int] = {}
    doubtful: dict[str, int] = {}
    for seed in range(3):
        with child(tmp_path, seed) as process:
            assert process.stdout is not None
            for line_number in range(10**6):
                line = process.stdout.readline()
                if line_number == dice.randrange(60, 120) or line_number > 120:
                    process.send_signal(signal.SIGKILL)
                if not line.endswith("\n"):
                    break
                what, name, *length = line.split()
                match what:
                    case "making":
                        doubtful[name] = int(length[0])
                    case "made":
                        there[name] = doubtful.pop(name)
                    case "deleting":
                        doubtful[name] = there.pop(name)
                    case _:
                        doubtful.pop(name)
        async with asyncio.timeout(PATIENCE):
            store = make_store()
            found = {one.session_id for one in (await store.list(limit=500)).sessions}
            assert set(there) <= found <= set(there) | set(doubtful)
            for name in found:
                length = there.get(name) or doubtful[name]
                assert len(await log_of(store, name)) == length, name
            shares = await execute(store, "SELECT session_id, owner, first, last FROM shares")
            assert {one[0] for one in shares} <= found
            kept = {(owner, seq) for _, owner, first, last in shares for seq in range(first, last + 1)}
            rows = await execute(store, "SELECT session_id, seq FROM log")
            assert all(owner in found or (owner, seq) in kept for owner, seq in rows)
            there = {name: there.get(name) or doubtful[name] for name in found}
            doubtful.clear()
            await store.close()
