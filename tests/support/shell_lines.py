"""A disk that is only told of, for judging shell lines, and the rules that most of them are judged by."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.tools.shell.git import Prints
from gemini_companion.tools.shell.judge import judge
from gemini_companion.tools.shell.verdict import Finding, Holding, LineVerdict, PathFacts, Sought, Source

ROOT: Final = "/home/me/project"
HOME: Final = "/home/me"
TOOL: Final = "run_shell_command"


def rule(*command: str, decision: str = "allow", exact: bool = False) -> ToolRule:
    """A rule for the first words of a command, or for these words alone."""
    return ToolRule(tool=TOOL, decision=decision, command=command, exact=exact)  # type: ignore[arg-type]


RULES: Final = (
    *(rule(name) for name in ("ls", "cat", "echo", "printf", "test", "sort", "sed")),
    rule("git", "status"),
    rule("git", "log"),
    rule("npm", "test"),
)


@dataclass
class ToldFacts:
    """What is told of a disk: everything is there, and ordinary, unless it is said here."""

    home: str = HOME
    links: Mapping[str, str] = field(default_factory=dict)
    fresh: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset((ROOT, ROOT + "/src", ROOT + "/docs", HOME, "/", "/etc", ROOT + "/.git"))
    secrets: frozenset[str] = frozenset((".env", "id_rsa"))
    guarded: frozenset[str] = frozenset(("package.json", "Makefile", "config"))
    ours: tuple[str, ...] = (
        HOME + "/.gemini",
        ROOT + "/.gemini/settings.json",
        HOME + "/.local/share/gemini-companion",
    )
    unreadable: frozenset[str] = frozenset()
    writable: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset(("nothing",))
    in_project: frozenset[str] = frozenset(("tool",))
    troubles_below: Mapping[str, str] = field(default_factory=lambda: {ROOT: ".env may hold a secret"})
    repository_runs: str = ""
    aliases: Mapping[str, str] | None = field(default_factory=dict[str, str])

    def path(self, path: str) -> PathFacts:
        """As told."""
        real = posixpath.normpath(path)
        real = "/" + real.lstrip("/")
        for link, target in self.links.items():
            if real == link or real.startswith(link + "/"):
                real = target + real[len(link) :]
        name = posixpath.basename(real)
        return PathFacts(
            real=real,
            kind="folder" if real in self.folders else "other" if real.startswith("/dev/") else "file",
            is_inside=real == ROOT or real.startswith(ROOT + "/"),
            secret="by its name" if name in self.secrets else "",
            is_guarded=name in self.guarded,
            is_ours=any(real == ours or real.startswith(ours + "/") for ours in self.ours),
            is_fresh=real in self.fresh,
            read="deny" if real in self.unreadable else "allow",
            write="allow" if real in self.writable else "ask",
        )

    def names(self, pattern: str, cwd: str) -> tuple[str, ...] | None:
        """Not known."""
        return None

    def below(self, folder: str, sought: Sought) -> str:
        """As told."""
        return self.troubles_below.get(posixpath.normpath(folder), "") if sought.how == "read" else ""

    def holds(self, source: Source) -> Holding:
        """No secret anywhere."""
        return "nothing"

    def git_aliases(self, folder: str) -> Mapping[str, str] | None:
        """As told."""
        return self.aliases

    def repository(self, folder: str) -> str:
        """As told."""
        return self.repository_runs

    def printed(self, folder: str, prints: Prints) -> Finding | None:
        """There is none to ask."""
        return None

    def program(self, name: str) -> str | None:
        """As told."""
        if name in self.missing:
            return None
        return f"{ROOT}/bin/{name}" if name in self.in_project else f"/usr/bin/{name}"


def judged(line: str, *rules: ToolRule, files: ToldFacts | None = None, cwd: str = ROOT) -> LineVerdict:
    """The verdict on a line by the usual rules and more."""
    return judge(line, cwd=cwd, roots=(ROOT,), rules=(*RULES, *rules), files=files or ToldFacts())
