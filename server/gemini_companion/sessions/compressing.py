"""Compression as sessions run it: the twelve steps, the job that runs them, preview, apply and undo.

The engine plans and concludes; here models are asked, tokens counted, files written and entries appended.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

import msgspec

from gemini_companion.engine.compression.conclude import compaction_entry, message_for, truncation_entry
from gemini_companion.engine.compression.plan import Plan, Trim, plan_compression, trim_outputs
from gemini_companion.engine.compression.truncate import OUTPUT_LIMIT_CHARACTERS
from gemini_companion.engine.errors import CompanionError, ModelFault, StaleVersion
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import (
    CompactionEntry,
    CompressionResult,
    PreviewEntry,
    Trigger,
)
from gemini_companion.sessions.counting import Counts, count_both
from gemini_companion.sessions.environment import refresh_environment
from gemini_companion.sessions.events import (
    CompactionCompleted,
    CompactionFailed,
)
from gemini_companion.sessions.installing import CompressionRun, ended, failed, install, joinable, note_attempt, nothing
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.services import ModelChoice
from gemini_companion.sessions.session import Running, Session
from gemini_companion.sessions.summarising import RETRY_SECONDS, Summariser, Summary, off_loop

NEVER: Final = 2**62
"""No output is this long: the settings turned shortening off."""


NOT_AGAIN: Final = "Not compressed: the last attempt came to nothing, and no large tool output is left to shorten. Compressing by hand tries again."
"""Why an automatic run ends at once while the failure flag is set."""


async def compress(session: Session, *, client: str, instructions: str = "", preview: bool = False) -> CompressionResult:
    """Compress by hand. A second request joins the one that runs. Raises what the model raised, `Cancelled`, `StaleVersion`, `StorageFault`."""
    if preview:
        job = _preview_job(session, instructions)
    elif session.compression is not None and not session.compression.job.future.done():
        job = session.compression.job
    else:
        job = _job(session, "manual", forced=True, guidance=instructions)
        session.lane.submit(job)
    return await job.wait(client)


async def compress_automatically(session: Session, choice: ModelChoice, *, rescue: bool = False) -> CompressionResult | None:
    """Inside a turn: compress if the count has reached the trigger (or whatever it is, for a `rescue`). `None` if it is not due.

    This is a safe point: a compression that somebody asked for during the turn runs here, and is joined. Model faults never leave
    here: they end in truncation, or in nothing, and are told.
    """
    if session.compression is not None and not session.compression.job.future.done():
        return await _join(session, session.compression.job)
    reading = session.reading(choice)
    mark = session.trigger_at(choice)
    if mark is None or (not rescue and (reading.tokens < mark or session.breaker.is_paused(reading.tokens, session.limit(choice)))):
        return None
    if not session.history.items:
        return None
    job = session.lane.run_inside(_job(session, "auto", forced=False, guidance="", choice=choice))
    return await job.wait("turn")


async def _join(session: Session, job: Job[CompressionResult]) -> CompressionResult | None:
    """Wait, in a turn, for somebody else's compression; its failure is theirs."""
    await session.lane.let_in(job)
    try:
        return await job.wait("turn")
    except CompanionError:
        return None


def _job(session: Session, trigger: Trigger, *, forced: bool, guidance: str, choice: ModelChoice | None = None) -> Job[CompressionResult]:
    compaction_id = session.services.new_id("compaction")

    async def run(job: Job[CompressionResult]) -> CompressionResult:
        running = Running(job=job, started=session.services.clock.monotonic())
        session.compression = running
        try:
            return await _run(session, compaction_id, trigger, forced=forced, guidance=guidance, choice=choice, running=running)
        finally:
            ended(session, job)

    return joinable(session, Job("compression", compaction_id, run))


def _preview_job(session: Session, guidance: str) -> Job[CompressionResult]:
    """Previews wait for nothing and hold nothing up; they run beside the lane."""
    compaction_id = session.services.new_id("compaction")

    async def run(job: Job[CompressionResult]) -> CompressionResult:
        running = Running(job=job, started=session.services.clock.monotonic())
        session.previews[compaction_id] = running
        return await _run(session, compaction_id, "manual", forced=True, guidance=guidance, running=running, preview=True)

    def over(_: object) -> None:
        session.previews.pop(compaction_id, None)
        session.tell_status()

    job = Job("compression", compaction_id, run)
    session.previews[compaction_id] = Running(job=job, started=session.services.clock.monotonic())  # it can be cancelled from here on
    job.future.add_done_callback(over)
    job.start()
    return job


async def _run(
    session: Session,
    compaction_id: str,
    trigger: Trigger,
    *,
    forced: bool,
    guidance: str,
    running: Running,
    choice: ModelChoice | None = None,
    preview: bool = False,
) -> CompressionResult:
    choice = choice or session.choice()
    await refresh_environment(session)
    run = CompressionRun(
        session=session,
        choice=choice,
        compaction_id=compaction_id,
        trigger=trigger,
        forced=forced,
        guidance=guidance,
        preview=preview,
        started=running.started,
        reading=session.reading(choice),
        running=running,
    )
    run.tell_start()
    try:
        try:
            return await _steps(run)
        except CompanionError as fault:
            return await _after_fault(run, fault)
    except asyncio.CancelledError:
        if trigger == "auto":
            session.breaker.pause(run.reading.tokens)
        run.tell_cancelled()
        raise
    except Exception as error:  # the caller reports it; the clients must not wait for an end
        why = error.message if isinstance(error, CompanionError) else "something went wrong inside."
        run.tell_end(CompactionFailed, run.result("NOOP", message=f"The chat was not compressed: {why}"))
        raise


async def _steps(run: CompressionRun) -> CompressionResult:
    session = run.session
    history = session.history
    items, version, in_force, aside_from = history.curated(), history.version, tuple(history.in_force.values()), history.aside_from
    if not items:
        return nothing(run)
    run.report("truncating")
    trim = await off_loop(len(items), partial(_trim, run, items))
    if session.breaker.has_failed(run.reading.tokens) and not run.forced:
        return await _truncate_only(run, trim, version)
    plan = await off_loop(len(items), partial(plan_compression, trim, in_force, version, aside_from))
    if plan is None:
        return nothing(run)
    summary = await _summarise(run, plan)
    if summary.snapshot is None:
        return await failed(run, run.result("COMPRESSION_FAILED_EMPTY_SUMMARY", plan=plan))
    run.report("counting")
    entry = _entry(run, plan, summary.snapshot, run.result("COMPRESSED"))
    try:
        counts = await count_both(session, run.choice, trim.items, history.view_with(entry), RetryBudget(session.services.clock, RETRY_SECONDS))
    except ModelFault:
        return await failed(run, run.result("COMPRESSION_FAILED_TOKEN_COUNT_ERROR", plan=plan))
    if counts.after >= counts.before:
        return await failed(run, run.result("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", counts, plan=plan))
    if run.preview:
        return await _keep_preview(run, plan, summary.snapshot, counts)
    run.report("installing")
    result = run.result("COMPRESSED", counts, plan=plan, snapshot=summary.snapshot, with_id=True)
    return await install(run, msgspec.structs.replace(entry, result=result), plan.base_version)


def _trim(run: CompressionRun, items: list[Item]) -> Trim:
    session = run.session
    threshold = session.services.settings().truncate_tool_output_threshold
    limit = NEVER if threshold is None else min(threshold, OUTPUT_LIMIT_CHARACTERS)
    room = 4 * (session.limit(run.choice) - run.reading.tokens)
    return trim_outputs(
        items,
        measure=session.ledger.measure,
        count_text=session.ledger.count_text,
        tag=run.compaction_id[-8:],
        path_of=lambda name: session.services.store.text_path(session.session_id, name),
        limit=limit if limit == NEVER else min(limit, max(room, 0)),
    )


async def _summarise(run: CompressionRun, plan: Plan) -> Summary:
    session = run.session
    services = session.services
    settings = services.settings()
    model = services.models.compressor(settings, run.choice)
    summariser = Summariser(
        client=run.choice.client,
        model=model,
        window=min(session.limit(run.choice), services.models.limit(settings, model)),
        ledger=session.ledger,
        clock=services.clock,
        prompt_id=run.compaction_id,
        nonce=services.new_nonce(),
        report=run.report,
    )
    try:
        return await summariser.summarise(plan, run.guidance)
    finally:
        run.calls = summariser.calls


def _entry(run: CompressionRun, plan: Plan, snapshot: str, result: CompressionResult) -> CompactionEntry:
    stamp = run.session.stamp()
    return compaction_entry(plan, snapshot, compaction_id=run.compaction_id, entry_id=stamp["id"], seq=0, time=stamp["time"], result=result)


async def _truncate_only(run: CompressionRun, trim: Trim, version: int, *, because: str = "") -> CompressionResult:
    """Step 5: no model call; the cuts alone, if they help. `because` says what a model call came to, if there was one."""
    before, source = run.reading
    counts = Counts(before, max(0, before - trim.tokens_saved), source)
    if not trim.cuts or counts.after >= counts.before:
        return nothing(run, because or NOT_AGAIN)
    run.report("installing")
    message = f"{because} {message_for('CONTENT_TRUNCATED', counts.before, counts.after)}".strip()
    result = run.result("CONTENT_TRUNCATED", counts, with_id=True, message=message)
    stamp = run.session.stamp()
    entry = truncation_entry(trim, compaction_id=run.compaction_id, entry_id=stamp["id"], seq=0, time=stamp["time"], result=result)
    return await install(run, entry, version)


async def _after_fault(run: CompressionRun, fault: CompanionError) -> CompressionResult:
    """A manual run raises; an automatic one tells what happened, truncates if that helps, and lets the turn go on."""
    session = run.session
    result = run.result("NOOP", message=f"The chat was not compressed: {fault.message}")
    if not isinstance(fault, ModelFault):
        run.tell_end(CompactionFailed, result)
        if run.trigger == "auto" and isinstance(fault, StaleVersion):
            return result
        raise fault
    if run.trigger == "manual":
        await failed(run, result, type(fault).__name__)
        raise fault
    await note_attempt(run, result, type(fault).__name__)
    items, version = session.history.curated(), session.history.version
    trim = await off_loop(len(items), partial(_trim, run, items))
    if trim.cuts and trim.tokens_saved:
        return await _truncate_only(run, trim, version, because=f"No summary: {fault.message}")
    return run.tell_end(CompactionFailed, result)


async def _keep_preview(run: CompressionRun, plan: Plan, snapshot: str, counts: Counts) -> CompressionResult:
    session = run.session
    installed = run.result("COMPRESSED", counts, plan=plan, snapshot=snapshot, with_id=True)
    result = msgspec.structs.replace(installed, status="PREVIEW", message=message_for("PREVIEW", counts.before, counts.after))
    compaction = _entry(run, plan, snapshot, installed)
    stamp = session.stamp()
    await session.append(
        lambda seq: PreviewEntry(
            **stamp,
            seq=seq,
            compaction_id=run.compaction_id,
            compaction=msgspec.structs.replace(compaction, preview_id=run.compaction_id),
            base_seq=plan.base_version,
        )
    )
    return run.tell_end(CompactionCompleted, result)
