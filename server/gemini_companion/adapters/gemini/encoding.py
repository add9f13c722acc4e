"""From a request to its `Body`: what the last request of the conversation had, too, is not encoded again.

A conversation's contents are encoded in *segments*, which are kept until the conversation is no longer held. A segment
counts only for the very same objects, in the same order: contents and parts are never changed, so whatever differs
(a masked output, a text that a hook wrote) is another object. Nothing is compared by value: `1` and `true` are equal
in Python.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from gemini_companion.adapters.gemini.body import Body, encode
from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.request import count_fields, generate_fields, wire_parts
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.sessions.models.port import Conversation, ModelRequest
from gemini_companion.sessions.threads import is_much

Json: TypeAlias = dict[str, Any]

KEPT_BYTES: Final = 64 * 1024 * 1024
"""What is kept of all conversations together: eight windows of a million tokens, and more."""
AT_ONCE_BYTES: Final = 64 * 1024
"""What is encoded on the event loop, in about 0.1 ms; a thread for it would take as long to begin."""
_COMPARED_IN_A_UNIT: Final = 2
"""Contents that are compared with the kept ones in the time of a unit of `sessions.threads`."""

_SEGMENT_BYTES: Final = 32 * 1024
_COMMA: Final = b","


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring contents and their JSON, which ends with a comma. The first and the last of them are sent."""

    contents: tuple[Content, ...]
    data: bytes


class Encoding:
    """Encodes the contents of one request, a part at a time. Pure; may be begun in one thread and ended in another."""

    def __init__(self, contents: Sequence[Content], kept: Sequence[Segment] = (), *, vertex: bool) -> None:
        self._contents = contents
        self._kept = kept
        self._vertex = vertex
        self._segments: list[Segment] = []
        self._pieces: list[bytes] = []
        """The JSON behind the segments, a content each."""
        self._size = 0
        self._done = 0
        """Contents that were looked at."""
        self._begin = 0
        """Where the contents of `_pieces` begin."""
        self._open: tuple[str, list[Part]] | None = None
        """The last content that is sent, of which the next one may become a part."""
        self._is_after_gap = False
        """Something was dropped behind it."""
        self._is_compared = False

    def run(self, most_bytes: int | None = None) -> bool:
        """Encode until about `most_bytes` are made, or to the end; whether that is reached."""
        if not self._is_compared:
            self._compare()
        made, contents = 0, self._contents
        while self._done < len(contents):
            if most_bytes is not None and made >= most_bytes:
                return False
            made += self._take(contents[self._done])
            self._done += 1
        self._flush()
        return True

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments at the head of the contents; some contents may stand behind them."""
        return tuple(self._segments)

    def data(self) -> list[bytes]:
        """The inside of the JSON array, in pieces; once `run` is through."""
        return [*(segment.data for segment in self._segments), _COMMA.join(self._pieces)]

    def _compare(self) -> None:
        self._is_compared = True
        at = 0
        for segment in self._kept:
            contents = self._contents[at : at + len(segment.contents)]
            if len(contents) < len(segment.contents) or not _are_same(contents, segment.contents):
                break
            self._segments.append(segment)
            at += len(contents)
        # What follows a segment must be a content that is sent: else a comma is too many, or it is to be merged.
        if self._segments and not (at < len(self._contents) and self._wire(self._contents[at])):
            at -= len(self._segments.pop().contents)
        self._done = self._begin = at

    def _take(self, content: Content) -> int:
        """Take in the next content; returns how many bytes were made, which may be of the one before."""
        parts = self._wire(content)
        if not parts:
            self._is_after_gap = True
            return 0
        if self._is_after_gap and self._open is not None and self._open[0] == content.role:
            self._open[1].extend(parts)
            self._is_after_gap = False
            return 0
        made = self._flush()
        if not self._is_after_gap and self._size >= _SEGMENT_BYTES:
            self._close_segment()
        self._open = (content.role, parts)
        self._is_after_gap = False
        return made

    def _flush(self) -> int:
        if self._open is None:
            return 0
        role, parts = self._open
        data = encode({"role": role, "parts": parts})
        self._open = None
        self._pieces.append(data)
        self._size += len(data)
        return len(data)

    def _close_segment(self) -> None:
        data = b"%s," % _COMMA.join(self._pieces)
        self._segments.append(Segment(tuple(self._contents[self._begin : self._done]), data))
        self._pieces, self._size, self._begin = [], 0, self._done

    def _wire(self, content: Content) -> list[Part]:
        return [wire for part in content.parts for wire in wire_parts(part, self._vertex)]


class Bodies:
    """Makes the bodies of requests, small ones at once and large ones in a thread."""

    def __init__(self, options: GeminiOptions, *, most_bytes: int = KEPT_BYTES) -> None:
        self._options = options
        self._most_bytes = most_bytes
        self._kept: WeakKeyDictionary[Conversation, tuple[Segment, ...]] = WeakKeyDictionary()
        """By conversation, the one that was asked for last at the end."""

    async def generate(self, request: ModelRequest) -> Body:
        """The body of `generateContent` and `streamGenerateContent`."""
        return await self._made(request, generate_fields)

    async def count(self, request: ModelRequest) -> Body:
        """The body of `countTokens`."""
        return await self._made(request, count_fields)

    @property
    def kept_bytes(self) -> int:
        """What is kept."""
        return sum(len(segment.data) for segments in self._kept.values() for segment in segments)

    def clear(self) -> None:
        """Keep nothing more."""
        self._kept.clear()

    async def _made(self, request: ModelRequest, fields_of: Callable[[ModelRequest, GeminiOptions], Json]) -> Body:
        conversation = request.conversation
        kept = self._kept.get(conversation, ()) if conversation is not None else ()
        encoding = Encoding(request.contents, kept, vertex=self._options.vertex)
        is_small = not is_much(len(request.contents) // _COMPARED_IN_A_UNIT)
        if not (is_small and encoding.run(AT_ONCE_BYTES)):
            await asyncio.to_thread(encoding.run)
        if conversation is not None:
            self._keep(conversation, encoding.segments)
        return Body(encoding.data(), fields_of(request, self._options))

    def _keep(self, conversation: Conversation, segments: tuple[Segment, ...]) -> None:
        self._kept.pop(conversation, None)
        room = self._most_bytes
        fitting = 0
        for segment in segments:
            room -= len(segment.data)
            if room < 0:
                break
            fitting += 1
        if not fitting:
            return
        self._kept[conversation] = segments[:fitting]
        excess = self.kept_bytes - self._most_bytes
        for other in list(self._kept):
            if excess <= 0 or other is conversation:
                return
            excess -= sum(len(segment.data) for segment in self._kept.pop(other))


def _are_same(some: Sequence[Content], others: Sequence[Content]) -> bool:
    """True if the contents are the same objects, or have the same objects as parts; both are equally many."""
    return all(map(is_, some, others)) or all(map(_is_same, some, others))


def _is_same(one: Content, other: Content) -> bool:
    if one is other:
        return True
    return one.role == other.role and len(one.parts) == len(other.parts) and all(map(is_, one.parts, other.parts))
