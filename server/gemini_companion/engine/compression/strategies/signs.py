"""Signs in a span that strategies go by: words, failures and what became of them, changes of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.facts.actions import Action, outcome_of, read_actions, touches
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.key_sentences import words_of
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Shape
from gemini_companion.engine.history.part import call_of, visible_text
from gemini_companion.engine.prompts.attachments import as_read

LOOKED_AT: Final = 2_000
"""Characters of a text that are looked at; of an output as many at its end."""

_SHORTEST_WORD: Final = 4
_CHANGES: Final = ("created", "changed", "deleted")


class Deed(NamedTuple):
    """A call with its result, as far as strategies go by it."""

    at: int
    """Index of the content with the call."""
    key: str
    """The program or the tool: the same key again may resolve a failure."""
    failed: bool
    changed: tuple[str, ...]
    """Files that it created, changed or deleted."""


def deeds(layout: Layout, start: int, end: int) -> Iterator[Deed]:
    """The calls in `[start:end]` that have results, in order."""
    sources = [
        FactSource(index=index, content=layout.items[index].content, seq=layout.items[index].seq)
        for index in range(start, end)
        if layout.items[index].kind not in REPLACEMENT_KINDS
        and layout.items[index].kind != "ide"
        and layout.items[index].shape not in (Shape.PLAIN_USER, Shape.TEXT)
    ]
    for action in read_actions(sources):
        if action.output is None:
            continue
        short = _shortened(action)
        outcome = outcome_of(short)
        changed = tuple(touch.path for touch in touches(short, outcome) if touch.verb in _CHANGES)
        program = action.command.split(None, 1)[0] if action.command and action.command.strip() else ""
        yield Deed(action.index, program or action.name, outcome.status == "failed", changed)


def failures(layout: Layout, start: int, end: int) -> list[tuple[int, int | None]]:
    """The episodes that a failure opened: where, and where the same program or tool worked again (`None`: nowhere)."""
    open_at: dict[str, int] = {}
    episodes: list[tuple[int, int | None]] = []
    for deed in deeds(layout, start, end):
        if deed.failed:
            open_at.setdefault(deed.key, deed.at)
        elif deed.key in open_at:
            episodes.append((open_at.pop(deed.key), deed.at))
    return [*episodes, *((index, None) for index in open_at.values())]


def own_text(layout: Layout, index: int) -> str:
    """What was said in a content, without attached files; its first characters."""
    return visible_text(as_read(layout.items[index].content)[0])[:LOOKED_AT]


def topic_words(layout: Layout, index: int) -> set[str]:
    """The words that tell what a content is about, the paths in it and in its calls among them."""
    item = layout.items[index]
    if item.shape is Shape.RESULTS or item.kind in REPLACEMENT_KINDS or item.kind == "ide":
        return set()
    text = own_text(layout, index)
    words = {word for word in words_of(text) if len(word) >= _SHORTEST_WORD or not word.isascii()}
    for part in item.content.parts:
        call = call_of(part)
        if call is not None:
            text += f" {str(call.get('args', ''))[:LOOKED_AT]}"
    return words | set(paths_in(text[: 2 * LOOKED_AT]))


def _shortened(action: Action) -> Action:
    output = action.output or ""
    if len(output) <= 2 * LOOKED_AT:
        return action
    return msgspec.structs.replace(action, output=f"{output[:LOOKED_AT]}\n{output[-LOOKED_AT:]}")
