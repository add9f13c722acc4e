"""The command lines of searches. No file name, pattern or configuration file can become an option."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from gemini_companion.adapters.search.program import plain_program
from gemini_companion.adapters.workspace.path_globs import Glob
from gemini_companion.tools.paths import parts_below
from gemini_companion.tools.ports import SearchOptions

_MOST_BEFORE_EXCLUSION: Final = 2_000
_MOST_RULES: Final = 1 << 20
"""Bytes of an ignore file: larger ones are not gone by, and not read."""
_CONTEXT: Final = 50
"""Lines around a match, at most."""
_COMMON: Final = (
    "--no-config",  # whose `--pre` would run a program
    "--color=never",
    "--hidden",
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-dot",
    "--no-ignore-parent",
    "--glob=!.git",
)

_NOT_UTF8: Final = (
    r"(?-u)[\xc0-\xff](?:[\x00-\x7f\xc0-\xff]|$)|(?:^|[\x00-\x7f])[\x80-\xbf]"
    r"|[\xe0-\xff][\x80-\xbf](?:[\x00-\x7f\xc0-\xff]|$)|[\xc0-\xdf][\x80-\xbf]{2}"
    r"|\x1b\$[@B]"
)
"""A lead without what follows it, what follows without its lead, too few of those or too many; signs in ISO-2022-JP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is searched for."""

    pattern: str
    options: SearchOptions
    program: str | None
    """Of ripgrep."""
    glob: Glob | None
    enough: int
    """Matches after which the search ends."""

    @classmethod
    def of(cls, pattern: str, options: SearchOptions, program: str | None) -> Wanted:
        """Raises `ToolRefusal` for a glob that is too large."""
        glob = Glob(options.include, is_anchored=False, is_case_sensitive=True) if options.include else None
        enough = _MOST_BEFORE_EXCLUSION if options.exclude else max(1, options.limit)
        return cls(pattern=pattern, options=options, program=program, glob=glob, enough=enough)

    def includes(self, path: str, base: str) -> bool:
        """True if the glob wants a file; one that was named itself always is."""
        return self.glob is None or path == base or self.glob.matches("/".join(parts_below(path, base)))

    def plain(self) -> list[str]:
        """The slow stand-in, as a program."""
        return plain_program()

    def plain_options(self, *, is_text: bool) -> bytes:
        """What the slow stand-in is told; without `is_text` paths follow, else the text."""
        wish = {
            "pattern": self.pattern,
            "text": is_text,
            "is_literal": self.options.is_literal,
            "is_case_sensitive": self.options.is_case_sensitive,
            "before": self.options.before,
            "after": self.options.after,
            "per_file": self._per_file(),
        }
        return json.dumps(wish).encode()

    def _per_file(self) -> int:
        return min(self.options.per_file or self.enough + 1, self.enough + 1)

    def arguments(self) -> list[str]:
        """Options of ripgrep for how lines are searched, the pattern last."""
        options = self.options
        return [
            "--json",
            "--sort=path",
            "--crlf",
            "--engine=auto",
            "--max-filesize=20M",
            f"--max-count={self._per_file()}",
            "--case-sensitive" if options.is_case_sensitive else "--ignore-case",
            *(["--fixed-strings"] if options.is_literal else []),
            f"--before-context={min(options.before, _CONTEXT)}",
            f"--after-context={min(options.after, _CONTEXT)}",
            *_kinds(options.include),
            "-e",
            self.pattern,
        ]


def lines_of(wanted: Wanted, base: str | None, root: str = "", *, reads_rules: bool = True) -> list[str]:
    """The command that searches below a folder or in a file; in its input if `base` is `None`.

    Without `reads_rules` this and the others open no `.gitignore` but the root's own, if that is a file.
    """
    program = [wanted.program or "rg", *_COMMON]
    if base is None:
        wanted = Wanted(
            pattern=wanted.pattern,
            options=msgspec.structs.replace(wanted.options, include=None),
            program=wanted.program,
            glob=None,
            enough=wanted.enough,
        )
        return [*program, *wanted.arguments(), "--", "-"]
    return [*program, *_ignore_files(root, reads_rules), *wanted.arguments(), "--", _below(root, base)]


def names_of(program: str, root: str, base: str, *, reads_rules: bool = True) -> list[str]:
    """The command that lists the files below a folder, with a NUL behind each."""
    return [program, *_COMMON, "--files", "--null", *_ignore_files(root, reads_rules), "--", _below(root, base)]


def not_utf8(wanted: Wanted, base: str, root: str, *, reads_rules: bool = True) -> list[str]:
    """The command that lists the files that have bytes which no text in UTF-8 has, with a NUL behind each."""
    return [
        *(wanted.program or "rg", *_COMMON, "--files-with-matches", "--null", "--max-filesize=20M"),
        *_ignore_files(root, reads_rules),
        *_kinds(wanted.options.include),
        *("-e", _NOT_UTF8, "--", _below(root, base)),
    ]


def exclusion(wanted: Wanted) -> Wanted:
    """A search for the lines that are not wanted, among those that were found."""
    options = SearchOptions(is_case_sensitive=wanted.options.is_case_sensitive, limit=1_000_000)
    return Wanted(
        pattern=wanted.options.exclude or "", options=options, program=wanted.program, glob=None, enough=1_000_000
    )


def _below(root: str, base: str) -> str:
    return os.path.join(os.curdir, *parts_below(base, root))


def _ignore_files(root: str, reads_rules: bool) -> Sequence[str]:
    """Rules that ripgrep would not know of: `.geminiignore`, and the root's own where only a part of it is searched."""
    names = [os.path.join(root, name) for name in (".geminiignore", ".gitignore")]
    named = [f"--ignore-file={name}" for name in names if os.path.isfile(name) and os.path.getsize(name) < _MOST_RULES]
    return named if reads_rules else ["--no-ignore-vcs", "--no-ignore-exclude", *named]


def _kinds(include: str | None) -> Sequence[str]:
    """Keeps ripgrep from searching names that the glob does not want; unlike `--glob` this shows no ignored file."""
    last = (include or "").rpartition("/")[2]
    if (
        not last
        or "[" in last
        or "\\" in last
        or "**" in last
        or "{" in (include or "").removesuffix(last)
        or last.startswith("include:")
    ):
        return []
    return [f"--type-add=wanted:{last}", "--type=wanted"]
