"""Contents that begin with the snapshot of an earlier compression, as Gemini CLI and our own exports write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.compression.answer import whole_snapshot
from gemini_companion.engine.compression.appendix import read_appendix
from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.part import is_plain_user, text_of
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT, PINS_INTRODUCTION

_PLACES: Final = (0, 1)
"""Where a snapshot may stand: first, or after the prompt of an agent's run."""


class Beginning(NamedTuple):
    """What an earlier compression left at the beginning of some contents."""

    prompt: Content | None
    """The prompt that was kept before the snapshot, if one was."""
    snapshot: str
    appendix: str
    """What stood behind the snapshot, `""` for nothing."""
    pins: tuple[str, ...]
    acknowledged: bool
    rest_at: int
    """Index of the first content behind it all."""


def snapshot_place(items: Sequence[Item]) -> int | None:
    """Where the snapshot stands in a view, for a file that says so; `None` if there is none."""
    return next((index for index in _PLACES if index < len(items) and items[index].kind == "snapshot"), None)


def place_of(raw: object) -> int | None:
    """The place that a file gives a snapshot; `None` for anything but one where a snapshot may stand."""
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw in _PLACES else None


def beginning_of(contents: Sequence[Content], snapshot_at: int | None) -> Beginning | None:
    """The beginning that an earlier compression left, `None` if there is none.

    `snapshot_at` is where the file says that a snapshot stands. Where it says nothing, a snapshot is known by three
    things together: it is the whole of the first content, and the acknowledgement follows it, but for pins between
    them. Nothing is looked for in a text: a snapshot that somebody pasted is part of a prompt.
    """
    place = 0 if snapshot_at is None else snapshot_at
    if place not in _PLACES or place >= len(contents) or (place and not is_plain_user(contents[0])):
        return None
    first, *more = contents[place].parts or ({},)
    snapshot = whole_snapshot(text_of(first) or "") if contents[place].role == "user" else None
    appendix = next((neutralise(text) for part in more[:1] if read_appendix(text := text_of(part) or "")), "")
    more = more[1:] if appendix else more
    pins = _pins(more) if more else ()
    if snapshot is None or pins is None:
        return None
    rest_at = place + 1
    if not more and rest_at < len(contents) and contents[rest_at].role == "user":
        pins = _pins(contents[rest_at].parts) or ()
        rest_at += bool(pins)
    acknowledged = rest_at < len(contents) and _is_acknowledgement(contents[rest_at])
    if snapshot_at is None and not acknowledged:
        return None
    prompt = contents[0] if place else None
    return Beginning(prompt, snapshot, appendix, pins, acknowledged, rest_at + acknowledged)


def _pins(parts: Sequence[Part]) -> tuple[str, ...] | None:
    """The pinned texts, if these parts are the content that holds them in a view."""
    texts = [text_of(part) for part in parts]
    if not texts or texts[0] != PINS_INTRODUCTION or None in texts:
        return None
    return tuple(text for text in texts[1:] if text)


def _is_acknowledgement(content: Content) -> bool:
    return content.role == "model" and [text_of(part) for part in content.parts] == [ACKNOWLEDGEMENT]
