"""Undoing a compression; later turns stay."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gemini_companion.engine.compression.messages import message_for
from gemini_companion.engine.compression.undo import plan_undo
from gemini_companion.engine.errors import CompressionNotFound
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

    Which one that is stands when it is asked for, though the undo may have to wait: a second request meanwhile means
    the same one, and waits for the same end. Raises `CompressionNotFound`, `StorageFault`.
    """
    meant, undos = _meant(session, compression_id), session.compressions.undos
    job = undos.get(meant)
    if job is None or job.cancelled_by:
        job = Job("compression", session.services.new_id("undo"), partial(_undo, session, meant))
        end(session, "undo")
        session.lane.submit(job)
        undos[meant] = job
        job.future.add_done_callback(partial(_forget, undos, meant))
    return await wait_and_list(session, job, client)


def _forget(undos: dict[str, Job[CompressionResult]], meant: str, ended: object) -> None:
    if meant in undos and undos[meant].future is ended:
        del undos[meant]


def _meant(session: Session, compression_id: str | None) -> str:
    """The id of the compression that a request to undo means now. Raises `CompressionNotFound` if there is none."""
    under_way = session.compressions.installing
    if under_way is None:
        return plan_undo(session.history, compression_id)[-1]
    return compression_id or under_way.compression_id  # the newest by the time that the undo runs


async def _undo(session: Session, compression_id: str, job: Job[CompressionResult]) -> CompressionResult:
    started = session.services.clock.monotonic()
    if compression_id not in session.history.compressions:
        raise CompressionNotFound(
            f"The compression {compression_id} changed nothing or was never there, so there is nothing to undo."
        )
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
