"""Rules of consent for commands: whole words, from the front."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.tools.shell.programs import (
    BUILT_IN,
    INTERPRETERS,
    NEVER_BARE,
    READERS,
    RUNNERS,
    SHELLS,
    STARTERS,
    words_of,
)
from gemini_companion.tools.shell.running import is_of_kind, kind_of
from gemini_companion.tools.shell.spellings import (
    Hit,
    first_command,
    is_option,
    named_by,
    other_command,
    program_named,
)
from gemini_companion.tools.shell.verdict import Facts, Finding

TOOL: Final = "run_shell_command"
ALIASES: Final = ("shell", "ShellTool")
"""Other names of the same tool, in rules too."""
_NOT_THE_TASK: Final = words_of("add create dlx exec explore i init install link run run-script tool update upgrade x")
"""Second words after which anything may run, or be fetched and run."""
_TASKS: Final = frozenset(("npm", "pnpm", "yarn"))
"""Programs whose `run` names a task of the workspace in the next word."""
_RUN: Final = frozenset(("run", "run-script"))
_CRUDE: Final = re.compile(r"[\s;&|()`{}<>$=,]+")
_MANY_IN_ONE: Final = words_of("busybox toybox coreutils uutils")
"""Programs that are many others, by the name that they are called by."""
_ELSEWHERE: Final = ("-C", "--git-dir", "--work-tree", "--config-env", "--exec-path=")
"""Options of `git` with which other settings than those of the folder may hold."""
_MOST_STARTS: Final = 64
"""Places in a command that are looked at as the beginning of another one."""
_MOST_ALIASES: Final = 5
"""Names of `git` commands that stand for one another."""


class CommandRules:
    """The rules that are about commands, by what they decide."""

    def __init__(self, rules: Sequence[ToolRule], files: Facts | None = None) -> None:
        own = [rule for rule in rules if rule.tool in {TOOL, *ALIASES, "*"} and rule.path is None]
        self._strict = [(rule.decision, rule.command or ()) for rule in own if rule.decision != "allow"]
        self._strict.sort(key=lambda one: one[0] != "deny")
        named = [program_named(rule[0]) for _, rule in self._strict if rule]
        self._programs = {*named, *(name.partition("-")[0] for name in named)}
        self._allowed = [rule for rule in own if rule.decision == "allow"]
        self._files = files

    def found(self, argv: Sequence[str], cwds: Iterable[str] = ()) -> list[Finding]:
        """What rules say against a command. Whatever may be what one forbids is asked about, at least.

        A program named by its path is the program of that name, and what a wrapper may run counts as run.
        """
        if not argv or not self._strict:
            return []
        views = list(self._views(argv, tuple(cwds)))
        findings: list[Finding] = []
        for decision, rule in self._strict:
            hit = max((min(sure, _hit(rule, view)) for sure, view in views), default=Hit.NO) if rule else Hit.YES
            if not hit:
                continue
            if decision == "ask":
                findings.append(Finding("ask", f"a rule asks about {_named(rule)}"))
            elif hit is Hit.YES:
                findings.append(Finding("deny", f"a rule forbids {_named(rule)}"))
            else:
                findings.append(Finding("ask", f"it may be what a rule forbids: {_named(rule)}"))
        return findings

    def found_roughly(self, line: str) -> list[Finding]:
        """The same of a line that cannot be read: a rule's words anywhere in it."""
        views = list(self._starts(_crude(line)))
        findings: list[Finding] = []
        for decision, rule in self._strict:
            hit = max((_hit(rule, view) for view in views), default=Hit.NO) if rule else Hit.YES
            if decision == "deny" and hit is Hit.YES:
                findings.append(Finding("deny", f"a rule forbids {_named(rule)}"))
            elif hit:
                does = "forbids" if decision == "deny" else "asks about"
                findings.append(Finding("ask", f"a rule {does} {_named(rule)}, and the line has these words"))
        return findings

    def allows(self, argv: Sequence[str]) -> int | None:
        """How many words the longest rule names that allows a command; `None` if none does."""
        found = [
            len(rule.command or ())
            for rule in self._allowed
            if tuple(argv[: None if rule.exact else len(rule.command or ())]) == (rule.command or ())
        ]
        return max(found, default=None)

    def allows_exactly(self, argv: Sequence[str]) -> bool:
        """Whether only rules for exactly these words allow a command."""
        return not any(
            not rule.exact and tuple(argv[: len(rule.command or ())]) == (rule.command or ()) for rule in self._allowed
        )

    def _views(self, argv: Sequence[str], cwds: tuple[str, ...]) -> Iterator[tuple[Hit, Sequence[str]]]:
        """The commands that a command is, or runs, and how sure that is."""
        yield from self._names(argv, cwds)
        name = name_of(argv[0])
        runs = name in RUNNERS | SHELLS | STARTERS or argv[0] in {"builtin", "exec", "eval", "coproc"}
        if not runs and (argv[0] in READERS or argv[0] in BUILT_IN or other_command(argv)):
            return
        looked_at = 0
        for at in range(1, len(argv)):
            word = argv[at]
            if name in INTERPRETERS and is_option(word) and "m" in word:  # `python3 -mpip`
                yield Hit.YES, [word.partition("m")[2], *argv[at + 1 :]]
            if " " in word or "\n" in word:
                yield from ((Hit.MAYBE, view) for view in self._starts(_crude(word)))
            if not self._begins_one(word):
                continue
            looked_at += 1
            if looked_at > _MOST_STARTS:
                yield from ((Hit.MAYBE, rule) for _, rule in self._strict if rule)
                return
            is_module = name in INTERPRETERS and is_option(argv[at - 1]) and argv[at - 1].endswith("m")
            for sure, view in self._names(argv[at:], cwds):
                yield sure if runs or is_module else Hit.MAYBE, view

    def _names(self, argv: Sequence[str], cwds: tuple[str, ...]) -> Iterator[tuple[Hit, Sequence[str]]]:
        """The same command by the names of its program, and by what git's settings call it."""
        yield Hit.YES, argv
        program, rest = argv[0], list(argv[1:])
        name = program_named(program)
        whole, dash, sub = name.partition("-")
        if dash:  # `git-push` is `git push`
            yield Hit.YES, [whole, sub, *rest]
        if self._files is not None and "/" not in program and (real := self._files.program(program)):
            named = program_named(real)
            if named != name and named not in _MANY_IN_ONE:
                yield Hit.YES, [named, *rest]
        if name == "git" and "git" in self._programs and not other_command(argv):
            yield from self._by_alias(argv, cwds)

    def _by_alias(self, argv: Sequence[str], cwds: tuple[str, ...]) -> Iterator[tuple[Hit, Sequence[str]]]:
        """What `git` would run for a name that settings give. Where it is not known, it may be anything."""
        name = first_command(argv)
        names: dict[str, str] = {}
        is_known = bool(cwds) and not any(
            word.startswith(_ELSEWHERE) or "alias." in word.casefold() for word in argv[1:]
        )
        for cwd in cwds if is_known else ():
            here = self._files.git_aliases(cwd) if self._files is not None else None
            is_known = is_known and here is not None
            names = {**names, **(here or {})}
        if name and not is_known:
            yield from ((Hit.MAYBE, rule) for _, rule in self._strict if rule and program_named(rule[0]) == "git")
        rest = list(argv[list(argv).index(name) + 1 :]) if name else []
        for _ in range(_MOST_ALIASES):
            text = names.get(name.casefold(), "")
            if text.startswith("!"):
                yield from ((Hit.YES, view) for view in self._starts([*_crude(text[1:]), *rest]))
            words = text.translate(_QUOTES).split()
            if not words or text.startswith("!"):
                return
            yield Hit.YES, ["git", *words, *rest]
            name = first_command(["git", *words])
            rest = [*words[words.index(name) + 1 :], *rest] if name else rest

    def _starts(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """The places among words at which a command may begin that a rule is about."""
        starts = [at for at, word in enumerate(words) if self._begins_one(word)]
        yield from (words[at:] for at in starts[:_MOST_STARTS])
        if len(starts) > _MOST_STARTS:
            yield from (rule for _, rule in self._strict if rule)

    def _begins_one(self, word: str) -> bool:
        name = program_named(word)
        return name in self._programs or name.partition("-")[0] in self._programs


def suggestion(argv: Sequence[str]) -> ToolRule | None:
    """What "always" would store for a command: its kind, if it is one of `KINDS` with nothing in it that is not known,
    else exactly its words; nothing where these words would not say what runs.
    """
    if not argv or name_of(argv[0]) in SHELLS | RUNNERS | INTERPRETERS:
        return None
    if argv[0] in NEVER_BARE and (len(argv) < 2 or is_option(argv[1]) or argv[0] != "git"):
        return None
    if is_of_kind(argv):
        return ToolRule(tool=TOOL, decision="allow", command=kind_of(argv))
    if len(argv) > 1 and argv[1] in _NOT_THE_TASK and not (argv[0] in _TASKS and argv[1] in _RUN and len(argv) > 2):
        return None
    return ToolRule(tool=TOOL, decision="allow", command=tuple(argv), exact=True)


def name_of(program: str) -> str:
    """A program's name without its folder, its version and the ending it has on Windows, in small letters."""
    name = program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    stem = name.rstrip("0123456789.")
    return stem if stem in INTERPRETERS | SHELLS else name


_QUOTES: Final = {ord(sign): None for sign in "'\"\\"}


def _named(rule: Sequence[str]) -> str:
    return " ".join(rule) if rule else "every command"


def _crude(text: str) -> list[str]:
    """The words of a text that cannot be read."""
    return [word for word in _CRUDE.split(text.translate(_QUOTES)) if word]


def _hit(rule: Sequence[str], argv: Sequence[str]) -> Hit:
    if not argv:
        return Hit.NO
    wanted, given = program_named(rule[0]), program_named(argv[0])
    if wanted == given:
        return named_by(rule, argv)
    whole, dash, sub = wanted.partition("-")
    # `docker compose down` is `docker-compose down`.
    return named_by([whole, sub, *rule[1:]], argv) if dash and whole == given else Hit.NO
