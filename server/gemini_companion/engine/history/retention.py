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
    """Share of the information in what was said that stands word for word, from 0 to 1; 1 where there was none. It
    counts what no pattern finds, so it is no quotient of the two that follow.
    """
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


class KeptWords(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a record beside a snapshot has of what was said. A statement is named by the number of the entry that it
    stands in and its own number there, from 0.
    """

    whole: tuple[tuple[int, int], ...] = ()
    """Of the person's statements those that stand in the request word for word."""
    cut: tuple[tuple[int, int], ...] = ()
    """Those of which only the beginning does."""
    unwanted: tuple[tuple[int, int], ...] = ()
    """Those that the person did not want kept."""
    tokens: int = 0
    """Tokens of the person's words in it."""
    budget: int = 0
    """How many it could have had."""
    model: int = 0
    """How many statements of the model's it has,"""
    calls: int = 0
    """and of how many calls it has a line."""


class LineSource(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a line of a snapshot comes from."""

    line: int
    """From 0, in the snapshot's text."""
    seqs: tuple[int, ...]
    """Sequence numbers of the contents, rising."""
