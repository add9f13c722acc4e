"""Beginning a compression that others can see, and waiting for it."""

from __future__ import annotations

import asyncio

from gemini_companion.engine.history.log import CompressionResult, Trigger
from gemini_companion.sessions.cancelling import list_what_is_done
from gemini_companion.sessions.compression_state import NO_WISH, Compression, Kind, Wish
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.session import Session


def new_compression(
    session: Session, kind: Kind, trigger: Trigger, compression_id: str | None = None, *, wish: Wish = NO_WISH
) -> Compression:
    """A compression that is visible to the status, joinable and cancellable. The caller prepares its job at once."""

    def changed(compression: Compression) -> None:
        if compression.has_ended:
            session.compressions.discard(compression)
            # However it ended, and whoever waits for it: it may have had the session's tokens counted.
            keeping = asyncio.create_task(session.update_listing(is_change=False), name=f"number:{session.session_id}")
            session.use(keeping, session.last_used)
        session.notify_status()

    def behind() -> str | None:
        turn = session.lane.running_turn
        return turn if turn is not None and session.transcript.has_prompt(turn) else None

    compression = Compression(
        compression_id or session.services.new_id("compression"),
        kind,
        trigger,
        wish=wish,
        emit=session.emit,
        on_change=changed,
        monotonic=session.services.clock.monotonic,
        behind=behind,
    )
    session.compressions.add(compression)
    return compression


async def wait_and_list(session: Session, job: Job[CompressionResult], client: str) -> CompressionResult:
    """Wait for the job, then bring the listing up to date. Raises what the job raised."""
    result = await job.wait(client)
    await list_what_is_done(session)
    return result
