"""Folders of sockets: private, and gone with the daemon or with the next one."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from gemini_companion.adapters.local.folder import SocketFolder, remove_abandoned
from gemini_companion.adapters.local.process import signal_name
from tests.adapters.local.desk import Desk, ask, collect
from tests.support.patience import PATIENCE
from tests.support.processes import is_running, until_gone

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such locks")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def abandoned(scratch: Path, name: str = "gemini-companion-gone") -> Path:
    folder = scratch / name
    folder.mkdir()
    (folder / "owner").touch()
    (folder / "model.sock").touch()
    return folder


def test_a_folder_is_private_and_stays_while_its_daemon_lives(scratch: Path) -> None:
    folder = SocketFolder()
    assert os.stat(folder.path).st_mode & 0o077 == 0
    assert remove_abandoned() == 0
    assert os.path.isdir(folder.path)
    folder.remove()
    assert list(scratch.iterdir()) == []


def test_what_a_killed_daemon_left_is_removed(scratch: Path) -> None:
    abandoned(scratch)
    assert remove_abandoned() == 1
    assert list(scratch.iterdir()) == []


def test_nothing_else_is_removed(scratch: Path, tmp_path: Path) -> None:
    more = abandoned(scratch, "gemini-companion-with-more")
    (more / "notes.txt").touch()
    abandoned(scratch, "another-program")
    (scratch / "gemini-companion-made-now").mkdir()
    (scratch / "gemini-companion-file").touch()
    os.symlink(abandoned(tmp_path, "elsewhere"), scratch / "gemini-companion-link")
    os.mkfifo(abandoned(scratch, "gemini-companion-pipe") / "pipe")
    before = sorted(scratch.rglob("*"))
    assert remove_abandoned() == 0
    assert sorted(scratch.rglob("*")) == before
    assert (tmp_path / "elsewhere" / "owner").exists()


DAEMON = """
import asyncio, os, sys
from gemini_companion.adapters.local.file import LocalFile, LocalOptions
from gemini_companion.adapters.local.process import start_worker

async def main():
    worker = await start_worker(LocalFile(lambda: LocalOptions(sys.argv[1])).model(), dict(os.environ))
    print(worker.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the process ends with its input")
async def test_a_killed_daemon_leaves_no_process_and_the_next_one_removes_its_folder(
    desk: Desk, tiny: Path, scratch: Path
) -> None:
    pytest.importorskip("xllamacpp")
    daemon = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        DAEMON,
        str(tiny),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert daemon.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            pid = int(await daemon.stdout.readline())
        assert is_running(pid)
        assert remove_abandoned() == 0
        os.kill(pid, signal.SIGSTOP)  # or it may see its input end in time to remove the folder itself
    finally:
        daemon.kill()
        await daemon.wait()
    await until_gone(pid)
    (folder,) = scratch.iterdir()  # the case that is tried
    await collect(desk.provider(tiny), ask())
    assert not folder.exists()


@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (40, "signal 40"), (999, "signal 999")])
def test_every_signal_has_a_name_for_people(number: int, name: str) -> None:
    assert signal_name(number) == name
