"""`Body`: the JSON of one request, encoded once, in pieces as they go to the network."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from copy import copy
from math import isfinite
from typing import Any, Final, TypeAlias, cast

import msgspec

Json: TypeAlias = dict[str, Any]

_WRITE_BYTES: Final = 128 * 1024
"""About what one write to the network has: few writes, and between two the event loop has its turn."""

_encoder: Final = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    """`value` as compact JSON. Numbers that are not finite become `null`, which JSON has no other word for."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:  # a lone surrogate, which has no UTF-8; JSON can escape it
        return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False).encode()


def _finite(value: object) -> object:
    """The value with `None` for each number that is not finite."""
    if isinstance(value, dict):
        return {key: _finite(inside) for key, inside in cast("Json", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(inside) for inside in cast("list[object]", value)]
    return None if isinstance(value, float) and not isfinite(value) else value


class Body:
    """The body of one request: the contents, already encoded, and the other fields. Immutable; may be sent again.

    An HTTP client reads it as an asynchronous iterable of bytes.
    """

    def __init__(self, contents: Iterable[bytes], fields: Mapping[str, Any]) -> None:
        """`contents` are pieces of the array's inside, commas included."""
        self._fields = dict(fields)
        self._pieces = (b'{"contents":[', *contents, b"]," + encode(self._fields)[1:] if fields else b"]}")
        self.size = sum(map(len, self._pieces))
        """Bytes."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Body:
        """A body whose JSON is at hand."""
        return cls([encode(list(body["contents"]))[1:-1]], {key: body[key] for key in body if key != "contents"})

    def json(self) -> Json:
        """The body as it is sent."""
        return cast("Json", json.loads(b"".join(self._pieces)))

    def with_fields_of(self, placeholder: Json) -> Body | None:
        """The body with what a request has whose contents it replaces; `None` if that says something else than this."""
        added: Json = {}
        for name, value in placeholder.items():
            if name == "contents":
                continue
            if name not in self._fields:
                added[name] = value
            elif value not in ({}, self._fields[name]):
                return None
        if not added:
            return self
        body = copy(self)
        body._fields = {**self._fields, **added}
        last = self._pieces[-1][:-1] + b"," + encode(added)[1:]
        body._pieces = (*self._pieces[:-1], last)
        body.size += len(last) - len(self._pieces[-1])
        return body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._writes():
            yield piece

    def _writes(self) -> Iterator[bytes]:
        gathered: list[bytes] = []
        size = 0
        for piece in self._pieces:
            if len(piece) > _WRITE_BYTES:
                yield b"".join(gathered)
                gathered, size = [], 0
                yield from (piece[at : at + _WRITE_BYTES] for at in range(0, len(piece), _WRITE_BYTES))
                continue
            gathered.append(piece)
            size += len(piece)
            if size >= _WRITE_BYTES:
                yield b"".join(gathered)
                gathered, size = [], 0
        yield b"".join(gathered)
