"""Undoing a compression; later turns stay."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_companion.engine.compression.messages import message_for
from gemini_companion.engine.compression.undo import plan_undo
from gemini_companion.engine.history.log import CompressionResult, UndoEntry
from gemini_companion.engine.tokens.ledger import agree
from gemini_companion.sessions.compression.background import end
from gemini_companion.sessions.compression.job import wait_and_list
from gemini_companion.sessions.compression_events import CompressionUndone
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.putting_away import unpack_for
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import in_steps, is_much, off_loop


async def undo(session: Session, *, client: str, compression_id: str | None = None) -> CompressionResult:
    """Undo a compression, the newest by default, and all that stand on it; later turns stay.

    Raises `CompressionNotFound`, `StorageFault`.
    """

    async def run(job: Job[CompressionResult]) -> CompressionResult:
        return await _undo(session, job, compression_id)

    if session.compressions.installing is None:  # otherwise the one under way may be meant
        plan_undo(session.history, compression_id)
    end(session, "undo")
    job = Job("compression", session.services.new_id("undo"), run)
    session.lane.submit(job)
    return await wait_and_list(session, job, client)


async def _undo(session: Session, job: Job[CompressionResult], compression_id: str | None) -> CompressionResult:
    started = session.services.clock.monotonic()
    undone = plan_undo(session.history, compression_id)
    choice = session.choice()
    before, source = session.token_count(choice)
    measured = _measured_tokens(session, undone) if source == "api" else None
    restored = session.ledger.estimate_text(choice.name, await _restored_tokens(session, undone))
    if measured is None or not agree(measured, restored, before + restored):  # the log may be an imported one
        measured, source = None, "estimate"
        after = before + restored
    else:
        after = before + measured
    stamp = session.stamp()
    result = CompressionResult(
        compression_id=undone[-1],
        status="UNDONE",
        trigger="manual",
        original_token_count=before,
        new_token_count=after,
        token_count_source=source,
        undone=undone,
        model_calls=0,
        duration_ms=session.elapsed_ms(started),
        message=message_for("UNDONE", before, after),
    )
    await unpack_for(session, undone)
    job.is_written = True
    await session.commit(lambda seq: UndoEntry(**stamp, seq=seq, undone=undone, result=result))
    await in_steps(session.history.settle)
    if measured is not None:
        session.observe(choice, after)
    session.emit(CompressionUndone(undone=undone))
    session.notify_usage()
    return result


def _measured_tokens(session: Session, undone: Sequence[str]) -> int | None:
    """The tokens that the compressions saved by the API's count, which an undo brings back.

    `None` if the API did not count all of them.
    """
    results = [session.history.in_force[compression_id].result for compression_id in undone]
    if any(result.token_count_source != "api" for result in results):
        return None
    return sum(result.original_token_count - result.new_token_count for result in results)


async def _restored_tokens(session: Session, undone: Sequence[str]) -> int:
    """Estimated tokens that an undo brings back, without IDE entries."""
    history = session.history.copied() if is_much(session.history.sources.units) else session.history

    def tokens() -> int:
        now = sum(item.measure.tokens for item in history.curated() if item.kind != "ide")
        then = sum(item.measure.tokens for item in history.view_without(undone))
        return then - now

    return await off_loop(history.sources.units, tokens)
