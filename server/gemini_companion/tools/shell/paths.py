"""What is said of the files that a command names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Final, Literal

from gemini_companion.tools.shell.script import NotPlain, Word
from gemini_companion.tools.shell.verdict import Facts, Finding, worst

NULL: Final = "/dev/null"

_ADDRESS_BEFORE: Final = re.compile(r"\b(?:https?|wss?|git|ssh|ftp):$")
_HOST: Final = re.compile(r"//[A-Za-z0-9\[]")
_ASKED_OF_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9\[][^?\s\"'<>]*\?[^\s\"'<>@]*=$")
"""What stands before a value in an address: no program takes that for a file."""
_STRONG: Final = "@<=:,"
"""Signs behind which programs take what follows for a file's name."""
_SIGNS: Final = frozenset(_STRONG + ";+\"'([{|>%#!&")
_ANY_SIGN: Final = re.compile("[" + re.escape("".join(sorted(_SIGNS))) + r")\]}]")
_ROOTED: Final = re.compile(r"\.\.?/|~/|/")
"""Where a path begins that says from which folder it goes."""
_MOST_PARTS: Final = 200
_MOST_LETTERS: Final = 40
"""Short options that stand together in a word."""
_LONGEST_NAME: Final = 64
"""A part with fewer characters has no name that is too long for a disk."""


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


def places_in(word: str, exists: Callable[[str], bool] | None = None) -> list[str]:
    """The paths that a word of a program that is not known may name: `a/b`, `--file=a/b`, `-qFa/b`, `f=@a/b;type=x`.

    Any program may read a part of a word as a file's name, so every part counts that begins behind a sign or behind the
    letter of an option. Where that is so common in texts that it says little, it counts only if `exists` says that it
    may name something. Raises `NotPlain` for a word with too many parts.
    """
    found = {word: None}
    starts = [at + 1 for at, sign in enumerate(word) if sign in _SIGNS]
    if len(starts) > _MOST_PARTS:
        raise NotPlain("a word has too many signs behind which a file's name may begin")
    if starts and not any(sign.isspace() for sign in word):
        found[word[: starts[0] - 1]] = None
    for at in starts:
        sign, rest = word[at - 1], word[at:]
        if rest.startswith("//") and _ADDRESS_BEFORE.search(word[:at]) and _HOST.match(rest) and ".." not in rest:
            continue
        if sign == "=" and _ASKED_OF_ADDRESS.match(word[:at]):
            continue
        for part in (rest, _ANY_SIGN.split(rest, maxsplit=1)[0]):
            if sign in _STRONG or (exists is not None and exists(part)):
                found[part] = None
    if word.startswith("-") and not word.startswith("--"):
        found[word[2:]] = None
        if begins := _ROOTED.search(word):
            found[word[begins.start() :]] = None
        for at in range(3, min(len(word), _MOST_LETTERS)):
            if not word[at - 1].isalnum():
                break
            if exists is not None and exists(word[at:]):
                found[word[at:]] = None
    return [part for part in found if part and part[0] != "-" and "://" not in part and _can_name(part)]


def _can_name(part: str) -> bool:
    return len(part) < _LONGEST_NAME or all(len(name.encode("utf-8", "replace")) <= 255 for name in part.split("/"))


def with_home(word: Word, files: Facts) -> str:
    """A word's value, the home folder put in for a tilde."""
    return files.home + word.value[1:] if word.has_tilde and not word.trouble else word.value
