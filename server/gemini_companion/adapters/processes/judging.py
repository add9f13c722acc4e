"""Judges shell lines by what is on the disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from gemini_companion.adapters.processes import folders
from gemini_companion.adapters.processes.environment import clean
from gemini_companion.adapters.processes.repositories import Repositories, Repository, Strange
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.history.tool_entries import Decision, ToolRule
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.engine.ide_context.secrets import Finder
from gemini_companion.engine.redaction.finding import all_secrets
from gemini_companion.tools.guarded import Guard, guard_of_path, may_be_allowed
from gemini_companion.tools.paths import innermost
from gemini_companion.tools.shell.git import Prints
from gemini_companion.tools.shell.verdict import Finding, Holding, LineVerdict, PathFacts, Sought, Source, worst
from gemini_companion.tools.tool import Touched

_MOST_LOOKED_AT: Final = 4_000_000
"""Bytes that are looked through for secrets: of a file, below a folder, of what git shows. About a second."""
_MOST_KNOWN: Final = 10_000
"""Files of which it is kept what they hold."""
_MOST_LINES: Final = 500
"""Lines with secrets of a file that are looked at alone."""


class DiskJudge:
    """Judges lines.

    `find_program` finds what the shell of commands would start. `private` are the daemon's own folders and files; of
    each workspace folder, its settings file is one too. `environment` is what commands get; git is asked with it.
    `finders` look for secrets beside our own patterns.
    """

    def __init__(
        self,
        *,
        home: str,
        find_program: Callable[[str], str | None],
        private: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        guard: Guard = guard_of_path,
        finders: Sequence[Finder] = (),
    ) -> None:
        self._guard = guard
        self._held = _Held(finders)
        self._home = followed(home)
        self._find_program = find_program
        self._repositories = Repositories(
            clean(os.environ) | {"HOME": home} if environment is None else environment, find_program
        )
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
        of files that were written in this turn. Looks at the disk; blocks for some milliseconds, longer where much is
        to be looked through for secrets.
        """
        from gemini_companion.tools.shell.judge import judge  # with the first command: the shell's grammar is large

        ours = (*self._private, *(os.path.join(root, ".gemini", "settings.json") for root in roots))
        facts = _DiskFacts(
            home=self._home,
            find_program=self._find_program,
            repositories=self._repositories,
            roots=roots,
            ours=tuple(followed(path) for path in ours),
            of_file=of_file,
            fresh=fresh,
            guard=self._guard,
            held=self._held,
        )
        return judge(line, cwd=cwd, roots=roots, rules=rules, files=facts)


class _DiskFacts:
    """The disk, as it is during one judgement: nothing is looked up twice."""

    def __init__(
        self,
        *,
        home: str,
        find_program: Callable[[str], str | None],
        repositories: Repositories,
        roots: Sequence[str],
        ours: Sequence[str],
        of_file: Callable[[Touched], Decision],
        fresh: frozenset[str],
        guard: Guard,
        held: _Held,
    ) -> None:
        self._held = held
        self._sources: dict[Source, Holding] = {}
        self._guard = guard
        self._home = home
        self._find = find_program
        self._repositories = repositories
        self._around: dict[str, Repository | Strange | None] = {}
        self._printed: dict[tuple[str, Prints], Finding | None] = {}
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
        key = (followed(folder), sought)
        if key not in self._below:
            self._below[key] = folders.trouble_below(*key, lambda path: self._trouble_with(path, sought.how))
        return self._below[key]

    def holds(self, source: Source) -> Holding:
        if source not in self._sources:
            self._sources[source] = self._looked_through(source)
        return self._sources[source]

    def _looked_through(self, source: Source) -> Holding:
        if source.git:
            folder = followed(source.place)
            repository = self._repository_of(folder)
            if isinstance(repository, Strange):
                return "unknown"
            shown = b"" if repository is None else self._repositories.shown(repository, folder, source.git)
            return "unknown" if shown is None else self._held.by_text(shown)
        if source.sought is None:
            return self._held.by_file(followed(source.place))[0]
        left = _MOST_LOOKED_AT
        found: Holding = "nothing"

        def trouble_with(path: str) -> str:
            nonlocal left, found
            found, size = self._held.by_file(path)
            left -= size
            if left < 0:
                found = "unknown"
            return "" if found == "nothing" else found

        if folders.trouble_below(followed(source.place), source.sought, trouble_with):
            return found if found != "nothing" else "unknown"
        return "nothing"

    def git_aliases(self, folder: str) -> Mapping[str, str] | None:
        if folder not in self._aliases:
            self._aliases[folder] = self._repositories.aliases(folder)
        return self._aliases[folder]

    def repository(self, folder: str) -> str:
        found = self._repository_of(followed(folder))
        if isinstance(found, Strange):
            return found.reason
        others = (one for one in self._around.values() if not isinstance(one, Strange))
        if any((one and one.git) != (found and found.git) for one in others):
            return "the line looks into more than one repository"
        return ""

    def printed(self, folder: str, prints: Prints) -> Finding | None:
        key = (followed(folder), prints)
        if key not in self._printed:
            self._printed[key] = self._judged_prints(*key)
        return self._printed[key]

    def _repository_of(self, folder: str) -> Repository | Strange | None:
        if folder not in self._around:
            try:
                self._around[folder] = self._repositories.around(folder)
            except Strange as strange:
                self._around[folder] = strange
        return self._around[folder]

    def _judged_prints(self, folder: str, prints: Prints) -> Finding | None:
        """Whether git may show what it prints of files: the same as of `read_file`, in every commit that it goes to."""
        repository = self._repository_of(folder)
        if isinstance(repository, Strange):
            return Finding("ask", repository.reason)
        if prints.names is None:
            return Finding("ask", f"with these options it is not known which files `git {prints.subcommand}` shows")
        words = (*prints.operands, *prints.behind)
        if repository is None:
            if prints.subcommand == "diff" and len({*words} - {"--"}) > 1:
                return Finding("ask", "there is no repository here, so `git diff` compares the files themselves")
            return None
        if prints.subcommand == "diff" and any(
            os.path.lexists(path := os.path.join(folder, one)) and not _holds(repository.top, followed(path))
            for one in prints.operands
        ):
            return Finding("ask", "`git diff` compares what is no part of the repository")
        found = self._judged_objects(repository, folder, prints)
        if found.decision != "allow" or not prints.names:
            return found
        is_search = prints.subcommand == "grep"  # which says by its code that it found nothing
        names = self._repositories.names(repository, folder, prints.names, fine=(0, 1) if is_search else (0,))
        if names is None:
            if self._repositories.names_nothing(repository, folder, words, needs_revision=prints.needs_revision):
                return Finding("allow")
            return Finding(
                "ask", f"git does not say in time which files `git {prints.subcommand}` shows; name fewer commits"
            )
        places = {place for name in names for place in (name, name.partition(":")[2])} - {""}
        return worst([self._judged_file(os.path.join(repository.top, one.lstrip("\n"))) for one in sorted(places)])

    def _judged_objects(self, repository: Repository, folder: str, prints: Prints) -> Finding:
        """The same of what words name by themselves: a file in a commit, an object by its id."""
        if not prints.objects:
            return Finding("allow")
        ends = (end.lstrip("^.") for word in prints.objects for end in (word, *word.split("..")))
        words = [word for end in dict.fromkeys(ends) if end for word in (end, f"{end}^{{}}")]
        kinds = None if any("\n" in word for word in words) else self._repositories.kinds(repository, folder, words)
        if kinds is None:
            return Finding("ask", "git does not say what its words name")
        findings: list[Finding] = []
        for word, kind in zip(words, kinds, strict=True):
            word = word.removesuffix("^{}")
            if kind == "tree" and prints.subcommand == "diff":
                findings.append(Finding("ask", f"git does not say which files of {word} it shows"))
            elif kind == "blob" and ":" not in word:
                findings.append(Finding("ask", f"{word} is the content of a file whose name is not known"))
            elif kind == "blob":
                pieces = word.split(":")  # one of these is where the path begins
                ends = (":".join(pieces[at:]).lstrip("/") for at in range(1, len(pieces)))
                findings += [self._judged_file(os.path.join(b, end)) for end in ends for b in (repository.top, folder)]
        return worst(findings)

    def _judged_file(self, path: str) -> Finding:
        path = os.path.normpath(path)
        if innermost(path, self._roots) is None:
            return Finding("ask", f"it shows {path}, which is outside the workspace")
        return self._judged_by_name(path, "read")

    def _trouble_with(self, path: str, how: Literal["read", "write"]) -> str:
        """Why a file that is found below a folder must not be read unasked; why a rule forbids to write it."""
        return self._judged_by_name(path, how).reason

    def _judged_by_name(self, path: str, how: Literal["read", "write"]) -> Finding:
        secret = "by its name" if is_secret_name(path) else ""
        decision = self._of_file(Touched(path=path, how=how, secret=secret))
        if how == "write" and decision == "ask":
            secret, decision = "", "allow"
        shown = os.path.relpath(path, innermost(path, self._roots) or "/")
        if self._is_ours(path):
            return Finding("ask", f"{shown} holds Gemini Companion's own settings, log or store")
        if decision == "deny":
            return Finding("deny", f"a rule forbids to {how} {shown}")
        if secret:
            return Finding("ask", f"{shown} may hold a secret; leave it out, or name other folders")
        return Finding("allow") if decision == "allow" else Finding("ask", f"a rule asks about reading {shown}")

    def _is_ours(self, path: str) -> bool:
        folded = _folded(path)
        return any(folded == ours or folded.startswith(ours + "/") for ours in self._ours)

    def _looked_up(self, path: str) -> PathFacts:
        try:
            real = followed(path)
            kind, is_executable = _kind(real)
        except (OSError, ValueError):  # a name that is too long, a loop
            return PathFacts(real=path, kind="other", is_inside=False)
        root = innermost(real, self._roots)
        inside = root is not None
        guard = ""
        if root is not None and real != root:  # of a folder, what is in it counts
            named = os.path.join(real, "-.md") if kind == "folder" else real
            guard = self._guard(named, root, is_executable=is_executable)
        is_unknown = may_be_allowed(guard)
        is_guarded = bool(guard) and not is_unknown
        secret = "by its name" if is_secret_name(real) or is_secret_name(path) else ""
        touched: dict[Literal["read", "write"], Decision] = {
            how: self._of_file(
                Touched(
                    path=real, how=how, is_inside=inside, secret=secret, is_guarded=is_guarded, is_unknown=is_unknown
                )
            )
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


class _Held:
    """What files hold, as long as they are as they were."""

    def __init__(self, finders: Sequence[Finder]) -> None:
        self._finders = finders
        self._known: dict[tuple[str, int, int, int, int], Holding] = {}

    def by_file(self, path: str) -> tuple[Holding, int]:
        """The same of a file; and its size."""
        try:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
            with open(os.open(path, flags), "rb") as file:
                about = os.fstat(file.fileno())
                key = (path, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
                if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_LOOKED_AT:
                    return "unknown", about.st_size
                if key not in self._known:
                    if len(self._known) >= _MOST_KNOWN:
                        self._known.clear()
                    self._known[key] = self.by_text(file.read(_MOST_LOOKED_AT))
                return self._known[key], about.st_size
        except FileNotFoundError:
            return "nothing", 0
        except (OSError, ValueError):  # whoever cannot read it cannot have it read either, or it is a link by now
            return "unknown", 0

    def by_text(self, data: bytes) -> Holding:
        """What a text holds, by how it may be found there."""
        text = data.decode("utf-8", "replace")
        found = all_secrets(text, self._finders)
        if b"\0" in data:
            wide = (data.decode(coding, "replace") for coding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"))
            if any(all_secrets(one, self._finders) for one in wide):
                return "hidden"
        lines: set[str] = set()
        for one in found:
            begin, end = text.rfind("\n", 0, one.start) + 1, text.find("\n", one.start)
            line = text[begin : end if end >= 0 else len(text)]
            if one.end > begin + len(line):
                return "spread"
            lines.add(line)
        if len(lines) > _MOST_LINES or not all(all_secrets(line, self._finders) for line in lines):
            return "spread"
        return "lines" if found else "nothing"


def _kind(path: str) -> tuple[Literal["file", "folder", "missing", "other"], bool]:
    """What is there, and whether it is a program by its permissions."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "missing", False
    except NotADirectoryError:
        return "missing", False
    if stat.S_ISREG(mode):
        return "file", bool(mode & 0o111)
    return "folder" if stat.S_ISDIR(mode) else "other", False


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _folded(path: str) -> str:
    """Names that a disk may take for the same are the same."""
    return os.path.normcase(path).casefold()
