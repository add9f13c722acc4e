"""A person's rating of a compression."""

from __future__ import annotations

from gemini_companion.engine.errors import CompressionNotFound
from gemini_companion.engine.history.log import RatingEntry
from gemini_companion.sessions.session import Session


async def rate(session: Session, compression_id: str, *, rating: int, note: str = "") -> None:
    """Write a rating, from 1 (bad) to 5 (good), into the log. Raises `CompressionNotFound`."""
    if compression_id not in session.history.compressions:
        raise CompressionNotFound(
            f"There is no compression {compression_id}.", hint="gemini/compression/list names them."
        )
    stamp = session.stamp()
    await session.append(
        lambda seq: RatingEntry(**stamp, seq=seq, compression_id=compression_id, rating=rating, note=note)
    )
