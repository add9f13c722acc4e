"""Cutting text into sentences without changing a character of them, in English and in Japanese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

PIECE: Final = 16_384
"""Characters that are looked at in one go, so that no regular expression holds the interpreter for long."""

_LONGEST_PARAGRAPH: Final = 24
"""Wrapped lines that are read as one."""

_ABBREVIATIONS: Final = frozenset({"e.g", "i.e", "etc", "vs", "cf", "mr", "mrs", "ms", "dr", "prof", "no", "fig", "approx", "resp", "incl", "al"})


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """`text` in pieces of at most `size` characters, cut after a line break where there is one, else after a blank, else anywhere."""
    start = 0
    while len(text) - start > size:
        end = start + size
        cut = text.rfind("\n", start, end) + 1 or text.rfind(" ", start, end) + 1
        end = cut if cut > start else end
        yield text[start:end]
        start = end
    if start:
        yield text[start:]
    elif text:
        yield text


def fenced_spans(text: str) -> list[tuple[int, int, str]]:
    """Start, end and language of every fenced code block, fences included; one left open runs to the end."""
    if "```" not in text and "~~~" not in text:
        return []
    spans: list[tuple[int, int, str]] = []
    opened: tuple[int, str, str] | None = None
    for match in _fence().finditer(text):
        mark, language = match["mark"], match["language"].strip()
        if opened is None:
            opened = (match.start(), mark, language.partition(" ")[0].lower())
        elif mark.startswith(opened[1]) and not language:
            spans.append((opened[0], match.end(), opened[2]))
            opened = None
    if opened is not None:
        spans.append((opened[0], len(text), opened[2]))
    return spans


def prose_lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every logical line outside code blocks and quotations: wrapped lines are one, bullets are not joined."""
    fences = fenced_spans(text)
    fence = 0
    start = -1
    held = 0
    position = 0
    previous = ""
    while position < len(text):
        while fence < len(fences) and fences[fence][1] <= position:
            fence += 1
        if fence < len(fences) and fences[fence][0] <= position:
            if start >= 0:
                yield start, position
                start = -1
            position = fences[fence][1]
            continue
        newline = text.find("\n", position)
        end = len(text) if newline < 0 else newline
        line = text[position:end].strip()
        quotation = line.startswith(">")
        if start >= 0 and (not line or quotation or held >= _LONGEST_PARAGRAPH or not _wraps(previous, line)):
            yield start, position
            start = -1
        if line and not quotation:
            if start < 0:
                start, held = position, 0
            held += 1
            previous = line
        position = end + 1
    if start >= 0:
        yield start, len(text)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Start and end of every sentence between two positions, without the blanks and the bullet around it."""
    end = len(text) if end is None else end
    begin = start
    for match in _stop().finditer(text, start, end):
        if match["western"] and not _ends_here(text, match.start(), match.end(), begin, end):
            continue
        if span := _trimmed(text, begin, match.end()):
            yield span
        begin = match.end()
    if span := _trimmed(text, begin, end):
        yield span


def sentences(text: str) -> list[str]:
    """Every sentence of the prose in `text`, word for word, in order."""
    return [text[start:end] for low, high in prose_lines(text) for start, end in sentence_spans(text, low, high)]


def _wraps(line: str, following: str) -> bool:
    """True if `following` goes on with the sentence that `line` broke off."""
    return following[:1].islower() and line[-1:] not in ".!?:;。!?：" and not _bullet().match(following)


def _ends_here(text: str, start: int, end: int, begin: int, limit: int) -> bool:
    """Whether the full stop at `start` ends a sentence: not after an abbreviation, a list number, or before a small letter."""
    if text[start] != ".":
        return True
    if text[end : min(limit, end + 64)].lstrip()[:1].islower():
        return False
    word = text[max(begin, start - 12) : start].rpartition(" ")[2].lstrip("(\n\t")
    if word.isdigit():
        return bool(text[begin : start - len(word)].strip())
    return word.lower() not in _ABBREVIATIONS and not (len(word) == 1 and word.isupper())


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    bullet = _bullet().match(text, start, end)
    if bullet:
        start = bullet.end()
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


@cache
def _fence() -> re.Pattern[str]:
    return re.compile(r"^[ \t]{0,12}(?P<mark>`{3,}|~{3,})(?P<language>[^\n`]{0,80})$", re.MULTILINE)


@cache
def _bullet() -> re.Pattern[str]:
    return re.compile(r"\s*+[-*+•・‣▪][ \t　]+")


@cache
def _stop() -> re.Pattern[str]:
    return re.compile(r"(?P<western>[.!?…]++[\"'”’)\]»*_]{0,6}(?=\s|$))|[。!?！？｡]++[」』）”)\]]{0,6}")
