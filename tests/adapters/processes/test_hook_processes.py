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
from gemini_companion.engine.hooks.answers import MAX_OUTPUT_BYTES, HookEnd, answer_of
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
    assert max(len(end.stdout), len(end.stderr)) <= MAX_OUTPUT_BYTES


@pytest.mark.parametrize("stream", [1, 2])
async def test_of_a_long_output_the_end_is_kept_and_the_other_stream_loses_nothing(tmp_path: Path, stream: int) -> None:
    other = 3 - stream
    end = await run(f"yes | head -c 9000000 >&{stream}; echo last >&{stream}; echo whole >&{other}", tmp_path)
    kept = (end.stdout, end.stderr)
    assert (kept[other - 1], end.exit_code, end.flooded, end.is_cut) == ("whole\n", 0, False, stream == 1)
    assert kept[stream - 1].endswith("y\nlast\n")
    assert len(kept[stream - 1]) <= MAX_OUTPUT_BYTES


async def test_a_long_output_of_wide_signs_is_read_by_the_mark_that_it_began_with(tmp_path: Path) -> None:
    program = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe' + ('é' * 3_000_000 + ' end').encode('utf-16-le'))"
    end = await run(f'python3 -c "{program}"', tmp_path)
    assert end.is_cut
    assert end.stdout.endswith("éé end")
    assert set(end.stdout) == set("é end")


async def test_what_is_written_behind_the_answer_by_what_the_hook_left_costs_the_answer_nothing(tmp_path: Path) -> None:
    deny = '{"decision": "deny", "reason": "no"}'
    end = await run(f"(sleep 0.05; echo late; sleep 9) & exec 0<&-; echo '{deny}'; sleep 0.1", tmp_path)
    assert answer_of(end).output == {"decision": "deny", "reason": "no"}


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


KEPT = {"PATH": "/bin", "LANG": "C", "SSL_CERT_FILE": "/c", "SLACK_CHANNEL": "#a", "EMPTY": "", "OLDPWD": "/x"}


@pytest.mark.parametrize(
    "name",
    [
        *("GEMINI_API_KEY", "github_token", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "DB_PASS", "GPG_PASSPHRASE"),
        *("SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "CLIENT_CERT", "MyPrivateThing"),
        *("BASH_ENV", "ENV", "BASH_FUNC_ls%%", "SESSION_COOKIE"),
    ],
)
def test_what_is_a_secret_by_its_name_never_reaches_a_hook(name: str) -> None:
    assert scrubbed({**KEPT, name: "x"}) == KEPT


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789"
FIRST_AND_REST = {
    "Google key": ("AI", "zaSyA1234567890"),
    "Google token": ("ya", "29." + LETTERS),
    "GitHub": ("gh", "p_" + LETTERS[:36]),
    "GitHub, new": ("github", "_pat_" + LETTERS[:30]),
    "GitLab": ("gl", "pat-" + LETTERS[:20]),
    "Slack": ("xo", "xb-1234567890-" + LETTERS[:20]),
    "Stripe": ("sk", "_live_" + LETTERS[:24]),
    "OpenAI": ("s", "k-" + LETTERS[:40]),
    "npm": ("np", "m_" + LETTERS[:36]),
    "PyPI": ("py", "pi-" + LETTERS + LETTERS),
    "Hugging Face": ("h", "f_" + LETTERS[:34]),
    "AWS": ("AK", "IAIOSFODNN7EXAMPLE"),
    "JWT": ("ey", f"J{LETTERS[:12]}.eyJ{LETTERS[:12]}.{LETTERS[:12]}"),
    "PEM": ("-----BE", "GIN RSA"),
    "URL": ("postgres://me:hun", "ter2@db/x"),
    "header": ("Authorization: Bea", "rer " + LETTERS[::-1]),
}
"""In two halves: no key stands in the file, so that no scanner finds one."""


@pytest.mark.parametrize("kind", FIRST_AND_REST)
def test_what_is_a_secret_by_its_look_never_reaches_a_hook(kind: str) -> None:
    assert scrubbed({**KEPT, "PLAIN": "".join(FIRST_AND_REST[kind])}) == KEPT


def test_what_has_a_secret_of_another_variable_in_it_never_reaches_a_hook() -> None:
    secret = {"DEPLOY_TOKEN": "correct horse", "COMPANION_ARGS": "--with 'correct horse' --fast", "CERT_PATH": "/etc/x"}
    assert scrubbed({**KEPT, **secret, "CONFIG": "/etc/x/config"}) == {**KEPT, "CONFIG": "/etc/x/config"}
