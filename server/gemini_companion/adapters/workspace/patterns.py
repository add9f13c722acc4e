"""The lines of one ignore file, compiled, and their verdict on an entry.

pathspec translates the globs of single names. Which line wins, and how `**` spans directories, is decided here:
pathspec's own `GitIgnoreSpec` matches whole paths and lets `!dir/file` re-include a file from an ignored `dir/`, and
its regular expressions for whole paths take exponential time on hostile patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

_MAX_STARS = 3
"""Wildcards in one name. With more, one name of 255 characters can take seconds; real ignore files have one or two."""
_MAX_SEGMENT = 512
"""Characters of a pattern between two slashes; file systems allow names of 255 bytes."""
_GLOB = re.compile(r"[*?\[\\]")
_BRACKET = r"\[[!^]?\]?(?:\[:[a-z]+:\]|[^\]])*\]"
_PLAIN = r"\\.|\*+|[^*\[\\]+|."
_TOKEN = re.compile(f"{_BRACKET}|{_PLAIN}", re.DOTALL)
_TOKEN_AFTER_BRACKETS = re.compile(_PLAIN, re.DOTALL)
_POSIX_CLASS = re.compile(r"\[:([a-z]+):\]")
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@[-`{-~",
    "space": " \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")

_Segments: TypeAlias = "Sequence[re.Pattern[str] | None]"
"""One pattern per name; `None` for `**`."""


class _Line(NamedTuple):
    hides: bool
    folders_only: bool
    segments: tuple[str, ...]
    """The names between the slashes; one segment stands for that name at any depth unless `anchored`."""
    anchored: bool


class _Names:
    """Whole names, literal ones and globs."""

    def __init__(self, names: Sequence[str]) -> None:
        self._literals = frozenset(name for name in names if not _GLOB.search(name))
        globs = [translated for name in names if _GLOB.search(name) and (translated := _translate(name))]
        try:
            self._globs = re.compile("|".join(globs)) if globs else None
        except re.error:
            self._globs = re.compile("|".join(filter(_is_valid, globs)) or "(?!)")

    def match(self, name: str) -> bool:
        return name in self._literals or (self._globs is not None and self._globs.fullmatch(name) is not None)


class _Run:
    """Neighbouring lines that all hide, or all re-include: the order among them does not matter."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self.hides = lines[0].hides
        self._names = _Names([line.segments[0] for line in lines if not line.anchored and not line.folders_only])
        self._folder_names = _Names([line.segments[0] for line in lines if not line.anchored])
        self._paths = [
            (line.folders_only, segments) for line in lines if line.anchored and (segments := _compile(line.segments))
        ]

    def match(self, parts: Sequence[str], *, is_folder: bool) -> bool:
        if (self._folder_names if is_folder else self._names).match(parts[-1]):
            return True
        return any(
            (is_folder or not folders_only) and _match(segments, parts) for folders_only, segments in self._paths
        )


class Rules:
    """One ignore file. Never raises, whatever is in it: lines that git ignores are ignored."""

    def __init__(self, text: str) -> None:
        runs: list[list[_Line]] = []
        for line in _parse(text):
            if runs and runs[-1][0].hides == line.hides:
                runs[-1].append(line)
            else:
                runs.append([line])
        self._runs = [_Run(run) for run in reversed(runs)]

    def verdict(self, parts: Sequence[str], *, is_folder: bool) -> bool | None:
        """True if the entry is hidden, False if it is re-included, `None` if no line matches; the last match decides.

        `parts` is its path from the ignore file's directory. Entries of a hidden directory must not be asked for.
        """
        for run in self._runs:
            if run.match(parts, is_folder=is_folder):
                return run.hides
        return None


def _parse(text: str) -> Iterator[_Line]:
    for raw in text.removeprefix("\ufeff").split("\n"):
        pattern = raw.removesuffix("\r")
        while pattern.endswith(" ") and not pattern.endswith("\\ "):
            pattern = pattern[:-1]
        if not pattern or pattern.startswith("#"):
            continue
        hides = not pattern.startswith("!")
        pattern = pattern if hides else pattern[1:]
        folders_only = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        segments = tuple(pattern.removeprefix("/").split("/"))
        if not all(0 < len(segment) <= _MAX_SEGMENT for segment in segments):  # 0: two slashes in a row
            continue
        if not hides and any(_is_costly(segment) for segment in segments):
            continue
        segments = tuple(map(_simplify, segments))
        anchored = "/" in pattern
        if segments[-1] == "**":  # everything in there, at any depth
            segments = (*segments, "*")
        if len(segments) == 2 and segments[0] == "**":
            segments, anchored = segments[1:], False
        yield _Line(hides=hides, folders_only=folders_only, segments=segments, anchored=anchored)


def _tokens(segment: str) -> list[str]:
    """Escaped characters, brackets, runs of stars, and what is between. No bracket is sought past the last `]`."""
    end = segment.rfind("]") + 1
    return _TOKEN.findall(segment[:end]) + _TOKEN_AFTER_BRACKETS.findall(segment[end:])


def _stars(tokens: Sequence[str]) -> list[int]:
    return [index for index, token in enumerate(tokens) if token.startswith("*")]


def _is_costly(segment: str) -> bool:
    return len(_stars(_tokens(segment))) > _MAX_STARS


def _simplify(segment: str) -> str:
    """Make runs of stars one star, except for a segment of just two.

    Of a segment with too many stars, head and tail are left: that hides at least as much, in bounded time.
    """
    if segment == "**" or "*" not in segment:
        return segment
    tokens = _tokens(segment)
    stars = _stars(tokens)
    if len(stars) > _MAX_STARS:
        tokens[stars[0] : stars[-1] + 1] = ["*"]
    return "".join("*" if token.startswith("*") else token for token in tokens)


def _plain_bracket(bracket: str) -> str:
    """A bracket that Python reads as git does: POSIX classes spelt out, nothing that `re` takes for a set operation."""
    sign = "!" if bracket[1] in "!^" else ""
    inside = _POSIX_CLASS.sub(lambda named: _POSIX_CLASSES.get(named[1], ""), bracket[1 + len(sign) : -1])
    inside = re.sub(r"([-&|~])\1+", r"\1", inside)
    if inside.startswith("[") and not sign:
        inside = "\0" + inside  # a character that is in no name
    return f"[{sign}{inside}]"


def _translate(name: str) -> str:
    """The regular expression of one name's glob; empty where git ignores the pattern, as for an open bracket."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # 30 ms, so not before the first ignore file

    glob = "".join(_plain_bracket(token) if token[0] == "[" and len(token) > 1 else token for token in _tokens(name))
    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex("/" + glob)
    except ValueError:
        return ""
    return _NAMED_GROUP.sub("(?:", regex).removeprefix("^") if regex else ""


def _is_valid(regex: str) -> bool:
    try:
        re.compile(regex)
    except re.error:  # a range such as [z-a]
        return False
    return True


def _compile(segments: Sequence[str]) -> _Segments:
    compiled: list[re.Pattern[str] | None] = []
    for segment in segments:
        if segment == "**":
            compiled.append(None)
        elif (translated := _translate(segment)) and _is_valid(translated):
            compiled.append(re.compile(translated))
        else:
            return ()
    return compiled


def _match(segments: _Segments, parts: Sequence[str]) -> bool:
    """Match a whole path, name by name. Only the latest `**` is extended: time is at most the lengths' product."""
    at = part = 0
    resume: tuple[int, int] | None = None
    while part < len(parts):
        segment = segments[at] if at < len(segments) else False
        if segment is None:
            resume = (at + 1, part + 1)
            at += 1
        elif segment and segment.fullmatch(parts[part]):
            at, part = at + 1, part + 1
        elif resume is not None:
            at, part = resume
            resume = (at, part + 1)
        else:
            return False
    return all(segment is None for segment in segments[at:])
