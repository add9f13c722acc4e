"""What the search for facts takes and gives: plain types, cheap to import."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.content import Content

FactKind: TypeAlias = Literal["directive", "decision", "task", "error", "path", "command", "symbol", "url", "number"]
"""The most worthy first. A number is also a version, a date, a sum or an id."""


class FactSource(msgspec.Struct, frozen=True):
    """One content that a compression hides, and where it stands."""

    index: int
    """Its place in the view, from 0."""
    content: Content
    seq: int
    """The sequence number of its log entry."""
    ide_context: bool = False
    """True for the editor's state: nobody said it, so only its paths are facts."""


class Fact(msgspec.Struct, frozen=True, gc=False):
    """Something that must not be lost, as it stands in its content."""

    kind: FactKind
    text: str
    index: int
    seq: int
    listed: bool = False
    """True for what a tool's output or the editor's state only names: nobody spoke of it."""
    line: str = ""
    """Of a directive: the whole line that it stands in, which may say what `only` and `it` mean."""


class SummaryTask(msgspec.Struct, frozen=True, kw_only=True):
    """What a summariser that runs on this machine gets instead of a prompt to be parsed."""

    sources: tuple[FactSource, ...]
    """The contents to be hidden, in order, without snapshots and acknowledgements of earlier compressions."""
    previous_snapshot: str | None = None
    guidance: str = ""
    budget_tokens: int
    """Tokens that the snapshot may have, its frame not counted."""
    hidden_tokens: int
    """Tokens of what it replaces."""
    cite: bool = False
    """Whether lines are to end with the `index` of the source that they come from: `[c12]`."""
