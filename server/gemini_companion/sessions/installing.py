"""A compression under way, and how it ends: installed in one append, or written down as an attempt."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from gemini_companion.engine.compression.conclude import message_for, without_cuts
from gemini_companion.engine.compression.plan import Plan
from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.errors import StaleVersion, StorageFault
from gemini_companion.engine.history.log import AttemptEntry, CompactionEntry, CompressionResult, CompressionStatus, Cut, TokenCountSource, Trigger
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.tokens.ledger import TokenReading
from gemini_companion.sessions.counting import Counts
from gemini_companion.sessions.events import (
    ChatCompressed,
    CompactionCancelled,
    CompactionCompleted,
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    Phase,
)
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.services import ModelChoice
from gemini_companion.sessions.session import Running, Session


@dataclass(slots=True, kw_only=True)
class CompressionRun:
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
    has_ended: bool = False
    """Its last event was told."""

    def report(self, phase: Phase, block: int | None = None, blocks: int | None = None) -> None:
        """Tell a phase."""
        session = self.session
        if self.running is not None:
            self.running.phase = phase
        elapsed = session.elapsed_ms(self.started)
        session.emit(CompactionProgress(compaction_id=self.compaction_id, phase=phase, elapsed_ms=elapsed, block=block, blocks=blocks))
        session.tell_status()

    def tell_start(self) -> None:
        """Tell that it runs. Exactly one end follows, see `tell_end`."""
        self.session.emit(CompactionStarted(compaction_id=self.compaction_id, trigger=self.trigger))

    def tell_end(self, end: type[CompactionCompleted | CompactionFailed], result: CompressionResult) -> CompressionResult:
        """Tell what came of it, unless its end was told before; what is read from now on finds it over."""
        session = self.session
        if session.compression is self.running:
            session.compression = None
        if not self.has_ended:
            self.has_ended = True
            session.emit(end(compaction_id=self.compaction_id, result=result))
        return result

    def tell_cancelled(self) -> None:
        """Tell that it was stopped, unless its end was told before."""
        if not self.has_ended:
            self.has_ended = True
            self.session.emit(CompactionCancelled(compaction_id=self.compaction_id))

    def result(
        self,
        status: CompressionStatus,
        counts: Counts | None = None,
        *,
        plan: Plan | None = None,
        snapshot: str | None = None,
        with_id: bool = False,
        message: str = "",
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


def joinable(session: Session, job: Job[CompressionResult]) -> Job[CompressionResult]:
    """Others may join it from now on, until it has ended. One that waits behind another is shown when its time comes."""
    job.future.add_done_callback(lambda _: ended(session, job))  # one that is cancelled while it waits never runs
    if session.compression is None:
        session.compression = Running(job=job, started=session.services.clock.monotonic())
        session.tell_status()
    return job


def ended(session: Session, job: Job[CompressionResult]) -> None:
    """The session's compression is over, if it was this one."""
    if session.compression is not None and session.compression.job is job:
        session.compression = None
    session.tell_status()


def nothing(run: CompressionRun, message: str = "") -> CompressionResult:
    """There is nothing to do: NOOP, told and not logged. The status remembers it for a person who asked."""
    result = run.result("NOOP", message=message)
    if run.trigger == "manual" and not run.preview:
        run.session.last_result = result
    return run.tell_end(CompactionCompleted, result)


async def failed(run: CompressionRun, result: CompressionResult, fault: str = "") -> CompressionResult:
    """Nothing was installed: write down the attempt, for the status and the failure flag, unless it was a preview."""
    await note_attempt(run, result, fault)
    return run.tell_end(CompactionFailed, result)


async def note_attempt(run: CompressionRun, result: CompressionResult, fault: str = "") -> None:
    """Write down that nothing was installed, unless it was a preview."""
    if not run.preview:
        stamp = run.session.stamp()
        await run.session.append(
            lambda seq: AttemptEntry(**stamp, seq=seq, result=result, forced=run.forced, token_count=run.reading.tokens, fault=fault)
        )


async def install(run: CompressionRun, entry: CompactionEntry, base_version: int) -> CompressionResult:
    """Step 12: one append, unless the span was changed meanwhile."""
    session = run.session
    if is_stale(session.history, entry, base_version):
        raise StaleVersion(
            "The history was changed while it was being compressed, so nothing was installed.", hint="Read the history again, then compress again."
        )
    entry = await _write_cuts(session, entry)
    result = entry.result
    if result.new_token_count >= result.original_token_count:
        return await failed(run, run.result("COMPRESSION_FAILED_INFLATED_TOKEN_COUNT", Counts(*_counts_of(result))))
    await session.commit(lambda seq: msgspec.structs.replace(entry, seq=seq))
    if result.token_count_source == "api":
        session.ledger.observe(run.choice.name, session.history.epoch, session.parts(), result.new_token_count)
    run.tell_end(CompactionCompleted, result)
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
        if cut.seq not in sources:  # its turn was rolled back since
            failed.append(cut)
            continue
        response = response_of(sources[cut.seq].content.parts[cut.part])
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


def _counts_of(result: CompressionResult) -> tuple[int, int, TokenCountSource]:
    return result.original_token_count, result.new_token_count, result.token_count_source
