"""The server, with a store that holds what the test names: the store's methods `create`, `hold` and `load` wait while
there is a file of that name in the folder `COMPANION_TEST_HOLD`, which has two pipes: `reached` and `release`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from gemini_companion.adapters.storage import store as storage
from gemini_companion.wiring.daemon import serve_stdio

FOLDER = Path(os.environ.get("COMPANION_TEST_HOLD", ""))


def wait() -> None:
    """Meet the test at both pipes. One thread does it, so that a request that is cancelled in between leaves no pipe."""
    for name in ("reached", "release"):
        with (FOLDER / name).open("w"):
            pass


async def hold(method: str) -> None:
    marker = FOLDER / method
    if marker.exists():
        marker.unlink()
        await asyncio.to_thread(wait)


class HeldStore(storage.SqliteStore):
    """The real store, but for the waiting."""

    async def create(self, *arguments: Any, **options: Any) -> int:
        await hold("create")
        return await super().create(*arguments, **options)

    async def hold(self, *arguments: Any, **options: Any) -> int:
        await hold("hold")
        return await super().hold(*arguments, **options)


if __name__ == "__main__":
    storage.SqliteStore = HeldStore  # type: ignore[misc]  # the name that `open_store` makes it by
    sys.exit(serve_stdio(os.environ))
