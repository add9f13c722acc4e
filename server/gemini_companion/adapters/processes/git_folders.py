"""Repositories as a sandbox sees them: what of them decides what `git` runs later, and where a worktree keeps its own.

A command may write into `.git`, or nothing could be committed. It must not write what has `git` run a program outside
of the sandbox: hooks, settings, and the files that say where these are. Nor may it move a folder away that has them and
put another in its place. Repositories are looked for in every folder: a person's shell and editor ask `git` in each.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

DECIDING: Final = ("hooks", "config", "config.worktree", "commondir", "gitdir")
"""In a repository's folder: what runs, and where `git` looks for that."""
MOST_HELD: Final = 100
"""Repositories, those of submodules and worktrees among them, that are held fast."""
MOST_FOUND: Final = 20_000
"""Those that are looked at after a command."""
MOST_FOLDERS: Final = 50_000
"""Folders of a workspace folder that are looked at for repositories, the outer ones first."""
_MOST_NEW: Final = 10
"""Times as many are looked at after a command if there were fewer before it: it must not hide something behind many."""
_MOST_OF_POINTER: Final = 1 << 20
"""Bytes of a file that leads elsewhere; `git` reads no more."""
_SETTLED_NS: Final = 2 * 10**9
"""How old the last change of a folder must be, so that the next one has another time. File systems count coarsely."""
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


class Seen(NamedTuple):
    """What of git a look into every folder found."""

    named: tuple[str, ...]
    """Whatever is named `.git`, the outer ones first."""
    bare: tuple[str, ...]
    """Folders that git takes for a repository though they are not named so."""
    is_partial: bool
    """There are more folders than are looked at, or some that cannot be listed."""


class _Folder(NamedTuple):
    status: tuple[int, int, int]
    is_settled: bool
    inner: tuple[str, ...]
    has_git: bool
    is_bare: bool
    is_listed: bool


_GIT_FINDS: Final = frozenset((".git", "HEAD", "objects", "refs", "commondir"))
_LONGEST: Final = max(map(len, _GIT_FINDS))
_MOST_ROOTS: Final = 8
"""Workspace folders whose folders are remembered."""


class Walks:
    """Looks for repositories in every folder of a workspace, ignored ones too.

    A folder is listed again only if its status has changed since: nobody but the system sets that time. Of `home` what
    begins with a dot is left out: no command writes there.
    """

    def __init__(self, home: str = "", most: int = MOST_FOLDERS) -> None:
        self._home = home
        self._most = most
        self._known: dict[str, dict[str, _Folder]] = {}
        self._lock = threading.Lock()

    def look(self, root: str, *, after: Seen | None = None) -> Seen:
        """What is there now; `after` is the look before a command, which may have made folders that cannot be listed:
        these are made so.
        """
        most = self._most * (1 if after is None or after.is_partial else _MOST_NEW)
        with self._lock:
            known, seen = self._known.pop(root, {}), dict[str, _Folder]()
            named: list[str] = []
            bare: list[str] = []
            pending, is_partial, count = deque((root,)), False, 0
            while pending:
                path = pending.popleft()
                count += 1
                if count > most:
                    is_partial = True
                    break
                folder = _looked_into(path, known.get(path), opens=after is not None)
                if folder is None:
                    continue
                if count <= self._most:
                    seen[path] = folder
                is_partial = is_partial or not folder.is_listed
                if folder.has_git:
                    named.append(os.path.join(path, ".git"))
                if folder.is_bare:
                    bare.append(path)
                is_home = path == self._home
                pending.extend(one for one in folder.inner if not is_home or not os.path.basename(one).startswith("."))
            self._known[root] = seen
            while len(self._known) > _MOST_ROOTS:
                self._known.pop(next(iter(self._known)))
            return Seen(tuple(named), tuple(bare), is_partial)


def _looked_into(path: str, known: _Folder | None, *, opens: bool) -> _Folder | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    status = (found.st_dev, found.st_ino, found.st_ctime_ns)
    if known is not None and known.is_settled and known.status == status:
        return known
    if opens and (known is None or known.status != status):
        open_up(path, found)
    is_settled = found.st_ctime_ns < time.time_ns() - _SETTLED_NS
    inner: list[str] = []
    names: set[str] = set()
    is_listed = True
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                names.add(entry.name)
                if entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
    except OSError:
        # Git needs no list of a folder to find something in it.
        is_listed, names = False, {name for name in _GIT_FINDS if os.path.lexists(os.path.join(path, name))}
    has = set(_GIT_FINDS & names)
    # Where the file system takes no heed of capitals, git does not either.
    odd = {name.lower() for name in names if len(name) <= _LONGEST} - {name.lower() for name in has}
    has |= {name for name in _GIT_FINDS if name.lower() in odd and os.path.lexists(os.path.join(path, name))}
    is_bare = "HEAD" in has and ("commondir" in has or {"objects", "refs"} <= has)
    return _Folder(status, is_settled, tuple(inner), ".git" in has, is_bare, is_listed)


def open_up(path: str, status: os.stat_result) -> None:
    """Let the person list a folder of theirs, and change it: git finds things in one that nobody can list."""
    if status.st_mode & stat.S_IRWXU != stat.S_IRWXU and stat.S_ISDIR(status.st_mode):
        mode = stat.S_IMODE(status.st_mode) | stat.S_IRWXU
        with suppress(OSError, NotImplementedError):  # the second where the system follows links in any case
            if sys.platform != "linux":
                os.chmod(path, mode, follow_symlinks=False)
                return
            # A command that still runs may have put a link in its place: it is this very folder, or left alone.
            folder = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.path.samestat(os.fstat(folder), status):
                    os.chmod(f"/proc/self/fd/{folder}", mode)
            finally:
                os.close(folder)


def repositories_in(root: str, gits: Iterable[str], most: int = MOST_HELD) -> list[str]:
    """The folders, in a workspace folder, of the repositories that are or are meant by `gits`, with those of their
    submodules and worktrees, and what these share: real paths, at most `most`.
    """
    found: dict[str, None] = {}
    pending = deque(gits)
    while pending and len(found) < most:
        path = pending.popleft()
        folder = _folder_of(path)
        if folder in found or not folder.startswith(_within(root)) or not os.path.isdir(folder):
            continue
        found[folder] = None
        if os.path.lexists(leads := os.path.join(folder, "commondir")):
            pending.append(os.path.join(folder, led_to(leads)))
        with suppress(OSError), os.scandir(os.path.join(folder, "worktrees")) as entries:
            pending.extend(entry.path for entry in islice(entries, most) if entry.is_dir(follow_symlinks=False))
        pending.extend(islice(_modules(os.path.join(folder, "modules")), most))
    return list(found)


@dataclass(frozen=True, slots=True)
class HeldGit:
    """What of git in a workspace folder is held fast while a command runs."""

    root: str
    is_home: bool = False
    """It is the person's home folder, in which no name can be made."""
    gits: tuple[str, ...] = ()
    """What is named `.git`."""
    hooks: tuple[str, ...] = ()
    """Where the person's own settings say that hooks are, as it stands there: often seen from each work tree."""
    settings: tuple[str, ...] = ()
    """The files with settings of the person's own."""
    repositories: tuple[str, ...] = ()
    """The folders of them all."""

    @classmethod
    def of(
        cls,
        root: str,
        gits: Iterable[str] = (),
        *,
        is_home: bool = False,
        hooks: Sequence[str] = (),
        settings: Sequence[str] = (),
    ) -> HeldGit:
        """What belongs to some `.git`s, as it is now."""
        some = tuple(islice(gits, MOST_HELD))
        return cls(root, is_home, some, tuple(hooks), tuple(settings), tuple(repositories_in(root, some)))

    @property
    def pointers(self) -> Iterator[str]:
        """The files `.git` that say where the repository of a worktree or a submodule is: also deep below."""
        yield from (git for git in self.gits if os.path.isfile(git) and not os.path.islink(git))
        for tree in self._trees():
            if tree.startswith(_within(self.root)) and os.path.isfile(pointer := os.path.join(tree, ".git")):
                yield pointer

    @property
    def hook_folders(self) -> Iterator[str]:
        """Where, among other files, hooks are. They need not be there, and may be links."""
        yield from _named_by_settings(self.root, "hookspath", self.repositories)
        for tree in (*(os.path.dirname(git) for git in self.gits), *self._trees()) if self.hooks else ():
            places = (os.path.normpath(os.path.join(tree, path)) for path in self.hooks)
            yield from (place for place in places if place.startswith(_within(self.root)))

    @property
    def hook_links(self) -> Iterator[str]:
        """The links among hooks: what they lead to runs as well."""
        for folder in self.repositories:
            with suppress(OSError), os.scandir(os.path.join(folder, "hooks")) as entries:
                yield from (entry.path for entry in islice(entries, MOST_HELD) if entry.is_symlink())

    @property
    def settings_files(self) -> Iterator[str]:
        """Where, among other files, more settings are. They need not be there, and may be links."""
        yield from _named_by_settings(self.root, "path", self.repositories)
        yield from (path for path in self.settings if path.startswith(_within(self.root)))

    @property
    def missing(self) -> Iterator[str]:
        """The files by which `git` finds other settings and hooks, in every repository where they may be made."""
        found = worktree_of(self.root)
        for folder in dict.fromkeys((*self.repositories, *((found.own,) if found else ()))):
            yield os.path.join(folder, "config.worktree")
            if os.path.isfile(os.path.join(folder, "config")):  # a worktree has none, and has the other file
                yield os.path.join(folder, "commondir")

    def _trees(self) -> Iterator[str]:
        for folder in self.repositories:
            for name, path in _named_by(folder):
                if name == "worktree":
                    yield os.path.realpath(os.path.join(folder, path))


def _folder_of(git: str) -> str:
    """The folder that something named `.git` is, or that it leads to."""
    real = os.path.realpath(git)
    if not os.path.isfile(real):
        return real
    led = led_to(real, "gitdir: ")
    return os.path.realpath(os.path.join(os.path.dirname(real), led)) if led else ""


def led_to(path: str, prefix: str = "") -> str:
    """What a file says that leads git elsewhere, read as git reads it; empty if it does not lead anywhere."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            data = file.read(_MOST_OF_POINTER) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return ""
    text = os.fsdecode(data.rstrip(b"\r\n").partition(b"\0")[0])
    return text.removeprefix(prefix) if text.startswith(prefix) else ""


def _named_by_settings(root: str, setting: str, repositories: Iterable[str]) -> Iterator[str]:
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
                yield found["name"].lower(), os.path.expanduser(found["path"].strip())


def _within(folder: str) -> str:
    return folder.rstrip("/") + "/"


def _modules(folder: str) -> Iterator[str]:
    for path, folders, files in islice(os.walk(folder), MOST_FOUND):
        if "config" in files or "HEAD" in files:
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
