"""What is read from files, again whenever it is needed, and told of when it is different."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from gemini_companion.engine.errors import CompanionError

logger = logging.getLogger(__name__)

T = TypeVar("T")


class FolderWatcher(Protocol):
    """A watch over the names in a few folders, some of which may be missing."""

    async def run(self, on_change: Callable[[], Awaitable[None]], /) -> None:
        """Call `on_change` after changes, and once at the start, until cancelled. Raises `CompanionError`."""
        ...


WatchFolders: TypeAlias = Callable[[Sequence[Path]], FolderWatcher]


class Live(Generic[T]):
    """Reads on demand; from the first time on the folders are watched, and `on_changed` is called on the event loop."""

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        *,
        watched: Callable[[T], Sequence[str]],
        on_changed: Callable[[], None] = lambda: None,
        watch_folders: WatchFolders | None = None,
        name: str = "files",
    ) -> None:
        self._read = read
        self._watched_by = watched
        self._on_changed = on_changed
        self._watch_folders = watch_folders
        self._name = name
        self._lock = asyncio.Lock()
        self._latest: T | None = None
        self._watched: frozenset[str] = frozenset()
        self._watch: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def latest(self) -> T | None:
        """What was read last; `None` before the first time."""
        return self._latest

    async def current(self) -> T:
        """What the files say now."""
        async with self._lock:
            before = self._latest
            self._latest = now = await self._read()
            self._watch_over(now)
        if before is not None and before != now:
            self._on_changed()
        return now

    def look_again(self) -> None:
        """Folders or trust may have changed: read again, soon, if anything was read before."""
        if self._latest is not None and not self._is_closed:
            self._soon(self._refresh())

    def close(self) -> None:
        """Stop watching, for good."""
        self._is_closed = True
        for task in (self._watch, *self._tasks):
            if task is not None:
                task.cancel()
        self._watch = None

    def _watch_over(self, now: T) -> None:
        folders = frozenset(self._watched_by(now))
        if self._watch_folders is None or self._is_closed or folders == self._watched:
            return
        self._watched = folders
        if self._watch is not None:
            self._watch.cancel()
        watcher = self._watch_folders([Path(folder) for folder in sorted(folders)])
        self._watch = asyncio.get_running_loop().create_task(self._watching(watcher), name=f"watch of {self._name}")

    async def _watching(self, watcher: FolderWatcher) -> None:
        async def changed() -> None:
            self._soon(self._refresh())  # it may end this very watch

        try:
            await watcher.run(changed)
        except CompanionError as fault:
            logger.warning("%s are not watched: %s", self._name, fault.message)

    async def _refresh(self) -> None:
        try:
            await self.current()
        except Exception:  # a defect must not end the watch
            logger.exception("%s could not be read again", self._name)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, name=f"reading {self._name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
