"""Large buffers go back to the system as soon as they are freed, where glibc allocates them.

glibc begins with a mapping of its own for each piece of memory of 128 KiB and more, which is unmapped when it is freed.
With the first such piece that is freed it raises that limit, up to 32 MiB: from then on bodies of requests, texts to be
counted and logs to be read are cut out of one heap per thread, where a small piece behind each keeps its room from the
system for good. In a chat of thousands of turns that was more than its whole log. The price is that such a piece is new
pages each time: some two milliseconds of a turn whose request has four megabytes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

MAPPED_FROM_BYTES: Final = 128 * 1024
_M_MMAP_THRESHOLD: Final = -3
"""See mallopt(3)."""
_CHOSEN_BY_USER: Final = ("MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def map_large_buffers(env: Mapping[str, str]) -> bool:
    """Keep glibc's limit where it begins; true if it is done.

    Left alone where the environment chooses for itself. Elsewhere than on Linux, and with another C library, nothing
    happens. Raises nothing.
    """
    if sys.platform != "linux" or any(env.get(name) for name in _CHOSEN_BY_USER):
        return False
    import ctypes

    try:
        return ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, MAPPED_FROM_BYTES) == 1
    except (OSError, AttributeError):  # a C library that has no such choice
        return False
