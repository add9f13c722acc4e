from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from gemini_companion.adapters.processes.runner import Runner
from gemini_companion.adapters.processes.running import ReapedCommand
from gemini_companion.tools.ports import CommandEnd, SandboxWish
from gemini_companion.tools.tool import ToolRefusal
from tests.support.patience import PATIENCE, until_in
from tests.support.processes import is_running

pytestmark = [pytest.mark.process, pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc")]
OFF = SandboxWish(use="off")


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "work").mkdir()
        environment = {**os.environ, "GEMINI_API_KEY": "secret-1", "GOOGLE_TOKEN": "secret-2", "HOME": str(folder)}
        self.runner = Runner(environment, folder=str(folder / "outputs"))
        self.heard: list[str] = []

    async def start(
        self, line: str, *, limit: float | None = None, silence: float | None = None, cwd: str | None = None
    ) -> ReapedCommand:
        work = str(self.folder / "work")
        return await self.runner.start(
            line,
            cwd=cwd or work,
            roots=(work,),
            limit_seconds=limit,
            silence_seconds=silence,
            sandbox=OFF,
            on_output=self.heard.append,
        )

    async def run(self, line: str, *, limit: float | None = None, silence: float | None = None) -> CommandEnd:
        return await asyncio.wait_for((await self.start(line, limit=limit, silence=silence)).wait(), PATIENCE)

    async def until_heard(self, text: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while text not in "".join(self.heard):
                await asyncio.sleep(0.01)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    await bench.runner.close()


def is_below(pid: int, above: int) -> bool:
    with suppress(OSError, ValueError):
        while pid > 1:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if pid == above:
                return True
    return False


def pids_in(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"pid=([0-9]+)", text)]


async def test_both_streams_come_in_their_order_with_the_exit_code(bench: Bench) -> None:
    end = await bench.run("echo one; echo two >&2; echo three; exit 7")
    assert (end.output, end.exit_code, end.signal) == ("one\ntwo\nthree\n", 7, "")
    assert "".join(bench.heard) == end.output
    assert end.survivors == ()
    assert not end.timed_out


async def test_a_command_that_reads_finds_the_end_at_once(bench: Bench) -> None:
    end = await bench.run("cat; read x; echo $?; tty; : < /dev/tty")
    assert "1\n" in end.output
    assert "not a tty" in end.output


async def test_a_command_gets_no_key_and_no_pager(bench: Bench) -> None:
    end = await bench.run("env")
    assert "secret" not in end.output
    assert {"TERM=dumb", "PAGER=cat", "GIT_TERMINAL_PROMPT=0"} <= set(end.output.splitlines())
    assert not any(line.startswith("CI=") for line in end.output.splitlines())


async def test_a_signal_is_named(bench: Bench) -> None:
    end = await bench.run("kill -SEGV $$")
    assert (end.exit_code, end.signal) == (None, "SIGSEGV")


async def test_a_pipe_that_closes_early_ends_its_writer(bench: Bench) -> None:
    end = await bench.run("yes | head -n 2")
    assert (end.output, end.exit_code) == ("y\ny\n", 0)


async def test_what_holds_the_pipe_after_the_shells_end_is_ended(bench: Bench) -> None:
    end = await bench.run("sleep 1000 & echo pid=$!")
    assert end.exit_code == 0
    (pid,) = pids_in(end.output)
    assert not is_running(pid)


async def test_what_ends_soon_after_the_shell_is_heard(bench: Bench) -> None:
    end = await bench.run("(sleep 0.02; echo late) & echo first")
    assert end.output == "first\nlate\n"


SHAPES = {
    "child": "sleep 1000 & echo pid=$!; wait",
    "own session": "setsid sh -c 'echo pid=$$; exec sleep 1000' & wait",
    "no environment": "env -i setsid sh -c 'echo pid=$$; exec sleep 1000' & wait",
    "double fork": "(setsid sh -c '(echo pid=$$; exec sleep 1000) & echo pid=$!' &) ; exec sleep 1000",
    "deaf": "(trap '' TERM HUP INT; echo pid=$BASHPID; while :; do sleep 1000; done) & wait",
    "stopped": "sleep 1000 & echo pid=$!; kill -STOP $!; wait",
    "stopped and deaf in a session of its own": (
        "setsid sh -c 'trap \"\" TERM HUP INT; echo pid=$$; kill -STOP $$; while :; do sleep 1000; done' & wait"
    ),
    "stopped itself": "echo pid=$$; kill -STOP $$; sleep 1000",
    "a daemon that is deaf": (
        "(setsid sh -c 'trap \"\" TERM HUP; (echo pid=$$; while :; do sleep 1000; done) >&2 & echo pid=$!' &); sleep 1000"
    ),
    "deaf itself": "trap '' TERM; echo pid=$$; while :; do sleep 1000; done",
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_stopping_ends_everything_that_was_started(bench: Bench, shape: str) -> None:
    running = await bench.start(SHAPES[shape])
    await bench.until_heard("pid=")
    end = await asyncio.wait_for(running.stop(), PATIENCE)
    pids = pids_in("".join(bench.heard))
    assert pids
    assert not [pid for pid in (*pids, running.pid) if is_running(pid)]
    assert end.survivors == ()
    assert end.exit_code is None or end.exit_code > 0


async def test_stopping_ends_five_hundred_children(bench: Bench) -> None:
    running = await bench.start("for i in {1..500}; do sleep 1000 & done; echo pid=$$ begun; wait")
    await bench.until_heard("begun")
    before = [path for path in Path("/proc").glob("[0-9]*") if is_below(int(path.name), running.pid)]
    assert len(before) >= 500
    end = await asyncio.wait_for(running.stop(), PATIENCE)
    assert end.survivors == ()
    assert not [path for path in before if is_running(int(path.name))]


async def test_a_command_that_closes_its_output_is_waited_for(bench: Bench) -> None:
    end = await bench.run("echo before; exec >&- 2>&-; sleep 0.3; echo x > made; exit 5")
    assert (end.output, end.exit_code) == ("before\n", 5)
    assert (bench.folder / "work" / "made").exists()


async def test_a_command_that_closed_its_output_can_be_stopped(bench: Bench) -> None:
    running = await bench.start("echo pid=$$; exec >&- 2>&-; while :; do sleep 1000; done")
    await bench.until_heard("pid=")
    await asyncio.wait_for(running.stop(), PATIENCE)
    assert not is_running(pids_in("".join(bench.heard))[0])


async def test_what_is_no_text_is_shown_as_such(bench: Bench) -> None:
    end = await bench.run("printf 'a\\0b\\377c\\n\\303'; printf '\\251 \\033[31mred\\033[0m\\n'")
    assert end.output == "a\\x00b\\xffc\n\u00e9 red\n"
    assert "".join(bench.heard) == end.output


async def test_of_a_progress_bar_the_last_state_is_kept(bench: Bench) -> None:
    end = await bench.run("for i in {1..200}; do printf '%d%%\\r' $i; done; echo; echo done")
    assert end.output == "200%\ndone\n"


async def test_a_single_line_of_a_hundred_megabytes_is_held_by_its_ends(bench: Bench) -> None:
    end = await bench.run("printf first; head -c 100000000 /dev/zero | tr '\\0' x; printf last")
    assert end.total_bytes == 100_000_009
    assert end.output.startswith("firstxxx")
    assert "xxxlast\n[Of its 100,000,009 bytes" in end.output[-200:]
    assert len(end.output) < 400_000


async def test_a_daemon_of_the_command_does_not_outlive_it(bench: Bench) -> None:
    end = await bench.run("setsid sh -c '(echo pid=$$; exec sleep 1000) & echo pid=$!' & wait; true")
    assert not [pid for pid in pids_in(end.output) if is_running(pid)]


async def test_a_bound_on_silence_ends_a_command(bench: Bench) -> None:
    end = await bench.run("echo before; sleep 1000", silence=0.5)
    assert end.timed_out
    assert end.output == "before\n"


async def test_output_breaks_the_silence(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, ahead = asyncio.get_running_loop(), 0.0
    real = loop.time
    monkeypatch.setattr(loop, "time", lambda: real() + ahead)
    running = await bench.start(
        "for i in 1 2 3; do until [ -e $i ]; do sleep 0.05; done; echo said $i; done", silence=PATIENCE
    )
    for number in range(1, 4):
        (bench.folder / "work" / str(number)).touch()
        await bench.until_heard(f"said {number}\n")
        ahead += 0.7 * PATIENCE  # no silence is too long, and all of them together are
    end = await asyncio.wait_for(running.wait(), PATIENCE)
    assert not end.timed_out
    assert end.output.count("said") == 3


async def test_output_does_not_put_off_the_limit(bench: Bench) -> None:
    end = await bench.run("while :; do echo x; done", limit=0.5, silence=PATIENCE)
    assert end.timed_out


async def test_cancelling_the_wait_stops_the_command(bench: Bench) -> None:
    running = await bench.start("echo pid=$$; exec sleep 1000")
    await bench.until_heard("pid=")
    waiting = asyncio.create_task(running.wait())
    await until_in(running.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, PATIENCE)
    assert not is_running(pids_in("".join(bench.heard))[0])


async def test_a_flood_is_held_by_its_head_and_tail_and_spilled_within_a_quota(bench: Bench) -> None:
    end = await bench.run("echo first; head -c 100000000 /dev/zero; echo; echo last")
    assert end.total_bytes == 100_000_000 + 12
    assert end.output.startswith("first\n")
    assert "\nlast\n\n[Of its 100,000,012 bytes" in end.output[-200:]
    assert len(end.output) < 400_000
    assert end.spill_path is not None
    spilled = os.stat(end.spill_path)
    assert (spilled.st_size, spilled.st_mode & 0o777) == (64_000_000, 0o600)


async def test_endless_output_can_be_stopped(bench: Bench) -> None:
    running = await bench.start("yes")
    await bench.until_heard("y\n")
    end = await asyncio.wait_for(running.stop(), PATIENCE)
    assert end.total_bytes > 0
    assert not is_running(running.pid)


async def test_a_folder_that_is_gone_is_refused(bench: Bench) -> None:
    with pytest.raises(ToolRefusal, match="no folder"):
        await bench.start("true", cwd=str(bench.folder / "nowhere"))


async def test_a_folder_that_goes_meanwhile_harms_nothing(bench: Bench) -> None:
    end = await bench.run("rmdir $PWD; pwd -P; echo still here")
    assert end.output.endswith("still here\n")


async def test_nothing_is_left_of_a_command_when_its_daemon_is_gone(bench: Bench) -> None:
    running = await bench.start("echo pid=$$; exec sleep 1000")
    await bench.until_heard("pid=")
    (pid,) = pids_in("".join(bench.heard))
    os.kill(running.pid, signal.SIGTERM)  # the reaper hears the same when its input ends
    await asyncio.wait_for(running.wait(), PATIENCE)
    assert not is_running(pid)


async def test_no_zombie_is_left(bench: Bench) -> None:
    for _ in range(3):
        await bench.run("(true &) ; true")
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    states = [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] for child in children]
    assert "Z" not in states


async def test_programs_are_found_where_commands_find_them(bench: Bench) -> None:
    assert bench.runner.find_program("sh") == os.path.realpath(str(shutil.which("sh")))
    assert bench.runner.find_program("no-such-program") is None


@pytest.mark.parametrize(
    "line",
    [
        "echo pid=$$; sleep 1000 & echo pid=$!; kill -9 $PPID; while :; do sleep 1000; done",
        "setsid sh -c 'echo pid=$$; while :; do sleep 1000; done' & echo pid=$!; sleep 0.3; kill -9 $PPID; sleep 1000",
        "env -i sh -c 'echo pid=$$; while :; do sleep 1000; done' & sleep 0.3; kill -9 $PPID; sleep 1000",
    ],
)
async def test_a_command_that_ends_its_reaper_is_ended_and_its_end_is_said_to_be_unknown(
    bench: Bench, line: str
) -> None:
    end = await bench.run(line)
    pids = pids_in(end.output)
    assert pids
    assert not [pid for pid in pids if is_running(pid)]
    assert (end.is_lost, end.exit_code, end.signal, end.survivors) == (True, None, "", ())


async def test_a_reaper_that_was_stopped_does_not_keep_a_command_from_being_stopped(bench: Bench) -> None:
    running = await bench.start("kill -STOP $PPID; echo pid=$$; while :; do sleep 1000; done")
    await bench.until_heard("pid=")
    end = await asyncio.wait_for(running.stop(), PATIENCE)
    assert end.is_lost
    assert not is_running(pids_in("".join(bench.heard))[0])
