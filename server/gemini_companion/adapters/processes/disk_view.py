"""What a sandbox shows of the disk: everything, read-only, and no socket of this machine.

A read-only bind mount does not keep a program from connecting to a socket in it. A layer of overlayfs does: the files
are there to be read, but a socket in it is another one than that which somebody listens on, whoever made it, and when.
So every folder is shown as such a layer. A folder below which something else is mounted cannot be one; it is built
anew, with a layer for each of its folders. Files in it are bound one by one, and nothing else.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

from gemini_companion.adapters.workspace.following import followed

ELSEWHERE: Final = ("/dev", "/proc", "/run", "/tmp", "/var/tmp")
"""What a sandbox has of its own."""
_NO_LAYERS: Final = frozenset((
    "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs", "efivarfs",
    "erofs", "fusectl", "hugetlbfs", "iso9660", "mqueue", "msdos", "nsfs", "proc", "pstore", "rpc_pipefs", "securityfs",
    "squashfs", "sysfs", "tracefs", "vfat",
))  # fmt: skip
"""Kinds of file systems in which nobody can make a socket, so that a bind mount will do."""
_MOST: Final = 2_000
"""Entries of a folder that is built anew. One with more is not shown."""
_MOST_SOCKETS: Final = 1_000


@dataclass(frozen=True, slots=True)
class View:
    """How the disk is shown."""

    words: tuple[str, ...]
    """Bubblewrap's arguments."""
    layers: tuple[str, ...] = ()
    """The folders that are layers."""


PLAIN: Final = View(("--ro-bind", "/", "/"))
"""For a bubblewrap, or a system, that makes no layers. Sockets that are there are covered one by one, then."""


def mounts(text: str) -> dict[str, str]:
    """What is mounted, by its place, and its kind of file system, from a `/proc/PID/mountinfo`."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        words = before.split(" ")
        if len(words) > 4 and after:
            found[_unescaped(words[4])] = after.split(" ")[0]
    return found


def layered(mounted: dict[str, str], empty: str, is_layer: Callable[[str], bool] = lambda folder: True) -> View:
    """The view in layers. `empty` is an empty folder, which bubblewrap needs as the other layer; a folder for which
    `is_layer` says no is bound.
    """
    words: list[str] = []
    layers: list[str] = []

    def show(folder: str) -> None:
        if folder in ELSEWHERE:
            return
        below = folder.rstrip("/") + "/"
        if mounted.get(folder) in _NO_LAYERS or not is_layer(folder):
            words.extend(("--ro-bind-try", folder, folder))
        elif not any(place.startswith(below) for place in mounted if place != folder):
            layers.append(folder)
            words.extend(_layer(folder, empty))
        else:
            words.extend(("--perms", "0755", "--dir", folder) if folder != "/" else ())
            for entry in _entries(folder):
                if entry.is_symlink():
                    with suppress(OSError):
                        words.extend(("--symlink", os.readlink(entry.path), entry.path))
                elif entry.is_dir():
                    show(entry.path)
                elif entry.is_file() and os.access(entry.path, os.R_OK):
                    words.extend(("--ro-bind-try", entry.path, entry.path))

    show("/")
    return View(tuple(words), tuple(layers))


def single(folder: str, empty: str) -> View:
    """The plain view with one layer, to try that out."""
    return View((*PLAIN.words, *_layer(folder, empty)), (folder,))


def listening(folders: Sequence[str], *, but: Sequence[str] = ()) -> list[str]:
    """The sockets of this machine below some folders, and not below others, that somebody has bound."""
    with suppress(OSError):
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
        found = dict.fromkeys(path for path in _bound(text, folders) if is_below(path, folders))
        return list(islice((path for path in found if not is_below(path, but) and _is_socket(path)), _MOST_SOCKETS))
    return []


def _layer(folder: str, empty: str) -> tuple[str, ...]:
    return ("--overlay-src", empty, "--overlay-src", folder, "--ro-overlay", folder)


def _bound(text: str, folders: Sequence[str]) -> Iterator[str]:
    """The real paths of the sockets in `/proc/net/unix`. One that was bound by a relative path has no other there: it
    is looked for where processes are.
    """
    names = {words[7] for line in text.splitlines()[1:] if len(words := line.split(maxsplit=7)) == 8}
    relative = {name for name in names if name[:1] not in "/@"}
    for name in names:
        if name.startswith("/"):
            yield followed(name)
    for folder in {*folders, *_working_folders()} if relative else ():
        yield from (followed(os.path.join(folder, name)) for name in relative)


def _working_folders() -> Iterator[str]:
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                yield os.readlink(f"/proc/{entry}/cwd")


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        found = list(islice(entries, _MOST + 1))
        return sorted(found, key=lambda entry: entry.name) if len(found) <= _MOST else []
    return []


def _is_socket(path: str) -> bool:
    with suppress(OSError, ValueError):
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    return False


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Whether a path is one of some folders, or in one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _unescaped(path: str) -> str:
    r"""A path as the kernel wrote it: `\040` for a blank."""
    first, *rest = path.split("\\")
    return first + "".join(chr(int(part[:3], 8)) + part[3:] for part in rest)
