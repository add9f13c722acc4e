"""What every entry of a log has, and what several kinds of entries hold."""

from __future__ import annotations

import msgspec


class LogEntry(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", omit_defaults=True, gc=False
):
    """An entry of a log, tagged by `type`."""

    # It never changes, so nothing in it leads back to it: with `gc=False` the collector does not go through long logs.

    id: str
    seq: int
    """Rises by one per entry, from 1."""
    time: int
    """Milliseconds since 1970 (UTC)."""


class Cut(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A function response that was shortened in the view: part `part` of the content of entry `seq`."""

    seq: int
    part: int
    """Index of the part in the content, from 0."""
    output: str
    """What replaces its output: head, tail and the path of the file with the whole."""
    path: str
    """Absolute path of that file; `""` where the log itself has the whole."""
    tokens_saved: int
