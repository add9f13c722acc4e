"""The system's notices of changed files: watchfiles' extension alone. Its package would load a second framework of
asynchronous work, some 60 modules, which nothing here needs.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import threading
from collections.abc import AsyncGenerator, Iterable
from concurrent.futures import ThreadPoolExecutor
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
    """What was changed in a folder cannot be told."""


@cache
def notifier() -> Any:
    """The class `RustNotify`. Blocks while it is loaded."""
    package = find_spec("watchfiles")  # found, not loaded
    name = _EXTENSION.rpartition(".")[2]
    spec = PathFinder.find_spec(name, package.submodule_search_locations) if package is not None else None
    if _EXTENSION in sys.modules or spec is None or spec.loader is None:
        return import_module(_EXTENSION).RustNotify
    module = sys.modules[_EXTENSION] = module_from_spec(spec)  # it may be made once in a process: the package finds it
    spec.loader.exec_module(module)
    return module.RustNotify


async def changed_names(folders: Iterable[str], debounce_ms: int) -> AsyncGenerator[set[str]]:
    """The absolute names that change in folders, and nothing deeper; those within `debounce_ms` come together.

    The system watches from the first step of this on; `notifier` has been called before that, for it blocks. Raises
    `FileNotFoundError` for a folder that is missing, `OSError` or `RuntimeError` if the system refuses, and `Untold`
    where a name is none, as one that is no UTF-8.
    """
    loop, stop = asyncio.get_running_loop(), threading.Event()
    watcher = notifier()([*folders], False, _must_poll(), _POLL_MS, False, True)
    thread = ThreadPoolExecutor(1, "companion-watch")  # of its own: it waits there for as long as this is watched
    try:
        while True:
            try:
                told = await loop.run_in_executor(thread, watcher.watch, debounce_ms, _STEP_MS, _LOOK_MS, stop)
            except Exception as fault:
                raise Untold from fault
            if not isinstance(told, str):  # else it says that nothing came
                yield {name for _, name in told}
    finally:
        stop.set()
        thread.submit(watcher.close)  # once the thread has left it
        thread.shutdown(wait=False)


def _must_poll() -> bool:
    """Whether to look again and again: where Linux runs in Windows nothing is told. The variable is watchfiles' own."""
    wish = os.environ.get("WATCHFILES_FORCE_POLLING", "")
    if wish:
        return wish.lower() not in ("false", "disable", "disabled")
    return sys.platform == "linux" and "microsoft-standard" in platform.uname().release.lower()
