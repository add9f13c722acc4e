"""Sizes of contents as they are kept beside their logs."""

from __future__ import annotations

from typing import NamedTuple

from gemini_companion.engine.history.item import Counted


class KeptCount(NamedTuple):
    """The size of a content, and of which bytes."""

    seq: int
    checksum: int
    """CRC-32 of the entry's JSON as it is read: if a secret does not come back, or a bit is lost, it is another one."""
    counted: Counted
