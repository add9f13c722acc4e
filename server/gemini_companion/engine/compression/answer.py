"""Reading the summariser's answer strictly, and wrapping a snapshot that a person edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, NamedTuple, cast

import msgspec

from gemini_companion.engine.compression.substance import LEAST_SECTIONS, lack_of
from gemini_companion.engine.facts.neutralise import SECTIONS, neutralise

_ATTRIBUTES: Final = r"(?:\s[^<>]{0,200})?>"
_OPEN: Final = re.compile(rf"<state_snapshot{_ATTRIBUTES}", re.IGNORECASE)
_CLOSE: Final = re.compile(r"</state_snapshot\s{0,20}>", re.IGNORECASE)
_SCRATCHPAD_TAG: Final = re.compile(rf"<(/?)scratchpad{_ATTRIBUTES}", re.IGNORECASE)
_SECTION_TAG: Final = re.compile(rf"</?(?:{'|'.join(SECTIONS)})\s{{0,20}}>", re.IGNORECASE)
_SECTION_BEGINS: Final = re.compile(rf"\s{{0,200}}<(?:{'|'.join(SECTIONS)})\s{{0,20}}>", re.IGNORECASE)
_CODE_FENCE: Final = re.compile(r"\A\s{0,200}```[a-z]{0,10}\n|\n?```\s{0,200}\Z", re.IGNORECASE)


class Answer(NamedTuple):
    """What an answer holds: a snapshot that can be used, or what it lacks, as a sentence for the model."""

    snapshot: str | None
    lack: str = ""


def read_answer(answer: str, *, nonce: str = "") -> Answer:
    """The last snapshot of an answer that says something of the conversation (`substance.lack_of`).

    A JSON object with the sections as its fields is taken too: some models write that whatever they are told. `nonce`
    is the secret marker of the quoted data.
    """
    text = _without_scratchpads(answer)
    lack = ""
    for body in _bodies(text):
        snapshot = wrap(body.strip("\n"))
        this_lack = lack_of(snapshot, nonce=nonce)
        if not this_lack:
            return Answer(snapshot)
        lack = lack or this_lack
    converted = None if lack else _from_json(text)
    if converted is not None:
        lack = lack_of(converted, nonce=nonce)
        if not lack:
            return Answer(converted)
    return Answer(None, lack or "It holds no complete <state_snapshot>, closed by </state_snapshot>.")


def read_snapshot(answer: str) -> str | None:
    """The last complete `<state_snapshot>` of an answer, tags included, or `None`. Linear in the answer's length.

    Scratchpads are dropped first, so that a draft in one is never taken. Where a section follows a tag at once, only
    such tags open a snapshot: a snapshot may mention the tag. A snapshot without text counts as none.
    """
    body = next(_bodies(_without_scratchpads(answer)), None)
    return None if body is None else wrap(body.strip("\n"))


def _bodies(text: str) -> Iterator[str]:
    """What complete snapshots hold, the last first; those that open with a section before all others."""
    openings = [match.span() for match in _OPEN.finditer(text)]
    with_section = [span for span in openings if _SECTION_BEGINS.match(text, span[1])]
    return chain(_complete(text, with_section), _complete(text, openings))


def _complete(text: str, openings: list[tuple[int, int]]) -> Iterator[str]:
    """The body of each of these openings that is closed before the next one and holds text besides section tags."""
    end = len(text)
    for start, begin in reversed(openings):
        body = _body(text, begin, end)
        if body is not None and _SECTION_TAG.sub("", body).strip():
            yield body
        end = start


def _from_json(text: str) -> str | None:
    """The snapshot in a JSON object that has the sections as fields, `None` if the text is no such object."""
    try:
        document = msgspec.json.decode(_CODE_FENCE.sub("", text).strip())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    raw = cast("dict[str, object]", document)
    inner = raw.get("state_snapshot")
    if isinstance(inner, dict):
        raw = cast("dict[str, object]", inner)
    fields = {key.lower(): value for key, value in raw.items()}
    if sum(name in fields for name in SECTIONS) < LEAST_SECTIONS:
        return None
    return wrap("\n".join(f"<{name}>\n{neutralise(_as_lines(fields.get(name)))}\n</{name}>" for name in SECTIONS))


def _as_lines(value: Any) -> str:
    """A field's text: a string as it is, a list line by line, anything else in it as JSON."""
    if value is None or isinstance(value, str):
        return value or "none"
    entries = cast("list[object]", value) if isinstance(value, list) else [cast("object", value)]
    texts = (entry if isinstance(entry, str) else msgspec.json.encode(entry).decode() for entry in entries)
    return "\n".join(f"- {text}" for text in texts) or "none"


def _body(text: str, begin: int, end: int) -> str | None:
    """The text from `begin` to the tag that closes the snapshot; `None` if none does before `end`.

    The first closing tag after the last section counts, so that a section may mention the tag.
    """
    closes = [match.start() for match in _CLOSE.finditer(text, begin, end)]
    if not closes:
        return None
    sections_end = max((match.end() for match in _SECTION_TAG.finditer(text, begin, closes[-1])), default=begin)
    return text[begin : next(close for close in closes if close >= sections_end)]


def edited_snapshot(text: str) -> str | None:
    """A person's text as a snapshot: taken as it is if it is one, wrapped if it has no tag, foreign tags escaped.

    `None` if it is empty.
    """
    stripped = text.strip()
    opening, closing = _OPEN.match(stripped), list(_CLOSE.finditer(stripped))
    if opening and closing and closing[-1].end() == len(stripped):
        stripped = stripped[opening.end() : closing[-1].start()].strip("\n")
    if not _SECTION_TAG.sub("", stripped).strip():
        return None
    return wrap(stripped)


def whole_snapshot(text: str) -> str | None:
    """`text` as a snapshot if it is one from the first tag to the last; `None` if not.

    Gemini CLI keeps the model's whole answer: a scratchpad before it is dropped, and so is a code fence around it.
    """
    body = _CODE_FENCE.sub("", _without_scratchpads(text).strip()).strip()
    opening, closing = _OPEN.match(body), list(_CLOSE.finditer(body))
    if opening is None or not closing or closing[-1].end() != len(body):
        return None
    return edited_snapshot(body)


def wrap(body: str) -> str:
    """`body` in a snapshot tag. Snapshot and scratchpad tags inside it are escaped; its seven sections are left."""
    return f"<state_snapshot>\n{_escape_outer(body)}\n</state_snapshot>"


def _escape_outer(body: str) -> str:
    """Neutralise every reserved tag but well-formed section tags."""
    pieces: list[str] = []
    position = 0
    for match in _SECTION_TAG.finditer(body):
        pieces.extend((neutralise(body[position : match.start()]), match.group()))
        position = match.end()
    pieces.append(neutralise(body[position:]))
    return "".join(pieces)


def _without_scratchpads(text: str) -> str:
    """Everything outside closed scratchpads.

    Where they are not nested properly, the first closing tag ends one; an unclosed one is left.
    """
    tags = list(_SCRATCHPAD_TAG.finditer(text))
    matching = _matching_closes(tags)
    pieces: list[str] = []
    position = 0
    for index, tag in enumerate(tags):
        closing = matching[index]
        if tag.start() >= position and closing is not None:
            pieces.append(text[position : tag.start()])
            position = closing.end()
    pieces.append(text[position:])
    return "".join(pieces)


def _matching_closes(tags: list[re.Match[str]]) -> list[re.Match[str] | None]:
    """For each opening tag the closing tag that matches it: by nesting, else the first one after it, else `None`.

    Both lists run parallel; a closing tag has `None`.
    """
    closes: list[re.Match[str] | None] = [None] * len(tags)
    following: re.Match[str] | None = None
    for index in range(len(tags) - 1, -1, -1):
        if tags[index].group(1):
            following = tags[index]
        else:
            closes[index] = following
    unclosed: list[int] = []
    for index, tag in enumerate(tags):
        if not tag.group(1):
            unclosed.append(index)
        elif unclosed:
            closes[unclosed.pop()] = tag
    return closes
