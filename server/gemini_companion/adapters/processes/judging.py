"""Judges shell lines by what is on the disk."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from gemini_companion.adapters.processes import folders, repositories
from gemini_companion.engine.history.tool_entries import Decision, ToolRule
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.tools.paths import innermost, parts_below
from gemini_companion.tools.shell.verdict import LineVerdict, PathFacts, Sought
from gemini_companion.tools.tool import Touched
from gemini_companion.tools.workspace.guarded import guard_of

_SECONDS_FOR_ALIASES: Final = 2.0


class DiskJudge:
    """Judges lines.

    `find_program` finds what the shell of commands would start. `private` are the daemon's own folders and files; of
    each workspace folder, its settings file is one too.
    """

    def __init__(self, *, home: str, find_program: Callable[[str], str | None], private: Sequence[str] = ()) -> None:
        self._home = os.path.realpath(home)
        self._find_program = find_program
        self._private = (os.path.join(home, ".gemini"), *private)

    def __call__(
        self,
        line: str,
        *,
        cwd: str,
        roots: Sequence[str],
        rules: Sequence[ToolRule],
        of_file: Callable[[Touched], Decision],
        fresh: frozenset[str] = frozenset(),
    ) -> LineVerdict:
        """The verdict.

        `of_file` says what the rules say of reading or writing a file that the line names; `fresh` are the real paths
        of files that were written in this turn. Looks at the disk; blocks for some milliseconds at most.
        """
        from gemini_companion.tools.shell.judge import judge  # with the first command: the shell's grammar is large

        ours = (*self._private, *(os.path.join(root, ".gemini", "settings.json") for root in roots))
        facts = _DiskFacts(
            home=self._home,
            find_program=self._find_program,
            roots=roots,
            ours=tuple(os.path.realpath(path) for path in ours),
            of_file=of_file,
            fresh=fresh,
        )
        return judge(line, cwd=cwd, roots=roots, rules=rules, files=facts)


class _DiskFacts:
    """The disk, as it is during one judgement: nothing is looked up twice."""

    def __init__(
        self,
        *,
        home: str,
        find_program: Callable[[str], str | None],
        roots: Sequence[str],
        ours: Sequence[str],
        of_file: Callable[[Touched], Decision],
        fresh: frozenset[str],
    ) -> None:
        self._home = home
        self._find = find_program
        self._roots = roots
        self._ours = tuple(_folded(path) for path in ours)
        self._of_file = of_file
        self._fresh = fresh
        self._paths: dict[str, PathFacts] = {}
        self._programs: dict[str, str | None] = {}
        self._below: dict[tuple[str, Sought], str] = {}
        self._aliases: dict[str, Mapping[str, str] | None] = {}

    @property
    def home(self) -> str:
        return self._home

    @property
    def fresh(self) -> frozenset[str]:
        return self._fresh

    def path(self, path: str) -> PathFacts:
        if path not in self._paths:
            self._paths[path] = self._looked_up(path)
        return self._paths[path]

    def program(self, name: str) -> str | None:
        if name not in self._programs:
            self._programs[name] = self._find(name)
        return self._programs[name]

    def names(self, pattern: str, cwd: str) -> tuple[str, ...] | None:
        return folders.names_for(pattern, cwd)

    def below(self, folder: str, sought: Sought) -> str:
        key = (os.path.realpath(folder), sought)
        if key not in self._below:
            self._below[key] = folders.trouble_below(*key, lambda path: self._trouble_with(path, sought.how))
        return self._below[key]

    def git_aliases(self, folder: str) -> Mapping[str, str] | None:
        if folder not in self._aliases:
            git = self.program("git")
            self._aliases[folder] = _aliases(git, folder, self._home) if git else None
        return self._aliases[folder]

    def repository(self, folder: str) -> str:
        return repositories.runs(os.path.realpath(folder))

    def _trouble_with(self, path: str, how: Literal["read", "write"]) -> str:
        """Why a file that is found below a folder must not be read unasked; why a rule forbids to write it."""
        secret = "by its name" if is_secret_name(path) else ""
        decision = self._of_file(Touched(path=path, how=how, secret=secret))
        is_ours = self._is_ours(path)
        if how == "write" and decision == "ask":
            secret, decision = "", "allow"
        if not (secret or is_ours) and decision == "allow":
            return ""
        shown = os.path.relpath(path, innermost(path, self._roots) or "/")
        if is_ours:
            return f"{shown} holds Gemini Companion's own settings, log or store"
        if decision == "deny":
            return f"a rule forbids to {how} {shown}"
        if secret:
            return f"{shown} may hold a secret; leave it out, or name other folders"
        return f"a rule asks about reading {shown}"

    def _is_ours(self, path: str) -> bool:
        folded = _folded(path)
        return any(folded == ours or folded.startswith(ours + "/") for ours in self._ours)

    def _looked_up(self, path: str) -> PathFacts:
        try:
            real = os.path.realpath(path)
            kind = _kind(real)
        except (OSError, ValueError):  # a name that is too long, a loop
            return PathFacts(real=path, kind="other", is_inside=False)
        root = innermost(real, self._roots)
        inside = root is not None
        is_guarded = bool(guard_of(parts_below(real, root))) if root else False
        secret = "by its name" if is_secret_name(real) or is_secret_name(path) else ""
        touched: dict[Literal["read", "write"], Decision] = {
            how: self._of_file(Touched(path=real, how=how, is_inside=inside, secret=secret, is_guarded=is_guarded))
            for how in ("read", "write")
        }
        return PathFacts(
            real=real,
            kind=kind,
            is_inside=inside,
            secret=secret,
            is_guarded=is_guarded,
            is_ours=self._is_ours(real),
            is_fresh=real in self._fresh,
            read=touched["read"],
            write=touched["write"],
        )


def _kind(path: str) -> Literal["file", "folder", "missing", "other"]:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "missing"
    except NotADirectoryError:
        return "missing"
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def _folded(path: str) -> str:
    """Names that a disk may take for the same are the same."""
    return os.path.normcase(path).casefold()


def _aliases(git: str, folder: str, home: str) -> Mapping[str, str] | None:
    """What the person's settings of `git` and the repository's call commands; `None` if git does not say.

    To list settings git runs nothing that they name.
    """
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "XDG_CONFIG_HOME") if name in os.environ}
    try:
        listed = subprocess.run(
            [git, "--no-pager", "config", "--null", "--includes", "--get-regexp", r"^alias\."],
            cwd=folder,
            env={**environment, "HOME": home, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS_FOR_ALIASES,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if listed.returncode not in {0, 1}:  # 1: there are none
        return None
    found: dict[str, str] = {}
    for entry in listed.stdout.decode("utf-8", "replace").split("\0"):
        key, newline, text = entry.partition("\n")
        if newline:
            found[key.removeprefix("alias.").removesuffix(".command").casefold()] = text
    return found
