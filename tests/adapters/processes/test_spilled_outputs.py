"""Files of outputs: a process has a folder of its own, and nobody else's goes but those of the dead."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec
import pytest

from gemini_companion.adapters.processes.output import HEAD, TAIL, Output
from gemini_companion.adapters.processes.runner import Runner
from gemini_companion.adapters.processes.spills import UNKNOWN_SECONDS, SpillFolder, sweep_spills
from gemini_companion.tools.ports import SandboxWish
from tests.support.numbered_processes import NumberedProcesses
from tests.support.patience import PATIENCE

NOW = 2_000_000_000.0
LONG = f"head -c {HEAD + TAIL + 100_000} /dev/zero | tr '\\0' x"


def left_by(parent: Path, pid: int, *, age: float = 0) -> Path:
    """What a process left: a folder with the output of a command."""
    folder = SpillFolder(str(parent), NumberedProcesses(pid)).made()
    assert folder is not None
    made = Path(folder)
    (made / "command-1.txt").write_text("compiled", "utf-8")
    for path in (made / "command-1.txt", made / "owner.json", made):
        os.utime(path, (NOW - age, NOW - age))
    return made


def swept(parent: Path) -> int:
    return sweep_spills(str(parent), processes=NumberedProcesses(), now=NOW)


def test_only_what_dead_processes_left_is_swept_however_old_that_of_a_living_one_is(tmp_path: Path) -> None:
    living, dead, unknown = (left_by(tmp_path, pid, age=2 * UNKNOWN_SECONDS * (pid == 1)) for pid in (1, 2, 3))
    assert swept(tmp_path) == 1
    assert (living.exists(), dead.exists(), unknown.exists()) == (True, False, True)


def test_what_cannot_be_told_goes_when_nothing_in_it_has_changed_for_long(tmp_path: Path) -> None:
    old, used = left_by(tmp_path, 3, age=UNKNOWN_SECONDS + 1), left_by(tmp_path, 3, age=UNKNOWN_SECONDS + 1)
    os.utime(used / "command-1.txt", (NOW, NOW))
    earlier = tmp_path / "command-abc.txt"  # as an earlier version left them
    earlier.write_text("compiled", "utf-8")
    os.utime(earlier, (NOW, NOW - UNKNOWN_SECONDS - 1))
    assert swept(tmp_path) == 2
    assert (old.exists(), used.exists(), earlier.exists()) == (False, True, False)


@pytest.mark.parametrize("owner", [b"", b"{", b"[1]", msgspec.json.encode({"machine": 1})])
def test_a_folder_without_a_readable_owner_is_left_alone(tmp_path: Path, owner: bytes) -> None:
    folder = left_by(tmp_path, 2)
    (folder / "owner.json").write_bytes(owner)
    os.utime(folder / "owner.json", (NOW, NOW))
    assert swept(tmp_path) == 0
    assert (folder / "command-1.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = left_by(tmp_path / "elsewhere", 2)
    parent = tmp_path / "commands"
    parent.mkdir()
    (parent / "link").symlink_to(elsewhere)
    assert swept(parent) == 0
    assert (elsewhere / "command-1.txt").exists()


def test_where_there_is_nothing_nothing_is_swept(tmp_path: Path) -> None:
    assert swept(tmp_path / "missing") == 0


def test_an_output_beyond_the_quota_says_at_its_end_how_much_of_it_is_kept(tmp_path: Path) -> None:
    output = Output(str(tmp_path), head=10, tail=20, quota=40)
    for _ in range(10):
        output.add(b"0123456789")
        output.spill(b"0123456789")
    output.add(b"", is_last=True)
    output.close()
    assert output.text().endswith(
        "\n[Of its 100 bytes not all are kept: recall gives its first 40, and this is its end.]\n"
    )
    assert output.spill_path is not None
    assert Path(output.spill_path).stat().st_size == 40
    output.discard()
    assert files(tmp_path) == []


def test_an_output_within_the_quota_says_nothing_of_it(tmp_path: Path) -> None:
    output = Output(str(tmp_path), head=10, tail=20, quota=40)
    output.add(b"0123456789" * 4)
    output.spill(b"0123456789" * 4)
    output.close()
    assert output.text().endswith("0123456789")


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("command-*"))


def runner_of(folder: Path) -> Runner:
    return Runner(dict(os.environ), folder=str(folder / "commands"))


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="runs commands")
async def test_the_file_of_a_cancelled_command_goes_with_it(tmp_path: Path) -> None:
    runner, spilled = runner_of(tmp_path), asyncio.Event()

    def heard(text: str) -> None:
        if files(tmp_path):
            spilled.set()

    line = f"{LONG}; while :; do echo more; done"
    running = await runner.start(
        line,
        cwd=str(tmp_path),
        roots=(str(tmp_path),),
        limit_seconds=None,
        sandbox=SandboxWish(use="off"),
        on_output=heard,
    )
    waiting = asyncio.create_task(running.wait())
    async with asyncio.timeout(PATIENCE):
        await spilled.wait()
        waiting.cancel()
        await asyncio.wait({waiting})
    assert files(tmp_path) == []
    await runner.close()


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="runs commands")
async def test_what_nobody_took_goes_with_the_runner_and_what_others_have_stays(tmp_path: Path) -> None:
    others = left_by(tmp_path / "commands", 1)
    runner = runner_of(tmp_path)
    running = await runner.start(
        LONG,
        cwd=str(tmp_path),
        roots=(str(tmp_path),),
        limit_seconds=None,
        sandbox=SandboxWish(use="off"),
        on_output=lambda text: None,
    )
    end = await asyncio.wait_for(running.wait(), PATIENCE)
    assert end.spill_path is not None
    assert Path(end.spill_path).stat().st_size == end.total_bytes
    await runner.close()
    assert files(tmp_path) == [others / "command-1.txt"]
