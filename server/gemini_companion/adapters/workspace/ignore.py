"""Which entries of a directory `.gitignore` and `.geminiignore` hide, by git's rules.

A `Scope` is a directory with all the rules that apply in it: those of its own ignore files, of every directory above it
up to the workspace folder or, where that lies in a git repository, to the repository's top, and of the repository's
`info/exclude`. Entries are tested one level at a time, so that nothing inside a hidden directory can be re-included.
The two kinds of files are evaluated separately: what either hides is hidden. A file is UTF-8, or what its byte order
mark says; names in it that are no UTF-8 are bytes, as in git. One that is too large, that is no text, or that cannot be
read hides everything in its directory: a repository cannot buy its way past an ignore file, nor keep the daemon busy
with one. So does a `.geminiignore` that is no file, a folder for instance. A `.gitignore` of that kind hides nothing:
git has no rules from it either, so there are none that somebody counts on.
"""

from __future__ import annotations

import logging
import os
import stat
import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from gemini_companion.adapters.workspace.patterns import Place, Rules, TooLarge
from gemini_companion.adapters.workspace.reading import BOMS, read_bytes
from gemini_companion.engine.escapes import one_line

logger = logging.getLogger(__name__)

_MAX_FILE = 1 << 20
_MAX_CACHED = 4_096
_MAX_CACHED_BYTES = 1 << 22

_Stamp: TypeAlias = tuple[int, int, int]

_told: set[tuple[str, _Stamp]] = set()
"""Files that people were told of, each as it was."""


class _Level(NamedTuple):
    """An ignore file, and where a directory lies below it."""

    rules: Rules
    place: Place


class Scope(NamedTuple):
    """A directory and the rules that apply in it, outermost first."""

    path: str
    git: tuple[_Level, ...] = ()
    gemini: tuple[_Level, ...] = ()
    unusable: str | None = None
    """An ignore file, here or above, that cannot be gone by: its kind, and why."""

    def hidden_by(self, name: str, *, is_folder: bool) -> str | None:
        """The kind of ignore file that hides an entry of this directory, `None` if none does."""
        if self.unusable:
            return self.unusable
        for kind, levels in ((".gitignore", self.git), (".geminiignore", self.gemini)):
            for rules, place in reversed(levels):
                verdict = rules.verdict(place, name, is_folder=is_folder)
                if verdict:
                    return kind
                if verdict is False:
                    break
        return None


class _Unusable(NamedTuple):
    why: str


class IgnoreFiles:
    """The ignore files of this machine, compiled once and again after a change. Threads may share it."""

    def __init__(self) -> None:
        self._compiled: dict[str, tuple[_Stamp, Rules | _Unusable]] = {}
        self._size = 0
        self._lock = threading.Lock()

    def scope(self, folder: str) -> Scope:
        """The scope of a workspace folder, which is not itself tested: the user opened it."""
        above: list[str] = []
        top = folder
        while not os.path.lexists(os.path.join(top, ".git")):
            top, name = os.path.split(top)
            if not name:  # no repository: the folder's own files alone
                return self._with_own_rules(Scope(folder))
            above.append(name)
        scope = self._with_own_rules(Scope(top))
        for name in reversed(above):
            scope = self.enter(scope, name)
        return scope

    def enter(self, scope: Scope, name: str) -> Scope:
        """The scope of a directory in `scope`."""
        return self._with_own_rules(
            scope._replace(
                path=os.path.join(scope.path, name),
                git=_entered(scope.git, name),
                gemini=_entered(scope.gemini, name),
            )
        )

    def has_strange(self, folder: str, until: Callable[[], bool]) -> bool:
        """Whether below a folder stands what git would take for rules and is no file, or one that nobody reads whole.

        What git hides below the folder is not looked at, nor what is left when `until` says so. Blocks.
        """
        pending = deque([self._with_own_rules(Scope(folder))])
        while pending and not until():
            scope = pending.popleft()._replace(gemini=(), unusable=None)
            exclude = _exclude_file(os.path.join(scope.path, ".git"))
            if any(path and _is_strange(path) for path in (os.path.join(scope.path, ".gitignore"), exclude)):
                return True
            for name in _folders_in(scope.path):
                if name != ".git" and not scope.hidden_by(name, is_folder=True):
                    pending.append(self.enter(scope, name))
        return False

    def _with_own_rules(self, scope: Scope) -> Scope:
        git = [*scope.git]
        gemini = [*scope.gemini]
        unusable = scope.unusable
        exclude = _exclude_file(os.path.join(scope.path, ".git"))
        for path, kind, levels in (
            (exclude, "info/exclude of git", git),
            (os.path.join(scope.path, ".gitignore"), ".gitignore", git),
            (os.path.join(scope.path, ".geminiignore"), ".geminiignore", gemini),
        ):
            rules = self._rules(path, is_git=levels is git) if path else None
            if isinstance(rules, _Unusable):
                unusable = unusable or f"{kind}, which {rules.why}"
            elif rules:
                levels.append(_Level(rules, rules.top))
        return scope._replace(git=tuple(git), gemini=tuple(gemini), unusable=unusable)

    def _rules(self, path: str, *, is_git: bool) -> Rules | _Unusable | None:
        """The rules of a file; `None` if nothing is there, or what has no rules."""
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            return None
        try:
            if stat.S_ISLNK(status.st_mode):
                status = os.stat(path)
        except OSError:
            return _unreadable(path, status, "is a link that leads nowhere")
        if not stat.S_ISREG(status.st_mode):
            if not is_git and not _is_empty_device(status):
                return _unreadable(path, status, "is no file")
            return None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        with self._lock:
            known = self._compiled.get(path)
        if not known or known[0] != stamp:
            data = read_bytes(path, _MAX_FILE + 1)
            if data is None:  # not kept: who may read a file is no part of its stamp
                return _unreadable(path, status, "cannot be read")
            known = (stamp, _compile(path, data, stamp))
            with self._lock:
                if len(self._compiled) >= _MAX_CACHED or self._size >= _MAX_CACHED_BYTES:
                    self._compiled.clear()
                    self._size = 0
                self._compiled[path] = known
                self._size += len(data)
        return known[1]


def _is_empty_device(status: os.stat_result) -> bool:
    """Whether it is `/dev/null`, to which a link says that there is nothing."""
    try:
        return os.path.samestat(status, os.stat(os.devnull))
    except OSError:
        return False


def _unreadable(path: str, status: os.stat_result, problem: str) -> _Unusable:
    return _unusable(path, (0, 0, status.st_ino), "cannot be read", problem, "mend it or take it away")


def _unusable(path: str, stamp: _Stamp, why: str, problem: str, cure: str) -> _Unusable:
    """A file that hides everything, which is said once for each version of it."""
    if (path, stamp) not in _told:
        _told.add((path, stamp))
        logger.warning("%s %s. Everything in its folder is ignored until you %s.", one_line(path), problem, cure)
    return _Unusable(why)


def _compile(path: str, data: bytes, stamp: _Stamp) -> Rules | _Unusable:
    """The rules in an ignore file; or that it has none to go by."""
    why, cure = "is too large to be read", "shorten it"
    try:
        if len(data) <= _MAX_FILE:
            return Rules(_decoded(data))
        problem = f"has over {_MAX_FILE // 1024:,} KiB"
    except TooLarge as fault:
        problem = f"has {fault}"
    except ValueError:
        why, cure, problem = "is no text that can be read", "save it as UTF-8", "is no text that can be read"
    return _unusable(path, stamp, why, problem, cure)


def _decoded(data: bytes) -> str:
    """The text of an ignore file. Raises `ValueError` if it is none."""
    mark, encoding = next((known for known in BOMS if data.startswith(known[0])), (b"", "utf-8"))
    text = data[len(mark) :].decode(encoding, "surrogateescape" if encoding == "utf-8" else "strict")
    if "\0" in text:  # no name has one: it is UTF-16 without a mark, or no text at all
        raise ValueError("a NUL")
    return text  # what is no UTF-8 as in the names of files


def _is_strange(path: str) -> bool:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    return (not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode)) or status.st_size > _MAX_FILE


def _folders_in(path: str) -> list[str]:
    try:
        with os.scandir(path) as found:
            return [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _entered(levels: tuple[_Level, ...], name: str) -> tuple[_Level, ...]:
    return tuple(_Level(rules, rules.enter(place, name)) for rules, place in levels)


def _exclude_file(git: str) -> str | None:
    """The path of a repository's `info/exclude`, given its `.git`; `None` if that is no repository.

    In worktrees and submodules `.git` is a file that names the directory.
    """
    if os.path.isdir(git):
        return os.path.join(git, "info", "exclude")
    target = _first_line(git)
    if target is None or not target.startswith("gitdir: "):
        return None
    directory = os.path.join(os.path.dirname(git), target.removeprefix("gitdir: "))
    common = _first_line(os.path.join(directory, "commondir"))
    return os.path.join(directory, common or "", "info", "exclude")


def _first_line(path: str) -> str | None:
    data = read_bytes(path, 4_096)
    return data.decode("utf-8", "surrogateescape").partition("\n")[0].rstrip("\r") if data is not None else None
