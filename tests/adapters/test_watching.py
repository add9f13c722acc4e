"""Files that change, come, go and are replaced are told, each with a bounded wait on real files."""

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from gemini_companion.adapters.watching import FileWatch
from tests.support.patience import PATIENCE


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def replace_by_link(path: Path, target: Path) -> None:
    beside = path.with_name("link-to-be")
    beside.symlink_to(target)
    os.replace(beside, path)


class Heard:
    """What a watch told, as a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[frozenset[Path]] = asyncio.Queue()

    async def __call__(self, changed: frozenset[Path]) -> None:
        await self.queue.put(changed)

    async def until(self, path: Path) -> frozenset[Path]:
        async with asyncio.timeout(PATIENCE):
            while True:
                changed = await self.queue.get()
                if path in changed:
                    return changed


class Probed(Heard):
    """A watch over some paths and over a probe of our own, and what it told."""

    def __init__(self, paths: tuple[Path, ...], beside: Path) -> None:
        super().__init__()
        self.probe = beside / "probes" / "here" / "probe"
        self.probe.parent.mkdir(parents=True)
        self.waits = threading.Event()
        waits = self.waits

        class Watch(FileWatch):
            def folders(self) -> frozenset[str]:
                found = super().folders()
                waits.set()  # the last look around before it waits for the system
                return found

        self.watch = Watch([*paths, self.probe], debounce_ms=50)

    async def __call__(self, changed: frozenset[Path]) -> None:
        self.waits.clear()
        await super().__call__(changed)

    async def calm(self) -> None:
        """Wait until all that happened so far is told, and only the system's word can wake the watch: it tells things
        in order.
        """
        with self.probe.open("a", encoding="utf-8") as probe:
            probe.write("x")
        await self.until(self.probe)
        assert await asyncio.to_thread(self.waits.wait, PATIENCE)
        assert self.queue.empty()


@asynccontextmanager
async def watching(*paths: Path, beside: Path) -> AsyncGenerator[Probed]:
    """A watch that is on; it keeps its probe below `beside`."""
    heard = Probed(paths, beside)
    task = asyncio.create_task(heard.watch.run(heard))
    try:
        await heard.calm()
        await heard.calm()
        yield heard
    finally:
        await stopped(task)


async def stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    assert done, "the watch did not end when it was cancelled"
    with suppress(asyncio.CancelledError):
        await task


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / ".gemini"
    folder.mkdir(parents=True)
    return folder / "settings.json"


async def test_a_file_that_appears_changes_and_goes_is_told_each_time(file: Path, tmp_path: Path):
    async with watching(file, beside=tmp_path) as heard:
        write(file, "1")
        await heard.until(file)
        await heard.calm()
        write(file, "2")
        await heard.until(file)
        await heard.calm()
        os.unlink(file)
        await heard.until(file)


async def test_an_atomic_replacement_is_told(file: Path, tmp_path: Path):
    write(file, "old")
    async with watching(file, beside=tmp_path) as heard:
        for text in ("new", "newer"):
            beside = file.with_suffix(".tmp")
            write(beside, text)
            os.replace(beside, file)
            assert await heard.until(file) == {file}
            await heard.calm()


async def test_a_change_between_construction_and_the_start_of_the_watch_is_told(file: Path):
    watch, heard = FileWatch([file]), Heard()
    write(file, "early")
    task = asyncio.create_task(watch.run(heard))
    await heard.until(file)
    await stopped(task)


async def test_a_file_whose_folders_do_not_exist_yet_is_told_once_they_do(tmp_path: Path):
    file = tmp_path / "a" / "b" / "c" / "settings.json"
    async with watching(file, beside=tmp_path) as heard:
        for folder in reversed(file.parents[:3]):
            folder.mkdir()
            await heard.calm()
        write(file, "1")
        await heard.until(file)
        await heard.calm()
        write(file, "2")
        await heard.until(file)


async def test_a_file_that_comes_with_all_its_folders_at_once_is_told(tmp_path: Path):
    file = tmp_path / "a" / "b" / "c" / "settings.json"
    async with watching(file, beside=tmp_path) as heard:
        file.parent.mkdir(parents=True)
        write(file, "1")
        await heard.until(file)


async def test_a_folder_that_is_deleted_and_made_anew_is_watched_on(file: Path, tmp_path: Path):
    write(file, "1")
    async with watching(file, beside=tmp_path) as heard:
        shutil.rmtree(file.parent)
        await heard.until(file)
        file.parent.mkdir()
        await heard.calm()
        write(file, "2")
        await heard.until(file)


async def test_a_folder_that_another_took_the_place_of_is_watched_on(file: Path, tmp_path: Path):
    write(file, "1")
    other = tmp_path / "other"
    other.mkdir()
    write((other / file.name), "two")
    async with watching(file, beside=tmp_path) as heard:
        file.parent.rename(tmp_path / "gone")
        other.rename(file.parent)
        await heard.until(file)
        await heard.calm()
        write(file, "three!")
        await heard.until(file)


async def test_a_change_at_the_end_of_a_link_is_told_under_the_links_name(file: Path, tmp_path: Path):
    target = tmp_path / "dotfiles" / "gemini.json"
    target.parent.mkdir()
    write(target, "1")
    os.symlink(target, file)
    async with watching(file, beside=tmp_path) as heard:
        write(target, "2")
        assert await heard.until(file) == {file}


async def test_a_link_that_leads_elsewhere_now_is_followed_there(file: Path, tmp_path: Path):
    targets = [tmp_path / name / "gemini.json" for name in ("first", "second")]
    for target in targets:
        target.parent.mkdir()
        write(target, "1")
    os.symlink(targets[0], file)
    async with watching(file, beside=tmp_path) as heard:
        replace_by_link(file, targets[1])
        await heard.until(file)
        await heard.calm()
        write(targets[1], "22")
        await heard.until(file)


async def test_a_folder_that_is_a_link_and_leads_elsewhere_now_is_followed_there(tmp_path: Path):
    folder = tmp_path / "work" / ".gemini"
    folder.parent.mkdir()
    targets = [tmp_path / name for name in ("first", "second")]
    for target in targets:
        target.mkdir()
    os.symlink(targets[0], folder)
    write((targets[1] / "settings.json"), "1")
    file = folder / "settings.json"
    async with watching(file, beside=tmp_path) as heard:
        replace_by_link(folder, targets[1])
        await heard.until(file)
        await heard.calm()
        write(file, "22")
        await heard.until(file)


async def test_a_rewrite_of_the_same_length_within_one_tick_of_the_clock_is_told(file: Path, tmp_path: Path):
    write(file, "1")
    before = os.stat(file)
    async with watching(file, beside=tmp_path) as heard:
        write(file, "2")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        await heard.until(file)


async def test_other_files_and_deeper_folders_are_not_told(file: Path, tmp_path: Path):
    beside, deeper = file.with_name("other.json"), file.parent / "tmp" / "settings.json"
    async with watching(file, beside=tmp_path) as heard:
        write(beside, "1")
        deeper.parent.mkdir()
        write(deeper, "1")
        await heard.calm()


async def test_changes_during_a_call_come_in_the_next_one(file: Path):
    second = file.with_name("second.json")
    entered, leave, heard = asyncio.Event(), asyncio.Event(), Heard()

    async def slowly(changed: frozenset[Path]) -> None:
        entered.set()
        await leave.wait()
        await heard(changed)

    task = asyncio.create_task(FileWatch([file, second], debounce_ms=50).run(slowly))
    write(file, "1")
    async with asyncio.timeout(PATIENCE):
        await entered.wait()
    write(second, "1")
    leave.set()
    await heard.until(second)
    await stopped(task)


@pytest.mark.parametrize("steps", range(0, 60, 4))
async def test_it_ends_when_cancelled_at_any_moment(file: Path, steps: int):
    task = asyncio.create_task(FileWatch([file], debounce_ms=50).run(Heard()))
    for folder in (file.parent / "x", file.parent / "y"):
        for _ in range(steps):
            await asyncio.sleep(0)
        shutil.rmtree(file.parent)
        file.parent.mkdir()
        folder.mkdir()
    await stopped(task)


async def test_what_the_callback_raises_ends_the_watch_and_reaches_its_owner(file: Path):
    async def fail(changed: frozenset[Path]) -> None:
        raise FileNotFoundError("not the watch's own")

    task = asyncio.create_task(FileWatch([file], debounce_ms=50).run(fail))
    await asyncio.sleep(0)
    write(file, "1")
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(FileNotFoundError, match="own"):
            await task


async def test_a_path_that_cannot_be_does_not_disturb_the_others(file: Path, tmp_path: Path):
    async with watching(Path("/nowhere\0/x"), Path("/nowhere\ud800/x"), file, beside=tmp_path) as heard:
        write(file, "1")
        assert await heard.until(file) == {file}


async def test_nothing_to_watch_ends_at_once():
    async with asyncio.timeout(PATIENCE):
        await FileWatch([]).run(Heard())


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts there")
async def test_a_name_beside_a_file_that_is_no_text_ends_no_watch(file: Path, tmp_path: Path):
    async with watching(file, beside=tmp_path) as heard:
        file.with_name(os.fsdecode(b"\xff")).touch()
        write(file, "1")
        await heard.until(file)
        write(file, "12")
        await heard.until(file)


@pytest.mark.process
def test_to_watch_takes_no_second_framework_and_what_does_is_loaded_as_ever() -> None:
    program = (
        "import sys; from gemini_companion.adapters.notices import notifier; one = notifier()\n"
        "assert 'anyio' not in sys.modules and 'watchfiles' not in sys.modules\n"
        "import watchfiles.main; assert watchfiles.main.RustNotify is one"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
