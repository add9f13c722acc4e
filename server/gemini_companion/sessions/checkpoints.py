"""Previews applied, compactions undone: what can be done with a compression once it is there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from gemini_companion.engine.compression.answer import edited_snapshot
from gemini_companion.engine.compression.conclude import message_for
from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.compression.undo import plan_undo
from gemini_companion.engine.errors import CheckpointNotFound, CompanionError, InvalidInput, ModelFault, StaleVersion
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.log import CompactionEntry, CompressionResult, PreviewEntry, UndoEntry
from gemini_companion.sessions.counting import count_both
from gemini_companion.sessions.events import CompactionFailed, CompactionUndone
from gemini_companion.sessions.installing import CompressionRun, ended, failed, install, joinable
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.session import Running, Session
from gemini_companion.sessions.summarising import RETRY_SECONDS


async def apply_preview(session: Session, *, client: str, compaction_id: str, snapshot: str | None = None) -> CompressionResult:
    """Install a preview, with an edited text if `snapshot` is given. Recounts.

    Raises `CheckpointNotFound`, `StaleVersion`, or `InvalidInput` for an empty text.
    """

    async def run_job(job: Job[CompressionResult]) -> CompressionResult:
        session.compression = running = Running(job=job, started=session.services.clock.monotonic())
        try:
            return await _apply(session, _find_preview(session, compaction_id), snapshot, running)
        finally:
            ended(session, job)

    _edited(_find_preview(session, compaction_id).compaction, snapshot)  # refused at once, not after what runs
    job = joinable(session, Job("compression", compaction_id, run_job))
    session.lane.submit(job)
    return await job.wait(client)


def _find_preview(session: Session, compaction_id: str) -> PreviewEntry:
    preview = session.history.preview
    if preview is None or preview.compaction_id != compaction_id:
        applied = compaction_id in session.history.compactions
        raise CheckpointNotFound(
            f"The preview {compaction_id} is applied already." if applied else f"There is no preview {compaction_id}, or a newer one took its place.",
            hint="Ask for a new preview with gemini/compress.",
        )
    return preview


async def _apply(session: Session, preview: PreviewEntry, snapshot: str | None, running: Running) -> CompressionResult:
    choice = session.choice()
    run = CompressionRun(
        session=session,
        choice=choice,
        compaction_id=preview.compaction_id,
        trigger="manual",
        forced=True,
        guidance="",
        preview=False,
        started=running.started,
        reading=session.reading(choice),
        running=running,
    )
    run.tell_start()
    try:
        return await _install_preview(run, preview, snapshot)
    except asyncio.CancelledError:
        run.tell_cancelled()
        raise
    except Exception as error:  # the caller reports it; the clients must not wait for an end
        why = error.message if isinstance(error, CompanionError) else "something went wrong inside."
        run.tell_end(CompactionFailed, run.result("NOOP", message=f"The preview was not applied: {why}"))
        raise


async def _install_preview(run: CompressionRun, preview: PreviewEntry, snapshot: str | None) -> CompressionResult:
    session = run.session
    entry, text = _edited(preview.compaction, snapshot)
    if is_stale(session.history, entry, preview.base_seq):
        raise StaleVersion("The history was changed since this preview was made.", hint="Ask for a new preview with gemini/compress.")
    run.report("counting")
    before = session.history.curated()
    retries = RetryBudget(session.services.clock, RETRY_SECONDS)
    try:
        counts = await count_both(session, run.choice, before, session.history.view_with(entry), retries)
    except ModelFault:
        return await failed(run, run.result("COMPRESSION_FAILED_TOKEN_COUNT_ERROR"))
    if counts.after >= counts.before:
        message = f"With this snapshot the chat would not get smaller ({counts.before:,} to {counts.after:,} tokens), so it was not applied."
        return await failed(run, run.result("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", counts, message=message))
    run.report("installing")
    base = run.result("COMPRESSED", counts, snapshot=text, with_id=True)
    split_at = sum(1 for item in before if entry.hides is not None and item.seq <= entry.hides[1])
    result = msgspec.structs.replace(base, split_at=split_at, kept_contents=len(before) - split_at)
    stamp = session.stamp()
    return await install(run, msgspec.structs.replace(entry, result=result, id=stamp["id"], time=stamp["time"]), preview.base_seq)


def _edited(planned: CompactionEntry, snapshot: str | None) -> tuple[CompactionEntry, str | None]:
    """The planned compaction and its text, with the edited one in its place if there is one."""
    if snapshot is None:
        return planned, planned.result.snapshot
    text = edited_snapshot(snapshot)
    if text is None:
        raise InvalidInput("The edited snapshot is empty.", path="$.snapshot", hint="Leave `snapshot` out to apply the preview as it was.")
    replacement = list(planned.replacement)
    replacement[planned.snapshot_at] = user_text(text)
    return msgspec.structs.replace(planned, replacement=tuple(replacement)), text


async def undo(session: Session, *, client: str, compaction_id: str | None = None) -> CompressionResult:
    """Take back a compaction and all that cover it; later turns stay. Raises `CheckpointNotFound`."""

    async def run(_: Job[CompressionResult]) -> CompressionResult:
        return await _undo(session, compaction_id)

    if session.compression is None:  # else it may be the one under way that is meant
        plan_undo(session.history, compaction_id)
    job = Job("compression", session.services.new_id("undo"), run)
    session.lane.submit(job)
    return await job.wait(client)


async def _undo(session: Session, compaction_id: str | None) -> CompressionResult:
    started = session.services.clock.monotonic()
    undone = plan_undo(session.history, compaction_id)
    choice = session.choice()
    before, source = session.reading(choice)
    measured = _measured_tokens(session, undone) if source == "api" else None
    if measured is None:
        source = "estimate"
        after = before + session.ledger.estimate_text(choice.name, _restored_tokens(session, undone))
    else:
        after = before + measured
    stamp = session.stamp()
    result = CompressionResult(
        compaction_id=undone[-1],
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
    await session.commit(lambda seq: UndoEntry(**stamp, seq=seq, undone=undone, result=result))
    if measured is not None:
        session.ledger.observe(choice.name, session.history.epoch, session.parts(), after)
    session.emit(CompactionUndone(undone=undone))
    session.tell_usage()
    return result


def _measured_tokens(session: Session, undone: Sequence[str]) -> int | None:
    """The tokens that the compactions saved as the API counted them, which is what comes back; `None` if it did not count all of them."""
    results = [session.history.in_force[compaction_id].result for compaction_id in undone]
    if any(result.token_count_source != "api" for result in results):
        return None
    return sum(result.original_token_count - result.new_token_count for result in results)


def _restored_tokens(session: Session, undone: Sequence[str]) -> int:
    """Estimated tokens that come back, IDE entries aside."""
    now = sum(item.measure.tokens for item in session.history.curated() if item.kind != "ide")
    then = sum(item.measure.tokens for item in session.history.view_without(undone))
    return then - now
