"""What survives a compression, and where the lines of its snapshot come from."""

from __future__ import annotations

import msgspec


class MissingFact(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A fact that is missing from what takes the place of what is hidden, or that stands there without a source."""

    kind: str = ""
    """A `FactKind`: `directive`, `path`, `command`, …"""
    text: str = ""


class Retention(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How much of what must survive a compression did.

    Every field has a default, so that a later version may leave some out.
    """

    score: float = 1.0
    """`kept / facts`, from 0 to 1; 1 where there was nothing to keep."""
    facts: int = 0
    kept: int = 0
    repaired: int = 0
    """Of those kept, how many were put back after the model had left them out."""
    missing: tuple[MissingFact, ...] = ()
    """The most worthy of those that are missing, at most 50."""
    appended: int = 0
    """Of those kept, how many stand in the appendix alone."""
    unsupported: tuple[MissingFact, ...] = ()
    """Paths, addresses and numbers of the snapshot that never occurred in what it replaces, at most 50."""


class LineSource(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a line of a snapshot comes from."""

    line: int
    """From 0, in the snapshot's text."""
    seqs: tuple[int, ...]
    """Sequence numbers of the contents, rising."""
