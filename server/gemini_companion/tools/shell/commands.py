"""Whether one simple command may run."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gemini_companion.tools.shell import git
from gemini_companion.tools.shell.options import LooksAt, looked_at
from gemini_companion.tools.shell.paths import NULL, judged_path, places_in, with_home
from gemini_companion.tools.shell.programs import (
    BUILT_IN,
    CHECKERS,
    COPIERS,
    EVALUATING,
    INLINE,
    INTERPRETERS,
    INTO_LAST,
    KEEP,
    NEVER_BARE,
    OBEYING,
    READERS,
    RUN_BY_NAME,
    RUNNERS,
    RUNS_FILES,
    SHELLS,
    STARTERS,
    TAKE_DATA,
    TAKE_NO_VALUE,
    TAKE_TEXT,
    TELL_VERSION,
    UNPACKERS,
    WRITERS,
    Reader,
    Shows,
    words_of,
)
from gemini_companion.tools.shell.rules import CommandRules, name_of
from gemini_companion.tools.shell.running import kind_of, running_word, unnamed_word, without_texts
from gemini_companion.tools.shell.script import Command, NotPlain, Redirect, Word
from gemini_companion.tools.shell.spellings import is_option
from gemini_companion.tools.shell.verdict import Facts, Finding, Sought, Source, worst
from gemini_companion.tools.shell.wrappers import is_harmless_assignment, unwrapped

_PROGRAM: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_KEYWORDS: Final = words_of("if then else elif fi for while until do done case esac select function in coproc time")
_FIND: Final = Reader()
_MOST_PLACES: Final = 2_000
_GIT_FORMS: Final = words_of("color only-matching word-diff")
"""Options by which git shows what it found in another form than lines."""
_GIT_TAKES: Final = words_of("add am apply checkout commit mv reset restore rm stash switch update-index")
"""What `git` does with files, and shows nothing that is in them but by lines."""
_HOME_OF: Final = re.compile(r"~[a-z_][a-z0-9_-]*/")
"""The beginning of a path in somebody else's home folder."""


@dataclass(slots=True)
class Flow:
    """What a command gets from those before it in its pipeline, and what becomes of what it puts out."""

    is_fed: bool = False
    """Another command's output, or a file, is its input."""
    sources: tuple[Source, ...] = ()
    """What is in that input."""
    is_shown: bool = True
    """What it puts out is shown or kept, by itself or by what is behind it."""
    given: list[Source] = field(default_factory=list[Source])
    """What is in what it puts out."""


class CommandJudge:
    """Judges commands by rules and by what is known of programs."""

    def __init__(self, rules: CommandRules, roots: Sequence[str], files: Facts) -> None:
        self._rules = rules
        self._roots = roots
        self._files = files
        self.git_looks_in: list[str] = []
        """The folders in which `git` looks."""
        self.only_looks = True
        """No command does more than look: neither a program that a rule allows, nor one with a rule's options."""

    def judged(
        self, node: Command, cwds: frozenset[str], flow: Flow
    ) -> tuple[tuple[str, ...], Finding, frozenset[str] | None]:
        """The words of a command, what is said of it, and where the shell is after it, if it goes elsewhere.

        Adds to `flow` what is in what it puts out.
        """
        sources = self.put_in(node.redirects, cwds)
        flow = Flow(flow.is_fed or _is_fed(node), (*flow.sources, *sources), flow.is_shown, flow.given)
        argv = tuple(with_home(word, self._files) for word in node.words)
        findings = self.redirects(node.redirects, cwds)
        entered: frozenset[str] | None = None
        try:
            words = self._expanded(node.words, cwds)
            _plain(node.assignments, words)
            expanded = tuple(with_home(word, self._files) for word in words)
            start = unwrapped(expanded)
            inner = expanded[start:]
            self._check_program(words[start])
            findings += self._rules.found(expanded, cwds)
            if inner[0] == "cd" and start == 0:
                entered = self._entered(inner, cwds)
            else:
                findings += self._command(inner, cwds, flow)
        except NotPlain as unusual:
            findings.append(Finding("ask", unusual.reason))
        return argv, worst(findings), entered

    def _expanded(self, words: Sequence[Word], cwds: frozenset[str]) -> list[Word]:
        """The words with what bash will put in place of patterns; those of which that is not certain as they are.

        What the line wrote before may add a name: `WrittenBefore` then says nothing.
        """
        found: list[Word] = []
        for at, word in enumerate(words):
            names = self._files.names(word.glob, next(iter(cwds))) if at and word.glob and len(cwds) == 1 else None
            if names is None:
                found.append(word)
            else:  # where no name fits, the pattern stays as it is
                found += [replace(word, value=name, trouble="") for name in names or (word.value,)]
        return found

    def redirects(self, redirects: Sequence[Redirect], cwds: frozenset[str]) -> list[Finding]:
        """What is said of the files that are read and written by redirections."""
        findings: list[Finding] = []
        for redirect in redirects:
            if redirect.target.trouble:
                findings.append(Finding("ask", f"a redirection leads to {redirect.target.trouble}"))
            elif not redirect.is_inner:
                target = with_home(redirect.target, self._files)
                how = "read" if redirect.operator == "<" else "write"
                findings.append(judged_path(target, cwds, how, self._files))
        return findings

    def put_in(self, redirects: Sequence[Redirect], cwds: frozenset[str]) -> list[Source]:
        """The files that redirections put into a command."""
        names = [with_home(one.target, self._files) for one in redirects if one.operator == "<" and not one.is_inner]
        return self._sources_of((name for name in names if name != NULL), cwds)

    def is_silent(self, node: Command) -> bool | None:
        """Whether what is put into a command is shown by none of what it puts out; `None` where it is not known."""
        argv = [word.value for word in node.words]
        reader, words = _reader(argv) if argv else (None, ())
        if reader is None or node.assignments or any(word.trouble for word in node.words):
            return None
        if any(not one.is_inner and one.operator != "<" and one.target.value != NULL for one in node.redirects):
            return None
        try:
            return looked_at(reader, argv[0], words).shows == "nothing"
        except NotPlain:
            return None

    def _check_program(self, word: Word) -> None:
        """Raise `NotPlain` unless it is certain which program a word names, and that it is none of the workspace's."""
        name = word.value
        if not word.is_bare or (not _PROGRAM.fullmatch(name) and name not in {".", "[", ":"}):
            raise NotPlain(f"{name or 'nothing'} is not a program's plain name")
        if name in _KEYWORDS:
            raise NotPlain(f"`{name}` is a word of the shell's own")
        if name in EVALUATING:
            raise NotPlain(f"`{name}` can run what is in its words, or change what later words mean")
        if name in BUILT_IN:
            return
        real = self._files.program(name)
        if real is None:
            raise NotPlain(f"there is no program {name}")
        if any(real == root or real.startswith(root.rstrip("/") + "/") for root in self._roots):
            raise NotPlain(f"{name} is a program in the workspace")

    def _entered(self, argv: Sequence[str], cwds: frozenset[str]) -> frozenset[str]:
        words = [word for word in argv[1:] if word != "--"]
        if len(words) != 1 or words[0].startswith("-"):
            raise NotPlain("it cannot be said where `cd` leads")
        entered: set[str] = set()
        for cwd in cwds:
            facts = self._files.path(posixpath.join(cwd, words[0]))
            if not facts.is_inside or facts.kind != "folder" or facts.secret or facts.is_ours:
                raise NotPlain(f"`cd` leads to {words[0]}, which is no folder in the workspace")
            entered.add(facts.real)
        return frozenset(entered)

    def _command(self, argv: Sequence[str], cwds: frozenset[str], flow: Flow) -> list[Finding]:
        if argv[0] == "cd":
            raise NotPlain("`cd` is run by another command")
        if len(argv) == 2 and argv[1] == "--version" and argv[0] in TELL_VERSION:
            return []
        accepted = self._rules.allows(argv)
        reader, words = _reader(argv)
        name = name_of(argv[0])
        if fresh := self._fresh(name, argv):
            raise NotPlain(f"{fresh}, which decides what `{argv[0]}` runs, was written in this turn")
        if reader is not None and (reader.is_default or accepted is not None):
            skipped = max(0, (accepted or 0) - (len(argv) - len(words)))
            looks = looked_at(reader, argv[0], words, skipped)
            paths = looks.files
            printed: list[Finding] = []
            is_asked = False
            if argv[0] == "git":
                printed, is_asked = self._in_repository(argv, cwds)
                paths = [path for path in paths if not path.startswith((":!", ":^", ":(exclude"))]
            if argv[0] == "diff" and any(self._is_folder(path, cwds) for path in paths):
                raise NotPlain("`diff` looks into files of a folder that it does not name")
            # With an option that only a rule lets pass, it may write what it would look at: `sed -i`, `sort -o`.
            is_wider = any(word.startswith("-") for word in words[:skipped])
            self.only_looks = self.only_looks and not is_wider
            found = printed + (self._written(words, cwds) if is_wider else [])
            for operand in paths:
                places = dict.fromkeys((operand, *places_in(operand))) if operand != "-" else ()
                found += [judged_path(path, cwds, "read", self._files) for path in places]
            if looks.below is not None and not is_asked:
                found += self._below(paths, looks.below, cwds)
            return found + self._shown(argv, looks, cwds, flow, named=words[:skipped])
        written = self._written_by(name, argv[1:], cwds) if name in WRITERS else []
        if accepted is None:
            return [*(one for one in written if one.decision != "ask"), Finding("ask", f"no rule allows `{argv[0]}`")]
        self.only_looks = False
        # A place that a rule forbids stays forbidden, so all is said.
        named = [] if name in WRITERS else [self._named(word, cwds) for word in without_texts(argv)[1:]]
        found = [*written, *named, *self._taken(argv, name, accepted, cwds, flow)]
        try:
            self._check_rule(argv, name, accepted, cwds, is_fed=flow.is_fed)
        except NotPlain as unusual:
            found.append(Finding("ask", unusual.reason))
        return found

    def _sources_of(self, paths: Iterable[str], cwds: frozenset[str]) -> list[Source]:
        """The files among paths, those too that the line makes."""
        found: list[Source] = []
        for place, shown in ((posixpath.join(cwd, path), path) for path in paths for cwd in sorted(cwds)):
            facts = self._files.path(place)
            if facts.kind == "file" or facts.is_fresh:
                found.append(Source(place=place, shown=shown))
        return found

    def _shown(
        self, argv: Sequence[str], looks: LooksAt, cwds: frozenset[str], flow: Flow, *, named: Sequence[str]
    ) -> list[Finding]:
        """What is said of secrets in what a program that only looks shows: they are masked where they are recognised.

        A program that shows whole lines is free wherever a secret is found in its line; what it finds below folders is
        not looked through for it. Files that the rule names, `named`, are the person's to show.
        """
        if looks.shows == "nothing":
            return []
        own = self._sources_of((path for path in looks.files if path != "-"), cwds)
        if argv[0] == "git":
            # Asked for the same in lines, git says what would be in another form.
            in_lines = tuple(word for word in argv[1:] if word.lstrip("-").partition("=")[0] not in _GIT_FORMS)
            own += [Source(place=cwd, shown="", git=in_lines) for cwd in sorted(cwds)]
        elif looks.below is not None:
            folders = [path for path in looks.files if self._is_folder(path, cwds)] or ["."]
            more = ((posixpath.join(cwd, path), path) for path in folders for cwd in sorted(cwds))
            own += [Source(place=place, shown=path, sought=looks.below) for place, path in more]
        flow.given += [*own, *flow.sources]
        if not flow.is_shown:
            return []
        is_named = len(named) >= len(argv) - 1  # every word stands in the rule
        own = [] if is_named else [one for one in own if one.shown not in named]
        own = [one for one in own if looks.shows == "forms" or not one.git]
        return [found for one in (*own, *flow.sources) if (found := self._hidden(argv[0], looks.shows, one))]

    def _hidden(self, program: str, shows: Shows, source: Source) -> Finding | None:
        """What is said where a secret would not be recognised in what a program shows."""
        if source.sought is not None and shows != "forms":
            return None
        holds = self._files.holds(source)
        what = source.shown or "what `git` shows"
        if holds == "unknown" and shows == "forms":
            return Finding("ask", f"`{program}` shows it in another form, and {what} cannot be looked at for secrets")
        fine = {"whole": ("nothing", "lines", "spread", "unknown"), "lines": ("nothing", "lines", "unknown")}
        if holds in fine.get(shows, ("nothing",)):
            return None
        return Finding("ask", f"{what} holds a secret, which would not be recognised in what `{program}` shows")

    def _taken(self, argv: Sequence[str], name: str, accepted: int, cwds: frozenset[str], flow: Flow) -> list[Finding]:
        """The same of a program that a rule allows: the rule is no word about files that it does not name."""
        keeps = name in KEEP and not (name in RUN_BY_NAME and "run" in argv)
        starts = name in STARTERS and not {*argv[1:accepted]}.isdisjoint(KEEP)
        if keeps or starts or not {*argv[:3]}.isdisjoint(CHECKERS) or kind_of(argv):
            return []
        if name == "git" and len(argv) > 1 and argv[1] in _GIT_TAKES:
            return []
        words = argv[max(accepted, 1) :]
        if name in INTERPRETERS and all(is_option(word) and word[1:2] != "m" for word in argv[1:accepted]):
            first = next((at for at, word in enumerate(words) if not is_option(word)), len(words))
            words = [*words[:first], *words[first + 1 :]]  # the first is what it runs
        sources = (*self._sources_of(self._places(words, cwds), cwds), *flow.sources)
        holding = (one for one in sources if self._files.holds(one) not in {"nothing", "unknown"})
        text = (
            "{} holds a secret, which would not be recognised in all that `{}` may show, and the rule does not name it"
        )
        return [Finding("ask", text.format(one.shown or "what `git` shows", argv[0])) for one in holding]

    def _places(self, words: Iterable[str], cwds: frozenset[str]) -> list[str]:
        """The paths that words may name. A tilde within a word may be the home folder: some programs put that in."""
        places: dict[str, None] = {}
        for word in words:
            for part in places_in(word, lambda part: self._may_name(part, cwds)):
                if part == "~" or part.startswith("~/"):
                    part = self._files.home + part[1:]
                elif _HOME_OF.match(part):
                    part = f"/{part}"
                places[part] = None
        return list(places)

    def _may_name(self, part: str, cwds: frozenset[str]) -> bool:
        """Whether there is something by this name, or a place for it outside of where the command runs."""
        if not part:
            return False
        if part == "~" or part.startswith("~/"):
            part = self._files.home + part[1:]
        for cwd in cwds:
            path = posixpath.join(cwd, part)
            if self._files.path(path).kind != "missing":
                return True
            above = posixpath.dirname(path)
            if part.startswith(("/", "../")) and above != "/" and self._files.path(above).kind == "folder":
                return True
        return False

    def _below(self, paths: Sequence[str], sought: Sought, cwds: frozenset[str]) -> list[Finding]:
        """What is said of all that is read below folders. A file that is not there may be none: then it is what is
        below the folder in which the command runs.
        """
        findings: list[Finding] = []
        for cwd in sorted(cwds):
            places = [posixpath.join(cwd, path) for path in paths if path != "-"]
            kinds = {place: self._files.path(place).kind for place in places}
            folders = [place for place in places if kinds[place] == "folder"]
            if not paths or "missing" in kinds.values():
                folders.append(cwd)
            findings += [Finding("ask", why) for folder in folders if (why := self._files.below(folder, sought))]
        return findings

    def _in_repository(self, argv: Sequence[str], cwds: frozenset[str]) -> tuple[list[Finding], bool]:
        """What is said of the files that git prints, and whether git was asked for all of them. Raises `NotPlain` where
        a repository may have it run something though it merely looks. No rule opens either: it says what git may do,
        not what repositories may.
        """
        findings: list[Finding] = []
        prints = git.prints(argv)
        is_asked = prints is not None
        for cwd in sorted(cwds):
            if found := self._files.repository(cwd):
                raise NotPlain(found)
            if prints is not None:
                said = self._files.printed(cwd, prints)
                is_asked = is_asked and said is not None
                findings += [] if said is None else [said]
            self.git_looks_in.append(cwd)
        return findings, is_asked

    def _is_file(self, path: str, cwds: Iterable[str]) -> bool:
        facts = [self._files.path(posixpath.join(cwd, path)) for cwd in cwds]
        return any(one.is_fresh or one.kind == "file" for one in facts)

    def _is_folder(self, path: str, cwds: Iterable[str]) -> bool:
        return any(self._files.path(posixpath.join(cwd, path)).kind == "folder" for cwd in cwds)

    def _check_rule(self, argv: Sequence[str], name: str, accepted: int, cwds: frozenset[str], *, is_fed: bool) -> None:
        """Raise `NotPlain` where a rule is too wide for what it would allow."""
        if name in SHELLS | RUNNERS:
            raise NotPlain(f"`{argv[0]}` runs what its words say, and no rule allows that")
        if argv[0] in NEVER_BARE | INTERPRETERS and accepted < 2:
            raise NotPlain(f"a rule for `{argv[0]}` alone is too wide")
        if word := running_word(name, argv, accepted):
            raise NotPlain(f"`{argv[0]} {word}` may run what its words say, and the rule does not name that")
        if word := unnamed_word(name, argv, accepted, lambda path: self._is_file(path, cwds)):
            raise NotPlain(f"the rule for `{' '.join(argv[:accepted])}` does not name `{word}`")
        if is_fed and (name in OBEYING or self._rules.allows_exactly(argv)):
            raise NotPlain(f"`{argv[0]}` may run what is put into it, and the rule does not name that")
        if name in INTERPRETERS and any(word in INLINE for word in argv[max(accepted, 1) :]):
            raise NotPlain(f"`{argv[0]}` runs code that stands in the line")
        self._check_fresh(argv, name, cwds)

    def _named(self, word: str, cwds: frozenset[str]) -> Finding:
        """What is said of a word that may name a file, to a program of which nothing is known."""
        findings: list[Finding] = []
        for path in self._places([word], cwds):
            found = judged_path(path, cwds, "read", self._files)
            if found.decision == "allow":
                facts = [self._files.path(posixpath.join(cwd, path)) for cwd in cwds]
                is_there = any(one.kind != "missing" for one in facts)
                if any(one.is_guarded for one in facts) and (is_there or _may_be_made(path, word)):
                    found = Finding("ask", f"it may write {path}, which decides what runs")
                elif any(one.write == "deny" for one in facts):
                    found = Finding("ask", f"it may write {path}, which a rule forbids")
            findings.append(found)
        return worst(findings)

    def _written_by(self, name: str, words: Sequence[str], cwds: frozenset[str]) -> list[Finding]:
        """The same of a program that writes what its words name: what it copies is looked at as what it reads, and a
        folder with all that is in it.
        """
        findings = self._written(words, cwds)
        places = self._places(words, cwds)
        if name in COPIERS:
            findings += [judged_path(place, cwds, "read", self._files) for place in places]
        entered = places[:-1] if name in INTO_LAST else places
        folders = [posixpath.join(cwd, place) for cwd in cwds for place in entered if self._is_folder(place, {cwd})]
        folders += cwds if name in UNPACKERS else ()
        for folder in dict.fromkeys(folders):
            if why := self._files.below(folder, Sought(how="write")):
                findings.append(Finding("deny" if name in {"rm", "mv"} else "ask", why))
            if name in COPIERS and folder not in cwds and (why := self._files.below(folder, Sought())):
                findings.append(Finding("ask", why))
        return findings

    def _written(self, words: Sequence[str], cwds: frozenset[str]) -> list[Finding]:
        """What is said of files that a command writes, whose rule allows it to write what may be written at all."""
        findings: list[Finding] = []
        places = self._places(words, cwds)
        # What is put into a folder keeps its name, or is given one that only the program knows.
        names = {posixpath.basename(place.rstrip("/")) for place in places} - {""}
        folders = [place for place in places if self._is_folder(place, cwds)]
        if len(folders) * len(names) > _MOST_PLACES:
            return [Finding("ask", "it names too many files and folders to look at all")]
        within = [posixpath.join(folder, name) for folder in folders for name in names]
        for path in (*places, *within):
            found = judged_path(path, cwds, "write", self._files)
            if found.decision == "ask" and (found.reason == f"it writes {path}" or path in within):
                continue
            findings.append(found)
        return findings

    def _fresh(self, name: str, argv: Sequence[str]) -> str:
        """The file that decides what a program runs and that was written in this turn; empty if there is none."""
        names = {name, *(after for before, after in itertools.pairwise(argv) if before == "-m")}
        deciding = [file for one in names for file in RUNS_FILES.get(one, ())]
        for path in sorted(self._files.fresh):
            for file in deciding:
                if f"/{path}".casefold().endswith(f"/{file}".casefold()):
                    return file
        return ""

    def _check_fresh(self, argv: Sequence[str], name: str, cwds: frozenset[str]) -> None:
        """Raise `NotPlain` where a word leads a program to what was written in this turn, and it may run that."""
        if not self._files.fresh:
            return
        if name in INTERPRETERS:
            for word in argv[1:]:
                if any(self._files.path(posixpath.join(cwd, word)).is_fresh for cwd in cwds):
                    raise NotPlain(f"{word} was written in this turn")
        if name in TAKE_DATA:
            return
        for value in _values(name, without_texts(argv)):
            for place in self._places([value], cwds):
                if fresh := self._fresh_by(place, cwds):
                    raise NotPlain(f"{fresh}, which `{argv[0]}` may run, was written in this turn")

    def _fresh_by(self, place: str, cwds: frozenset[str]) -> str:
        """The file of this turn that a name may lead to: a file, a module or a folder with what decides; else empty."""
        for cwd in cwds:
            facts = self._files.path(posixpath.join(cwd, place))
            if facts.is_fresh:
                return place
            for path in self._files.fresh if facts.kind == "folder" else ():
                if posixpath.dirname(path) == facts.real and self._files.path(path).is_guarded:
                    return posixpath.join(place, posixpath.basename(path))
        name = re.sub(r"^(?:\.\.?/)+", "", place).strip("/")
        wanted = {f"/{one}".casefold() for one in (name, name.replace(".", "/"), name.replace("::", "/")) if one}
        for path in sorted(self._files.fresh):
            stem = posixpath.splitext(path.casefold())[0]
            folder, _, base = stem.rpartition("/")
            is_package = base in {"__init__", "__main__", "index", "mod", "main"}
            if any(stem.endswith(one) or (is_package and folder.endswith(one)) for one in wanted):
                return posixpath.basename(path)
        return ""


def _may_be_made(part: str, word: str) -> bool:
    """Whether a program may make a file of this name that is not there: more than a part of some text."""
    whole = (word, word.partition("=")[2], word[2:])
    return part in whole and re.fullmatch(r"[\w./@+~-]+", part) is not None


def _values(name: str, argv: Sequence[str]) -> Iterator[str]:
    """The words that options of a program may have for their values."""
    for before, word in itertools.pairwise(argv):
        if is_option(word):
            if "=" in word or (len(word) > 2 and word[1] != "-"):
                yield word.partition("=")[2] or word
        elif is_option(before) and before != "--" and "=" not in before:
            takes_none = name in CHECKERS and before in TAKE_NO_VALUE | TAKE_TEXT
            yield from () if takes_none else (word,)


def _is_fed(node: Command) -> bool:
    """Whether a redirection puts something into a command."""
    return any(one.operator.startswith("<") and one.target.value != NULL for one in node.redirects)


def _plain(assignments: Sequence[Word], words: Sequence[Word]) -> None:
    for word in assignments:
        if not is_harmless_assignment(word.value) or word.trouble:
            raise NotPlain(f"it sets {word.value.partition('=')[0]}")
    for word in words:
        if word.trouble:
            raise NotPlain(f"a word has {word.trouble}")


def _reader(argv: Sequence[str]) -> tuple[Reader | None, Sequence[str]]:
    """What is known of a program that only looks, and the words that it is given."""
    if argv[0] == "git":
        found = git.looking(argv)
        return found if found else (None, ())
    if argv[0] == "find":
        return _FIND, argv[1:]
    return READERS.get(argv[0]), argv[1:]
