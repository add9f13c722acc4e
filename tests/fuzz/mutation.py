"""Broken copies of sound input."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

_MAX_SIZE: Final = 64 * 1024
_TOKENS: Final = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b":",
        b",",
        b"\\",
        b"null",
        b"true",
        b"-",
        b"1e999",
        b"0.1",
        b"99999999999999999999",
    ),
    *(
        b"\\ud83d",
        b"\\udc00",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\0",
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b"\t",
    ),
    *(
        b"Content-Length: ",
        b"Content-Length: 3\r\n\r\n",
        b"\r\n\r\n",
        b"data: ",
        b"\n\n",
        b"/*",
        b"*/",
        b"//",
        b"**/",
        b"!",
        b"#",
    ),
    *(
        b"[!a]",
        b"*",
        b"?",
        b"__proto__",
        b"jsonrpc",
        b"id",
        b"method",
        b"params",
        b"${HOME}",
        b"\xe2\x80\xa8",
        b"{}",
        b"[]",
        b'""',
    ),
)


def mutated(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """A copy of one of the seeds with one to eight changes, at most 64 KiB long."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        _change(data, seeds, rng)
    return bytes(data[:_MAX_SIZE])


def _change(data: bytearray, seeds: Sequence[bytes], rng: random.Random) -> None:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + min(int(rng.expovariate(1 / 12)) + 1, 400))
    match rng.randrange(9):
        case 0 if data:
            index = rng.randrange(len(data))
            data[index] = rng.randrange(256)
        case 1:
            data[at:at] = rng.choice(_TOKENS)
        case 2:
            data[at:end] = rng.choice(_TOKENS)
        case 3:
            del data[at:end]
        case 4:
            data[at:at] = data[at:end] * rng.choice((1, 2, 7, 50))
        case 5:
            data[at:at] = rng.choice(_TOKENS) * rng.choice((2, 10, 300))
        case 6:
            other = rng.choice(seeds)
            start = rng.randrange(len(other) + 1)
            data[at:end] = other[start : start + rng.randrange(200)]
        case 7:
            del data[at:]
        case _:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
