"""What of a log's entries can be found: their texts, cut into passages, with what ranking asks of each entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from gemini_companion.engine.facts.sentences import pieces
from gemini_companion.engine.history.log import (
    ContentEntry,
    Entry,
    PromptEntry,
    ReplyEntry,
    SteerEntry,
    ToolResultEntry,
)
from gemini_companion.engine.history.part import call_of, is_thought, media_of, response_of, response_text, text_of
from gemini_companion.engine.recall.words import words_in

Speaker: TypeAlias = Literal["user", "model", "tool"]

LONG: Final = 2_250
"""Characters from which on a text is cut into passages."""
SIZE: Final = 1_500
"""Characters of a passage, about; a line is not cut unless it is longer than that."""
_OVERLAP: Final = (2, 500)
"""Lines that a passage repeats of the one before, and how many characters they may have at most."""
HEAD, TAIL = 180_000, 60_000
"""Characters at the beginning and at the end of a text that are indexed; what is between them is left out."""
MAX_PASSAGES: Final = 250
"""Of one text."""

_TIME_READ: Final = 2_000
"""Characters in which a word of time is looked for."""
_TIME_WORDS: Final = frozenset(
    "yesterday today tomorrow tonight last next ago week weekend month year morning monday tuesday wednesday"  # noqa: SIM905
    " thursday friday saturday sunday january february march april may june july august september october november"
    " december recently since".split()
)


class Remembered(msgspec.Struct, frozen=True):
    """What ranking asks of an entry beside its words."""

    speaker: Speaker
    is_question: bool
    names_time: bool


def spoken_entry(entry: Entry) -> ContentEntry | None:
    """The entry if it is one that can be recalled: a prompt, an answer, a tool's results."""
    return entry if isinstance(entry, PromptEntry | SteerEntry | ReplyEntry | ToolResultEntry) else None


def speaker_of(entry: ContentEntry) -> Speaker:
    """Who said it."""
    return "tool" if isinstance(entry, ToolResultEntry) else entry.content.role


def entry_text(entry: ContentEntry) -> str:
    """Prompt or answer, a tool's arguments and results. No thoughts, no attached files."""
    parts = entry.own_parts if isinstance(entry, PromptEntry | SteerEntry) else entry.content.parts
    return "\n".join(text for part in parts for text in _texts_of(part))


def remembered(entry: ContentEntry, text: str) -> Remembered:
    """What ranking asks of an entry with this text."""
    return Remembered(
        speaker=speaker_of(entry),
        is_question=text.rstrip().endswith(("?", "？")),
        names_time=not _TIME_WORDS.isdisjoint(words_in(text[:_TIME_READ])),
    )


def passage_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of the passages of a text, in order; neighbours share their last and first lines.

    Of a very long text only head and tail have any.
    """
    if len(text) <= LONG:
        return [(0, len(text))] if text.strip() else []
    if len(text) <= HEAD + TAIL:
        spans = list(_spans(text, 0))
    else:
        tail = len(text) - TAIL
        spans = [*_spans(text[:HEAD], 0), *_spans(text[tail:], tail)]
    return spans[:MAX_PASSAGES]


def _spans(text: str, offset: int) -> Iterator[tuple[int, int]]:
    lines: list[int] = []
    """Lengths of the lines of the passage that grows."""
    start = end = fresh = 0
    for line in _lines(text):
        lines.append(len(line))
        end += len(line)
        fresh += len(line)
        if fresh >= SIZE:
            yield offset + start, offset + end
            shared = lines[-_OVERLAP[0] :]
            while shared and sum(shared) > _OVERLAP[1]:
                shared.pop(0)
            lines, start, fresh = shared, end - sum(shared), 0
    if fresh:
        yield offset + start, offset + end


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends; longer ones than a passage in pieces."""
    for line in text.splitlines(keepends=True):
        yield from pieces(line, SIZE) if len(line) > SIZE else (line,)


def _texts_of(part: dict[str, Any]) -> Iterator[str]:
    text = text_of(part)
    if text and not is_thought(part):
        yield text
    if (media := media_of(part)) and isinstance(name := media.get("displayName"), str) and name:
        yield f"[{name}]"
    if call := call_of(part):
        yield from _strings([call.get("name"), call.get("args")])
    if response := response_of(part):
        yield response_text(response) or "\n".join(_strings([response.get("response")]))


def _strings(values: list[Any]) -> Iterator[str]:
    """Every string in a JSON value, in order."""
    pending = values[::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending.extend(reversed(list(cast("dict[str, Any]", value).values())))
        elif isinstance(value, list):
            pending.extend(reversed(cast("list[Any]", value)))
