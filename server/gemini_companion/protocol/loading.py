"""Loading modules without the collector of cycles, which finds nothing there and takes a tenth of the time."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def loading(*, is_last: bool = False) -> Generator[None]:
    """Many modules are imported in this block. May be nested; not for a block that awaits.

    The last one of a start leaves what is there then, which is modules, out of all later collections: without that the
    first of them goes through everything while a prompt waits. It does so once in a process, for what is left out is
    never collected.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_last and gc.get_freeze_count() == 0:
            gc.freeze()
        if was_on:
            gc.enable()
