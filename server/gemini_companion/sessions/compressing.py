"""Compression as sessions run it: the twelve steps, the job that runs them, preview, apply and undo.

The engine plans and concludes; here models are asked, tokens counted, files written and entries appended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import msgspec

from gemini_companion.engine.compression.answer import edited_snapshot
from gemini_companion.engine.compression.conclude import compaction_entry, message_for, truncation_entry, without_cuts
from gemini_companion.engine.compression.plan import Plan, Trim, plan_compression, trim_outputs
from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.compression.truncate import OUTPUT_LIMIT_CHARACTERS, whole_text
from gemini_companion.engine.compression.undo import plan_undo
from gemini_companion.engine.errors import CheckpointNotFound, CompanionError, InvalidInput, ModelFault, StaleVersion, StorageFault
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompactionEntry,
    CompressionResult,
    CompressionStatus,
    Cut,
    PreviewEntry,
    TokenCountSource,
    Trigger,
    UndoEntry,
)
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.tokens.ledger import TokenReading
from gemini_companion.sessions.counting import Counts, count_both
from gemini_companion.sessions.environment import refresh_environment
from gemini_companion.sessions.events import (
    ChatCompressed,
    CompactionCancelled,
    CompactionCompleted,
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    CompactionUndone,
    Phase,
)
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.services import ModelChoice
from gemini_companion.sessions.session import Running, Session
from gemini_companion.sessions.summarising import IN_THREAD_FROM, RETRY_SECONDS, Summariser, Summary

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class _Run:
    """One compression under way."""

    session: Session
    choice: ModelChoice
    compaction_id: str
    trigger: Trigger
    forced: bool
    guidance: str
    preview: bool
    started: float
    reading: TokenReading
    running: Running | None = None
    calls: int = 0

    def report(self, phase: Phase, block: int | None = None, blocks: int | None = None) -> None:
        """Tell a phase."""
        session = self.session
        if self.running is not None:
            self.running.phase = phase
        elapsed = session.elapsed_ms(self.started)
        session.emit(CompactionProgress(compaction_id=self.compaction_id, phase=phase, elapsed_ms=elapsed, block=block, blocks=blocks))
        session.tell_status()

    def result(
        self,
        status: CompressionStatus,
        counts: Counts | None = None,
        *,
        plan: Plan | None = None,
        snapshot: str | None = None,
        with_id: bool = False,
        message: str | None = None,
    ) -> CompressionResult:
        """The result so far. Without counts both numbers are the ledger's reading."""
        before, after, source = counts or Counts(self.reading.tokens, self.reading.tokens, self.reading.source)
        return CompressionResult(
            compaction_id=self.compaction_id if with_id else None,
            status=status,
            trigger=self.trigger,
            original_token_count=before,
            new_token_count=after,
            token_count_source=source,
            split_at=plan.split_at if plan else None,
            kept_contents=len(plan.trim.items) - plan.split_at if plan else None,
            snapshot=snapshot,
            model_calls=self.calls,
            duration_ms=self.session.elapsed_ms(self.started),
            message=message or message_for(status, before, after),
        )


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

    Model faults never leave here: they end in truncation, or in nothing, and are told.
    """
    reading = session.reading(choice)
    mark = session.trigger_at(choice)
    if session.compression is not None and not session.compression.job.future.done():
        return await session.compression.job.wait("turn")
    if mark is None or (not rescue and (reading.tokens < mark or session.breaker.is_paused(reading.tokens, session.limit(choice)))):
        return None
    if not session.history.items:
        return None
    job = session.lane.run_inside(_job(session, "auto", forced=False, guidance="", choice=choice))
    return await job.wait("turn")


def _job(session: Session, trigger: Trigger, *, forced: bool, guidance: str, choice: ModelChoice | None = None) -> Job[CompressionResult]:
    compaction_id = session.services.new_id("compaction")

    async def run(job: Job[CompressionResult]) -> CompressionResult:
        running = Running(job=job, started=session.services.clock.monotonic())
        session.compression = running
        try:
            return await _run(session, compaction_id, trigger, forced=forced, guidance=guidance, choice=choice, running=running)
        finally:
            _ended(session, job)

    return _joinable(session, Job("compression", compaction_id, run))


def _joinable(session: Session, job: Job[CompressionResult]) -> Job[CompressionResult]:
    """Others may join it from now on, until it has ended."""
    job.future.add_done_callback(lambda _: _ended(session, job))  # one that is cancelled while it waits never runs
    session.compression = Running(job=job, started=session.services.clock.monotonic())
    return job


def _ended(session: Session, job: Job[CompressionResult]) -> None:
    if session.compression is not None and session.compression.job is job:
        session.compression = None
        session.tell_status()


def _preview_job(session: Session, guidance: str) -> Job[CompressionResult]:
    """Previews wait for nothing and hold nothing up; they run beside the lane."""
    compaction_id = session.services.new_id("compaction")

    async def run(job: Job[CompressionResult]) -> CompressionResult:
        running = session.previews[compaction_id] = Running(job=job, started=session.services.clock.monotonic())
        try:
            return await _run(session, compaction_id, "manual", forced=True, guidance=guidance, running=running, preview=True)
        finally:
            session.previews.pop(compaction_id, None)
            session.tell_status()

    job = Job("compression", compaction_id, run)
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
    run = _Run(
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
    session.emit(CompactionStarted(compaction_id=compaction_id, trigger=trigger))
    try:
        return await _steps(run)
    except asyncio.CancelledError:
        if trigger == "auto":
            session.breaker.pause(run.reading.tokens)
        session.emit(CompactionCancelled(compaction_id=compaction_id))
        raise
    except CompanionError as fault:
        return await _after_fault(run, fault)
    except Exception:  # a defect of ours: the caller reports it, the clients must not wait for an end
        session.emit(CompactionFailed(result=run.result("NOOP", message="The chat was not compressed: something went wrong inside.")))
        raise


async def _steps(run: _Run) -> CompressionResult:
    session = run.session
    history = session.history
    items = history.curated()
    if not items:
        return _nothing(run)
    run.report("truncating")
    trim = await _off_loop(len(items), partial(_trim, run, items))
    if session.breaker.has_failed(run.reading.tokens) and not run.forced:
        return await _truncate_only(run, trim)
    plan = await _off_loop(len(items), partial(plan_compression, trim, tuple(history.in_force.values()), history.version))
    if plan is None:
        return _nothing(run)
    summary = await _summarise(run, plan)
    if summary.snapshot is None:
        return await _failed(run, run.result("COMPRESSION_FAILED_EMPTY_SUMMARY", plan=plan))
    run.report("counting")
    entry = _entry(run, plan, summary.snapshot, run.result("COMPRESSED"))
    try:
        counts = await count_both(session, run.choice, trim.items, history.view_with(entry), RetryBudget(session.services.clock, RETRY_SECONDS))
    except ModelFault:
        return await _failed(run, run.result("COMPRESSION_FAILED_TOKEN_COUNT_ERROR", plan=plan))
    if counts.after >= counts.before:
        return await _failed(run, run.result("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", counts, plan=plan))
    if run.preview:
        return await _keep_preview(run, plan, summary.snapshot, counts)
    run.report("installing")
    result = run.result("COMPRESSED", counts, plan=plan, snapshot=summary.snapshot, with_id=True)
    return await _install(run, msgspec.structs.replace(entry, result=result), plan.base_version)


def _trim(run: _Run, items: list[Item]) -> Trim:
    session = run.session
    settings_limit = session.services.settings().truncate_tool_output_threshold or OUTPUT_LIMIT_CHARACTERS
    room = 4 * (session.limit(run.choice) - run.reading.tokens)
    return trim_outputs(
        items,
        measure=session.ledger.measure,
        count_text=session.ledger.count_text,
        tag=run.compaction_id[-8:],
        path_of=lambda name: session.services.store.text_path(session.session_id, name),
        limit=min(settings_limit, max(room, 0)),
    )


async def _summarise(run: _Run, plan: Plan) -> Summary:
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


def _entry(run: _Run, plan: Plan, snapshot: str, result: CompressionResult) -> CompactionEntry:
    stamp = run.session.stamp()
    return compaction_entry(plan, snapshot, compaction_id=run.compaction_id, entry_id=stamp["id"], seq=0, time=stamp["time"], result=result)


def _nothing(run: _Run) -> CompressionResult:
    result = run.result("NOOP")
    run.session.emit(CompactionCompleted(result=result))
    return result


async def _failed(run: _Run, result: CompressionResult, fault: str = "") -> CompressionResult:
    """Nothing was installed: write down the attempt, for the status and the failure flag, unless it was a preview."""
    session = run.session
    if not run.preview:
        stamp = session.stamp()
        await session.append(lambda seq: AttemptEntry(**stamp, seq=seq, result=result, forced=run.forced, token_count=run.reading.tokens, fault=fault))
    session.emit(CompactionFailed(result=result))
    return result


async def _truncate_only(run: _Run, trim: Trim) -> CompressionResult:
    """Step 5: no model call; the cuts alone, if they help."""
    before, source = run.reading
    counts = Counts(before, max(0, before - trim.tokens_saved), source)
    if not trim.cuts or counts.after >= counts.before:
        return _nothing(run)
    run.report("installing")
    result = run.result("CONTENT_TRUNCATED", counts, with_id=True)
    stamp = run.session.stamp()
    entry = truncation_entry(trim, compaction_id=run.compaction_id, entry_id=stamp["id"], seq=0, time=stamp["time"], result=result)
    return await _install(run, entry, run.session.history.version)


async def _after_fault(run: _Run, fault: CompanionError) -> CompressionResult:
    """A manual run raises; an automatic one tells what happened, truncates if that helps, and lets the turn go on."""
    session = run.session
    result = run.result("NOOP", message=f"The chat was not compressed: {fault.message}")
    if not isinstance(fault, ModelFault):
        session.emit(CompactionFailed(result=result))
        if run.trigger == "auto" and isinstance(fault, StaleVersion):
            return result
        raise fault
    await _failed(run, result, type(fault).__name__)
    if run.trigger == "manual":
        raise fault
    items = session.history.curated()
    trim = await _off_loop(len(items), partial(_trim, run, items))
    return await _truncate_only(run, trim) if trim.cuts else result


async def _install(run: _Run, entry: CompactionEntry, base_version: int) -> CompressionResult:
    """Step 12: one append, unless the span was changed meanwhile."""
    session = run.session
    if is_stale(session.history, entry, base_version):
        raise StaleVersion(
            "The history was changed while it was being compressed, so nothing was installed.", hint="Read the history again, then compress again."
        )
    entry = await _write_cuts(session, entry)
    result = entry.result
    if result.new_token_count >= result.original_token_count:
        return await _failed(run, run.result("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", Counts(*_counts_of(result))))
    await session.commit(lambda seq: msgspec.structs.replace(entry, seq=seq))
    if result.token_count_source == "api":
        session.ledger.observe(run.choice.name, session.history.epoch, session.parts(), result.new_token_count)
    session.emit(CompactionCompleted(result=result))
    session.emit(
        ChatCompressed(tokens_before=result.original_token_count, tokens_after=result.new_token_count, trigger=result.trigger),
    )
    session.tell_usage()
    return result


async def _write_cuts(session: Session, entry: CompactionEntry) -> CompactionEntry:
    """Write the whole outputs to their files. Where that fails the output stays whole."""
    sources = {item.seq: item for item in session.history.sources}
    failed: list[Cut] = []
    for cut in entry.cuts:
        response = response_of(sources[cut.seq].content.parts[cut.part]) if cut.seq in sources else None
        try:
            name = cut.path.replace("\\", "/").rsplit("/", 1)[-1]
            path = await session.services.store.save_text(session.session_id, name, whole_text(response or {}))
        except StorageFault:
            failed.append(cut)
            continue
        if path != cut.path:
            failed.append(cut)
    if not failed:
        return entry
    lost = sum(cut.tokens_saved for cut in failed)
    result = msgspec.structs.replace(entry.result, new_token_count=entry.result.new_token_count + lost)
    return msgspec.structs.replace(without_cuts(entry, frozenset(failed)), result=result)


async def _keep_preview(run: _Run, plan: Plan, snapshot: str, counts: Counts) -> CompressionResult:
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
    session.emit(CompactionCompleted(result=result))
    return result


async def apply_preview(session: Session, *, client: str, compaction_id: str, snapshot: str | None = None) -> CompressionResult:
    """Install a preview, with an edited text if `snapshot` is given. Recounts.

    Raises `CheckpointNotFound`, `StaleVersion`, or `InvalidInput` for an empty text.
    """

    async def run_job(job: Job[CompressionResult]) -> CompressionResult:
        running = Running(job=job, started=session.services.clock.monotonic())
        session.compression = running
        try:
            return await _apply(session, compaction_id, snapshot, running)
        finally:
            _ended(session, job)

    _find_preview(session, compaction_id)
    job = _joinable(session, Job("compression", compaction_id, run_job))
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


async def _apply(session: Session, compaction_id: str, snapshot: str | None, running: Running) -> CompressionResult:
    preview = _find_preview(session, compaction_id)
    choice = session.choice()
    run = _Run(
        session=session,
        choice=choice,
        compaction_id=compaction_id,
        trigger="manual",
        forced=True,
        guidance="",
        preview=False,
        started=running.started,
        reading=session.reading(choice),
        running=running,
    )
    planned = preview.compaction
    entry = planned
    text = planned.result.snapshot
    if snapshot is not None:
        text = edited_snapshot(snapshot)
        if text is None:
            raise InvalidInput("The edited snapshot is empty.", path="$.snapshot", hint="Leave `snapshot` out to apply the preview as it was.")
        replacement = list(planned.replacement)
        replacement[planned.snapshot_at] = user_text(text)
        entry = msgspec.structs.replace(planned, replacement=tuple(replacement))
    if is_stale(session.history, entry, preview.base_seq):
        raise StaleVersion("The history was changed since this preview was made.", hint="Ask for a new preview with gemini/compress.")
    run.report("counting")
    before = session.history.curated()
    retries = RetryBudget(session.services.clock, RETRY_SECONDS)
    try:
        counts = await count_both(session, choice, before, session.history.view_with(entry), retries)
    except ModelFault:
        return await _failed(run, run.result("COMPRESSION_FAILED_TOKEN_COUNT_ERROR"))
    if counts.after >= counts.before:
        return await _failed(run, run.result("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", counts))
    run.report("installing")
    base = run.result("COMPRESSED", counts, snapshot=text, with_id=True)
    result = msgspec.structs.replace(base, split_at=planned.result.split_at, kept_contents=planned.result.kept_contents)
    stamp = session.stamp()
    return await _install(run, msgspec.structs.replace(entry, result=result, id=stamp["id"], time=stamp["time"]), preview.base_seq)


async def undo(session: Session, *, client: str, compaction_id: str | None = None) -> CompressionResult:
    """Take back a compaction and all that cover it; later turns stay. Raises `CheckpointNotFound`."""

    async def run(_: Job[CompressionResult]) -> CompressionResult:
        return await _undo(session, compaction_id)

    plan_undo(session.history, compaction_id)
    job = Job("compression", session.services.new_id("undo"), run)
    session.lane.submit(job)
    return await job.wait(client)


async def _undo(session: Session, compaction_id: str | None) -> CompressionResult:
    started = session.services.clock.monotonic()
    undone = plan_undo(session.history, compaction_id)
    choice = session.choice()
    before = session.ledger.estimate(choice.name, session.parts())
    after = before + _restored_tokens(session, undone)
    source: TokenCountSource = "estimate"
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
    session.emit(CompactionUndone(undone=undone))
    session.tell_usage()
    return result


def _restored_tokens(session: Session, undone: Sequence[str]) -> int:
    """Estimated tokens that come back, IDE entries aside."""
    items = session.history.curated()
    ide = sum(item.measure.tokens for item in items if item.kind == "ide")
    now = sum(item.measure.tokens for item in items)
    then = sum(item.measure.tokens for item in session.history.view_without(undone))
    return then - (now - ide)


def _counts_of(result: CompressionResult) -> tuple[int, int, TokenCountSource]:
    return result.original_token_count, result.new_token_count, result.token_count_source


async def _off_loop(size: int, work: Callable[[], T]) -> T:
    """Run pure work over a long history in a thread, so that the event loop answers meanwhile."""
    return await asyncio.to_thread(work) if size >= IN_THREAD_FROM else work()
