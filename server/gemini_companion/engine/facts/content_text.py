"""The text of a content in which facts are looked for, and the names in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final, cast

import msgspec

from gemini_companion.engine.facts.actions import cleaned
from gemini_companion.engine.facts.extract import result_text, strings_in
from gemini_companion.engine.facts.fact import Named
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.statements import tokens_in
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.part import call_of, response_of, text_of

SHORT: Final = 26
"""Tokens up to which an output is short."""

_NAMES: Final = lazy(
    r"(?:[\w.-]{1,80}/){1,12}[\w.-]{1,80}|\b[A-Za-z_][A-Za-z0-9]{0,60}(?:[._][A-Za-z0-9]{1,60}){1,8}\b"
    r"|\b[a-z]{1,40}[A-Z]\w{1,60}\b|\b(?=[A-Z0-9]{0,40}[A-Z])[A-Z0-9]{5,40}\b|\b\w{1,40}Error\b"
    r"|\b[A-Za-z]{1,40}[-_]?\d{2,}[\w-]{0,40}\b|\b\d{4}-\d\d-\d\d\b"
)
"""Paths, symbols, codes, ids, dates."""
_WORD: Final = lazy(r"[\w./:-]+")
_AMOUNTS: Final = lazy(r"(?<![\w.:/-])\d{3,12}(?:\.\d{1,6})?(?![\w:/-])")
_TWO_DIGITS: Final = lazy(r"\d\d")
_LOOKED_AT: Final = 80_000
"""Characters of a part that are looked at for names; of an output its head and its tail."""


def text_of_content(content: Content) -> str:
    """Everything in a content that can hold a fact: texts, what calls were given, what they returned."""
    texts: list[str] = []
    for part in content.parts:
        if (text := text_of(part)) is not None:
            texts.append(text)
        elif (call := call_of(part)) is not None:
            texts.extend(value for _, value in strings_in(call.get("args")))
        elif (response := response_of(part)) is not None:
            texts.append(result_text(response))
    return "\n".join(texts)


def named_in(content: Content) -> tuple[Named, ...]:
    """What is named in each part of a content."""
    found: list[Named] = []
    for part in content.parts:
        if (text := text_of(part)) is not None:
            found.append(Named(_each(text[:_LOOKED_AT])))
        elif (call := call_of(part)) is not None:
            given = "\n".join(value[:_LOOKED_AT] for _, value in strings_in(call.get("args")))
            found.append(Named(_each(given)))
        elif (response := response_of(part)) is not None:
            output = cleaned(result_text(response))
            is_short = tokens_in(output) <= SHORT
            found.append(Named(_each(output), tuple(_keys_of(output)), " ".join(output.split()) if is_short else None))
        else:
            found.append(Named(()))
    return tuple(found)


def names_in(text: str) -> Iterator[str]:
    """The identifiers and amounts of a text, each word's once, in order."""
    for word in dict.fromkeys(_WORD().findall(text)):
        if word.isalpha() and (word.islower() or word[1:].islower()):
            continue  # most words: a tenth of the time
        for match in _NAMES().finditer(word):
            yield match.group().strip(".")
        yield from _AMOUNTS().findall(word)


def _each(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(sys.intern, names_in(text))))  # the same ones occur in many contents


def _keys_of(output: str) -> set[str]:
    keys: set[str] = set()
    if output[:1] not in ("{", "["):
        return keys
    try:
        waiting: list[object] = [msgspec.json.decode(output)]
    except (msgspec.DecodeError, RecursionError):
        return keys
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            keys.update(key for key in fields if not _TWO_DIGITS().search(key))
            waiting.extend(fields.values())
        elif isinstance(value, list):
            waiting.extend(cast("list[object]", value))
    return keys
