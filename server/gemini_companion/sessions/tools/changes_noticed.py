"""What a command changed, noticed by looking at the workspace before and after it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

MOST_LISTED: Final = 500
"""Files of one command that are listed; the others are counted."""


class Stamp(NamedTuple):
    """What tells without reading it that a file is another: bytes, ns since 1970, inode, mode with its kind."""

    size: int
    changed_ns: int
    inode: int
    mode: int


class Stamps(NamedTuple):
    """The files below some folders, ignored ones left out, by their absolute paths."""

    files: Mapping[str, Stamp]
    unlisted: frozenset[str] = frozenset()
    """Folders that there was no time, or no room, to look into."""


Scan: TypeAlias = Callable[[Sequence[str]], Awaitable[Stamps]]
"""Looks at the files of folders, for a third of a second at most."""


class Noticed(NamedTuple):
    """Paths, sorted."""

    created: list[str]
    changed: list[str]
    deleted: list[str]
    is_partial: bool
    """Not everything could be looked at."""

    @property
    def paths(self) -> list[str]:
        """All of them, the changed ones first, those that were made last."""
        return [*self.changed, *self.deleted, *self.created]


def noticed(before: Stamps, after: Stamps) -> Noticed:
    """What is different. Of a folder that was looked into only once nothing is said."""
    created = [path for path in after.files if path not in before.files and not _is_below(path, before.unlisted)]
    deleted = [path for path in before.files if path not in after.files and not _is_below(path, after.unlisted)]
    changed = [path for path, stamp in after.files.items() if before.files.get(path, stamp) != stamp]
    is_partial = bool(before.unlisted or after.unlisted)
    return Noticed(sorted(created), sorted(changed), sorted(deleted), is_partial)


def _is_below(path: str, folders: frozenset[str]) -> bool:
    while folders and (parent := os.path.dirname(path)) != path:
        if parent in folders:
            return True
        path = parent
    return False
