"""Step 4 of a compression: the reverse budget for tool outputs, with the limits of a session's settings."""

from __future__ import annotations

from functools import partial
from typing import Final

from gemini_companion.engine.compression.truncate import OUTPUT_LIMIT_CHARACTERS, response_budget, trim_outputs
from gemini_companion.engine.compression.types import Trim
from gemini_companion.engine.history.item import Item
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop

NEVER: Final = 2**62
"""Longer than any output: the settings turned shortening off."""


async def trimmed(session: Session, choice: ModelChoice, items: list[Item], tokens: int, compression_id: str) -> Trim:
    """The outputs of `items` cut, for a compression of this id in a session that counts so many tokens."""
    threshold = session.services.settings().truncate_tool_output_threshold
    limit = NEVER if threshold is None else min(threshold, OUTPUT_LIMIT_CHARACTERS)
    available = 4 * (session.limit(choice) - tokens)  # about as many characters
    trim = partial(
        trim_outputs,
        items,
        measure=session.ledger.measure,
        count_text=session.ledger.count_text,
        tag=compression_id[-8:],
        path_of=lambda name: session.services.store.text_path(session.session_id, name),
        limit=limit if limit == NEVER else min(limit, max(available, 0)),
        budget=response_budget(session.limit(choice)),
    )
    return await off_loop(len(items), trim)
