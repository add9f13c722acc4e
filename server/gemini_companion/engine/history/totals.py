"""Tokens of a view by kind of content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item


class Totals(NamedTuple):
    """Estimated tokens of the curated view, by kind of content."""

    ide_context: int = 0
    snapshot: int = 0
    """Snapshots and their acknowledgements."""
    constraints: int = 0
    """The person's rules and pins, where they stand in a content of their own."""
    messages: int = 0
    tool_outputs: int = 0
    media: int = 0
    """How much of all these is media."""

    @property
    def all(self) -> int:
        """The sum of the kinds."""
        return self.ide_context + self.snapshot + self.constraints + self.messages + self.tool_outputs


def add_totals(totals: Totals, items: Iterable[Item]) -> Totals:
    """`totals` plus the tokens of `items`."""
    ide, snapshot, constraints, messages, tools, media = totals
    for item in items:
        tokens, tool_tokens, media_tokens = item.measure
        media += media_tokens
        if item.kind == "ide":
            ide += tokens
        elif item.kind == "pin" or (item.kind == "acknowledgement" and item.compression_id is None):
            constraints += tokens
        elif item.kind in REPLACEMENT_KINDS:
            snapshot += tokens
        else:
            messages += tokens - tool_tokens
            tools += tool_tokens
    return Totals(ide, snapshot, constraints, messages, tools, media)
