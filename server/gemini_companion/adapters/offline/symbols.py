"""Definitions in source code of any language, by their keywords and their indentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.sessions.models.port import OpenDocument

_LONGEST_BLOCK: Final = 400
"""Lines after which a definition is taken to have ended."""
_LONGEST_LINE: Final = 400
"""Characters of a line that are looked at."""


_WORDS: Final = (
    r"export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|inline"
    r"|override|open|sealed|declare|virtual|extern"
)
_KINDS: Final = (
    r"def|class|function|fn|func|interface|struct|enum|trait|impl|module|namespace|type|macro_rules!|record|object"
    r"|protocol|extension|const|let|var|val"
)
_DEFINITION: Final = lazy(
    rf"[ \t]*(?:(?:{_WORDS})[ \t]+){{0,5}}(?P<kind>{_KINDS})\*?[ \t]+"
    r"(?:\([^)\n]{0,80}\)[ \t]*)?(?P<name>[^\W\d]\w*)(?=\W|$)|(?P<hashes>#{1,6})[ ](?P<heading>[^\n]{1,200})"
)
_HEADING: Final = lazy(r"#{1,6}(?= )")
_IDENTIFIER: Final = lazy(r"[^\W\d]\w*")
_DOCSTRING: Final = lazy(r"(?s)(?P<quote>\"\"\"|''')(?P<text>.{1,2000}?)(?P=quote)")
_COMMENT: Final = lazy(r"[ \t]*(?://+!?|#+|--|/?\*+/?|;+)(?P<text>[^\n]*)$")
MINOR: Final = frozenset({"const", "let", "var", "val", "type", "impl"})
"""Kinds of definitions that are no structure of a file."""


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """Where a name is defined: lines from 1, both inclusive."""

    kind: str
    name: str
    path: str
    first: int
    last: int
    indent: int


def definitions_in(document: OpenDocument) -> Iterator[Definition]:
    """Every definition of a file, in order."""
    lines = document.text.split("\n")
    for number, line in enumerate(lines):
        if match := _DEFINITION().match(line[:_LONGEST_LINE]):
            name = match["name"] or match["heading"].strip(" #")
            kind = match["kind"] or "section"
            last = _end_of_section(lines, number, match["hashes"]) if match["hashes"] else _end_of_block(lines, number)
            yield Definition(
                kind=kind, name=name, path=document.path, first=number + 1, last=last + 1, indent=_indent(line)
            )


def uses_of(name: str, document: OpenDocument, limit: int = 20) -> list[int]:
    """The first lines that hold the name as a word, from 1."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    lines = enumerate(document.text.split("\n"), start=1)
    return list(islice((number for number, line in lines if word.search(line)), limit))


def documentation_of(definition: Definition, document: OpenDocument) -> str:
    """The docstring in a definition, or the comment lines over it; empty if there is neither."""
    lines = document.text.split("\n")
    body = "\n".join(lines[definition.first - 1 : min(definition.last, definition.first + 40)])
    if match := _DOCSTRING().search(body):
        return " ".join(match["text"].split())
    above: list[str] = []
    for line in reversed(lines[max(0, definition.first - 21) : definition.first - 1]):
        comment = _COMMENT().match(line[:_LONGEST_LINE])
        if comment is None:
            break
        above.append(comment["text"].strip().removesuffix("*/").strip())
    return " ".join(filter(None, reversed(above)))


def identifiers_in(line: str) -> list[str]:
    """The identifiers in a line of code."""
    return _IDENTIFIER().findall(line[:_LONGEST_LINE])


def _end_of_block(lines: Sequence[str], start: int) -> int:
    """The last line that is indented deeper than the first, with a closing bracket after it."""
    indent, last = _indent(lines[start]), start
    for number in range(start + 1, min(len(lines), start + _LONGEST_BLOCK)):
        line = lines[number].strip()
        if not line:
            continue
        if _indent(lines[number]) <= indent:
            opens = line[0] == "{" and number == start + 1
            if line[0] not in ")]}" and not opens:
                break
            if not opens and not line.endswith(("{", ":", "(")):
                return number
        last = number
    return last


def _end_of_section(lines: Sequence[str], start: int, hashes: str) -> int:
    """The line before the next heading of the same rank or a higher one."""
    headings = ((number, _HEADING().match(lines[number])) for number in range(start + 1, len(lines)))
    return next((n - 1 for n, heading in headings if heading and len(heading.group()) <= len(hashes)), len(lines) - 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
