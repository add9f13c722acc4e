"""Watching a few files for changes: by the system's notices, or where it refuses them by looking every few seconds."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from gemini_companion.adapters.notices import Untold, changed_names, notifier

logger = logging.getLogger(__name__)

OnChange: TypeAlias = Callable[[frozenset[Path]], Awaitable[None]]
Stamp: TypeAlias = tuple[int, int, int] | None
_Folders: TypeAlias = frozenset[str]

_ATTEMPTS: Final = 5
_REST: Final = 5
"""Waits for more changes, before what ended is watched anew: whoever makes names without end keeps nobody busy."""
_LONGEST_REST: Final = 60.0
"""Seconds that such a rest takes at most. Each that follows another takes twice as long, until something is told."""
LOOK_SECONDS: Final = 5.0
"""Between two looks at files where the system refuses to watch."""
_LOOKS: Final = 12
"""Looks until the system is asked again: what it has too few of may be free by then."""


class FileWatch:
    """A watch over files, existing or not, from the moment this is constructed.

    Constructed before the files are first read, it misses no change. The system watches the folders that hold the
    files, or the nearest that exist, and nothing deeper: so a file may be created, replaced or deleted, and so may its
    folder. A file that is a link is watched at its target too.
    """

    def __init__(self, paths: Iterable[Path], *, debounce_ms: int = 200, look_seconds: float = LOOK_SECONDS) -> None:
        self._paths = tuple(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))
        self._debounce_ms = debounce_ms
        self._look_seconds = look_seconds
        self._stamps = {path: stamp_of(path) for path in self._paths}

    async def run(self, on_change: OnChange) -> None:
        """Call `on_change` with the absolute paths that changed, one call at a time, until cancelled.

        Changes within `debounce_ms` come in one call; those during a call come in the next. An exception of `on_change`
        ends the watch. Where the system refuses to watch, the files are looked at every `look_seconds`.
        """
        if not self._paths:
            return

        async def watch() -> None:
            await self._watch(await asyncio.to_thread(self.folders), on_change)

        async def look() -> None:
            await self._report(set(), on_change)

        await watch_again(watch, look, self._look_seconds)

    async def _watch(self, folders: _Folders, on_change: OnChange) -> None:
        """Report changes until other folders must be watched, or a watched one may have been replaced."""
        names = await asyncio.to_thread(self._names)

        # Changes ahead of the first batch are found by the stamps, later ones by events.
        async with aclosing(batches(folders, names.__contains__, self._debounce_ms)) as changes:
            async for changed in changes:
                named = {names[name] for name in changed}
                await self._report(named, on_change)
                if None in named or await asyncio.to_thread(self.folders) != folders:
                    return

    async def _report(self, named: set[Path | None], on_change: OnChange) -> None:
        stamps = await asyncio.to_thread(lambda: {path: stamp_of(path) for path in self._paths})
        changed = frozenset(path for path in self._paths if path in named or stamps[path] != self._stamps[path])
        self._stamps = stamps
        if changed:
            await on_change(changed)

    def folders(self) -> _Folders:
        """The folders to watch: for each file its folder, and the one above, which shows when that is replaced."""
        locations = self._locations()
        above = (folder for location in locations for folder in (location.parent, location.parent.parent))
        return frozenset(str(nearest_folder(folder)) for folder in above)

    def _names(self) -> dict[str, Path | None]:
        """The paths whose events count: locations of files, with the file, and all folders above, with `None`."""
        locations = self._locations()
        above: dict[str, Path | None] = {str(folder): None for location in locations for folder in location.parents}
        return above | {str(location): path for location, path in locations.items()}

    def _locations(self) -> dict[Path, Path]:
        """Where to look for each file: under its own name and at the end of its links."""
        return {location: path for path in self._paths for location in (_target(path), path)}


class _FolderGone(Exception):
    """A folder was deleted between being found and being watched."""


class _Refused(Exception):
    """The system does not watch."""


async def watch_again(
    watch: Callable[[], Awaitable[None]], look: Callable[[], Awaitable[None]], look_seconds: float
) -> None:
    """Call `watch`, which finds its folders and returns when others must be watched, until cancelled.

    If the system refuses, or its folders are gone by the time they are to be watched, five times on end, `look` is
    called every `look_seconds` in its place, and once a minute `watch` again.
    """
    failures = 0
    while True:
        try:
            await watch()
            failures = 0
        except (_FolderGone, _Refused) as fault:
            failures += 1
            if isinstance(fault, _FolderGone) and failures < _ATTEMPTS:
                continue
            _tell_once(str(fault))
            for _ in range(_LOOKS):
                await look()
                await asyncio.sleep(look_seconds)


@lru_cache(maxsize=8)  # each watch of the process meets the same one
def _tell_once(fault: str) -> None:
    logger.warning(
        "The system does not watch files for changes (%s), so they are looked at every few seconds. If it allows too"
        " few watches, allow it more.",
        fault,
    )


async def batches(
    folders: Iterable[str], concerns_us: Callable[[str], bool], debounce_ms: int
) -> AsyncGenerator[set[str]]:
    """The absolute names in `folders` that change; first none, once the system watches. To be closed by its reader.

    None comes again where something was changed that cannot be told, as a name that is no UTF-8: whoever reads looks
    for itself. Changes within `debounce_ms` come together, and so do those that happen while the reader is at work.
    For `watch_again`, which knows what to do where the system refuses.
    """
    try:
        await asyncio.to_thread(notifier)
    except (ImportError, OSError) as fault:
        raise _Refused(str(fault)) from fault
    shortest = rest = debounce_ms * _REST / 1000
    while True:
        async with aclosing(changed_names(sorted(folders), debounce_ms)) as events:
            coming = asyncio.create_task(_next(events))
            try:
                await asyncio.sleep(0)  # after this step the system watches, or has refused
                if coming.done():
                    await coming
                yield set()
                while True:
                    changed = set(filter(concerns_us, await coming))
                    rest = shortest
                    coming = asyncio.create_task(_next(events))
                    if changed:
                        yield changed
            except Untold as fault:
                logger.info("What was changed cannot be told (%s); it is watched anew.", fault)
            finally:
                await _end(coming)
        await asyncio.sleep(rest)
        rest = min(2 * rest, _LONGEST_REST)


async def _next(events: AsyncGenerator[set[str]]) -> set[str]:
    try:
        return await anext(events)
    except FileNotFoundError as fault:
        raise _FolderGone(str(fault)) from fault
    except (OSError, RuntimeError, ValueError) as fault:  # the extension's own errors are RuntimeErrors
        raise _Refused(str(fault)) from fault


async def _end(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for its end, even while being cancelled: what it uses is closed next."""
    task.cancel()
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as request:
            cancelled = request
    if not task.cancelled():
        task.exception()  # marks it as retrieved
    if cancelled:
        raise cancelled


def _target(path: Path) -> Path:
    """The end of the path's links; the path itself if it is not valid."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return path


def nearest_folder(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    return next((candidate for candidate in (folder, *folder.parents) if candidate.is_dir()), Path(folder.anchor))


def stamp_of(path: Path) -> Stamp:
    """Inode, size and modification time, which change with the file; `None` if it does not exist."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
