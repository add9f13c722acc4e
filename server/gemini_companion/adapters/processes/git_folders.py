"""Repositories as a sandbox sees them: what of them decides what `git` runs later, and where a worktree keeps its own.

A command may write into `.git`, or nothing could be committed. It must not write what has `git` run a program outside
of the sandbox: hooks, settings, and the files that say where these are. Nor may it move a folder away that has them and
put another in its place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

DECIDING: Final = ("hooks", "config", "config.worktree", "commondir", "gitdir")
"""In a repository's folder: what runs, and where `git` looks for that."""
_MOST: Final = 100
"""Repositories, submodules, and worktrees, that are looked at."""
_MOST_FOLDERS: Final = 1_000
"""Folders of a workspace folder that are looked at for repositories."""
_SHARED: Final = ("objects", "refs", "logs", "reftable", "lfs", "rr-cache")
"""What a commit in a worktree writes of the folder that it shares with others. The rest of it is theirs: their index,
their branch, and what decides what runs.
"""
_MOST_OF_SETTINGS: Final = 256_000
"""Bytes of a repository's settings that are read."""
_NAMED: Final = re.compile(
    r"(?:^|\])[ \t]*(?P<name>hookspath|path|worktree)[ \t]*=[ \t]*\"?(?P<path>[^\"\n\r;#]+)",
    re.IGNORECASE | re.MULTILINE,
)
"""In settings: the folder of hooks, files with more settings, and where a submodule's files are. What is no such path,
but is written like one, is not made or changed either.
"""


@dataclass(frozen=True, slots=True)
class Worktree:
    """The folders, outside of a workspace folder, that `git` needs there. Absolute, real paths."""

    common: str
    """What all worktrees of the repository share."""
    own: str
    """What is this one's alone, below `common`."""

    @property
    def writable(self) -> tuple[str, ...]:
        """What a command may write into."""
        shared = (os.path.join(self.common, name) for name in _SHARED)
        return (*(path for path in shared if os.path.isdir(path) and not os.path.islink(path)), self.own)


def worktree_of(root: str) -> Worktree | None:
    """The worktree that a workspace folder is; `None` if it is none, or if the other side does not say so too.

    Whoever makes a workspace writes its file `.git`, and could name any folder in it. So that folder must be a
    repository's, lie where `git` puts it, and name this workspace folder: only who may write there can have done that.
    """
    pointer = os.path.join(root, ".git")
    if os.path.islink(pointer) or not os.path.isfile(pointer):
        return None
    named = _line_in(pointer).removeprefix("gitdir: ")
    own = os.path.realpath(os.path.join(root, named)) if named else ""
    back, common = (_line_in(os.path.join(own, name)) for name in ("gitdir", "commondir"))
    if not own or not back or not common:
        return None
    shared = os.path.dirname(os.path.dirname(own))
    is_meant = (
        os.path.basename(os.path.dirname(own)) == "worktrees"
        and os.path.realpath(os.path.join(own, common)) == shared
        and os.path.realpath(os.path.join(own, back)) == os.path.realpath(pointer)
        and os.path.isfile(os.path.join(shared, "HEAD"))
        and all(os.path.isdir(os.path.join(shared, name)) for name in ("objects", "refs"))
    )
    return Worktree(shared, own) if is_meant else None


def repositories_in(root: str, but: Container[str] = ()) -> Iterator[str]:
    """The folders that hold what decides: `.git` of a workspace folder and of the folders in it, which editors look
    into by themselves, and those of submodules and worktrees in them. `but` are such of commands' own making.
    """
    for git in named_git(root, but, follows=True):
        if not os.path.isdir(git):
            continue
        yield git
        with suppress(OSError), os.scandir(os.path.join(git, "worktrees")) as entries:
            yield from (entry.path for entry in islice(entries, _MOST) if entry.is_dir(follow_symlinks=False))
        yield from islice(_modules(os.path.join(git, "modules")), _MOST)


def pointers_in(root: str, but: Container[str] = ()) -> Iterator[str]:
    """The files `.git` that say where the repository of a worktree or a submodule is: in the same folders, and wherever
    a submodule is.
    """
    yield from (git for git in named_git(root, but) if os.path.isfile(git))
    for folder in repositories_in(root, but):
        for name, path in _named_by(folder):
            pointer = os.path.join(os.path.realpath(os.path.join(folder, path)), ".git")
            if name == "worktree" and pointer.startswith(_within(root)) and os.path.isfile(pointer):
                yield pointer


def named_by_settings(root: str, setting: str, repositories: Iterable[str]) -> Iterator[str]:
    """Where, in a workspace folder, repositories have their hooks (`hookspath`), or more settings (`path`, of an
    include). It need not be there, and may be a link.
    """
    for folder in repositories:
        named = list(_named_by(folder))
        trees = [os.path.join(folder, path) for name, path in named if name == "worktree"]
        for path in (path for name, path in named if name == setting):
            for base in (folder, *(trees or [os.path.dirname(folder)])):
                place = os.path.normpath(os.path.join(base, path))
                if place.startswith(_within(root)) and not place.startswith(_within(folder)):
                    yield place


def _named_by(folder: str) -> Iterator[tuple[str, str]]:
    for name in ("config", "config.worktree"):
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as file:
            for found in _NAMED.finditer(file.read(_MOST_OF_SETTINGS)):
                yield found["name"].lower(), found["path"].strip()


def _within(folder: str) -> str:
    return folder.rstrip("/") + "/"


def missing_in(root: str, but: Container[str] = ()) -> Iterator[str]:
    """The files by which `git` finds other settings and hooks, in every repository where they may be made."""
    folders = list(repositories_in(root, but))
    if found := worktree_of(root):
        folders.append(found.own)
    for folder in folders:
        yield os.path.join(folder, "config.worktree")
        if os.path.isfile(os.path.join(folder, "config")):  # a worktree has none, and has the other file
            yield os.path.join(folder, "commondir")


def named_git(root: str, but: Container[str] = (), *, follows: bool = False) -> Iterator[str]:
    """What is named `.git` in a workspace folder, and in the folders in it; where a link leads to, if it `follows`."""
    with suppress(OSError), os.scandir(root) as entries:
        inside = (entry.path for entry in entries if entry.name != ".git" and entry.is_dir(follow_symlinks=False))
        folders = (root, *islice(inside, _MOST_FOLDERS))
        paths = (os.path.join(folder, ".git") for folder in folders)
        there = (path for path in paths if path not in but and os.path.exists(path))
        for path in islice(there, _MOST):
            if not os.path.islink(path):
                yield path
            elif follows and (real := os.path.realpath(path)).startswith(_within(root)):
                yield real


def _modules(folder: str) -> Iterator[str]:
    for path, folders, files in os.walk(folder):
        if "config" in files:
            yield path
            folders[:] = [name for name in folders if name == "modules"]


def _line_in(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(4_097)
    except OSError:
        return ""
    line = text.removesuffix("\n")
    return line if len(text) <= 4_096 and not any(sign in line for sign in "\0\n\r") else ""
