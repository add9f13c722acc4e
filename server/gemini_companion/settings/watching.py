"""Reloading when a settings file changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

from gemini_companion.engine.errors import CompanionError

logger = logging.getLogger(__name__)


class FileWatcher(Protocol):
    """A watch over a few files, from the moment it is constructed."""

    async def run(self, on_change: Callable[[frozenset[Path]], Awaitable[None]], /) -> None:
        """Call `on_change` with the files that changed, until cancelled.

        Raises `CompanionError` if the system refuses to watch.
        """
        ...


WatchFiles: TypeAlias = Callable[[Sequence[Path]], FileWatcher]
"""Makes a watch over files, existing or not."""


class SettingsWatch:
    """Calls `on_change` when one of the watched files has changed. Needs a running event loop."""

    def __init__(self, watch_files: WatchFiles, on_change: Callable[[], None]) -> None:
        self._watch_files = watch_files
        self._on_change = on_change
        self._task: asyncio.Task[None] | None = None

    def watch(self, files: Sequence[Path]) -> None:
        """Watch these files instead of those before."""
        self.stop()
        watcher = self._watch_files(files)
        self._task = asyncio.get_running_loop().create_task(self._run(watcher), name="settings-watch")

    def stop(self) -> None:
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self, watcher: FileWatcher) -> None:
        async def changed(_files: frozenset[Path]) -> None:
            self._on_change()

        try:
            await watcher.run(changed)
        except CompanionError as fault:
            logger.warning("Settings are not watched: %s", fault.message)
