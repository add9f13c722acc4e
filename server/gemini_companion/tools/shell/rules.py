"""Rules of consent for commands: whole words, from the front."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.tools.shell.programs import INTERPRETERS, NEVER_BARE, RUNNERS, SHELLS, words_of

TOOL: Final = "run_shell_command"
ALIASES: Final = ("shell", "ShellTool")
"""Other names of the same tool, in rules too."""
_NOT_THE_TASK: Final = words_of("add create dlx exec explore i init install link run run-script tool update upgrade x")
"""Second words after which anything may run, or be fetched and run."""
_TASKS: Final = frozenset(("npm", "pnpm", "yarn"))
"""Programs whose `run` names a task of the workspace in the next word."""
_CRUDE: Final = re.compile(r"[\s;&|()`{}<>$=,]+")


class CommandRules:
    """The rules that are about commands, by what they decide."""

    def __init__(self, rules: Sequence[ToolRule]) -> None:
        own = [rule for rule in rules if rule.tool in {TOOL, *ALIASES, "*"} and rule.path is None]
        self._denied = [rule.command or () for rule in own if rule.decision == "deny"]
        self._asked = [rule.command or () for rule in own if rule.decision == "ask"]
        self._allowed = [rule.command or () for rule in own if rule.decision == "allow"]

    def denies(self, argv: Sequence[str]) -> str:
        """The rule that forbids a command, in words; empty if none does.

        A program named by its path is the program of that name, and what a wrapper may run counts as run.
        """
        return next((_named(rule) for rule in self._denied if _reaches(rule, argv)), "")

    def denies_roughly(self, line: str) -> str:
        """The same of a line that cannot be read: its words anywhere in it, in their order."""
        words = [word for word in _CRUDE.split(line.translate(_QUOTES)) if word]
        return next(
            (
                _named(rule)
                for rule in self._denied
                if not rule or any(_matches(rule, words[at:]) for at in range(len(words)))
            ),
            "",
        )

    def asks(self, argv: Sequence[str]) -> str:
        """The rule by which a command is always asked about, in words; empty if there is none."""
        return next((_named(rule) for rule in self._asked if _matches(rule, argv)), "")

    def allows(self, argv: Sequence[str]) -> int | None:
        """How many words the longest rule names that allows a command; `None` if none does."""
        found = [len(rule) for rule in self._allowed if list(argv[: len(rule)]) == list(rule)]
        return max(found, default=None)


def suggestion(argv: Sequence[str]) -> ToolRule | None:
    """What "always" would store for a command: its first two words, or three where the third names the task; nothing
    where these words would not say what runs.
    """
    if not argv or name_of(argv[0]) in SHELLS | RUNNERS | INTERPRETERS:
        return None
    words = tuple(argv[:2])
    if len(words) == 2 and (words[1].startswith("-") or words[1] in _NOT_THE_TASK):
        if argv[0] not in _TASKS or words[1] not in {"run", "run-script"} or len(argv) < 3 or argv[2].startswith("-"):
            return None
        words = tuple(argv[:3])
    if argv[0] in NEVER_BARE and (len(words) < 2 or words[1].startswith("-") or argv[0] != "git"):
        return None
    return ToolRule(tool=TOOL, decision="allow", command=words)


def name_of(program: str) -> str:
    """A program's name without its folder, its version and the ending it has on Windows, in small letters."""
    name = program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    stem = name.rstrip("0123456789.")
    return stem if stem in INTERPRETERS | SHELLS else name


_QUOTES: Final = {ord(sign): None for sign in "'\"\\"}


def _named(rule: Sequence[str]) -> str:
    return " ".join(rule) if rule else "every command"


def _matches(rule: Sequence[str], argv: Sequence[str]) -> bool:
    if not argv or not rule:
        return not rule
    first = {argv[0], argv[0].replace("\\", "/").rpartition("/")[2]}
    return rule[0] in first and list(argv[1 : len(rule)]) == list(rule[1:])


def _reaches(rule: Sequence[str], argv: Sequence[str]) -> bool:
    if _matches(rule, argv):
        return True
    if not argv or not (name_of(argv[0]) in RUNNERS or argv[0] in {"builtin", "exec", "eval", "coproc"}):
        return False
    return any(_matches(rule, argv[at:]) for at in range(1, len(argv)))
