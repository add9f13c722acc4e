"""Cutting text into sentences without changing a character of them, by the stops of many scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gemini_companion.engine.facts.patterns import lazy

PIECE: Final = 16_384
"""Characters that are looked at in one go, so that no regular expression holds the interpreter for long."""
_LONGEST_PARAGRAPH: Final = 24
"""Wrapped lines that are read as one."""
_ABBREVIATIONS: Final = frozenset(
    "e.g i.e etc vs cf mr mrs ms dr prof no fig approx resp incl al z.b d.h bzw ca usw nr".split()  # noqa: SIM905
)

_FENCE: Final = lazy(r"^[ \t]{0,12}(?P<mark>`{3,}|~{3,})(?P<language>[^\n`]{0,80})$", re.MULTILINE)
_EXAMPLE: Final = lazy(
    r"^[ \t]{0,8}(?:<(?P<close>/)?(?P<tag>examples?|demonstration|transcript|logs?|output|document|diff|code)>"
    r"|-{2,9} ?(?P<end>END (?:OF )?)?(?P<title>[A-Z][A-Z ]{2,40}[A-Z]) ?-{2,9})[ \t]*$",
    re.MULTILINE,
)
_FRAME: Final = lazy(r"(?<!\S)(?:--|</?(?:examples?|demonstration|transcript|logs?|output|document|diff|code)>(?!\S))")
_CODE_LINE: Final = (
    r"[ \t]*+(?:\d{1,7}[:|\t]|//|/\*|#!|#include|@@ |[+-]{3} |(?:raise|throw|catch|logger|log|print|assert"
    r"|except)\b ?[(.]|(?:raise|throw|assert) [A-Z]\w{0,60}|(?:def|class|function|func|fn) \w{1,60}[(:<{ ]|(?:import"
    r"|from) [\w.]{1,80}(?: import|;|$)|(?:const|let|var) \w{1,60} ?[=:]|(?:if|elif|while|for|else|return|switch"
    r"|except)\b[^\n]{0,300}[:{;]$|[^\n]{0,400}[{;(\[]$)"
)
_CODE: Final = lazy(_CODE_LINE)
_MACHINE_LINE: Final = lazy(
    r"(?m)^(?=[^\n]{12})(?![ \t]*(?:[-*+•・‣▪]|\d{1,3}[.)])[ \t])"
    rf"(?:(?:[^\n/_:;\[\]()=|<>{{}}%#]{{0,80}}+[/_:;\[\]()=|<>{{}}%#]){{3}}|{_CODE_LINE})"
)
"""The head of a line that no person writes: a log's, a listing's; not a point of a list."""
_LISTED: Final = lazy(
    r"[/_:;\[\]()=|<>{}%#]|@@|[+-]{3}|\b(?:raise|throw|catch|logger|log|print|assert|except)\.|(?<!\S)\."
)
"""Signs in a word of which each such line has some, but for those that begin with one of these."""
CODE_HEADS: Final = frozenset(("def", "class", "function", "func", "fn", "import", "from", "raise", "throw", "assert"))
_HEADS: Final = tuple(f"{head} " for head in sorted(CODE_HEADS))
_LINE_HEADS: Final = tuple(f"\n{head}" for head in _HEADS)
_PASTED: Final = 8
"""Lines of that kind that make a paste."""
_GAP: Final = 3
"""Other lines, a traceback's say, that may stand between two of them."""
_BULLET: Final = lazy(r"\s*+[-*+•・‣▪][ \t　]+")
_STOP: Final = lazy(
    r"(?P<western>(?<![.!?…])[.!?…]++[\"'”’)\]»*_]{0,6}(?=\s|$))"
    r"|(?:[。！？｡।॥؟۔።։]|(?<=[\u3040-\u9fff])[!?])++[」』）”)\]]{0,6}"
)


_ORDINAL: Final = lazy(r"(?i)\b(?:am|vom|zum|bis|ab|seit|der|die|das|den|dem|des|im|beim) \d{1,2}\.$")
"""A German date: `vom 31. Januar`."""
_LETTER: Final = lazy(r"[^\W\d_]")
_INLINE_CODE: Final = lazy(r"`[^`\n]{1,80}`")


def pieces(text: str, size: int = PIECE) -> Iterator[str]:
    """`text` in pieces of at most `size` characters, cut after a line break, else after a blank, else anywhere."""
    start = 0
    while len(text) - start > size:
        end = start + size
        cut = text.rfind("\n", start, end) + 1 or text.rfind(" ", start, end) + 1
        end = cut if cut > start else end
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def fenced_spans(text: str) -> list[tuple[int, int, str]]:
    """Start, end and language of every fenced code block, fences included; one left open runs to the end."""
    if "```" not in text and "~~~" not in text:
        return []
    spans: list[tuple[int, int, str]] = []
    opened: tuple[int, str, str] | None = None
    for match in _FENCE().finditer(text):
        mark, language = match["mark"], match["language"].strip()
        if opened is None:
            opened = (match.start(), mark, language.partition(" ")[0].lower())
        elif mark.startswith(opened[1]) and not language:
            spans.append((opened[0], match.end(), opened[2]))
            opened = None
    if opened is not None:
        spans.append((opened[0], len(text), opened[2]))
    return spans


def example_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of what is shown rather than said: `<example> … </example>`, `--- DEMO --- … --- END OF DEMO ---`.

    One that is not closed is none.
    """
    if "<" not in text and "--" not in text:
        return []
    spans: list[tuple[int, int]] = []
    opened: dict[str, int] = {}
    for match in _EXAMPLE().finditer(text):
        name = match["tag"] or match["title"].removeprefix("END OF ").removeprefix("END ")
        if match["close"] or match["end"] or (match["title"] or "").startswith("END "):
            if (start := opened.pop(name, None)) is not None:
                opened.clear()
                spans.append((start, match.end()))
        else:
            opened.setdefault(name, match.start())
    return spans


def pasted_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of logs and listings that somebody put into a message: many lines in a row that are no prose.

    What stands in a code block is none: the block says itself what it is.
    """
    blocks = fenced_spans(text)
    block = 0
    runs: list[tuple[int, int, int]] = []
    for match in _MACHINE_LINE().finditer(text) if text.count("\n") >= _PASTED else ():
        while block < len(blocks) and blocks[block][1] <= match.start():
            block += 1
        if block < len(blocks) and blocks[block][0] <= match.start():
            continue
        newline = text.find("\n", match.end())
        end = len(text) if newline < 0 else newline + 1
        if runs and text.count("\n", runs[-1][1], match.start()) <= _GAP:
            runs[-1] = (runs[-1][0], end, runs[-1][2] + 1)
        else:
            runs.append((match.start(), end, 1))
    return [(start, end) for start, end, count in runs if count >= _PASTED]


def may_be_listed(words: str) -> bool:
    """False if a line of these words is of a log or a listing only if it begins with one of `CODE_HEADS`."""
    return _LISTED().search(words) is not None


def has_code_heads(text: str) -> bool:
    """Whether enough lines of a text begin with a word of `CODE_HEADS` for a paste."""
    if text.count("\n") < _PASTED:
        return False
    if "\n " not in text and "\n\t" not in text:  # no line but the first has blanks ahead, and one is no paste
        return sum(map(text.count, _LINE_HEADS)) + 1 >= _PASTED
    lines = text.split("\n")
    return [line.lstrip(" \t").startswith(_HEADS) for line in lines].count(True) >= _PASTED


def may_frame_example(words: str) -> bool:
    """False if no example begins or ends with these words."""
    return _FRAME().search(words) is not None


def is_code(text: str, start: int = 0, end: int | None = None) -> bool:
    """True for a line of a listing or of source code."""
    return _CODE().match(text, start, len(text) if end is None else end) is not None


def without_examples(text: str, note: str = "… (an example of {size:,} characters) …") -> str:
    """`text` with a note in place of each demonstration and the like; `{size}` in it is how long that was."""
    kept: list[str] = []
    done = 0
    for start, end in example_spans(text):
        kept += [text[done:start], note.format(size=end - start)]
        done = end
    return "".join(kept) + text[done:]


def prose_lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every logical line outside code blocks and quotations.

    Wrapped lines are one, bullets are not joined.
    """
    start, held, previous, position = -1, 0, "", 0
    for low, high, _ in (*fenced_spans(text), (len(text), len(text), "")):
        while position < low:
            newline = text.find("\n", position, low)
            end = low if newline < 0 else newline
            line = text[position:end].strip()
            quotation = line.startswith(">")
            if start >= 0 and (not line or quotation or held >= _LONGEST_PARAGRAPH or not _wraps(previous, line)):
                yield start, position
                start = -1
            if line and not quotation:
                start, held = (position, 1) if start < 0 else (start, held + 1)
                previous = line
            position = end + 1
        if start >= 0:
            yield start, low
            start = -1
        position = max(position, high)


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Start and end of every sentence between two positions, without the blanks and the bullet around it.

    None ends within inline code: `` `a ?? 0` ``.
    """
    end = len(text) if end is None else end
    begin = start
    quoted = (
        [one.span() for one in _INLINE_CODE().finditer(text, start, end)] if text.find("`", start, end) >= 0 else []
    )
    code = 0
    for match in _STOP().finditer(text, start, end):
        while code < len(quoted) and quoted[code][1] <= match.start():
            code += 1
        if code < len(quoted) and quoted[code][0] < match.start():
            continue
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
    return following[:1].islower() and line[-1:] not in ".!?:;。!?：" and not _BULLET().match(following)


def _ends_here(text: str, start: int, end: int, begin: int, limit: int) -> bool:
    """Whether the full stop at `start` ends a sentence: not after an abbreviation, nor before a small letter, unless
    the sentence begins with one too: many people write no capitals at all.
    """
    if text[start] != ".":
        return True
    if text[end : min(limit, end + 64)].lstrip()[:1].islower():
        first = _LETTER().search(text, begin, min(start, begin + 64))
        if first is None or not first.group().islower():
            return False
    word = text[max(begin, start - 12) : start].rpartition(" ")[2].lstrip("(\n\t")
    if word.isdigit():
        if _ORDINAL().search(text, max(begin, start - 12), start + 1):
            return False
        return bool(text[begin : start - len(word)].strip())
    return word.lower() not in _ABBREVIATIONS and not (len(word) == 1 and (word.isupper() or word.islower()))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    if bullet := _BULLET().match(text, start, end):
        start = bullet.end()
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def opening(text: str, most: int) -> str:
    """The first words of a sentence that stands whole elsewhere: never all of them."""
    limit = min(most if max(text, default="") < "⺀" else most // 2, len(text) // 2)
    return (text[:limit].rpartition(" ")[0] or text[:limit]).rstrip()
