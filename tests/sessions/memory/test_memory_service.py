"""The memory of a process: read once, watched, read again after a change."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from gemini_companion.adapters.memory.files import DiskMemoryFiles
from gemini_companion.engine.errors import InvalidInput, UntrustedWorkspace
from gemini_companion.sessions.memory.port import MemoryRead, MemoryWish
from gemini_companion.sessions.memory.service import MemoryService
from gemini_companion.settings.effective import Settings
from gemini_companion.settings.load import SettingsLoader
from tests.support.patience import PATIENCE, until


class Counting(DiskMemoryFiles):
    """Counts how often everything is read."""

    reads = 0

    async def read(self, wish: MemoryWish) -> MemoryRead:
        self.reads += 1
        return await super().read(wish)


class Watch:
    """A watch that tells what the test says."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self.changed = asyncio.Event()
        self.is_running = self.ended = False

    async def run(self, on_change: Callable[[frozenset[Path]], Awaitable[None]]) -> None:
        self.is_running = True
        try:
            while True:
                await self.changed.wait()
                self.changed.clear()
                await on_change(frozenset())
        finally:
            self.ended = True


class Desk:
    """A service over real files."""

    def __init__(self, base: Path) -> None:
        self.project = base / "project"
        self.project.mkdir(parents=True)
        self.file = self.project / "GEMINI.md"
        self.file.write_text("one", "utf-8")
        self.trusted = True
        self.told: asyncio.Queue[tuple[str, ...]] = asyncio.Queue()
        self.watches: list[Watch] = []
        self.files = Counting(base / "home")
        self.settings: Settings = SettingsLoader(base / "home", [], {}).reload(True, None).settings
        self.memory = MemoryService(
            self.files,
            settings=lambda: self.settings,
            folders=lambda: [str(self.project)],
            trusted=lambda: self.trusted,
            on_changed=self.told.put_nowait,
            watch_files=self._watch,
        )

    def _watch(self, paths: Sequence[Path]) -> Watch:
        self.watches.append(Watch(paths))
        return self.watches[-1]

    async def news(self) -> tuple[str, ...]:
        async with asyncio.timeout(PATIENCE):
            return await self.told.get()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.memory.close()


async def test_files_are_read_once_until_one_of_them_changes(desk: Desk):
    assert desk.files.reads == 0
    before = await desk.memory.tiers()
    assert await desk.memory.tiers() == before
    assert desk.files.reads == 1
    desk.file.write_text("two!", "utf-8")
    assert "two!" in (await desk.memory.tiers()).project
    assert await desk.news() == (str(desk.file),)


async def test_a_file_that_comes_and_one_that_goes_are_noticed(desk: Desk):
    await desk.memory.tiers()
    (desk.project / "AGENTS.md").write_text("agents", "utf-8")
    assert "agents" in (await desk.memory.tiers()).project
    (desk.project / "AGENTS.md").unlink()
    assert "agents" not in (await desk.memory.tiers()).project


async def test_an_imported_file_is_watched_too_also_while_it_is_missing(desk: Desk):
    desk.file.write_text("@./x.md", "utf-8")
    assert "Import failed" in (await desk.memory.tiers()).project
    assert desk.project / "x.md" in desk.watches[-1].paths
    (desk.project / "x.md").write_text("here now", "utf-8")
    assert "here now" in (await desk.memory.tiers()).project


async def test_what_the_watch_tells_is_read_and_told(desk: Desk):
    await desk.memory.tiers()
    desk.file.write_text("three", "utf-8")
    desk.watches[0].changed.set()
    assert await desk.news() == (str(desk.file),)
    assert len(desk.watches) == 1  # the same files


async def test_trust_that_comes_and_goes_decides_at_once(desk: Desk):
    desk.trusted = False
    assert (await desk.memory.tiers()).project == ""
    desk.trusted = True
    desk.memory.look_again()
    assert await desk.news() == (str(desk.file),)
    desk.trusted = False
    assert (await desk.memory.tiers()).project == ""


async def test_a_fact_of_the_project_needs_trust_and_saved_files(desk: Desk):
    desk.trusted = False
    with pytest.raises(UntrustedWorkspace):
        await desk.memory.add("fact", "project", in_editor=lambda _: None)
    desk.trusted = True
    with pytest.raises(InvalidInput, match="unsaved"):
        await desk.memory.add("fact", "project", in_editor=lambda _: "one, and more")
    with pytest.raises(InvalidInput, match="no fact"):
        await desk.memory.add(" # ", "project", in_editor=lambda _: None)
    assert desk.file.read_text("utf-8") == "one"
    added = await desk.memory.add("fact", "project", in_editor=lambda _: "one")
    assert added.path == str(desk.file)
    assert "- fact" in desk.file.read_text("utf-8")


async def test_the_watch_ends_with_the_service(desk: Desk):
    await desk.memory.tiers()
    await until(lambda: desk.watches[0].is_running)
    desk.memory.close()
    async with asyncio.timeout(PATIENCE):
        while not desk.watches[0].ended:
            await asyncio.sleep(0)
    desk.file.write_text("later", "utf-8")
    (desk.project / "AGENTS.md").write_text("@./new.md", "utf-8")
    assert "later" in (await desk.memory.tiers()).project
    assert len(desk.watches) == 1
