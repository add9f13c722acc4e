"""Paths of somebody who wants to get out, and folders that are swapped while they are used: nothing outside is read or
written.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import socket
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from gemini_companion.adapters.files import DiskFiles
from gemini_companion.adapters.files.folder import CAN_HOLD
from gemini_companion.adapters.search import RipgrepSearch
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.tools.ports import SearchOptions
from gemini_companion.tools.tool import ToolRefusal
from tests.support.tool_contexts import write

INSIDE: Final = b"inside\n"
OUTSIDE: Final = b"OUTSIDE\n"
ROUNDS: Final = 400
PATHS: Final = 1_000

NAMES: Final = (
    "a.txt", "A.TXT", "sub", "SUB", "b.txt", "caf\u00e9", "cafe\u0301", "..", ".", "", "...", "\u2024\u2024", "\uff0e\uff0e", "..\\..", ". .",
    "to_file", "to_folder", "to_root", "to_parent", "to_nothing", "to_inside", "loop", "chain", "pipe", "socket", "hard", "-rf", "new", "new\n",
    "~", "~root", "$HOME", "%2e%2e", "file:", "C:", "NUL", "CON", "x" * 255, "x" * 256, "a\0b", "outside", "secret.txt", "proc", "self", "fd", "0", "cwd", "root",
    "dev", "zero", "stdin", "\u202etxt.a", "a.txt\u200b", "a.txt ", "a.txt.", "a.txt/", "\ud800",
)  # fmt: skip
"""Names that a path is made of."""


@pytest.fixture
def ground(tmp_path: Path) -> Path:
    """A workspace `ws`, another folder beside it, and every kind of way from the one to the other."""
    ground = tmp_path
    ws, outside = ground / "ws", ground / "outside"
    write(outside / "secret.txt", OUTSIDE)
    write(outside / "a.txt", OUTSIDE)
    write(outside / "sub/b.txt", OUTSIDE)
    for path in ("a.txt", "sub/a.txt", "sub/b.txt", "-rf", "caf\u00e9"):
        write(ws / path, INSIDE)
    for folder in (ws, ws / "sub"):
        (folder / "to_file").symlink_to(outside / "secret.txt")
        (folder / "to_folder").symlink_to(outside)
        (folder / "to_root").symlink_to("/")
        (folder / "to_parent").symlink_to("..")
        (folder / "to_nothing").symlink_to(outside / "new")
        (folder / "to_inside").symlink_to("a.txt")
        (folder / "loop").symlink_to("loop")
        (folder / "chain").symlink_to("to_folder")
        (folder / "hard").hardlink_to(outside / "a.txt")
        os.mkfifo(folder / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    with suppress(OSError):  # the path may be too long for one
        listener.bind(str(ws / "socket"))
    listener.close()
    return ground


INSIDE_NAMES: Final = (
    "a.txt",
    "sub",
    "sub",
    "b.txt",
    "-rf",
    "café",
    "hard",
    "to_parent",
    "to_inside",
    ".",
    "..",
    "new",
)
"""Those that lead somewhere in the workspace more often than not."""


def paths(ground: Path, *, known: Sequence[str] = NAMES, count: int = PATHS) -> Iterator[str]:
    """The same ones every time."""
    chance = random.Random(20261123)
    beginnings = ["", "", "", "", "/", "//", f"{ground}/ws/", f"{ground}/outside/", f"{ground}/ws/../", f"{ground}//ws/./", "/proc/self/", "/dev/", "/proc/self/root", "file://"]  # fmt: skip
    for _ in range(count):
        names = [chance.choice(known) for _ in range(chance.choice((1, 1, 2, 2, 3, 5)))]
        yield chance.choice(beginnings) + "/".join(names)


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("by_descriptor", [True, False] if CAN_HOLD else [False], ids=lambda held: f"held={held}")
async def test_no_path_leads_out(ground: Path, by_descriptor: bool):
    files = DiskFiles(DiskWorkspace(), by_descriptor=by_descriptor)
    roots = [str(ground / "ws")]
    before = state_of(ground / "outside")
    read = written = 0
    for path in paths(ground):
        place = await files.place(path, roots)
        with suppress(ToolRefusal):
            data = (await files.read(place, limit=100)).data
            # A hard link is a file of the workspace as much as one outside; nobody can tell which was first.
            assert data == (OUTSIDE if os.lstat(place.path).st_nlink > 1 else INSIDE)
            read += 1
        with suppress(ToolRefusal):
            expected = hashlib.sha256(INSIDE).hexdigest() if place.kind == "file" else None
            await files.write(place, INSIDE, expected=expected)
            assert os.path.realpath(place.path).startswith(f"{roots[0]}/")
            written += 1
        with suppress(ToolRefusal):
            await files.names(place, limit=10)
            assert place.root == roots[0]
    assert state_of(ground / "outside") == before
    assert {each.name for each in ground.iterdir()} == {"ws", "outside"}
    assert read > 20
    assert written > 20


@pytest.mark.skipif(not CAN_HOLD, reason="names cannot be opened from a folder here")
async def test_a_thousand_paths_swapped_between_check_and_use_never_lead_out(ground: Path):
    """After each check a file or folder on the way becomes a link to what is outside under the same name."""
    ws, mirror = ground / "ws", ground / "outside" / "mirror"
    for name in ("a.txt", "sub/a.txt", "sub/b.txt", "-rf", "caf\u00e9", "hard", "sub/hard", "only", "sub/only"):
        write(mirror / name, OUTSIDE)
    files = DiskFiles(DiskWorkspace())
    chance = random.Random(20261124)
    before = state_of(ground / "outside")
    swapped: int = 0
    for path in paths(ground, known=INSIDE_NAMES, count=10 * PATHS):
        if swapped >= PATHS:
            break
        place = await files.place(path, [str(ws)])
        parts = Path(place.path).relative_to(ws).parts if place.root and "\0" not in place.path else ()
        there = [end for end in range(1, len(parts) + 1) if os.path.lexists(ws.joinpath(*parts[:end]))]
        if not there:
            continue
        victim = ws.joinpath(*parts[: chance.choice(there)])
        os.rename(victim, ground / "aside")
        os.symlink(mirror / victim.relative_to(ws), victim)
        swapped += 1
        try:
            with suppress(ToolRefusal):
                assert (await files.read(place, limit=100)).data != OUTSIDE
            with suppress(ToolRefusal):
                assert "only" not in [each.name for each in (await files.names(place, limit=100)).entries]
            for data in (INSIDE, OUTSIDE):
                expected = hashlib.sha256(data).hexdigest()
                with suppress(ToolRefusal):
                    await files.write(place, INSIDE, expected=expected)
                with suppress(ToolRefusal):
                    await files.delete(place, expected=expected)
            with suppress(ToolRefusal):
                await files.write(place, INSIDE, expected=None)
        finally:
            os.unlink(victim)
            os.rename(ground / "aside", victim)
    assert state_of(ground / "outside") == before
    assert swapped == PATHS


@contextmanager
def swapping(swap: Callable[[], None]) -> Generator[None]:
    """Do something over and over in another thread."""
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            swap()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.fixture
def swapped(tmp_path: Path) -> tuple[Path, Callable[[], None]]:
    """A workspace in which `d` is a folder, then a link to one outside, then the folder again."""
    ws, outside = tmp_path / "ws", tmp_path / "outside"
    write(ws / "d/e/a.txt", INSIDE)
    write(outside / "e/a.txt", OUTSIDE)

    def swap() -> None:
        os.rename(ws / "d", ws / "aside")
        with suppress(FileExistsError):  # a folder that was missing is made by a write
            os.symlink(outside, ws / "d")
            os.unlink(ws / "d")
        while True:
            try:
                os.rename(ws / "aside", ws / "d")
            except OSError:
                shutil.rmtree(ws / "d", ignore_errors=True)
            else:
                return

    return ws, swap


@pytest.mark.skipif(not CAN_HOLD, reason="names cannot be opened from a folder here")
async def test_a_folder_that_is_swapped_for_a_link_never_leads_out(
    swapped: tuple[Path, Callable[[], None]], tmp_path: Path
):
    ws, swap = swapped
    files = DiskFiles(DiskWorkspace())
    digest = hashlib.sha256(INSIDE).hexdigest()
    place = await files.place("d/e/a.txt", [str(ws)])
    new = await files.place("d/e/new/b.txt", [str(ws)])
    outcomes = {"read": 0, "refused": 0}
    with swapping(swap):
        for _ in range(ROUNDS):
            for where in (place, await files.place("d/e/a.txt", [str(ws)])):
                try:
                    assert (await files.read(where, limit=100)).data == INSIDE
                    outcomes["read"] += 1
                except ToolRefusal:
                    outcomes["refused"] += 1
            with suppress(ToolRefusal):
                await files.write(place, INSIDE, expected=digest)
            with suppress(ToolRefusal):
                await files.write(new, INSIDE, expected=None)
            with suppress(ToolRefusal):
                await files.delete(new, expected=digest)
    assert state_of(tmp_path / "outside").keys() == {"e", "e/a.txt"}
    assert (tmp_path / "outside/e/a.txt").read_bytes() == OUTSIDE
    assert outcomes["read"] > 0


@pytest.mark.skipif(not CAN_HOLD, reason="names cannot be opened from a folder here")
async def test_a_file_that_is_swapped_for_a_link_never_leads_out(tmp_path: Path):
    ws = tmp_path / "ws"
    path, outside = write(ws / "a.txt", INSIDE), write(tmp_path / "outside.txt", OUTSIDE)

    def swap() -> None:
        os.symlink(outside, ws / "link")
        os.replace(ws / "link", path)
        write(ws / "file", INSIDE)
        os.replace(ws / "file", path)

    files = DiskFiles(DiskWorkspace())
    place = await files.place("a.txt", [str(ws)])
    digests = [hashlib.sha256(data).hexdigest() for data in (INSIDE, OUTSIDE)]
    with swapping(swap):
        for number in range(ROUNDS):
            with suppress(ToolRefusal):
                assert (await files.read(place, limit=100)).data == INSIDE
            with suppress(ToolRefusal):
                await files.write(place, INSIDE, expected=digests[number % 2])
    assert outside.read_bytes() == OUTSIDE


@pytest.mark.process
@pytest.mark.skipif(not CAN_HOLD, reason="names cannot be opened from a folder here")
async def test_a_search_shows_nothing_of_a_folder_that_a_link_was_swapped_in_for(
    swapped: tuple[Path, Callable[[], None]],
):
    ws, swap = swapped
    search = RipgrepSearch(DiskWorkspace())
    with swapping(swap):
        for _ in range(30):
            found = await search.grep("OUTSIDE", [str(ws)], options=SearchOptions())
            assert found.lines == ()
