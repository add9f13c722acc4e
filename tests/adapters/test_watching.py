"""Files that change, come, go and are replaced are told, each with a bounded wait on real files."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from gemini_companion.adapters.watching import FileWatch
from gemini_companion.engine.errors import CompanionError

WAIT = 10


class Heard:
    """What a watch told, as a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[frozenset[Path]] = asyncio.Queue()

    async def __call__(self, changed: frozenset[Path]) -> None:
        await self.queue.put(changed)

    async def until(self, path: Path) -> frozenset[Path]:
        async with asyncio.timeout(WAIT):
            while True:
                changed = await self.queue.get()
                if path in changed:
                    return changed


@asynccontextmanager
async def watching(*paths: Path) -> AsyncIterator[Heard]:
    heard = Heard()
    task = asyncio.create_task(FileWatch(paths, debounce_ms=50).run(heard))
    try:
        yield heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            async with asyncio.timeout(WAIT):
                await task


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / ".gemini"
    folder.mkdir(parents=True)
    return folder / "settings.json"


async def test_a_file_that_appears_changes_and_goes_is_told_each_time(file: Path):
    async with watching(file) as heard:
        file.write_text("1", encoding="utf-8")
        await heard.until(file)
        file.write_text("2", encoding="utf-8")
        await heard.until(file)
        file.unlink()
        await heard.until(file)


async def test_an_atomic_replacement_is_told(file: Path):
    file.write_text("old", encoding="utf-8")
    async with watching(file) as heard:
        for text in ("new", "newer"):
            beside = file.with_suffix(".tmp")
            beside.write_text(text, encoding="utf-8")
            os.replace(beside, file)
            assert await heard.until(file) == {file}


async def test_a_change_between_construction_and_the_start_of_the_watch_is_told(file: Path):
    watch, heard = FileWatch([file]), Heard()
    file.write_text("early", encoding="utf-8")
    task = asyncio.create_task(watch.run(heard))
    await heard.until(file)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_file_whose_folders_do_not_exist_yet_is_told_once_they_do(tmp_path: Path):
    file = tmp_path / "a" / "b" / "c" / "settings.json"
    async with watching(file) as heard:
        file.parent.mkdir(parents=True)
        file.write_text("1", encoding="utf-8")
        await heard.until(file)
        file.write_text("2", encoding="utf-8")
        await heard.until(file)


async def test_a_folder_that_is_deleted_and_made_anew_is_watched_on(file: Path):
    file.write_text("1", encoding="utf-8")
    async with watching(file) as heard:
        shutil.rmtree(file.parent)
        await heard.until(file)
        file.parent.mkdir()
        file.write_text("2", encoding="utf-8")
        await heard.until(file)
        file.write_text("3", encoding="utf-8")
        await heard.until(file)


async def test_a_folder_that_another_took_the_place_of_is_watched_on(file: Path, tmp_path: Path):
    file.write_text("1", encoding="utf-8")
    other = tmp_path / "other"
    other.mkdir()
    (other / file.name).write_text("two", encoding="utf-8")
    async with watching(file) as heard:
        file.parent.rename(tmp_path / "gone")
        other.rename(file.parent)
        await heard.until(file)
        file.write_text("three!", encoding="utf-8")
        await heard.until(file)


async def test_a_change_at_the_end_of_a_link_is_told_under_the_links_name(file: Path, tmp_path: Path):
    target = tmp_path / "dotfiles" / "gemini.json"
    target.parent.mkdir()
    target.write_text("1", encoding="utf-8")
    file.symlink_to(target)
    async with watching(file) as heard:
        target.write_text("2", encoding="utf-8")
        assert await heard.until(file) == {file}


async def test_other_files_and_deeper_folders_are_not_told(file: Path):
    beside, deeper = file.with_name("other.json"), file.parent / "tmp" / "settings.json"
    async with watching(file) as heard:
        beside.write_text("1", encoding="utf-8")
        deeper.parent.mkdir()
        deeper.write_text("1", encoding="utf-8")
        file.write_text("1", encoding="utf-8")
        assert await heard.until(file) == {file}


async def test_changes_during_a_call_come_in_the_next_one(file: Path):
    second = file.with_name("second.json")
    entered, leave, heard = asyncio.Event(), asyncio.Event(), Heard()

    async def slowly(changed: frozenset[Path]) -> None:
        entered.set()
        await leave.wait()
        await heard(changed)

    task = asyncio.create_task(FileWatch([file, second], debounce_ms=50).run(slowly))
    file.write_text("1", encoding="utf-8")
    async with asyncio.timeout(WAIT):
        await entered.wait()
    second.write_text("1", encoding="utf-8")
    leave.set()
    await heard.until(second)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_the_callback_raises_ends_the_watch_and_reaches_its_owner(file: Path):
    async def fail(changed: frozenset[Path]) -> None:
        raise FileNotFoundError("not the watch's own")

    task = asyncio.create_task(FileWatch([file], debounce_ms=50).run(fail))
    await asyncio.sleep(0)
    file.write_text("1", encoding="utf-8")
    async with asyncio.timeout(WAIT):
        with pytest.raises(FileNotFoundError, match="own"):
            await task


async def test_a_system_that_refuses_to_watch_is_a_fault_with_a_hint(file: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*args: object, **kwargs: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("watchfiles.main.RustNotify", refuse)
    async with asyncio.timeout(WAIT):
        with pytest.raises(CompanionError, match="No space") as refused:
            await FileWatch([file]).run(Heard())
    assert refused.value.hint


async def test_a_folder_that_always_vanishes_ends_the_watch_after_some_attempts(file: Path, monkeypatch: pytest.MonkeyPatch):
    attempts: list[int] = []

    def vanish(*args: object, **kwargs: object) -> object:
        attempts.append(1)
        raise FileNotFoundError("No such folder")

    monkeypatch.setattr("watchfiles.main.RustNotify", vanish)
    async with asyncio.timeout(WAIT):
        with pytest.raises(CompanionError, match="No such folder"):
            await FileWatch([file]).run(Heard())
    assert len(attempts) > 1


async def test_a_path_that_cannot_be_does_not_disturb_the_others(file: Path):
    async with watching(Path("/nowhere\0/x"), Path("/nowhere\ud800/x"), file) as heard:
        file.write_text("1", encoding="utf-8")
        assert await heard.until(file) == {file}


async def test_nothing_to_watch_ends_at_once():
    async with asyncio.timeout(WAIT):
        await FileWatch([]).run(Heard())
