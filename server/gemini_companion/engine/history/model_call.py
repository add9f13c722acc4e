"""The entry that a request to a model leaves: what it was for, how long it took, what it cost in tokens."""

from __future__ import annotations

from typing import Literal, TypeAlias

from gemini_companion.engine.history.entry import LogEntry
from gemini_companion.engine.history.usage import Usage

CallPurpose: TypeAlias = Literal[
    "answer", "compression", "preparing", "title", "condensing", "grounding", "loopCheck", "routing"
]
"""A turn's answer, a snapshot, one that is prepared ahead of need, a session's title, an output condensed, a search of
the web or pages read, a look at whether a turn gets on, the choice of a model for a prompt.
"""

CallOutcome: TypeAlias = Literal["ok", "failed", "cancelled"]
"""`failed`: the provider failed, refused, or gave an answer that is void."""


class ModelCallEntry(LogEntry, tag="modelCall", frozen=True, kw_only=True):
    """One request to a model, whatever came of it. It changes no view; statistics are made of it.

    It is written with the next entries, so that it costs no write of its own. `time` is its end.
    """

    purpose: CallPurpose
    subject: str
    """What it was made for: the id of a turn, a compression or a call; `""` for a title."""
    model: str
    outcome: CallOutcome
    duration_ms: int
    first_ms: int | None = None
    """Until the first piece of the answer came; `None` where the answer came whole, or never."""
    fault: str = ""
    """Why it failed: the kind of a fault, or the API's finish or block reason."""
    usage: Usage | None = None
    """`None` where nobody counted."""
    is_local: bool = False
    """The model ran on this machine, and cost nothing."""
    by_part: dict[str, int] | None = None
    """Tokens of the request by part, as `RequestParts` names them on the wire; of answers alone."""
    token_limit: int = 0
    """Tokens that the model accepted; of answers alone."""
    compression_at: int | None = None
    """Tokens at which automatic compression started then; `None` while it was off."""
