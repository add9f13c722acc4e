"""Which entries of a directory `.gitignore` and `.geminiignore` hide, by git's rules.

A `Scope` is a directory with all the rules that apply in it: those of its own ignore files, of every directory above it
up to the workspace folder or, where that lies in a git repository, to the repository's top, and of the repository's
`info/exclude`. Entries are tested one level at a time, so that nothing inside a hidden directory can be re-included.
The two kinds of files are evaluated separately: what either hides is hidden.
"""

from __future__ import annotations

import os
import threading
from typing import NamedTuple, TypeAlias

from gemini_companion.adapters.workspace.patterns import Rules
from gemini_companion.adapters.workspace.reading import read_bytes

_MAX_FILE = 1 << 20
_MAX_CACHED = 4_096

_Stamp: TypeAlias = tuple[int, int, int]


class Scope(NamedTuple):
    """A directory and the rules that apply in it, outermost first."""

    path: str
    parts: tuple[str, ...] = ()
    """Names from the topmost directory whose rules apply to this one."""
    git: tuple[tuple[int, Rules], ...] = ()
    """For each ignore file how many of `parts` lead to its directory, and its rules."""
    gemini: tuple[tuple[int, Rules], ...] = ()

    def hidden_by(self, name: str, *, is_folder: bool) -> str | None:
        """The kind of ignore file that hides an entry of this directory, `None` if none does."""
        parts = (*self.parts, name)
        for kind, levels in ((".gitignore", self.git), (".geminiignore", self.gemini)):
            for depth, rules in reversed(levels):
                verdict = rules.verdict(parts[depth:], is_folder=is_folder)
                if verdict:
                    return kind
                if verdict is False:
                    break
        return None


class IgnoreFiles:
    """The ignore files of this machine, compiled once and again after a change. Threads may share it."""

    def __init__(self) -> None:
        self._compiled: dict[str, tuple[_Stamp, Rules]] = {}
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
        return self._with_own_rules(scope._replace(path=os.path.join(scope.path, name), parts=(*scope.parts, name)))

    def _with_own_rules(self, scope: Scope) -> Scope:
        depth = len(scope.parts)
        exclude = _exclude_file(os.path.join(scope.path, ".git"))
        git = [self._rules(exclude)] if exclude else []
        git.append(self._rules(os.path.join(scope.path, ".gitignore")))
        gemini = self._rules(os.path.join(scope.path, ".geminiignore"))
        return scope._replace(
            git=scope.git + tuple((depth, rules) for rules in git if rules),
            gemini=scope.gemini + (((depth, gemini),) if gemini else ()),
        )

    def _rules(self, path: str) -> Rules | None:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        with self._lock:
            known = self._compiled.get(path)
        if known and known[0] == stamp:
            return known[1]
        data = read_bytes(path, _MAX_FILE)
        if data is None:
            return None
        rules = Rules(data.decode("utf-8", "surrogateescape"))  # as the names of files are
        with self._lock:
            if len(self._compiled) >= _MAX_CACHED:
                self._compiled.clear()
            self._compiled[path] = (stamp, rules)
        return rules


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
