"""Watches that begin when the start is over miss nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from gemini_companion.wiring.watches import LaterWatch, Watches
from tests.support.patience import PATIENCE


class Watch:
    """Runs when it is told to, and says so."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, on_change: Callable[[], Awaitable[None]]) -> None:
        self.runs += 1
        await on_change()


async def test_a_watch_runs_once_the_start_is_over() -> None:
    watch, start, changes = Watch(), asyncio.Event(), asyncio.Queue[str]()
    running = asyncio.create_task(LaterWatch(watch, start).run(lambda: changes.put("changed")))
    await asyncio.sleep(0)
    assert watch.runs == 0
    start.set()
    async with asyncio.timeout(PATIENCE):
        assert await changes.get() == "changed"
        await running


async def test_a_file_that_changed_before_the_watch_ran_is_told(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}", "utf-8")
    told: asyncio.Queue[frozenset[Path]] = asyncio.Queue()
    watch = Watches(seconds=0.0).files([file])
    file.write_text('{"changed": true}', "utf-8")
    running = asyncio.create_task(watch.run(told.put))
    try:
        async with asyncio.timeout(PATIENCE):
            assert await told.get() == {file}
    finally:
        running.cancel()


async def test_a_folder_is_looked_at_again_once_it_is_watched(tmp_path: Path) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    running = asyncio.create_task(Watches(seconds=0.0).folders([tmp_path]).run(lambda: told.put("look")))
    try:
        async with asyncio.timeout(PATIENCE):
            assert await told.get() == "look"
            (tmp_path / "new.toml").write_text("", "utf-8")
            assert await told.get() == "look"
    finally:
        running.cancel()
