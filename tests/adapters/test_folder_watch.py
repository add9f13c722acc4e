"""Watching folders: what comes, changes and goes in them, and folders that are not there yet."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gemini_companion.adapters.folder_watch import FolderWatch
from tests.support.patience import PATIENCE


class Told:
    """Counts what a watch tells."""

    def __init__(self) -> None:
        self.news = asyncio.Event()

    async def changed(self) -> None:
        self.news.set()

    async def wait(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self.news.wait()
        self.news.clear()


@asynccontextmanager
async def watching(*folders: Path) -> AsyncGenerator[Told]:
    told = Told()
    task = asyncio.create_task(FolderWatch(folders, debounce_ms=20).run(told.changed))
    try:
        await told.wait()  # once, when the system watches
        yield told
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_a_file_that_comes_changes_and_goes_is_told_of(tmp_path: Path) -> None:
    async with watching(tmp_path) as told:
        (tmp_path / "a.toml").write_text("1", "utf-8")
        await told.wait()
        (tmp_path / "a.toml").write_text("22", "utf-8")
        await told.wait()
        (tmp_path / "a.toml").unlink()
        await told.wait()


async def test_a_folder_that_is_made_later_is_watched_from_then_on(tmp_path: Path) -> None:
    folder = tmp_path / ".gemini" / "commands"
    async with watching(folder) as told:
        folder.mkdir(parents=True)
        await told.wait()
        (folder / "a.toml").write_text("1", "utf-8")
        await told.wait()


async def test_what_happens_beside_the_folders_is_not_told(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    async with watching(ours) as told:
        (theirs / "a").write_text("1", "utf-8")
        (tmp_path / "b").write_text("1", "utf-8")
        (ours / "c").write_text("1", "utf-8")
        await told.wait()
        assert not told.news.is_set()


async def test_no_folder_is_no_watch() -> None:
    await FolderWatch([]).run(Told().changed)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts there")
async def test_a_name_that_is_no_text_is_told_of_and_ends_no_watch(tmp_path: Path) -> None:
    async with watching(tmp_path) as told:
        for number in range(7):  # more often than a watch is tried again whose folders go
            (tmp_path / os.fsdecode(b"\xff%d" % number)).touch()
            await told.wait()
        (tmp_path / "a.toml").write_text("1", "utf-8")
        await told.wait()


async def test_where_the_system_refuses_to_watch_folders_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> object:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("gemini_companion.adapters.notices.notifier", lambda: refuse)
    told: asyncio.Queue[None] = asyncio.Queue()

    async def tell() -> None:
        await told.put(None)

    def put(text: str) -> None:
        (tmp_path / "beside").write_text(text, "utf-8")
        os.replace(tmp_path / "beside", folder / "one.toml")

    folder = tmp_path / "missing" / "commands"
    impossible = Path("/nowhere\0/x"), Path("/nowhere\ud800/x")
    task = asyncio.create_task(FolderWatch([*impossible, folder], look_seconds=0.001).run(tell))
    async with asyncio.timeout(PATIENCE):
        await told.get()  # once at the start
        folder.mkdir(parents=True)
        put("1")
        await told.get()
        put("longer")
        await told.get()
        (folder / "one.toml").unlink()
        await told.get()
    task.cancel()
    await asyncio.wait({task})
