"""What a command changed, noticed by looking at the workspace before and after it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

MOST_LISTED: Final = 500
"""Files of one command that are listed; the others are counted."""


_CLOCKS_DIFFER_NS: Final = 2 * 10**9
"""By how much the clock of a file system may be behind the system's."""

_OUTLIVES_NS: Final = 10 * 10**9
"""How long after the last sign of life of a daemon its commands may have run: these signs come every few seconds, and
a command ends with the daemon.
"""


class Stamp(NamedTuple):
    """What tells without reading it that a file is another. Times are in ns since 1970."""

    size: int
    changed_ns: int
    inode: int
    mode: int
    """With its kind."""
    status_ns: int = 0
    """When the system last changed anything of it: no program sets that, as `tar -x` and `cp -p` set the other time."""
    link: str | None = None
    """The target, of a symbolic link."""

    def is_same_bytes(self, other: Stamp) -> bool:
        """Whether only its name or its permission bits were changed in between."""
        kinds = stat.S_IFMT(self.mode), self.link
        return (self[:3], kinds) == (other[:3], (stat.S_IFMT(other.mode), other.link))


class Stamps(NamedTuple):
    """The files below some folders, ignored ones left out, by their absolute paths."""

    files: Mapping[str, Stamp]
    unlisted: frozenset[str] = frozenset()
    """Folders that there was no time, or no room, to look into."""
    folders: Mapping[str, int] = {}
    """Permission bits of each folder."""
    at_ns: int = 0
    """When they were looked at, by the system's clock; 0 if that is not known."""
    of_git: Mapping[str, Stamp] = {}
    """What git goes by in the `.git` of these folders, and each `.git`: told, and not put back."""


class Held(NamedTuple):
    """Bytes of files that had these stamps, by their paths."""

    data: Callable[[str], bytes | None]
    digests: Mapping[str, str]
    """SHA-256 in hexadecimal digits."""


class Scan(Protocol):
    """Looks at the files of folders."""

    async def __call__(self, folders: Sequence[str]) -> Stamps:
        """The stamps of now, as many as there are in a third of a second."""
        ...

    async def hold(self, stamps: Stamps) -> Held:
        """The bytes of small files, as many as can be read in a third of a second: a command may change them."""
        ...


class Noticed(NamedTuple):
    """Paths, sorted."""

    created: list[str]
    changed: list[str]
    deleted: list[str]
    moved: dict[str, str]
    """Of those that were made, where they were before: it is the same file."""
    same_bytes: frozenset[str]
    """Of those that changed, the ones with other permission bits alone."""
    folders: list[str]
    """Folders that were made, are gone, or have other permission bits."""
    is_partial: bool
    """Not everything could be looked at."""
    of_git: Sequence[str] = ()
    """What git goes by, where it was made or changed."""

    @property
    def paths(self) -> list[str]:
        """All of them, the changed ones first, those that were made last."""
        return [*self.changed, *self.deleted, *self.created]


def noticed(before: Stamps, after: Stamps) -> Noticed:
    """What is different. Of a folder that was looked into only once nothing is said."""
    created = [path for path in after.files if path not in before.files and not _is_below(path, before.unlisted)]
    deleted = [path for path in before.files if path not in after.files and not _is_below(path, after.unlisted)]
    changed = [path for path, stamp in after.files.items() if before.files.get(path, stamp) != stamp]
    gone = {before.files[path].inode: path for path in deleted}
    moved: dict[str, str] = {}
    for path in sorted(created):
        source = gone.get(after.files[path].inode)
        if source is not None and before.files[source].is_same_bytes(after.files[path]):
            moved[path] = gone.pop(after.files[path].inode)
    created = [path for path in created if path in moved or not _was_there(after.files[path], before)]
    unlisted = before.unlisted | after.unlisted
    folders = [
        path
        for path in {*before.folders, *after.folders}
        if before.folders.get(path) != after.folders.get(path) and not _is_below(path, unlisted)
    ]
    return Noticed(
        sorted(created),
        sorted(changed),
        sorted(deleted),
        moved,
        frozenset(path for path in changed if before.files[path].is_same_bytes(after.files[path])),
        sorted(folders),
        is_partial=bool(unlisted),
        of_git=_of_git(before, after),
    )


def _of_git(before: Stamps, after: Stamps) -> list[str]:
    found: list[str] = []
    for path, stamp in sorted(after.of_git.items()):
        old = before.of_git.get(path)
        if old is None and _is_below(path, before.unlisted):
            continue
        if os.path.dirname(path) in found or (old is not None and old == stamp):
            continue  # of a `.git` that is new as a whole its name is enough
        found.append(path)
    return found


def within(stamps: Stamps, roots: Sequence[str]) -> Stamps:
    """What of the stamps is below folders; the others were closed since."""
    below = frozenset(roots)
    return stamps._replace(
        files={path: stamp for path, stamp in stamps.files.items() if _is_below(path, below)},
        folders={path: mode for path, mode in stamps.folders.items() if _is_below(path, below)},
    )


def not_after(now: Stamps, before: Stamps, cut_at: int | None) -> Stamps:
    """What of a look may be a command's whose daemon was last alive at `cut_at`, in ms since 1970: files that were
    changed later are as they were before it, for whoever changed them was not the command. `None`: it is not known.
    """
    if cut_at is None:
        return now
    last = max(cut_at * 10**6, before.at_ns) + _OUTLIVES_NS
    files = {path: stamp for path, stamp in now.files.items() if stamp.status_ns <= last}
    later = {path: before.files[path] for path in now.files.keys() - files.keys() if path in before.files}
    return now._replace(files={**files, **later})


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a look at the workspace, so that a daemon that is killed meanwhile still knows it."""

    files: dict[str, Stamp]
    unlisted: frozenset[str]
    folders: dict[str, int]
    at_ns: int
    digests: dict[str, str]


def packed(stamps: Stamps, digests: Mapping[str, str]) -> bytes:
    """Stamps, and the digests of the files that were read, to be kept."""
    return msgspec.json.encode(
        _Packed(dict(stamps.files), stamps.unlisted, dict(stamps.folders), stamps.at_ns, dict(digests))
    )


def unpacked(data: bytes) -> tuple[Stamps, Mapping[str, str]] | None:
    """What `packed` was given; `None` if this is nothing of it."""
    try:
        found = msgspec.json.decode(data, type=_Packed)
    except (msgspec.DecodeError, ValueError):
        return None
    return Stamps(found.files, found.unlisted, found.folders, found.at_ns), found.digests


def _was_there(stamp: Stamp, before: Stamps) -> bool:
    """Whether a file that was not seen before is older than that look: it was ignored then, and is not any more."""
    return 0 < stamp.status_ns < before.at_ns - _CLOCKS_DIFFER_NS


def _is_below(path: str, folders: frozenset[str]) -> bool:
    while folders and (parent := os.path.dirname(path)) != path:
        if parent in folders:
            return True
        path = parent
    return False
