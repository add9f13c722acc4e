"""A daemon that is killed while a change is recorded leaves a file that is old or new, and a record that says which."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.history.change_record import ChangeRecord
from gemini_companion.sessions.tools import changes_reverted
from tests.support.changes_desk import ChangesDesk
from tests.support.patience import PATIENCE
from tests.support.processes import running
from tests.support.reverting import listed, revert
from tests.support.sessions import ManualClock

CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from gemini_companion.adapters.files.disk import DiskFiles
from gemini_companion.adapters.storage.store import open_store
from gemini_companion.adapters.storage.version_store import SqliteVersions
from gemini_companion.sessions.session import Session
from tests.support.changes_desk import ChangesDesk
from tests.support.sessions import ManualClock

def killed_around(kind, name, count, *, after):
    method = getattr(kind, name)
    calls = 0
    async def stand_in(self, *args, **more):
        nonlocal calls
        calls += 1
        if calls == count and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = await method(self, *args, **more)
        if calls == count and after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(kind, name, stand_in)

async def main(folder, kind, name, count, after):
    store = open_store(folder / "data", "default", clock=ManualClock())
    desk = ChangesDesk(folder, store=store)
    desk.put("a.txt", "old\\n")
    await desk.write("a.txt", "new\\n")
    killed_around({"versions": SqliteVersions, "files": DiskFiles}[kind], name, count, after=after)
    await desk.write("a.txt", "newer\\n")

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5] == "after"))
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("kind", "name", "count", "when", "content"),
    [
        ("versions", "save", 1, "before", "new\n"),
        ("versions", "save", 1, "after", "new\n"),
        ("files", "write", 1, "before", "new\n"),
        ("files", "write", 1, "after", "newer\n"),
        ("versions", "save", 2, "before", "newer\n"),
        ("versions", "save", 2, "after", "newer\n"),
    ],
)
async def test_a_kill_at_any_step_leaves_what_can_be_taken_back(
    tmp_path: Path, kind: str, name: str, count: int, when: str, content: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    program = [sys.executable, "-c", CHILD, str(tmp_path), kind, name, str(count), when]
    with running(program, stderr=subprocess.PIPE, env=environment) as process:
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == -9, errors
    path = tmp_path / "workspace" / "a.txt"
    assert path.read_text() == content

    store = open_store(tmp_path / "data", "default", clock=ManualClock())
    desk = ChangesDesk(tmp_path, store=store)
    (info,) = (await store.list()).sessions
    _, entries = await store.load(info.session_id)
    assert len(ChangeRecord(entries).open) == (0 if (kind, count) == ("versions", 1) else 1)
    await desk.studio.app.open_session(desk.studio.client, info.session_id, take_over=True)
    result = await revert(desk)
    assert result.conflicts == ()
    assert path.read_text() == ("new\n" if content == "newer\n" else "old\n")
    states = {change.state for change in (await listed(desk)).changes}
    assert states == ({"made", "reverted"} if content == "newer\n" else {"reverted"})
    await desk.studio.app.close()


IN_A_COMMAND = """
import asyncio, os, signal, sys
from pathlib import Path
from gemini_companion.adapters.storage.store import open_store
from tests.support.changes_desk import ChangesDesk
from tests.support.sessions import ManualClock

async def main(folder):
    desk = ChangesDesk(folder, store=open_store(folder / "data", "default", clock=ManualClock()))
    desk.put("b.txt", "old\\n")
    await desk.write("a.txt", "known\\n")
    def command():
        desk.put("a.txt", "half\\n")
        desk.put("b.txt", "half done\\n")
        desk.put("made/c.txt", "new\\n")
        os.kill(os.getpid(), signal.SIGKILL)
    await desk.run(command)

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.process
async def test_what_a_command_changed_before_its_daemon_was_killed_is_noticed_by_the_next_one(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with running([sys.executable, "-c", IN_A_COMMAND, str(tmp_path)], stderr=subprocess.PIPE, env=environment) as child:
        _, errors = child.communicate(timeout=PATIENCE)
        assert child.returncode == -9, errors
    store = open_store(tmp_path / "data", "default", clock=ManualClock())
    desk = ChangesDesk(tmp_path, store=store)
    (info,) = (await store.list()).sessions
    await desk.studio.app.open_session(desk.studio.client, info.session_id, take_over=True)
    await changes_reverted.settle_left(await desk.session(), desk.studio.client, desk.studio.app.tooling)
    found = await listed(desk)
    by_command = {Path(change.path).name: change for change in found.changes if change.by_command}
    assert {name: change.can_revert for name, change in by_command.items()} == {
        "a.txt": True,  # a call had written it, so its bytes are kept
        "b.txt": False,
        "c.txt": True,
    }
    assert "cut short" in found.note
    result = await revert(desk, turn_id=by_command["b.txt"].turn_id)
    assert [Path(conflict.path).name for conflict in result.conflicts] == ["b.txt"]
    assert (desk.path("a.txt").read_text(), desk.path("b.txt").read_text()) == ("known\n", "half done\n")
    assert not desk.path("made").exists()
    await desk.studio.app.close()
