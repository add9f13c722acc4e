"""A long session that comes from elsewhere is there whole, with its secrets and all that finds it, or not at all."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from gemini_companion.adapters.storage import open_store
from gemini_companion.adapters.vault.vault import Vault
from gemini_companion.engine.history.log import PromptEntry
from tests.adapters.storage.stores import execute
from tests.support.patience import PATIENCE
from tests.support.processes import running
from tests.support.sessions import ManualClock

MANY = 250
"""Entries, more than are indexed as they are written."""
SECRET = "ghp_" + "Zx9Kq2LmT7vBn4RwYc8Hd3Jf6Gs1Pa5Ue0Xi"

CHILD = """
import asyncio, sys
from gemini_companion.adapters.storage import open_store
from gemini_companion.adapters.vault.vault import Vault
from tests.adapters.storage.stores import meta, prompt
from tests.support.sessions import ManualClock

async def main(data_dir, begun, many, secret):
    store = open_store(data_dir, "default", clock=ManualClock(), vault=Vault(data_dir, keyring=lambda: None))
    number = begun
    while True:
        number += 1
        print("begun", number, flush=True)
        await store.create(meta(f"s{number}"), [prompt(seq, f"turtle {seq} {secret}") for seq in range(1, many + 1)])
        print("there", number, flush=True)
"""


@pytest.mark.slow
@pytest.mark.process
async def test_an_import_is_there_whole_or_not_at_all_whenever_it_is_killed(tmp_path: Path) -> None:
    chance = random.Random(4)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    acknowledged: set[str] = set()
    begun = 0
    for _ in range(3):
        program = f"{CHILD}\nasyncio.run(main({str(tmp_path)!r}, {begun}, {MANY}, {SECRET!r}))"
        with running([sys.executable, "-c", program], stdout=-1, env=environment) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(chance.randrange(2, 8))]
            process.send_signal(signal.SIGKILL)
            for said, number in map(str.split, (*lines, *process.stdout)):
                begun = int(number)
                acknowledged |= {f"s{number}"} if said == "there" else set()
        async with asyncio.timeout(PATIENCE):
            store = open_store(tmp_path, "default", clock=ManualClock(), vault=Vault(tmp_path, keyring=lambda: None))
            there = {one.session_id for one in (await store.list(limit=500)).sessions}
            assert acknowledged <= there
            for session_id in there:
                _, entries = await store.load(session_id)
                texts = [entry.own_parts[0]["text"] for entry in entries if isinstance(entry, PromptEntry)]
                assert texts == [f"turtle {seq} {SECRET}" for seq in range(1, MANY + 1)]
            await store.recall.index()
            found = await store.list(query="turtle", limit=500)
            assert ({one.session_id for one in found.sessions}, found.unindexed) == (there, 0)
            assert await execute(store, "PRAGMA integrity_check") == [("ok",)]
            await store.close()
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
