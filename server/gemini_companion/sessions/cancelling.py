"""Which of a session's jobs a request to cancel means, and what a cancel comes too late for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from gemini_companion.sessions.session import Session

_T = TypeVar("_T")


def cancel_job(session: Session, by: str, *, turn_id: str | None = None, compression_id: str | None = None) -> bool:
    """Stop the job with this id, or without one whatever runs; true if there was one. `by` is the client's id.

    What is being written is as good as there, and is not stopped any more.
    """
    job_id = turn_id or compression_id
    named = session.compressions.previews(compression_id) if compression_id else []
    if named:
        named[0].job.cancel(by)
        return not named[0].job.is_written
    if session.lane.cancel(by, job_id):
        return True
    previews = session.compressions.previews() if job_id is None else []
    stoppable = [one for one in previews if not one.is_quiet and not one.job.is_written]
    if stoppable:
        stoppable[0].job.cancel(by)
    return bool(stoppable)


async def list_what_is_done(session: Session) -> None:
    """`Session.update_listing` for a request whose work is committed: a cancel that comes now comes too late for that,
    so the answer says what was done, and the listing has it. Not within a job, whose cancel ends what follows.
    """
    try:
        await session.update_listing()
    except asyncio.CancelledError:
        await session.update_listing()


async def to_its_end(work: Coroutine[Any, Any, _T]) -> _T:
    """What `work` returns. It runs to its end even if whoever waits for it is cancelled."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody is left to hear of it
        raise
