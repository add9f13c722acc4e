"""Results of requests about the lines of a snapshot."""

from __future__ import annotations

import msgspec


class SourcedLine(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A line of a snapshot and where it comes from."""

    line: int
    """From 0, in the text that `snapshot` gives."""
    turn_ids: tuple[str, ...]
    entry_ids: tuple[str, ...]
    """The contents, oldest first."""


class CompressionSources(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the lines of a snapshot come from; a line whose source is not known is left out."""

    compression_id: str
    lines: tuple[SourcedLine, ...]
