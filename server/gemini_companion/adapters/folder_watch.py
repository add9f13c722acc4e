"""Watching the names in a few folders, missing ones too; where the system refuses, by looking every few seconds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from typing import Final

from gemini_companion.adapters.watching import LOOK_SECONDS, Stamp, batches, nearest_folder, stamp_of, watch_again

_MOST: Final = 500
"""Folders that one watch has."""
_MOST_NAMES: Final = 5_000
"""Names that a look at all of them takes in."""


class FolderWatch:
    """A watch over folders, existing or not, and nothing deeper: for each that is missing, the nearest that exists."""

    def __init__(self, folders: Iterable[Path], *, debounce_ms: int = 200, look_seconds: float = LOOK_SECONDS) -> None:
        self._folders = tuple(dict.fromkeys(Path(os.path.abspath(folder)) for folder in folders))[:_MOST]
        self._debounce_ms = debounce_ms
        self._look_seconds = look_seconds
        self._seen: dict[str, Stamp] | None = None
        """What the last look found; `None` while the system watches, or nothing was looked at yet."""

    async def run(self, on_change: Callable[[], Awaitable[None]]) -> None:
        """Call `on_change` once the system watches, and after each change from then on, until cancelled.

        An exception of `on_change` ends the watch. Where the system refuses to watch, the folders are looked at every
        `look_seconds`.
        """
        if not self._folders:
            return

        async def watch() -> None:
            await self._watch(await asyncio.to_thread(self._existing), on_change)

        async def look() -> None:
            found = await asyncio.to_thread(self._look)
            if found != self._seen:
                self._seen = found
                await on_change()

        await watch_again(watch, look, self._look_seconds)

    async def _watch(self, watched: frozenset[str], on_change: Callable[[], Awaitable[None]]) -> None:
        """Report changes until other folders must be watched."""
        ours = {str(folder) for folder in self._folders}
        above = {str(parent) for folder in self._folders for parent in (folder, *folder.parents)}

        def concerns_us(name: str) -> bool:
            return os.path.dirname(name) in ours or name in above

        async with aclosing(batches(watched, concerns_us, self._debounce_ms)) as changes:
            async for _ in changes:  # the first has what changed ahead of the watch
                self._seen = None
                await on_change()
                if await asyncio.to_thread(self._existing) != watched:
                    return

    def _existing(self) -> frozenset[str]:
        return frozenset(str(nearest_folder(folder)) for folder in self._folders)

    def _look(self) -> dict[str, Stamp]:
        """The names in the folders, with what changes as the files do."""
        found: dict[str, Stamp] = {}
        for folder in self._folders:
            try:
                with os.scandir(folder) as entries:
                    for entry in islice(entries, _MOST_NAMES - len(found)):
                        found[entry.path] = stamp_of(Path(entry.path))
            except (OSError, ValueError):
                continue  # missing, or no path that can be
        return found
