"""Results of requests about the lines of a snapshot, and about what is kept beside it."""

from __future__ import annotations

from typing import Literal

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


class Statement(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A sentence of the person's that a compression hides."""

    statement_id: str
    text: str
    turn_id: str
    stands: Literal["whole", "cut", "no"]
    """Whether the request has it word for word, its beginning alone, or not at all: there was no room, or it is not
    wanted.
    """
    is_kept: bool = True
    """False where the person does not want it kept. Counts from the next compression on."""
    constraint_id: str | None = None
    """The rule in force that it says: that is kept whatever is set here."""


class KeptReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is kept beside the snapshot of a compression."""

    compression_id: str | None = None
    """Absent where no compression in force keeps what was said: it has another strategy, or there is none."""
    statements: tuple[Statement, ...] = ()
    """Of the person's, in order; the newest if there are too many."""
    omitted: int = 0
    """How many older ones are not listed."""
    whole: int = 0
    """How many of all of them stand word for word."""
    tokens: int = 0
    """Tokens that they take."""
    budget: int = 0
    """How many they may."""
    model_statements: int = 0
    """Sentences of the model's that are quoted."""
    calls: int = 0
    """Calls that have a line."""
    is_preview: bool = False
    """Nothing of it holds yet; applied, it keeps what is wanted then."""
    is_outdated: bool = False
    """Whether the next compression will keep others, for the person has set it so since."""
