"""Watching the names in a few folders, missing ones too, without polling."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from gemini_companion.engine.errors import CompanionError

_STEP_MS: Final = 20
_MOST: Final = 500
"""Folders that one watch has."""
_ATTEMPTS: Final = 5


class FolderWatch:
    """A watch over folders, existing or not, and nothing deeper: for each that is missing, the nearest that exists."""

    def __init__(self, folders: Iterable[Path], *, debounce_ms: int = 200) -> None:
        self._folders = tuple(dict.fromkeys(Path(os.path.abspath(folder)) for folder in folders))[:_MOST]
        self._debounce_ms = debounce_ms

    async def run(self, on_change: Callable[[], Awaitable[None]]) -> None:
        """Call `on_change` once the system watches, and after each change from then on, until cancelled.

        Raises `CompanionError` if the system refuses to watch.
        """
        if not self._folders:
            return
        watchfiles = await asyncio.to_thread(importlib.import_module, "watchfiles")
        failures = 0
        while failures < _ATTEMPTS:
            watched = await asyncio.to_thread(self._existing)
            try:
                await self._watch(watchfiles, watched, on_change)
                failures = 0
            except FileNotFoundError:  # a folder went between being found and being watched
                failures += 1
            except (OSError, RuntimeError, ValueError) as fault:  # watchfiles' own errors are RuntimeErrors
                raise CompanionError(
                    f"Folders cannot be watched for changes: {fault}",
                    hint="Changes are seen the next time the files are needed.",
                ) from fault

    async def _watch(self, watchfiles: Any, watched: frozenset[str], on_change: Callable[[], Awaitable[None]]) -> None:
        """Report changes until other folders must be watched."""
        ours = {str(folder) for folder in self._folders}
        above = {str(parent) for folder in self._folders for parent in (folder, *folder.parents)}

        def concerns_us(_: object, name: str) -> bool:
            return os.path.dirname(name) in ours or name in above

        events = watchfiles.awatch(
            *sorted(watched),
            watch_filter=concerns_us,
            debounce=self._debounce_ms,
            step=_STEP_MS,
            recursive=False,
            ignore_permission_denied=True,
        )
        async with aclosing(events):
            coming = asyncio.ensure_future(anext(events))
            try:
                # After this step the system watches; what changed before is told of now.
                await asyncio.sleep(0)
                while True:
                    await on_change()
                    if await asyncio.to_thread(self._existing) != watched:
                        return
                    await coming
                    coming = asyncio.ensure_future(anext(events))
            finally:
                coming.cancel()
                await asyncio.wait({coming})
                if not coming.cancelled():
                    coming.exception()  # marks it as retrieved

    def _existing(self) -> frozenset[str]:
        return frozenset(
            str(next((one for one in (folder, *folder.parents) if one.is_dir()), Path(folder.anchor)))
            for folder in self._folders
        )
