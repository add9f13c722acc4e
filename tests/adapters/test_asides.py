"""What a daemon that is killed had written aside goes with the next start, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gemini_companion.adapters.asides import UNKNOWN_SECONDS, Asides, sweep_asides
from gemini_companion.settings.reading import aside_name
from tests.support.numbered_processes import NumberedProcesses
from tests.support.patience import PATIENCE

NOW = 2_000_000_000.0
WRITES = """
import asyncio, os, signal, sys
from gemini_companion.adapters.asides import Asides
from gemini_companion.adapters.files.disk import DiskFiles
from gemini_companion.adapters.workspace import DiskWorkspace

async def main(root, notes):
    files = DiskFiles(DiskWorkspace(), asides=Asides(notes))
    place = await files.place("a.txt", [root])
    seen = await files.read(place, limit=100)
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
    await files.write(place, b"new", expected=seen.digest)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "data" / "asides"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def left_by(notes: Path, root: Path, pid: int, name: str = "", *, age: float = 0) -> Path:
    """A file that a process was writing when it ended, and noted."""
    name = name or aside_name()
    with Asides(str(notes), NumberedProcesses(pid)).noted(str(root), name):
        (note,) = notes.glob(f"{name.strip('.')}.json")
        data = note.read_bytes()
    note.write_bytes(data)
    os.utime(note, (NOW - age, NOW - age))
    (root / name).write_text("half of it", "utf-8")
    return root / name


def swept(notes: Path) -> int:
    return sweep_asides(str(notes), processes=NumberedProcesses(), now=NOW)


IS_KILLED = "import os, signal; os.replace = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)"
OTHERS = {
    "a rule in the settings": """
from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.settings.own_file import OwnSettings
OwnSettings(Path(root, "settings.json"), noted).add(ToolRule(tool="read_file", decision="allow"))
""",
    "a copy of the system prompt": """
from gemini_companion.settings.system_prompt import write_system_prompt
env = {"GEMINI_WRITE_SYSTEM_MD": root + "/system.md"}
write_system_prompt(lambda: "x", env, home=Path(root), workspace_folders=[], trusted=False, aside=noted)
""",
    "a file that a command writes": """
os.environ["COMPANION_DATA_DIR"] = os.path.dirname(notes)
os.mkdir(os.path.dirname(notes))
from gemini_companion.cli.files import write_whole
write_whole(root + "/out.json", b"x")
""",
    "a fact in a memory file": """
import asyncio
from gemini_companion.adapters.memory.files import DiskMemoryFiles
from gemini_companion.sessions.memory.port import MemoryWish
async def keep():
    files = DiskMemoryFiles(Path(root), Asides(notes))
    wish = MemoryWish(names=("GEMINI.md",), form="tree", folders=(root,), trusted=True, max_dirs=9)
    await files.write(await files.edit("Use tabs.", "project", wish))
os.link = os.rename = os.replace
asyncio.run(keep())
""",
}


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="no process is killed there")
@pytest.mark.parametrize("writes", OTHERS)
def test_what_others_were_writing_beside_a_persons_files_is_taken_away(notes: Path, root: Path, writes: str) -> None:
    script = f"""{IS_KILLED}
import sys
from pathlib import Path
from gemini_companion.adapters.asides import Asides
root, notes = sys.argv[1:]
noted = Asides(notes).in_folder
{OTHERS[writes]}"""
    ended = subprocess.run([sys.executable, "-c", script, str(root), str(notes)], timeout=PATIENCE, check=False)
    assert ended.returncode == -9
    assert len(list(root.iterdir())) == 1
    assert sweep_asides(str(notes)) == 1
    assert list(root.iterdir()) == list(notes.iterdir()) == []


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="no process is killed there")
def test_what_a_killed_process_was_writing_is_taken_away(notes: Path, root: Path) -> None:
    (root / "a.txt").write_text("old", "utf-8")
    ended = subprocess.run([sys.executable, "-c", WRITES, str(root), str(notes)], timeout=PATIENCE, check=False)
    assert ended.returncode == -9
    assert len(list(root.iterdir())) == 2
    assert sweep_asides(str(notes)) == 1
    assert [(path.name, path.read_text("utf-8")) for path in root.iterdir()] == [("a.txt", "old")]
    assert list(notes.iterdir()) == []


def test_what_a_living_or_an_unknown_process_writes_stays(notes: Path, root: Path) -> None:
    living, unknown = left_by(notes, root, 1, age=2 * UNKNOWN_SECONDS), left_by(notes, root, 3)
    old = left_by(notes, root, 4, age=2 * UNKNOWN_SECONDS)
    assert swept(notes) == 0
    assert all(path.exists() for path in (living, unknown, old))
    assert len(list(notes.iterdir())) == 2, "nobody comes back for the third"


def test_a_note_leads_to_no_file_that_is_not_one_written_aside(notes: Path, root: Path) -> None:
    named = left_by(notes, root, 2, ".env.gemini-companion")
    linked, folder = left_by(notes, root, 2), left_by(notes, root, 2)
    linked.unlink()
    linked.symlink_to(named)
    folder.unlink()
    folder.mkdir()
    left_by(notes, root, 2).unlink()
    (notes / "garbage.json").write_text("{", "utf-8")
    (notes / "else.json").write_bytes(
        msgspec.json.encode({"owner": NumberedProcesses(2).me(), "folder": "..", "name": "x"})
    )
    assert swept(notes) == 0
    assert named.exists()
    assert linked.is_symlink()
    assert folder.is_dir()


def test_a_note_that_cannot_be_kept_costs_no_write(tmp_path: Path, root: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with Asides(str(tmp_path / "file" / "asides")).noted(str(root), aside_name()):
        assert sweep_asides(str(tmp_path / "file" / "asides")) == 0
