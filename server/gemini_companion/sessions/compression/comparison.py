"""Comparing two strategies on real use: every other automatic compression takes the second one."""

from __future__ import annotations

import zlib

from gemini_companion.engine.history.log import AttemptEntry, CompressionEntry, Trigger
from gemini_companion.engine.history.verdict import StrategyName
from gemini_companion.sessions.session import Session


def strategy_of(session: Session, trigger: Trigger) -> StrategyName:
    """The strategy of the session's next compression, where the request names none.

    Which of the two comes first depends on the session, for most sessions are compressed once. One that came to nothing
    counts too, so that a strategy that never works is not tried for ever.
    """
    settings = session.services.settings()
    if settings.compression_compare is None or trigger == "manual":
        return settings.compression_strategy
    earlier = sum(
        entry.result.trigger != "manual" for entry in session.history.entries.of(CompressionEntry, AttemptEntry)
    )
    is_second = (zlib.crc32(session.session_id.encode()) + earlier) % 2
    return settings.compression_compare if is_second else settings.compression_strategy
