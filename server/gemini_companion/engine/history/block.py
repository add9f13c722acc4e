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

UNITS_TO_UNPACK: Final = 400
"""How much work unpacking a block is, in that on one entry that is at hand: about a millisecond."""

_LEVEL: Final = 3
"""Of zlib: a tenth larger than the level that it takes by itself, in half of the time."""
_UNPACKED: Final = 3
"""Blocks that are kept unpacked: who reads on from one into the next asks for both."""

_ENTRIES: Final[Any] = list[Entry]
_decode = msgspec.json.Decoder[list[Entry]](_ENTRIES).decode
_encode = msgspec.json.Encoder().encode


class Block:
    """Entries of a log behind each other, oldest first. Immutable."""

    __slots__ = ("_kept", "seqs", "tools", "types")

    def __init__(self, entries: Sequence[Entry], data: bytes | None) -> None:
        """`data` is the packed JSON of the entries; `None` keeps them as they are."""
        self._kept = tuple(entries) if data is None else data
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
        return self._kept if isinstance(self._kept, tuple) else _unpacked(self)

    def unpack(self) -> Sequence[Entry]:
        """The same, and nothing is kept."""
        return self._kept if isinstance(self._kept, tuple) else _decode(zlib.decompress(self._kept))


@lru_cache(maxsize=_UNPACKED)
def _unpacked(block: Block) -> Sequence[Entry]:
    return tuple(block.unpack())


def forget_unpacked() -> None:
    """Keep no block unpacked: who asked for one may be gone."""
    _unpacked.cache_clear()


def packed(entries: Sequence[Entry]) -> Iterator[Block]:
    """All of these entries in blocks, in order.

    A block is tried before it is given: an import may hold numbers that JSON has no form for. An entry that does not
    come back as it is has a block of its own, and is not packed.
    """
    start = 0
    while start < len(entries):
        texts = _texts(entries, start)
        end = start + max(1, len(texts))
        yield from _tried(entries[start:end], texts)
        start = end


def _tried(entries: Sequence[Entry], texts: Sequence[bytes]) -> Iterator[Block]:
    """These entries, of which these are the JSON, in one block if all of them come back as they are."""
    if texts and (block := _block(entries, texts)) is not None:
        yield block
    elif len(entries) == 1:
        yield Block(entries, None)
    else:
        middle = len(entries) // 2
        yield from _tried(entries[:middle], texts[:middle])
        yield from _tried(entries[middle:], texts[middle:])


def _block(entries: Sequence[Entry], texts: Sequence[bytes]) -> Block | None:
    block = Block(entries, zlib.compress(b"[%b]" % b",".join(texts), _LEVEL))
    try:
        return block if block.unpack() == list(entries) else None
    except (msgspec.MsgspecError, RecursionError):
        return None


def _texts(entries: Sequence[Entry], start: int) -> list[bytes]:
    """As JSON the entries of the block that begins at an index; none if the first has no such form."""
    texts: list[bytes] = []
    size = 0
    while start + len(texts) < len(entries) and len(texts) < ENTRIES and size < BYTES:
        try:
            texts.append(_encode(entries[start + len(texts)]))
        except (msgspec.MsgspecError, UnicodeEncodeError, TypeError, RecursionError):
            break
        size += len(texts[-1])
    return texts
