"""What is said of the files that a command names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final, Literal

from gemini_companion.tools.shell.script import Word
from gemini_companion.tools.shell.verdict import Facts, Finding, worst

NULL: Final = "/dev/null"

_ADDRESS: Final = re.compile(r"(?:https?|wss?|git|ssh|ftp)://[A-Za-z0-9\[]")


def judged_path(path: str, cwds: frozenset[str], how: Literal["read", "write"], files: Facts) -> Finding:
    """What is said of a path; a relative one begins at each folder that the command may run in."""
    if path == NULL:
        return Finding("allow")
    return worst([_judged(path, posixpath.join(cwd, path), how, files) for cwd in sorted(cwds)])


def _judged(shown: str, path: str, how: Literal["read", "write"], files: Facts) -> Finding:
    facts = files.path(path)
    if facts.is_ours:
        return Finding("refuse", f"{shown} holds Gemini Companion's own settings, log or store")
    decision = facts.read if how == "read" else facts.write
    if decision == "deny":
        return Finding("deny", f"a rule forbids to {how} {shown}")
    if not facts.is_inside:
        return Finding("ask", f"{shown} is outside the workspace")
    if facts.secret:
        return Finding("ask", f"{shown} may hold a secret ({facts.secret})")
    if facts.kind == "other":
        return Finding("ask", f"{shown} is neither a file nor a folder")
    if how == "write" and facts.is_guarded:
        return Finding("ask", f"it writes {shown}, which decides what runs")
    if decision == "ask":
        return Finding("ask", f"it {how}s {shown}")
    return Finding("allow")


def places_in(word: str) -> Iterator[str]:
    """The paths that a word of a program that is not known may name: `a/b`, `--file=a/b`, `-fa/b`, `:0:a/b`."""
    pieces = [word]
    is_address = _ADDRESS.match(word) is not None and ".." not in word
    for sign in "=:,":
        _, found, rest = word.partition(sign)
        if found:
            pieces += [rest, word.rpartition(sign)[2]]
    if word.startswith("-") and not word.startswith("--"):
        pieces.append(word[2:])
    for piece in dict.fromkeys(pieces):
        if is_address and piece.startswith("//"):  # what stands behind `https:`
            continue
        if piece and not piece.startswith("-") and "://" not in piece:
            yield piece


def with_home(word: Word, files: Facts) -> str:
    """A word's value, the home folder put in for a tilde."""
    return files.home + word.value[1:] if word.has_tilde and not word.trouble else word.value
