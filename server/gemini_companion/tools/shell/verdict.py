"""What is said of a shell line, and what must be known of the disk to say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from gemini_companion.engine.history.tool_entries import Decision, ToolRule
from gemini_companion.tools.shell.git import Prints

LineDecision: TypeAlias = Literal["allow", "ask", "deny", "refuse"]
"""`deny`: a rule says no. `refuse`: no rule and no person can have it run."""

_ORDER: Final[tuple[LineDecision, ...]] = ("allow", "ask", "deny", "refuse")


class PathFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a path."""

    real: str
    """Absolute, without links, as far as it exists."""
    kind: Literal["file", "folder", "missing", "other"] = "file"
    is_inside: bool = True
    """In a workspace folder, by its real path."""
    secret: str = ""
    """Why it counts as a secret; empty if it does not."""
    is_guarded: bool = False
    """It decides what runs: a build file, a hook, settings."""
    is_ours: bool = False
    """It is or holds our settings, our log or our store."""
    is_fresh: bool = False
    """It was written in this turn."""
    read: Decision = "allow"
    """What the rules for reading files say of it."""
    write: Decision = "ask"
    """What the rules for writing files, and the mode, say of it."""


class Sought(msgspec.Struct, frozen=True, kw_only=True):
    """Which files of a folder, and of those below it, a program reads, or writes, that goes through folders."""

    included: tuple[str, ...] = ()
    """Patterns of names; empty: all."""
    excluded: tuple[str, ...] = ()
    without_folders: tuple[str, ...] = ()
    """Patterns of the names of folders that it does not enter."""
    hidden: bool = True
    """Those too whose names begin with a dot."""
    follows: bool = False
    """It follows the links that it meets."""
    how: Literal["read", "write"] = "read"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """Where what a command puts out comes from: a file, all that is sought below a folder, what `git` prints."""

    place: str
    """The file's absolute path; the folder; the folder in which git is asked."""
    shown: str
    """As the line names it."""
    sought: Sought | None = None
    git: tuple[str, ...] = ()
    """The words behind `git`."""


Holding: TypeAlias = Literal["nothing", "lines", "spread", "hidden", "unknown"]
"""What a source holds: no secret; secrets of which each is found in its line alone; some that are found in the whole
alone, such as a private key; some that are found in no output, since they are encoded. `unknown`: too much to look at.
"""


class Finding(msgspec.Struct, frozen=True):
    """A decision, and why. An empty reason goes with nothing but `allow`."""

    decision: LineDecision
    reason: str = ""


class Facts(Protocol):
    """What is known of the disk."""

    @property
    def home(self) -> str:
        """The person's home folder, without links."""
        ...

    @property
    def fresh(self) -> frozenset[str]:
        """The real paths of the files that were written in this turn."""
        ...

    def path(self, path: str) -> PathFacts:
        """Of an absolute path, links in it not followed yet."""
        ...

    def program(self, name: str) -> str | None:
        """The real path of what the shell would start for a bare name; `None` if there is none."""
        ...

    def names(self, pattern: str, cwd: str) -> tuple[str, ...] | None:
        """What bash puts in place of a pattern (`Word.glob`), nothing if no name fits; `None`: it is not known."""
        ...

    def below(self, folder: str, sought: Sought) -> str:
        """Why not all that is sought below a folder, by its absolute path, may be read unasked; empty if it may.

        Of what is written: why a rule forbids it.
        """
        ...

    def holds(self, source: Source) -> Holding:
        """Whether secrets are in what a command puts out, or gets."""
        ...

    def git_aliases(self, folder: str) -> Mapping[str, str] | None:
        """What `git` calls commands in a folder, by the person's settings and the repository's, the names in small
        letters; `None` where that is not known.
        """
        ...

    def repository(self, folder: str) -> str:
        """Why `git` must not look into the repository around a folder unasked: it may run something of the repository's
        own, or the line looks into others too; empty if it may.
        """
        ...

    def printed(self, folder: str, prints: Prints) -> Finding | None:
        """What is said of the files whose content git prints; `None` where there is no repository to ask."""
        ...


class PartVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One command of a line, and what is said of it."""

    text: str
    """As it stands in the line."""
    argv: tuple[str, ...]
    """Its words without quotes; empty where they are not known."""
    decision: LineDecision
    reason: str = ""


class LineVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a whole line: as much as of its worst part."""

    decision: LineDecision
    parts: tuple[PartVerdict, ...]
    reason: str = ""
    """Of the worst part, for people."""
    suggested: ToolRule | None = None
    """The rule that "always" would store. With it this line would be allowed; absent where none would do."""
    by_rules: bool = False
    """Rules that allow name each of its parts."""
    shown: str = ""
    """The line with every sign visible."""
    looks_in: str = ""
    """The folder in whose repository `git` looks, where the line does nothing but look, with a rule or without."""


def worst(findings: list[Finding]) -> Finding:
    """The first of the worst; `allow` where there are none."""
    return max(findings, key=lambda finding: _ORDER.index(finding.decision), default=Finding("allow"))
