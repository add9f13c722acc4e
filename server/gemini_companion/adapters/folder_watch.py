"""Watching the names in a few folders, missing ones too, without polling."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from gemini_companion.adapters.watching import batches, nearest_folder, watch_again

_MOST: Final = 500
"""Folders that one watch has."""


class FolderWatch:
    """A watch over folders, existing or not, and nothing deeper: for each that is missing, the nearest that exists."""

    def __init__(self, folders: Iterable[Path], *, debounce_ms: int = 200) -> None:
        self._folders = tuple(dict.fromkeys(Path(os.path.abspath(folder)) for folder in folders))[:_MOST]
        self._debounce_ms = debounce_ms

    async def run(self, on_change: Callable[[], Awaitable[None]]) -> None:
        """Call `on_change` once the system watches, and after each change from then on, until cancelled.

        An exception of `on_change` ends the watch. Raises `CompanionError` if the system refuses to watch.
        """
        if not self._folders:
            return

        async def watch() -> None:
            await self._watch(await asyncio.to_thread(self._existing), on_change)

        await watch_again(watch)

    async def _watch(self, watched: frozenset[str], on_change: Callable[[], Awaitable[None]]) -> None:
        """Report changes until other folders must be watched."""
        ours = {str(folder) for folder in self._folders}
        above = {str(parent) for folder in self._folders for parent in (folder, *folder.parents)}

        def concerns_us(name: str) -> bool:
            return os.path.dirname(name) in ours or name in above

        async with aclosing(batches(watched, concerns_us, self._debounce_ms)) as changes:
            async for _ in changes:  # the first has what changed ahead of the watch
                await on_change()
                if await asyncio.to_thread(self._existing) != watched:
                    return

    def _existing(self) -> frozenset[str]:
        return frozenset(str(nearest_folder(folder)) for folder in self._folders)
