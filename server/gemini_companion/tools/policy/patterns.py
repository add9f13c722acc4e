"""Path patterns of rules, as in ignore files: `*`, `?`, `[…]`, `**`, a slash that anchors, a slash at the end.

One pattern is matched name by name, with two marks instead of a regular expression: the time is that of the pattern
times that of the path, whatever they are. What a folder matches holds for everything in it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

MAX_PATTERN: Final = 1_024
"""Characters; a longer one matches nothing that it would allow, and everything that it would deny."""


def is_pattern(pattern: str) -> bool:
    """Whether this can be a path pattern: not empty, not too long, no `!` in front, no NUL."""
    return len(pattern.strip("/ ")) > 0 and len(pattern) <= MAX_PATTERN and pattern[0] != "!" and "\0" not in pattern


def pattern_of(path: str) -> str:
    """The pattern that matches this path below a workspace folder and nothing else; `path` is relative to it."""
    return "/" + "".join(f"\\{sign}" if sign in "*?[]\\!# " else sign for sign in path.strip("/"))


def matches(pattern: str, path: str, *, is_loose: bool = False) -> bool:
    """Whether a pattern matches a file's path, relative to a workspace folder, or a folder above it.

    `is_loose` compares without regard to case, for what a rule forbids: a file system may do so too.
    """
    anchored, names = _split(pattern)
    if not names:
        return False
    parts = [part for part in _normal(path, is_loose=is_loose).split("/") if part]
    wanted = [_normal(name, is_loose=is_loose) for name in names]
    folders_only = pattern.endswith("/")
    ends = range(1, len(parts) + (0 if folders_only else 1))
    if anchored:
        return _any_prefix(wanted, parts, ends)
    return any(_name_matches(wanted[0], parts[end - 1]) for end in ends)


def _split(pattern: str) -> tuple[bool, list[str]]:
    """Whether it stands for a path from the folder, and its names."""
    names = [name for name in pattern.split("/") if name]
    return "/" in pattern.rstrip("/"), names


def _normal(text: str, *, is_loose: bool) -> str:
    composed = unicodedata.normalize("NFC", text)
    return composed.casefold() if is_loose else composed


def _any_prefix(wanted: Sequence[str], parts: Sequence[str], ends: range) -> bool:
    """Whether the pattern's names match the first `end` parts for one of the ends. `**` stands for any number."""
    reached = {0}
    for name in wanted:
        if name == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(parts) and _name_matches(name, parts[at])}
        if not reached:
            return False
    return any(end in reached for end in ends)


def _name_matches(pattern: str, name: str) -> bool:
    """One name against one name: after a dead end the last `*` takes one character more."""
    at = in_pattern = 0
    star, retry = -1, 0
    while at < len(name):
        if in_pattern < len(pattern) and pattern[in_pattern] == "*":
            star, retry = in_pattern, at
            in_pattern += 1
            continue
        taken = _one(pattern, in_pattern, name[at]) if in_pattern < len(pattern) else 0
        if taken:
            in_pattern += taken
            at += 1
        elif star >= 0:
            retry += 1
            in_pattern, at = star + 1, retry
        else:
            return False
    return not pattern[in_pattern:].strip("*")


def _one(pattern: str, at: int, sign: str) -> int:
    """How many characters of the pattern match this one; 0 if they do not."""
    match pattern[at]:
        case "?":
            return 1
        case "\\" if at + 1 < len(pattern):
            return 2 if pattern[at + 1] == sign else 0
        case "[":
            return _set(pattern, at, sign)
        case other:
            return 1 if other == sign else 0


def _set(pattern: str, at: int, sign: str) -> int:
    """The length of a `[…]` that holds this character; 0 if it does not. One that is never closed is a plain `[`."""
    close = pattern.find("]", at + 2)
    if close < 0 or close - at > 200:
        return 1 if sign == "[" else 0
    body = pattern[at + 1 : close]
    negated = body[0] in "!^"
    body = body[1:] if negated else body
    held, here = False, 0
    while here < len(body):
        if here + 2 < len(body) and body[here + 1] == "-":
            held = held or body[here] <= sign <= body[here + 2]
            here += 3
        else:
            held = held or body[here] == sign
            here += 1
    return close + 1 - at if held != negated else 0
