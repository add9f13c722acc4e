"""The steps in which a connection's modules are loaded: none is long, and little is left behind the last one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parents[2] / "server"
MOST_A_STEP = 40
"""Modules that one may bring along; a module takes a third of a millisecond."""
MOST_BEHIND = 30
TELLS_ITS_STEPS = """import asyncio, json, os, sys
from gemini_companion.wiring.daemon import Daemon
from gemini_companion.wiring.loading_order import STEPS, load_in_steps

async def main():
    dispatcher = Daemon({"HOME": sys.argv[1], "COMPANION_DATA_DIR": sys.argv[1]}).create_dispatcher()
    counts, before = [], len(sys.modules)
    for _ in load_in_steps():
        counts.append(len(sys.modules) - before)
        before = len(sys.modules)
    dispatcher.receive(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}')
    dispatcher.receive(b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}')
    print(json.dumps([dict(zip(STEPS, counts)), len(sys.modules) - before]))
    await dispatcher.close()

asyncio.run(main())
"""


@pytest.mark.process
def test_no_step_is_long_and_what_is_left_for_binding_is_little(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", TELLS_ITS_STEPS, str(tmp_path)],
        env={"PYTHONPATH": str(SERVER)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    steps, behind = json.loads(told)
    assert {name: count for name, count in steps.items() if not 0 < count <= MOST_A_STEP} == {}
    assert behind <= MOST_BEHIND
