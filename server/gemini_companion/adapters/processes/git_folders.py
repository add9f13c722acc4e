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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple

from gemini_companion.adapters.workspace.following import followed

DECIDING: Final = ("hooks", "config", "config.worktree", "commondir", "gitdir")
"""In a repository's folder: what runs, and where `git` looks for that."""
MOST_HELD: Final = 100
"""Repositories, those of submodules and worktrees among them, that are held fast."""
MOST_FOLDERS: Final = 50_000
"""Folders of a workspace folder that are looked at for repositories, the outer ones first. Of those in a `.git` into
which git writes more than objects there may be as many again, and of the others in one.
"""
_MOST_OF_MODULES: Final = 20_000
"""Folders that are looked through for submodules of a repository."""
_MOST_NEW: Final = 10
"""Times as many are looked at after a command if there were fewer before it: it must not hide something behind many."""
_MOST_OF_POINTER: Final = 1 << 20
"""Bytes of a file that leads elsewhere; `git` reads no more."""
SETTLED_NS: Final = 2 * 10**9
"""How old the last change of a folder must be, so that the next one has another time. File systems count coarsely."""
_WRITTEN: Final = frozenset((
    "info", "lfs", "logs", "lost-found", "modules", "notes_merge_worktree", "objects", "rebase-apply", "rebase-merge",
    "refs", "reftable", "rr-cache", "sequencer", "svn", "worktrees",
))  # fmt: skip
"""The folders of a repository's that `git` writes into, beside that itself; by small letters."""
_REFS: Final = frozenset(("refs",))
_SHARED: Final = ("objects", "refs", "logs", "reftable", "lfs", "rr-cache")
"""What a commit in a worktree writes of the folder that it shares with others. The rest of it is theirs: their index,
their branch, and what decides what runs.
"""
_MOST_OF_SETTINGS: Final = 256_000
"""Bytes of a repository's settings that are read."""
_MOST_INCLUDED: Final = 100
"""Files with settings that include each other."""
_NAMED: Final = re.compile(
    r"(?:^|\])[ \t\r\v\f]*(?P<name>hookspath|path|worktree)[ \t\r\v\f]*=[ \t\r\v\f]*\"?(?P<path>[^\"\n\r;#]+)",
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
    own = followed(os.path.join(root, named)) if named else ""
    back, common = (_line_in(os.path.join(own, name)) for name in ("gitdir", "commondir"))
    if not own or not back or not common:
        return None
    shared = os.path.dirname(os.path.dirname(own))
    is_meant = (
        os.path.basename(os.path.dirname(own)) == "worktrees"
        and followed(os.path.join(own, common)) == shared
        and followed(os.path.join(own, back)) == followed(pointer)
        and os.path.isfile(os.path.join(shared, "HEAD"))
        and all(os.path.isdir(os.path.join(shared, name)) for name in ("objects", "refs"))
    )
    return Worktree(shared, own) if is_meant else None


def places_of(roots: Sequence[str]) -> tuple[str, ...]:
    """Every folder that a command in these workspace folders may write into, the workspace folders first."""
    worktrees = [found for root in roots if (found := worktree_of(root)) and not is_in(found.common, roots)]
    return tuple(dict.fromkeys((*roots, *(path for found in worktrees for path in found.writable))))


def is_in(path: str, places: Sequence[str]) -> bool:
    """Whether a path, by its name alone, is one of some folders or in one."""
    return any(path == place or path.startswith(_within(place)) for place in places)


class Seen(NamedTuple):
    """What of git a look into every folder found."""

    named: tuple[str, ...]
    """Whatever is named `.git`, the outer ones first."""
    bare: tuple[str, ...]
    """Folders that git takes for a repository whatever their names."""
    is_partial: bool
    """There are more folders than are looked at, or some that cannot be listed."""
    linked: Mapping[str, tuple[int, int]] = MappingProxyType({})
    """Folders with links in them: the device and the number of each."""
    refs: tuple[str, ...] = ()
    """Folders with files in them, within one named `refs`."""
    tops: frozenset[str] = frozenset()
    """The repositories that were looked at."""
    hides: bool = False
    """There are more folders in a `.git` than are looked at."""

    def written(self, repositories: Iterable[str]) -> list[str]:
        """The folders with links in them of those that git writes into in some repositories."""
        tops = set(repositories)
        return [path for path in self.linked if path in tops or any(one in tops for one in _tops_of(path, _WRITTEN))]

    def refs_of(self, repositories: Iterable[str]) -> list[str]:
        """The folders with branches, and their like, in some repositories."""
        tops = set(repositories)
        return [path for path in self.refs if any(one in tops for one in _tops_of(path, _REFS))]


class _Folder(NamedTuple):
    status: tuple[int, int, int]
    is_settled: bool
    inner: tuple[str, ...]
    has_git: bool
    is_bare: bool
    is_listed: bool
    has_links: bool
    has_files: bool


_GIT_FINDS: Final = frozenset((".git", "HEAD", "objects", "refs", "commondir"))
_LONGEST: Final = max(map(len, _GIT_FINDS))
_GIT: Final = f"{os.sep}.git"
_OF_BRANCHES: Final = frozenset(("refs", "logs"))
"""Folders in which others have the names of branches, whatever these are."""
_OF_OBJECTS: Final = frozenset(("info", "pack"))
"""Folders among the objects in which files have other names than objects have."""
_MOST_ROOTS: Final = 8
"""Workspaces whose folders are remembered."""


class Walks:
    """Looks for repositories in every folder that commands may write into, ignored ones too, and those in a `.git`: a
    link, or a file, may lead git there.

    A folder is listed again only if its status has changed since: nobody but the system sets that time. Of `home` what
    begins with a dot is left out: no command writes there.
    """

    def __init__(self, home: str = "", most: int = MOST_FOLDERS) -> None:
        self._home = home
        self._most = most
        self._known: dict[tuple[str, ...], dict[str, _Folder]] = {}
        self._lock = threading.Lock()

    def look(self, places: Sequence[str], *, after: Seen | None = None, opens: bool = False) -> Seen:
        """What is there now; `after` is the look before a command, which may have made many folders. With `opens` those
        that it made so that they cannot be listed can be again.
        """
        outer = self._most * (1 if after is None or after.is_partial else _MOST_NEW)
        inner = self._most * (1 if after is None or after.hides else _MOST_NEW)
        with self._lock:
            key = tuple(places)
            known, seen = self._known.pop(key, {}), dict[str, _Folder]()
            named: list[str] = []
            bare: list[str] = []
            linked: dict[str, tuple[int, int]] = {}
            refs: list[str] = []
            # What git writes into is looked at however many other folders there are.
            queues = (_Queue(deque(), outer), _Queue(deque(), inner), _Queue(deque(), inner))
            for place in places:
                is_inside = f"{_GIT}{os.sep}" in place  # what a worktree shares
                queues[_rank(place, int(is_inside))].pending.append(place)
            is_partial = hides = False
            while queue := next((queue for queue in queues if queue.pending), None):
                path = queue.pending.popleft()
                if path in seen:
                    continue  # a workspace folder within another
                queue.count += 1
                if queue.count > queue.most:
                    is_partial, hides = True, hides or queue is not queues[0]
                    queue.pending.clear()
                    continue
                folder = _looked_into(path, known.get(path), opens=opens)
                if folder is None:
                    continue
                if queue.count <= self._most:
                    seen[path] = folder
                is_partial = is_partial or not folder.is_listed
                if folder.has_git:
                    named.append(os.path.join(path, ".git"))
                if folder.is_bare:
                    bare.append(path)
                if folder.has_links:
                    linked[path] = folder.status[:2]
                if folder.has_files and f"{os.sep}refs{os.sep}" in f"{path.lower()}{os.sep}":
                    refs.append(path)
                for one in folder.inner:
                    if path != self._home or not os.path.basename(one).startswith(".") or _is_git(one):
                        pending = queues[_rank(one, queues.index(queue))].pending
                        # One repository after the other: many new ones hide nothing in the first.
                        (pending.appendleft if pending is queue.pending is queues[1].pending else pending.append)(one)
            self._known[key] = seen
            while len(self._known) > _MOST_ROOTS:
                self._known.pop(next(iter(self._known)))
            found = (tuple(dict.fromkeys(named)), tuple(dict.fromkeys(bare)))
            return Seen(*found, is_partial, linked, tuple(refs), hides=hides)


@dataclass(slots=True, eq=False)
class _Queue:
    """Folders that are to be looked at."""

    pending: deque[str]
    most: int
    count: int = 0


def _is_git(path: str) -> bool:
    return os.path.basename(path).lower() == ".git"


def _rank(path: str, outer: int) -> int:
    """Which folders one is looked at with, by how the one that it lies in is: 0 outside of every `.git`, 1 where git
    writes more than single objects, 2 elsewhere.
    """
    name, above = os.path.basename(path).lower(), os.path.dirname(path)
    if outer != 1:
        return outer or int(_is_git(path))
    is_written = not _is_git(above) or name in _WRITTEN
    is_object = os.path.basename(above).lower() == "objects" and not any(_tops_of(above, _OF_BRANCHES))
    return 1 if is_written and (not is_object or name in _OF_OBJECTS) else 2


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
    is_settled_now = is_settled(found)
    inner: list[str] = []
    names: set[str] = set()
    is_listed, has_links, has_files = True, False, False
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                names.add(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
                else:
                    has_files = True
                    has_links = has_links or entry.is_symlink()
    except OSError:
        # Git needs no list of a folder to find something in it.
        is_listed, names = False, {name for name in _GIT_FINDS if os.path.lexists(os.path.join(path, name))}
    has = set(_GIT_FINDS & names)
    # Where the file system takes no heed of capitals, git does not either.
    odd = {name.lower() for name in names if len(name) <= _LONGEST} - {name.lower() for name in has}
    has |= {name for name in _GIT_FINDS if name.lower() in odd and os.path.lexists(os.path.join(path, name))}
    is_bare = "HEAD" in has and ("commondir" in has or {"objects", "refs"} <= has)
    return _Folder(status, is_settled_now, tuple(inner), ".git" in has, is_bare, is_listed, has_links, has_files)


def tops_of(link: str) -> Iterator[str]:
    """The folders that are repositories if git writes into the folder of a link."""
    folder = os.path.dirname(link)
    yield folder
    yield from _tops_of(folder, _WRITTEN)


def is_settled(status: os.stat_result) -> bool:
    """Whether the next change of something is sure to have another time than its last one."""
    return status.st_ctime_ns < time.time_ns() - SETTLED_NS


def _tops_of(path: str, names: Collection[str]) -> Iterator[str]:
    """The folders that a path is in, by some names that a repository's own folders have."""
    while path != (above := os.path.dirname(path)):
        if os.path.basename(path).lower() in names:
            yield above
        path = above


def open_up(path: str, status: os.stat_result, rights: int = stat.S_IRUSR | stat.S_IXUSR) -> None:
    """Let the person list a folder of theirs, or with other `rights` change it: git finds things in one that nobody can
    list.
    """
    if status.st_mode & rights != rights and stat.S_ISDIR(status.st_mode):
        mode = stat.S_IMODE(status.st_mode) | rights
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


def repositories_in(
    places: Sequence[str], gits: Iterable[str], most: int | None = MOST_HELD, *, is_deep: bool = True
) -> list[str]:
    """The folders, in places that commands may write into, of the repositories that are or are meant by `gits`, and
    what these share: real paths, at most `most`. If `is_deep`, those of their submodules and worktrees as well.
    """
    found: dict[str, None] = {}
    pending = deque((git, is_deep) for git in gits)
    while pending and (most is None or len(found) < most):
        path, has_modules = pending.popleft()
        folder = meant_by(path)
        if folder in found or not is_in(folder, places) or not os.path.isdir(folder):
            continue
        found[folder] = None
        if os.path.lexists(leads := os.path.join(folder, "commondir")):
            pending.append((os.path.join(folder, led_to(leads)), has_modules))
        if not is_deep:
            continue
        with suppress(OSError), os.scandir(os.path.join(folder, "worktrees")) as entries:
            pending.extend((entry.path, True) for entry in islice(entries, most) if entry.is_dir(follow_symlinks=False))
        if has_modules:  # those of submodules are among them
            modules = islice(_modules(os.path.join(folder, "modules")), most)
            pending.extend((module, False) for module in modules)
    return list(found)


@dataclass(frozen=True, slots=True)
class HeldGit:
    """What of git in a workspace is held fast while a command runs."""

    roots: tuple[str, ...]
    """The workspace folders."""
    places: tuple[str, ...]
    """Every folder that the command may write into."""
    home: str = ""
    """The person's home folder. In a workspace folder that is it no name can be made."""
    gits: tuple[str, ...] = ()
    """What is named `.git`."""
    hooks: tuple[str, ...] = ()
    """Where the person's own settings say that hooks are, and the template of new repositories, as it stands there:
    often seen from each work tree.
    """
    settings: tuple[str, ...] = ()
    """The files with settings of the person's own."""
    repositories: tuple[str, ...] = ()
    """The folders of them all, but of those without settings: in such a one hooks can be made, and it is looked at."""

    @classmethod
    def of(
        cls,
        roots: Sequence[str],
        gits: Iterable[str] = (),
        *,
        home: str = "",
        hooks: Sequence[str] = (),
        settings: Sequence[str] = (),
    ) -> HeldGit:
        """What belongs to some `.git`s, as it is now."""
        places = places_of(roots)
        some = tuple(islice(gits, MOST_HELD))
        own = [found.own for root in roots if (found := worktree_of(root))]
        repositories = tuple(filter(_has_settings, repositories_in(places, (*own, *some))))
        return cls(tuple(roots), places, home, some, tuple(hooks), tuple(settings), repositories)

    def may_change(self, kind: str, path: str) -> bool:
        """Whether a command may change something that decides what git runs, or where it writes."""
        if kind in {"gitdir", "index", "link", "links", "target"}:
            return is_in(path, self.places)
        folder = os.path.dirname(path)
        repository = os.path.dirname(folder) if os.path.basename(folder) == "hooks" else folder
        is_held = path in self.gits or folder in self.repositories or repository in self.repositories
        return is_in(path, self.places) and not is_held

    @property
    def pointers(self) -> Iterator[str]:
        """The files `.git` that say where the repository of a worktree or a submodule is: also deep below."""
        yield from (git for git in self.gits if os.path.isfile(git) and not os.path.islink(git))
        for tree in self._trees():
            if is_in(tree, self.places) and os.path.isfile(pointer := os.path.join(tree, ".git")):
                yield pointer

    @property
    def ways(self) -> Iterator[str]:
        """Where, by what leads git elsewhere, it goes on, as it stands there."""
        for pointer in dict.fromkeys((*self.gits, *self.pointers)):
            if os.path.isfile(pointer) and (led := led_to(pointer, "gitdir: ")):
                yield os.path.join(os.path.dirname(pointer), led)
        for folder in self.repositories:
            if os.path.lexists(leads := os.path.join(folder, "commondir")):
                yield os.path.join(folder, led_to(leads))

    @property
    def hook_folders(self) -> Iterator[str]:
        """Where, among other files, hooks are. They need not be there, and may be links."""
        for place in (*self._named("hookspath"), *self._persons_hooks()):
            yield place
            above = os.path.dirname(place)
            # What husky has there runs the scripts of the folder above, by their names.
            if os.path.basename(place) == "_" and above not in self.places:
                yield above

    def _persons_hooks(self) -> Iterator[str]:
        gits = (os.path.dirname(git) for git in self.gits)
        return self.hooks_in(dict.fromkeys((*self.roots, *gits, *self._trees())))

    def hooks_in(self, trees: Iterable[str]) -> Iterator[str]:
        """Where, by the person's own settings, hooks are for some work trees."""
        for tree in trees if self.hooks else ():
            places = (os.path.normpath(os.path.join(tree, path)) for path in self.hooks)
            yield from (place for place in places if is_in(place, self.places))

    @property
    def hook_links(self) -> Iterator[str]:
        """The links among hooks: what they lead to runs as well."""
        own = (os.path.join(folder, "hooks") for folder in self.repositories)
        for folder in dict.fromkeys((*own, *self.hook_folders)):
            with suppress(OSError), os.scandir(folder) as entries:
                yield from islice((entry.path for entry in entries if entry.is_symlink()), MOST_HELD)

    @property
    def settings_files(self) -> Iterator[str]:
        """Where, among other files, more settings are. They need not be there, and may be links."""
        yield from self._named("path")
        yield from (path for path in self.settings if is_in(path, self.places))

    @property
    def missing(self) -> Iterator[str]:
        """What git finds hooks and other settings by, in every repository where it may be made."""
        for folder in self.repositories:
            yield os.path.join(folder, "config.worktree")
            if os.path.isfile(os.path.join(folder, "config")):  # a worktree has none, and has the other file
                yield os.path.join(folder, "commondir")
                yield os.path.join(folder, "hooks")

    def _named(self, setting: str) -> Iterator[str]:
        """Where, in the workspace, repositories have their hooks (`hookspath`), or more settings (`path`, of an
        include). It need not be there, and may be a link.
        """
        trees: dict[str, list[str]] = {folder: [] for folder in self.repositories}
        for git in self.gits:
            trees.setdefault(meant_by(git), []).append(os.path.dirname(git))
        for folder, own in trees.items():
            leads = os.path.join(folder, "commondir")
            shared = followed(os.path.join(folder, led_to(leads))) if os.path.lexists(leads) else folder
            named = [*_named_by(folder), *(_named_by(shared) if shared != folder else ())]
            own += [os.path.join(folder, path) for name, path, _ in named if name == "worktree"]
            for path, base in ((path, base) for name, path, base in named if name == setting):
                bases = own if setting == "hookspath" else (base,)
                places = [os.path.normpath(os.path.join(one, path)) for one in bases]
                if os.path.lexists(bare := os.path.normpath(os.path.join(folder, path))):
                    places.append(bare)
                yield from (one for one in places if is_in(one, self.places) and one not in self.places)

    def _trees(self) -> Iterator[str]:
        for folder in self.repositories:
            for name, path, _ in _named_by(folder):
                if name == "worktree":
                    yield followed(os.path.join(folder, path))


def meant_by(git: str) -> str:
    """The folder that something named `.git` is, or that it leads to: from where it stands, also if it is a link."""
    if not os.path.isfile(git):
        return followed(git)
    led = led_to(git, "gitdir: ")
    return followed(os.path.join(os.path.dirname(git), led)) if led else ""


def led_to(path: str, prefix: str = "") -> str:
    """What a file says that leads git elsewhere, read as git reads it; empty if it does not lead anywhere."""
    text = os.fsdecode(_read(path, _MOST_OF_POINTER).rstrip(b"\r\n").partition(b"\0")[0])
    return text.removeprefix(prefix) if text.startswith(prefix) else ""


def _read(path: str, most: int) -> bytes:
    """The first bytes of a regular file; none of what cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""


def _named_by(folder: str) -> Iterator[tuple[str, str, str]]:
    """What the settings of a repository name, and those of files that they include: `hookspath`, `path` or `worktree`,
    the path, and the folder of the file that it stands in.
    """
    pending = deque(os.path.join(folder, name) for name in ("config", "config.worktree"))
    seen: set[str] = set()
    while pending and len(seen) < _MOST_INCLUDED:
        file = pending.popleft()
        if file in seen:
            continue
        seen.add(file)
        for name, path in named_in(_read(file, _MOST_OF_SETTINGS)):
            yield name, path, os.path.dirname(file)
            if name == "path":
                pending.append(os.path.normpath(os.path.join(os.path.dirname(file), path)))


def named_in(settings: bytes) -> Iterator[tuple[str, str]]:
    """What looks, in the text of a file with settings, as if it named a path: `hookspath`, `path` or `worktree`."""
    for found in _NAMED.finditer(os.fsdecode(settings.replace(b"\\\n", b""))):
        yield found["name"].lower(), os.path.expanduser(found["path"].partition("\0")[0].strip())


def _within(folder: str) -> str:
    return folder.rstrip("/") + "/"


def worktrees_of(repositories: Iterable[str]) -> Iterator[str]:
    """The folders that some repositories have for their worktrees, whatever is in them."""
    for folder in repositories:
        with suppress(OSError), os.scandir(os.path.join(folder, "worktrees")) as entries:
            yield from [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]


def _modules(folder: str) -> Iterator[str]:
    for path, folders, files in islice(os.walk(folder), _MOST_OF_MODULES):
        if "config" in files or "HEAD" in files:
            yield path
            folders[:] = [name for name in folders if name == "modules"]


def _has_settings(folder: str) -> bool:
    """Whether a repository has settings of its own, or shares another's."""
    leads = os.path.join(folder, "commondir")
    return os.path.isfile(os.path.join(folder, "config")) or (
        os.path.lexists(leads) and followed(os.path.join(folder, led_to(leads))) != folder
    )


def _line_in(path: str) -> str:
    text = os.fsdecode(_read(path, 4_097))
    line = text.removesuffix("\n")
    return line if len(text) <= 4_096 and not any(sign in line for sign in "\0\n\r") else ""
