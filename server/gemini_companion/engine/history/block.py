"""`Block`: neighbouring entries of a log, packed into a few bytes, and unpacked for a moment for whoever asks."""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from gemini_companion.engine.history.log import Entry, ToolResultEntry

ENTRIES: Final = 128
"""Entries of a block, at most."""
BYTES: Final = 128 * 1024
"""Bytes of JSON from which on a block is full: unpacking one takes about a millisecond. A longer entry has its own."""

_LEVEL: Final = 3
"""Of zlib: a tenth larger than the level that it takes by itself, in half of the time."""
_UNPACKED: Final = 3
"""Blocks that are kept unpacked: who reads on from one into the next asks for both."""

_ENTRIES: Final[Any] = list[Entry]
_decode = msgspec.json.Decoder[list[Entry]](_ENTRIES).decode
_encode = msgspec.json.Encoder().encode


UNITS: Final = 400
"""How many times the work on an entry that is at hand unpacking a block is, about: a millisecond."""


class Block:
    """Entries of a log behind each other, oldest first. Immutable."""

    __slots__ = ("_data", "seqs", "tools", "types")

    def __init__(self, entries: Sequence[Entry], data: bytes) -> None:
        """`data` is the packed JSON of the entries."""
        self._data = data
        self.seqs = array("Q", [entry.seq for entry in entries])
        """Their sequence numbers, rising."""
        self.types = tuple(map(type, entries))
        """What each of them is."""
        results = (entry for entry in entries if isinstance(entry, ToolResultEntry))
        self.tools = frozenset(call.name for entry in results for call in entry.calls)
        """The tools whose results are among them."""

    def __len__(self) -> int:
        return len(self.types)

    @property
    def last(self) -> int:
        """The last sequence number."""
        return self.seqs[-1]

    def place_of(self, seq: int) -> int:
        """Index of the first entry with this sequence number or a higher one."""
        return bisect_left(self.seqs, seq)

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries; other objects each time that the block is unpacked."""
        return _unpacked(self)

    def unpack(self) -> list[Entry]:
        """The same, and nothing is kept."""
        return _decode(zlib.decompress(self._data))


@lru_cache(maxsize=_UNPACKED)
def _unpacked(block: Block) -> Sequence[Entry]:
    return tuple(block.unpack())


def packed(entries: Sequence[Entry]) -> Iterator[Block]:
    """All of these entries in blocks, in order, as far as they come back as they are; the rest stays out.

    A block is tried before it is given: an import may hold numbers that JSON has no form for.
    """
    start = 0
    while start < len(entries):
        try:
            end, texts = _end(entries, start)
            some = entries[start:end]
            block = Block(some, zlib.compress(b"[%b]" % b",".join(texts), _LEVEL))
            is_same = block.unpack() == list(some)
        except (msgspec.MsgspecError, UnicodeEncodeError, TypeError, RecursionError):
            return
        if not is_same:
            return
        yield block
        start = end


def _end(entries: Sequence[Entry], start: int) -> tuple[int, list[bytes]]:
    """Where a block ends that begins at an index, and its entries as JSON."""
    texts: list[bytes] = []
    size = 0
    while start + len(texts) < len(entries) and len(texts) < ENTRIES and size < BYTES:
        texts.append(_encode(entries[start + len(texts)]))
        size += len(texts[-1])
    return start + len(texts), texts
