"""Where the system refuses to watch, files are looked at every few seconds, and it is asked again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gemini_companion.adapters.notices import notifier
from gemini_companion.adapters.watching import FileWatch
from tests.support.patience import PATIENCE


class Heard:
    """What a watch told, as a queue."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[frozenset[Path]] = asyncio.Queue()

    async def __call__(self, changed: frozenset[Path]) -> None:
        await self.queue.put(changed)

    async def until(self, path: Path) -> None:
        async with asyncio.timeout(PATIENCE):
            while path not in await self.queue.get():
                pass


@asynccontextmanager
async def running(watch: FileWatch) -> AsyncGenerator[Heard]:
    heard = Heard()
    task = asyncio.create_task(watch.run(heard))
    try:
        yield heard
    finally:
        task.cancel()
        await asyncio.wait({task})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def refusing(*args: object, **kwargs: object) -> object:
    raise OSError(28, "No space left on device")


async def test_where_the_system_refuses_to_watch_files_are_looked_at_and_the_log_says_so_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    fault = f"No space left on device at {tmp_path}"  # once in a process, whichever tests were before this one

    def refuse(*args: object, **kwargs: object) -> object:
        raise OSError(28, fault)

    monkeypatch.setattr("gemini_companion.adapters.notices.notifier", lambda: refuse)
    other = tmp_path / "missing" / "other"
    watches = FileWatch([file], look_seconds=0.001), FileWatch([other], look_seconds=0.001)
    async with running(watches[0]) as first, running(watches[1]) as second:
        file.touch()
        await first.until(file)
        file.unlink()
        await first.until(file)
        other.parent.mkdir()
        other.touch()
        await second.until(other)
    assert caplog.text.count(fault) == 1


async def test_a_system_that_watches_again_is_asked_again(file: Path, monkeypatch: pytest.MonkeyPatch):
    real, asked = notifier(), asyncio.Event()
    refused = 0

    def at_first(*args: object, **kwargs: object) -> object:
        nonlocal refused
        if refused < 2:
            refused += 1
            return refusing()
        asked.set()
        return real(*args, **kwargs)

    monkeypatch.setattr("gemini_companion.adapters.notices.notifier", lambda: at_first)
    async with running(FileWatch([file], debounce_ms=50, look_seconds=0.001)) as heard:
        async with asyncio.timeout(PATIENCE):
            await asked.wait()
        file.touch()
        await heard.until(file)


async def test_what_the_callback_raises_ends_the_looks_too(file: Path, monkeypatch: pytest.MonkeyPatch):
    async def fail(changed: frozenset[Path]) -> None:
        raise FileNotFoundError("not the watch's own")

    monkeypatch.setattr("gemini_companion.adapters.notices.notifier", lambda: refusing)
    watch = FileWatch([file], look_seconds=0.001)
    file.touch()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(FileNotFoundError, match="own"):
            await watch.run(fail)


async def test_where_a_folder_always_vanishes_its_files_are_looked_at_after_some_attempts(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    attempts: list[int] = []

    def vanish(*args: object, **kwargs: object) -> object:
        attempts.append(1)
        raise FileNotFoundError("No such folder")

    monkeypatch.setattr("gemini_companion.adapters.notices.notifier", lambda: vanish)
    watch = FileWatch([file], look_seconds=0.001)
    file.touch()
    async with running(watch) as heard:
        await heard.until(file)
    assert len(attempts) > 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a bound of watches that nobody is told of")
async def test_where_the_system_has_no_watch_left_files_are_looked_at(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = notifier()

    def watches_nothing(folders: list[str], *more: object) -> object:
        return real([], *more)  # as it does where the system refuses each of them

    monkeypatch.setattr("gemini_companion.adapters.notices.notifier", lambda: watches_nothing)
    async with running(FileWatch([file], look_seconds=0.001)) as heard:
        file.touch()
        await heard.until(file)
    assert "got no watch" in caplog.text
