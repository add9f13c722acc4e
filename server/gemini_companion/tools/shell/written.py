"""What the earlier commands of a line write counts as fresh for the later ones."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from gemini_companion.tools.shell import git
from gemini_companion.tools.shell.git import Prints
from gemini_companion.tools.shell.options import looked_at
from gemini_companion.tools.shell.paths import NULL, places_in
from gemini_companion.tools.shell.programs import BUILT_IN, READERS, RUNNERS, WRAPPERS, WRITERS, Reader
from gemini_companion.tools.shell.rules import name_of
from gemini_companion.tools.shell.script import NotPlain, Redirect, Word
from gemini_companion.tools.shell.verdict import Facts, Finding, Holding, PathFacts, Sought, Source

_WRITING_READERS: Final = frozenset(("sed", "sort", "uniq"))
"""Programs that look, and with some option write the files they name."""
_FIND: Final = Reader()


class WrittenBefore:
    """The facts of the disk, with what the line has written so far."""

    def __init__(self, files: Facts) -> None:
        self._files = files
        self._written: set[str] = set()
        self._is_as_it_was = True

    @property
    def home(self) -> str:
        """The person's home folder, without links."""
        return self._files.home

    @property
    def fresh(self) -> frozenset[str]:
        """The real paths of the files that were written in this turn, by the line too."""
        return self._files.fresh | self._written

    def program(self, name: str) -> str | None:
        """The real path of what the shell would start for a bare name; `None` if there is none."""
        return self._files.program(name)

    def path(self, path: str) -> PathFacts:
        """Of an absolute path; fresh too where the line wrote it."""
        facts = self._files.path(path)
        if not facts.is_fresh and self._is_written(facts.real):
            return msgspec.structs.replace(facts, is_fresh=True)
        return facts

    def names(self, pattern: str, cwd: str) -> tuple[str, ...] | None:
        """What bash puts in place of a pattern; not known once the line has run what may make files."""
        return self._files.names(pattern, cwd) if self._is_as_it_was else None

    def below(self, folder: str, sought: Sought) -> str:
        """Why what is sought below a folder must not be read unasked."""
        return self._files.below(folder, sought)

    def holds(self, source: Source) -> Holding:
        """Whether secrets are in what a command puts out; not known of what the line wrote before."""
        if self._is_written(self._files.path(source.place).real) or (source.git and not self._is_as_it_was):
            return "unknown"
        return self._files.holds(source)

    def git_aliases(self, folder: str) -> Mapping[str, str] | None:
        """What `git` calls commands in a folder; not known once the line has run what may write its settings."""
        return self._files.git_aliases(folder) if self._is_as_it_was else None

    def repository(self, folder: str) -> str:
        """What in the settings of the repository around a folder has `git` run programs."""
        return self._files.repository(folder)

    def printed(self, folder: str, prints: Prints) -> Finding | None:
        """What is said of what git prints; nothing is known of it once the line has run what may change files."""
        if not self._is_as_it_was and prints.names != ():
            return Finding("ask", "what git shows may have been changed by what the line does before")
        return self._files.printed(folder, prints)

    def note(self, redirects: Sequence[Redirect], words: Sequence[Word], cwds: frozenset[str]) -> None:
        """Remember what a command may write: its redirections, and every word of a program that may write files."""
        targets = [one.target.value for one in redirects if not one.is_inner and one.operator != "<"]
        values = [word.value for word in words]
        names = [name_of(value) for value in values]
        if any(target != NULL for target in targets) or (values and not _only_looks(values)):
            self._is_as_it_was = False
        is_wrapped = bool(names) and (names[0] in WRAPPERS or names[0] in RUNNERS)
        if any(name in WRITERS | _WRITING_READERS for name in (names if is_wrapped else names[:1])):
            places = [place for value in values[1:] for place in places_in(value)]
            targets += places
            # Copied into a folder, a file keeps its name.
            targets += [posixpath.join(one, posixpath.basename(other)) for one in places[-1:] for other in places[:-1]]
        for target in targets:
            self._written |= {self._files.path(posixpath.join(cwd, target)).real for cwd in cwds}

    def _is_written(self, real: str) -> bool:
        return real in self._written


def _only_looks(words: Sequence[str]) -> bool:
    """No name of a file comes or goes by it, whatever else it does."""
    if words[0] in BUILT_IN:
        return True
    found = (
        git.looking(words) if words[0] == "git" else (_FIND if words[0] == "find" else READERS.get(words[0]), words[1:])
    )
    if found is None or found[0] is None:
        return False
    try:
        looked_at(found[0], words[0], found[1])
    except NotPlain:
        return False
    return True
