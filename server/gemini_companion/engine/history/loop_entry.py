"""The entry that a loop leaves: the model went round in circles, and what was done about it."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from gemini_companion.engine.history.entry import LogEntry

LoopKind: TypeAlias = Literal["repeatedCalls", "repeatedText", "noProgress"]
"""The same calls again and again; the same words; another model found that nothing gets on."""

LoopOutcome: TypeAlias = Literal["told", "stopped"]
"""`told`: the model was told so, and goes on. `stopped`: it had been told before, and the turn ended."""


LOOP: Final = "LOOP"
"""The finish reason of an answer that was cut where it began to repeat itself."""


class LoopEntry(LogEntry, tag="loop", frozen=True, kw_only=True):
    """The model went round in circles. It changes no view; what the model was told is a `steer` behind it."""

    turn_id: str
    kind: LoopKind
    detail: str = ""
    """What was repeated, or why it is thought to be stuck; a line, secrets masked."""
    outcome: LoopOutcome
