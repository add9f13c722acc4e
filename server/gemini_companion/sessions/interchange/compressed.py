"""Snapshots of earlier compressions among contents, as Gemini CLI and our own exports write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast

from gemini_companion.engine.compression.answer import whole_snapshot
from gemini_companion.engine.compression.appendix import is_media_list, read_appendix
from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.part import text_of
from gemini_companion.engine.history.pinned import ACKNOWLEDGEMENT, NEWER, PINS_INTRODUCTION

MOST_PLACES: Final = 100
"""Snapshots that a file may give places; each is folded as a compression."""


class Left(NamedTuple):
    """What an earlier compression left at a place among some contents."""

    snapshot: str
    appendix: str
    """What stood behind the snapshot, `""` for nothing."""
    pins: tuple[str, ...]
    acknowledged: bool
    rest_at: int
    """Index of the first content behind it all."""


def snapshot_places(items: Sequence[Item]) -> tuple[int, ...]:
    """Where snapshots stand in a view, rising, for a file that says so: one for each block."""
    return tuple(index for index, item in enumerate(items) if item.kind == "snapshot")


def mark_of(places: Sequence[int]) -> dict[str, int | list[int]]:
    """The field `snapshotAt` of a file: a place, several, or no field."""
    if not places:
        return {}
    return {"snapshotAt": places[0] if len(places) == 1 else list(places)}


def places_of(fields: Mapping[str, object] | None) -> tuple[int, ...]:
    """The places that a file gives its snapshots, rising; nothing but numbers that an index may be."""
    raw = fields.get("snapshotAt") if fields is not None else None
    given = cast("list[object]", raw)[:MOST_PLACES] if isinstance(raw, list) else [raw]
    return tuple(sorted({one for one in given if isinstance(one, int) and not isinstance(one, bool) and one >= 0}))


def left_in(contents: Sequence[Content], places: Iterable[int]) -> dict[int, Left]:
    """What earlier compressions left, by the places at which it begins. `places` is what the file says.

    Where it says nothing, or nothing that is so, a snapshot is known by three things together: it is the whole of the
    first content, and the acknowledgement follows it, but for pins between them. Nothing is looked for in a text: a
    snapshot that somebody pasted is part of a prompt.
    """
    found = {place: left for place in places if (left := _left_at(contents, place)) is not None}
    if not found and (first := _left_at(contents, 0)) is not None and first.acknowledged:
        return {0: first}
    return found


def _left_at(contents: Sequence[Content], place: int) -> Left | None:
    if place >= len(contents) or contents[place].role != "user":
        return None
    first, *more = contents[place].parts or ({},)
    more = [part for part in more if not is_media_list(text_of(part) or "")]  # what it names is not in the file
    snapshot = whole_snapshot(text_of(first) or "")
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
    return Left(snapshot, appendix, pins, acknowledged, rest_at + acknowledged)


def _pins(parts: Sequence[Part]) -> tuple[str, ...] | None:
    """The pinned texts, if these parts are the content that holds them in a view."""
    texts = [text_of(part) for part in parts]
    if not texts or texts[0] != PINS_INTRODUCTION or None in texts:
        return None
    return tuple(text for text in texts[1:] if text and not text.startswith(NEWER))


def _is_acknowledgement(content: Content) -> bool:
    return content.role == "model" and [text_of(part) for part in content.parts] == [ACKNOWLEDGEMENT]
