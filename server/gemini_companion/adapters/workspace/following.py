"""Where a path leads to, also while somebody swaps folders for links."""

from __future__ import annotations

import os
from typing import Final

_TRIES: Final = 8


def followed(path: str) -> str:
    """The path without links, as far as it exists; the root of the disk for one that nobody can follow.

    `os.path.realpath` raises where a link goes, or a folder takes its place, between its being seen and its being read,
    where a thousand links lead to each other, and where there is a NUL.
    """
    for _ in range(_TRIES):
        try:
            return os.path.realpath(path)
        except OSError:
            continue
        except (RecursionError, ValueError):
            break
    return os.sep
