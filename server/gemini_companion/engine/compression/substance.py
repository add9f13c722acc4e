"""Whether a snapshot says anything of the conversation: what a weak model hands back instead is told here."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Final

from gemini_companion.engine.compression import instructions
from gemini_companion.engine.compression.citations import without_citations
from gemini_companion.engine.facts.neutralise import SECTIONS

LEAST_SECTIONS: Final = 5
"""Of the seven, how many must be there."""

_RUN: Final = 4
"""Words in a row that are compared with the prompt's."""
_ECHO_SHARE: Final = 0.5
"""Share of a section's runs from which it is the prompt's text rather than its own."""
_LONGEST_ECHO: Final = 4 * len(instructions.SYSTEM_INSTRUCTION)
"""Characters of a section past which it is not compared: the prompt has not that much to repeat."""
_SAME_SECTIONS: Final = 3
"""Sections with one and the same text that make a model's stutter."""
_LOOP_BYTES: Final = 2_000
_LOOP_RATIO: Final = 0.04
"""A section that long which deflates to less than this share of itself is one passage over and over."""

_SECTION_TAG: Final = re.compile(rf"<(/?)({'|'.join(SECTIONS)})\s{{0,20}}>", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_EMPTY: Final = frozenset(("", "none", "n a", "nothing", "empty", "unknown", "null", "not applicable", "no entries"))


def sections_of(snapshot: str) -> dict[str, str]:
    """The text of each section that is there, in any order and case; one that is not closed runs to the next tag."""
    sections: dict[str, str] = {}
    tags = list(_SECTION_TAG.finditer(snapshot))
    ends = (*(tag.start() for tag in tags[1:]), len(snapshot))
    for tag, end in zip(tags, ends, strict=False):
        if not tag[1]:
            name = tag[2].lower()
            text = snapshot[tag.end() : end].removesuffix("\n</state_snapshot>")
            sections[name] = f"{sections[name]}\n{text}" if name in sections else text
    return sections


def lack_of(snapshot: str, *, nonce: str = "") -> str:
    """What keeps a snapshot from being used, as a sentence for the model that wrote it; `""` if nothing does.

    `nonce` is the secret marker of the fences: whoever repeats it repeats the data.
    """
    if nonce and nonce in snapshot:
        return "It repeats the quoted entries with their fences."
    sections = sections_of(without_citations(snapshot))
    missing = [name for name in SECTIONS if name not in sections]
    if len(SECTIONS) - len(missing) < LEAST_SECTIONS:
        return f"These sections are missing: {', '.join(missing)}."
    words = {name: tuple(_words(text)) for name, text in sections.items()}
    said = {name: own for name, own in words.items() if " ".join(own) not in (*_EMPTY, name, name.replace("_", " "))}
    if not said:
        return "Its sections say nothing."
    if borrowed := [name for name in SECTIONS if name in said and _is_borrowed(sections[name], said[name])]:
        return f"These sections repeat the instruction or its example, not what the entries say: {', '.join(borrowed)}."
    if len(said) >= _SAME_SECTIONS and len(set(said.values())) == 1:
        return "Its sections all say the same."
    if any(map(_is_loop, sections.values())):
        return "It says one thing over and over."
    return ""


def _is_loop(text: str) -> bool:
    data = text.encode("utf-8", "replace")
    return len(data) >= _LOOP_BYTES and len(zlib.compress(data, 1)) < _LOOP_RATIO * len(data)


def _is_borrowed(text: str, words: tuple[str, ...]) -> bool:
    """True if a line is one of the example's, or most of the words are the prompt's, run by run."""
    if len(text) > _LONGEST_ECHO:
        return False
    runs, lines = _prompt()
    if len(words) < _RUN:
        return words in lines
    own = list(_runs(words))
    if sum(run in runs for run in own) >= _ECHO_SHARE * len(own):
        return True
    return any(len(line) >= _RUN and line in lines for line in map(tuple, map(_words, text.splitlines())))


@cache
def _prompt() -> tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]]]:
    """Every run of words of what the model is told, and every line of the example."""
    told = (
        instructions.SYSTEM_INSTRUCTION,
        instructions.FIRST_REQUEST,
        instructions.MERGE_REQUEST,
        instructions.LENGTH_REQUEST,
        instructions.VERIFY_REQUEST,
        instructions.REPAIR_REQUEST,
        instructions.RETENTION_REQUEST,
    )
    told = tuple(map(without_citations, told))
    example = told[0].partition("<state_snapshot>")[2]
    runs = frozenset(run for text in told for run in _runs(tuple(_words(text))))
    return runs, frozenset(tuple(_words(line)) for line in example.splitlines())


def _runs(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(_RUN)), strict=False)


def _words(text: str) -> Iterator[str]:
    return (match.group().casefold() for match in _WORD.finditer(text))
