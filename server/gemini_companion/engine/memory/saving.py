"""Adding a fact to a memory file: a line under one heading, as Gemini CLI keeps them."""

from __future__ import annotations

import re
from typing import Final

from gemini_companion.engine.memory.imports import imports_in

HEADING: Final = "## Gemini Added Memories"
MAX_FACT: Final = 2_000
"""Characters of a fact."""

_HEADING: Final = re.compile(rf"^{re.escape(HEADING)}[ \t]*+$", re.MULTILINE)
_NEXT: Final = re.compile(r"^#{1,2}[ \t]", re.MULTILINE)
_BLANKS: Final = re.compile(r"\s++")
_UNSEEN: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]")
_OPENING: Final = re.compile(r"^(?:[-*+#>]++\s*+)++")


def one_fact(text: str) -> str:
    """The fact as one line, without signs that nobody sees; empty if nothing is left. Raises `ValueError` if it is
    too long.

    What would be an import is quoted, so that a fact brings in no file.
    """
    line = _OPENING.sub("", _BLANKS.sub(" ", _UNSEEN.sub("", text)).strip()).strip()
    if len(line) > MAX_FACT:
        raise ValueError(f"a fact has at most {MAX_FACT:,} characters")
    for found in reversed(imports_in(line)):
        line = f"{line[: found.start]}`{line[found.start : found.end]}`{line[found.end :]}"
    return line


def with_fact(text: str, fact: str) -> str:
    """The file's text with one more line at the end of the heading's section, which is made if there is none.

    `fact` comes from `one_fact`. Lines end as the first one of the text does; every other character stays.
    """
    ending = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
    headings = list(_HEADING.finditer(text.replace("\r", " ")))  # a carriage return is a blank here
    if not headings:
        body = text.rstrip()
        gap = ending * 2 if body else ""
        return f"{body}{gap}{HEADING}{ending}- {fact}{ending}"
    begin = headings[-1].start() + len(HEADING)
    following = _NEXT.search(text, begin)
    end = following.start() if following else len(text)
    section = text[begin:end].rstrip()
    gap = ending if following else ""
    return f"{text[:begin]}{section}{ending}- {fact}{ending}{gap}{text[end:]}"
