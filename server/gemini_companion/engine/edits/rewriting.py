"""A whole new text in place of an old one, with the line endings that the old one has."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from gemini_companion.engine.edits.lines import CRLF, LF, LineFeedView, ends_with_cr, with_line_feeds

_MOST_COMPARED: Final = 250_000
"""Lines of the one text times lines of the other, without those that both begin and end with."""


def rewritten(old: str, new: str) -> str:
    """`new` with the endings of `old`: a line that stays keeps its own, the others end as their neighbours do.

    Where `old` ends its last line, so does what comes back.
    """
    if ends_with_cr(old):
        return rewritten(old.replace("\r", LF), new.replace("\r", LF) if LF not in new else new).replace(LF, "\r")
    view = LineFeedView(old)
    wanted = with_line_feeds(new)
    if view.text.endswith(LF) and wanted and not wanted.endswith(LF):
        wanted += LF
    if CRLF not in old:
        return wanted
    own, lines = view.text.split(LF), wanted.split(LF)
    endings = view.endings()
    if LF not in endings:
        return wanted.replace(LF, CRLF)
    kept = _kept(own, lines, endings)
    return "".join(f"{line}{ending}" for line, ending in zip(lines, [*kept[:-1], ""], strict=True))


def _kept(own: list[str], lines: list[str], endings: list[str]) -> list[str]:
    """The ending of each new line."""
    near = CRLF if endings.count(CRLF) * 2 >= len(endings) else LF
    kept: list[str | None] = [None] * len(lines)
    for first, second, size in _equal(own, lines):
        for index in range(size):
            if first + index < len(endings):
                kept[second + index] = endings[first + index]
    result: list[str] = []
    for ending in kept:
        result.append(ending or (result[-1] if result else near))
    return result


def _equal(own: list[str], lines: list[str]) -> Iterator[tuple[int, int, int]]:
    """Runs of lines that are in both: where in each, and how many."""
    shorter = min(len(own), len(lines))
    head = next((index for index in range(shorter) if own[index] != lines[index]), shorter)
    rest = shorter - head
    tail = next((index for index in range(rest) if own[-1 - index] != lines[-1 - index]), rest)
    yield 0, 0, head
    old, new = own[head : len(own) - tail], lines[head : len(lines) - tail]
    if len(old) * len(new) <= _MOST_COMPARED:
        for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            yield block.a + head, block.b + head, block.size
    yield len(own) - tail, len(lines) - tail, tail
