"""Watches that begin when the start is over: loading what watches would take the processor from a first prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

SECONDS: Final = 1.5
"""From the moment when the methods are bound."""


class Watch(Protocol):
    """A watch over files or folders that loses nothing between its construction and its run."""

    async def run(self, on_change: Any, /) -> None:
        """Call `on_change` for each change until cancelled."""
        ...


class LaterWatch:
    """Another watch, which is constructed at once and runs after `start` has come."""

    def __init__(self, watch: Watch, start: asyncio.Event) -> None:
        self._watch = watch
        self._start = start

    async def run(self, on_change: Callable[..., Awaitable[None]]) -> None:
        """Wait, then do what the other one does; what has changed meanwhile is found by it."""
        await self._start.wait()
        await self._watch.run(on_change)


class Watches:
    """Makes the watches of one daemon. Needs a running event loop."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._start = asyncio.Event()
        asyncio.get_running_loop().call_later(seconds, self._start.set)

    def files(self, paths: Sequence[Path]) -> LaterWatch:
        """A watch over files, existing or not."""
        from gemini_companion.adapters.watching import FileWatch

        return LaterWatch(FileWatch(paths), self._start)

    def folders(self, folders: Sequence[Path]) -> LaterWatch:
        """A watch over the names in folders, existing or not."""
        from gemini_companion.adapters.folder_watch import FolderWatch

        return LaterWatch(FolderWatch(folders), self._start)
