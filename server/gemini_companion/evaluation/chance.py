"""Chance that depends on what it is for and on nothing else: the same in every process and in every order."""

from __future__ import annotations

import hashlib
import random


def seeded(*what: object) -> random.Random:
    """A generator of its own for these things."""
    return random.Random(_number(what))


def share(*what: object) -> float:
    """A number in [0, 1) for these things."""
    return _number(what) / 2**64


def _number(what: tuple[object, ...]) -> int:
    text = "\0".join(map(str, what)).encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())
