"""Hooks as processes: whatever they do, they end in bounded time, and nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import psutil
import pytest

from gemini_companion.adapters.hooks.environment import scrubbed
from gemini_companion.adapters.hooks.process import HookProcesses
from gemini_companion.engine.hooks.answers import MAX_OUTPUT_BYTES, HookEnd
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.process


async def run(command: str, cwd: Path, *, stdin: bytes = b"{}", limit: float = PATIENCE, **env: str) -> HookEnd:
    async with asyncio.timeout(PATIENCE):
        return await HookProcesses(os.environ).run(command, cwd=str(cwd), stdin=stdin, env=env, limit_seconds=limit)


def is_running(marker: str) -> bool:
    return any(marker in " ".join(one.info["cmdline"] or ()) for one in psutil.process_iter(["cmdline"]))


async def test_a_hook_reads_its_input_and_its_streams_are_told_apart(tmp_path: Path) -> None:
    end = await run('cat; echo "$X in $(pwd)" >&2; exit 3', tmp_path, stdin=b'{"a": 1}', X="y")
    assert (end.stdout, end.stderr, end.exit_code) == ('{"a": 1}', f"y in {tmp_path}\n", 3)


async def test_a_hook_that_reads_nothing_is_not_held_up_by_a_long_input(tmp_path: Path) -> None:
    end = await run("echo '{}'", tmp_path, stdin=b"x" * 5_000_000)
    assert end.stdout == "{}\n"


@pytest.mark.parametrize(
    "command",
    [
        "trap '' TERM INT HUP; while :; do sleep {marker}; done",
        "(trap '' TERM; setsid sleep {marker}) & sleep {marker}",
        "python3 -c 'import os, time; os.fork() or (os.setsid(), os.fork()); time.sleep({marker})'",
    ],
)
async def test_a_hook_whose_time_is_over_ends_with_all_that_it_started(tmp_path: Path, command: str) -> None:
    marker = f"6{time.time_ns() % 10**8}"
    end = await run(command.replace("{marker}", marker), tmp_path, limit=0.5)
    assert end.timed_out
    assert not is_running(marker)


async def test_what_a_hook_leaves_in_the_background_ends_with_it(tmp_path: Path) -> None:
    marker = f"7{time.time_ns() % 10**8}"
    end = await run(f"sleep {marker} & echo '{{}}'", tmp_path)
    assert (end.stdout, end.exit_code, end.timed_out) == ("{}\n", 0, False)
    assert not is_running(marker)


@pytest.mark.parametrize("command", ["yes", "yes >&2"])
async def test_a_hook_that_floods_is_ended(tmp_path: Path, command: str) -> None:
    end = await run(command, tmp_path)
    assert end.flooded
    assert max(len(end.stdout), len(end.stderr)) == MAX_OUTPUT_BYTES


async def test_a_hook_that_a_signal_ends_has_no_exit_code(tmp_path: Path) -> None:
    assert (await run("kill -9 $$", tmp_path)).exit_code is None


async def test_a_hook_in_a_folder_that_is_gone_could_not_be_started(tmp_path: Path) -> None:
    assert "could not be started" in (await run("true", tmp_path / "gone")).failed


async def test_a_hook_of_a_cancelled_turn_ends(tmp_path: Path) -> None:
    marker = f"8{time.time_ns() % 10**8}"
    running = asyncio.create_task(run(f"echo x > begun; sleep {marker}", tmp_path))
    async with asyncio.timeout(PATIENCE):
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait({running})
    assert running.cancelled()
    assert not is_running(marker)


def test_secrets_never_reach_a_hook() -> None:
    kept = {"PATH": "/bin", "LANG": "C", "SSL_CERT_FILE": "/c", "SLACK_CHANNEL": "#a", "EMPTY": ""}
    secret = {
        "GEMINI_API_KEY": "x",
        "github_token": "x",
        "DB_PASSWORD": "x",
        "SSH_AUTH_SOCK": "x",
        "DATABASE_URL": "postgres://me:hunter2@db/x",
        "PLAIN": "AIzaSyA1234567890",
        "PEM": "-----BEGIN RSA",
        "BASH_ENV": "/tmp/evil",
        "BASH_FUNC_ls%%": "() { :; }",
    }
    assert scrubbed({**kept, **secret}) == kept
