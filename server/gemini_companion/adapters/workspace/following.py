"""Where a path leads to, also while somebody swaps folders for links."""

from __future__ import annotations

import os
from typing import Final

_TRIES: Final = 8
_LONGEST: Final = 32_767 if os.name == "nt" else 4_096
"""Characters of a path that the system follows."""


def followed(path: str) -> str:
    """The path without links, as far as it exists; the root of the disk for one that nobody can follow.

    `os.path.realpath` raises where a link goes, or a folder takes its place, between its being seen and its being read,
    where a thousand links lead to each other, and where there is a NUL.
    """
    if len(path) > _LONGEST:  # the system does not follow it; step by step takes minutes
        return os.sep
    for _ in range(_TRIES):
        try:
            return os.path.realpath(path)
        except OSError:
            continue
        except (RecursionError, ValueError):
            break
    return os.sep
