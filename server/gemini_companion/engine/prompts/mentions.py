"""`@path` in a prompt: which places of a text may name a file or a folder. Only the workspace knows whether they do."""

from __future__ import annotations

import re
from typing import Final

MAX_MENTIONS: Final = 200
"""Places of one prompt that are looked up; a pasted log may hold thousands."""

MAX_READ: Final = 200_000
"""Characters of a text that are searched, half of them at its end."""

_OPENING: Final = r"(\[{<（［｛「『【〔《〈"
_TRAILING: Final = ".,;:!?…'\"`*_)]}>。，、！？：；）］｝」』】〕》〉"
_MAX_STRIPPED: Final = 8

# A backslash takes the character after it along, so that a path may contain spaces.
_MENTION: Final = re.compile(
    rf'(?<![^\s{_OPENING}])@(?:"(?P<quoted>[^"\n]{{1,4096}})"|(?P<plain>(?!")(?:\\[^\n]|[^\s\\]){{1,4096}}))'
)
_ESCAPED: Final = re.compile(r"\\([^\w./\\])")
"""A backslash before anything else is a path separator, or part of a name."""


def mentions_in(text: str) -> list[tuple[str, ...]]:
    """What the text may mention, in order, each once: for each place the possible paths, the likeliest first.

    A mention is an `@` at the beginning, after white space or after an opening bracket, and a path behind it: in double
    quotes, or up to the next white space that no backslash escapes. What ends a sentence or closes a bracket may or may
    not belong to the path, so both readings are given.
    """
    if len(text) > MAX_READ:
        text = f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"
    found: dict[tuple[str, ...], None] = {}
    for match in _MENTION.finditer(text):
        quoted = match["quoted"]
        meant = (
            _meant(match["plain"]) if quoted is None else (quoted,) if quoted.strip(". ") else ()
        )  # dots alone name no file
        if meant:
            found[meant] = None
        if len(found) >= MAX_MENTIONS:
            break
    return list(found)


def _meant(written: str) -> tuple[str, ...]:
    paths: dict[str, None] = {}
    for _ in range(_MAX_STRIPPED):
        path = _ESCAPED.sub(r"\1", written)
        if path.strip("."):  # dots alone are punctuation
            paths[path] = None
        if not written or written[-1] not in _TRAILING:
            break
        written = written[:-1].removesuffix("\\")
    return tuple(paths)
