"""Large buffers have a mapping of their own, also after a larger one was freed, unless the user chose otherwise."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

_MAPPED = """
import ctypes, os
from gemini_companion.adapters.processes.allocator import MAPPED_FROM_BYTES, map_large_buffers

class Statistics(ctypes.Structure):
    _fields_ = [(str(number), ctypes.c_size_t) for number in range(10)]

def mapped():  # pieces with a mapping of their own
    library.mallinfo2.restype = Statistics
    return getattr(library.mallinfo2(), "3")

library = ctypes.CDLL(None)
is_done = map_large_buffers(os.environ)
large = bytearray(16 * MAPPED_FROM_BYTES)
del large  # from here on glibc would cut all smaller ones out of the heap
before = mapped()
kept = bytearray(2 * MAPPED_FROM_BYTES)
print(is_done, mapped() - before)
"""

_HAS_GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")


@pytest.mark.process
@pytest.mark.skipif(not _HAS_GLIBC, reason="glibc does not allocate here")
@pytest.mark.parametrize(
    ("chosen", "seen"),
    [
        pytest.param({}, "True 1", id="nothing chosen"),
        pytest.param({"MALLOC_MMAP_THRESHOLD_": "33554432"}, "False 0", id="chosen by the user"),
    ],
)
def test_a_large_buffer_has_its_own_mapping_after_a_larger_one_was_freed(chosen: dict[str, str], seen: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run([sys.executable, "-c", _MAPPED], capture_output=True, text=True, env=environment | chosen)
    assert done.stdout.strip() == seen, done.stderr
