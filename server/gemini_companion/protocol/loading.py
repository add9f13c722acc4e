"""Loading modules without the collector of cycles, which finds nothing there and takes a tenth of the time."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def loading() -> Generator[None]:
    """Many modules are imported in this block. May be nested; not for a block that awaits."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
