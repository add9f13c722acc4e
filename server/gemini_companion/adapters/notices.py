"""The system's notices of changed files: watchfiles' extension alone. Its package would load a second framework of
asynchronous work, some 60 modules, which nothing here needs.
"""

from __future__ import annotations

import asyncio
import errno
import os
import platform
import sys
import threading
from collections.abc import AsyncGenerator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, Final

_EXTENSION: Final = "watchfiles._rust_notify"
_STEP_MS: Final = 20
_LOOK_MS: Final = 5_000
_POLL_MS: Final = 300
"""Where the system tells nothing, as of some network drives."""


class Untold(Exception):
    """What was changed in a folder cannot be told; its text is the fault."""


_LOADING: Final = threading.Lock()
"""Several watches begin at once, each in a thread: none is to find the extension half made by another."""


@cache
def notifier() -> Any:
    """The class `RustNotify`. Blocks while it is loaded."""
    with _LOADING:
        if (there := sys.modules.get(_EXTENSION)) is not None:
            return there.RustNotify
        package = find_spec("watchfiles")  # found, not loaded
        name = _EXTENSION.rpartition(".")[2]
        spec = PathFinder.find_spec(name, package.submodule_search_locations) if package is not None else None
        if spec is None or spec.loader is None:
            return import_module(_EXTENSION).RustNotify
        module = sys.modules[_EXTENSION] = module_from_spec(spec)  # it may be made once in a process
        spec.loader.exec_module(module)
        return module.RustNotify


async def changed_names(folders: Iterable[str], debounce_ms: int) -> AsyncGenerator[set[str]]:
    """The absolute names that change in folders, and nothing deeper; those within `debounce_ms` come together.

    The system watches from the first step of this on; `notifier` has been called before that, for it blocks. Raises
    `FileNotFoundError` for a folder that is missing, `OSError` or `RuntimeError` if the system refuses, and `Untold`
    where a name is none, as one that is no UTF-8.
    """
    loop, stop = asyncio.get_running_loop(), threading.Event()
    watched, before = [*folders], _inotify()
    watcher = notifier()(watched, False, _must_poll(), _POLL_MS, False, True)
    thread = ThreadPoolExecutor(1, "companion-watch")  # of its own: it waits there for as long as this is watched
    try:
        if (missing := _missing(watched, before)) > 0:
            raise OSError(errno.ENOSPC, f"{missing} of {len(watched)} folders got no watch")
        while True:
            try:
                told = await loop.run_in_executor(thread, watcher.watch, debounce_ms, _STEP_MS, _LOOK_MS, stop)
            except Exception as fault:
                raise Untold(f"{type(fault).__name__}: {fault}") from fault
            if not isinstance(told, str):  # else it says that nothing came
                yield {name for _, name in told}
    finally:
        stop.set()
        thread.submit(watcher.close)  # once the thread has left it
        thread.shutdown(wait=False)


def _inotify() -> dict[str, int]:
    """The watches that each of this process's inotify descriptors has; none where the system has no such list."""
    found: dict[str, int] = {}
    with suppress(OSError):
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):  # it was closed meanwhile
                if os.readlink(f"/proc/self/fd/{name}").endswith("inotify"):
                    with open(f"/proc/self/fdinfo/{name}", encoding="ascii", errors="replace") as lines:
                        found[name] = sum(line.startswith("inotify ") for line in lines)
    return found


def _missing(folders: Iterable[str], before: dict[str, int]) -> int:
    """How many folders the newest watcher does not watch: the extension does not tell where the system has no watch
    left. 0 where that cannot be known.
    """
    new = [count for name, count in _inotify().items() if before.get(name) != count]  # a name may be used again
    if not new:
        return 0
    there: set[tuple[int, int]] = set()
    for folder in folders:
        with suppress(OSError):
            status = os.stat(folder)
            if os.access(folder, os.R_OK):  # what may not be read is left out
                there.add((status.st_dev, status.st_ino))
    return len(there) - sum(new)


def _must_poll() -> bool:
    """Whether to look again and again: where Linux runs in Windows nothing is told. The variable is watchfiles' own."""
    wish = os.environ.get("WATCHFILES_FORCE_POLLING", "")
    if wish:
        return wish.lower() not in ("false", "disable", "disabled")
    return sys.platform == "linux" and "microsoft-standard" in platform.uname().release.lower()
