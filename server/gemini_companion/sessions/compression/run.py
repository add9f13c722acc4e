"""One run of a compression: the twelve steps, in order.

 1. Nothing there: NOOP (`CompressionRun.execute`).
 2. Hooks: `PreCompress` guides it, or refuses an automatic run (`hooks.ask_hooks`).
 3. Threshold, for automatic runs only (`service.compress_at_safe_point`).
 4. Reverse budget for tool outputs (`trimming.trimmed`).
 5. After a failure, unless forced: the cuts alone, or NOOP (`_truncate_only`).
 6. Where to split (`Strategy.plan`).
 7. What the summariser gets: the originals if they fit, else cut, else in blocks (`Summariser`).
 8. Summarise, then verify (`Summariser`).
 9. Read the answer strictly (`engine.compression.answer.read_answer`), one repair (`Summariser`).
10. Pass the fidelity gate (`gating.SnapshotGate`), and assemble (`Strategy.conclude`).
11. Count old and new alike (`install.count_both`), and judge (`engine.compression.types.judge`).
12. Install in one append (`install.install`), or keep as a preview (`install.keep_preview`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from gemini_companion.engine.compression.appendix import write_media
from gemini_companion.engine.compression.messages import NOT_AGAIN, TOO_LITTLE, message_for
from gemini_companion.engine.compression.strategies.registry import STRATEGIES
from gemini_companion.engine.compression.types import Counts, LogState, Plan, Strategy, Trim, ViewChange, judge
from gemini_companion.engine.errors import CompanionError, ModelFault, StaleVersion
from gemini_companion.engine.facts.statements import Unwanted
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    CompressionStatus,
    PromptEntry,
    SteerEntry,
)
from gemini_companion.engine.tokens.ledger import TokenCount
from gemini_companion.sessions.compression.comparison import strategy_of
from gemini_companion.sessions.compression.cost import verdict_of_plan
from gemini_companion.sessions.compression.gating import Admission, SnapshotGate, judged, span_of_plan
from gemini_companion.sessions.compression.hooks import ask_hooks
from gemini_companion.sessions.compression.install import (
    as_preview,
    count_both,
    install,
    judge_in,
    keep_preview,
    note_attempt,
    observe_before,
)
from gemini_companion.sessions.compression.reach import log_state, planned_contents, reach_of
from gemini_companion.sessions.compression.sources import sources_of_lines
from gemini_companion.sessions.compression.summariser import Summariser
from gemini_companion.sessions.compression.trimming import trimmed
from gemini_companion.sessions.compression_state import Compression
from gemini_companion.sessions.context.environment import refresh_environment
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.recording import Recorded
from gemini_companion.sessions.threads import off_loop

RETRY_SECONDS: Final = 20.0
"""Seconds of waiting that all retries of one compression may add up to."""

OTHER_SECONDS: Final = 5.0
OTHER_ATTEMPTS: Final = 2
"""The same of a model beside the chat's own, which is asked where that one fails."""


@dataclass(slots=True, kw_only=True)
class CompressionRun:
    """One run of a compression in its session."""

    session: Session
    compression: Compression
    strategy: Strategy = field(init=False)
    choice: ModelChoice = field(init=False)
    retries: RetryBudget = field(init=False)
    """Shared by every call of the run: summarising, verifying, repairing, counting."""
    tokens: TokenCount = field(init=False)
    """The session's token count when it began."""
    basis: str = field(init=False)
    """Of the settings then: others may be in force when it ends."""
    calls: int = 0
    """Generate calls so far."""
    guidance: str = ""

    def __post_init__(self) -> None:
        named = self.compression.wish.strategy or strategy_of(self.session, self.compression.trigger)
        self.strategy = STRATEGIES[named]()

    @property
    def forced(self) -> bool:
        """A user asked, or it installs nothing: no failure flag stops it, and nothing else is done in its stead."""
        return self.compression.trigger == "manual" or self.compression.is_preview

    async def execute(self, choice: ModelChoice | None = None) -> CompressionResult:
        """Run the steps.

        A manual run raises the `CompanionError` that ended it, an automatic one turns a `ModelFault` into a result. The
        last event is out in either case.
        """
        await refresh_environment(self.session)
        return await self.from_begin_to_end(self._steps_or_fallback, choice, failed="The chat was not compressed")

    async def cut(self, trim: Trim, because: str, choice: ModelChoice) -> CompressionResult:
        """Step 5 alone, where a model was asked already and failed; `because` says how."""
        version = self.session.history.version
        cuts = partial(self._truncate_only, trim, version, because=because)
        return await self.from_begin_to_end(cuts, choice, failed="The chat was not compressed")

    async def from_begin_to_end(
        self,
        steps: Callable[[], Awaitable[CompressionResult]],
        choice: ModelChoice | None = None,
        *,
        failed: str,
    ) -> CompressionResult:
        """Begin, run `steps`, and see to an end however they end. `failed` begins the sentence for a fault."""
        session, compression = self.session, self.compression
        self.choice = choice or session.choice()
        self.retries = RetryBudget(session.services.clock, RETRY_SECONDS)
        self.tokens, self.basis = session.token_count(self.choice), session.services.settings().compression_basis
        compression.begin()
        try:
            return await steps()
        except asyncio.CancelledError:
            if compression.trigger == "auto":
                session.breaker.pause(self.tokens.tokens)
            compression.cancel()
            raise
        except Exception as error:  # the caller reports it; clients still need a final event
            compression.fail(self.result("NOOP", message=f"{failed}: {why_of(error)}"))
            raise

    async def _steps_or_fallback(self) -> CompressionResult:
        try:
            return await self._steps()
        except CompanionError as fault:
            return await self._after_fault(fault)

    # --- the steps

    async def _steps(self) -> CompressionResult:
        session, history = self.session, self.session.history
        if not history.curated():
            return self._nothing()
        refused, self.guidance = await ask_hooks(session, self.compression, self.tokens.tokens, self._finds_work)
        items, reach = planned_contents(session, self.compression), reach_of(session, self.compression.wish)
        if obstacle := refused or reach.obstacle:
            return self._nothing(obstacle)
        log = log_state(session, self.choice, reach.span)
        self.compression.enter("truncating")
        trim = await self._trim(items)
        if session.breaker.has_failed(self.tokens.tokens) and not self.forced:
            return await self._truncate_only(trim, log.version)
        plan = await off_loop(len(items), partial(self._plan, trim, log))
        if plan is None:
            return self._nothing()
        window = session.limit(self.choice)
        span = await off_loop(len(items), partial(span_of_plan, plan))
        gate = SnapshotGate(session, span, window=window, guidance=self.guidance, has_record=plan.has_record)
        try:
            admission = await self._summarise(plan, gate)
        finally:
            gate.cancel()
        if admission is None:
            return await self._failed(self.result("COMPRESSION_FAILED_EMPTY_SUMMARY", plan=plan))
        if admission.is_refused:
            return await self._refused(admission, plan, trim)
        change = self.strategy.conclude(plan, admission.written.snapshot).with_appendix(admission.appendix)
        if change.hides is not None:
            prompts = history.entries.of(PromptEntry, SteerEntry)
            change = change.with_appendix(write_media(prompts, change.hides, change.keeps))
        self.compression.enter("counting")
        try:
            counts = await self._count(change)  # of the view as it is: a prompt may have come while a preview was made
        except ModelFault:
            return await self._failed(self.result("COMPRESSION_FAILED_TOKEN_COUNT_ERROR", plan=plan))
        if history.version == log.version:
            observe_before(session, self.choice, counts)
        status = judge_in(self.session, counts)
        if status != "COMPRESSED":
            return await self._failed(self.result(status, counts, plan=plan))
        if self.compression.is_quiet and counts.save_little:
            return self._nothing(TOO_LITTLE)
        result = self.result(status, counts, plan=plan, snapshot=admission.written.snapshot, with_id=True)
        verdict = verdict_of_plan(session, self.choice, plan, counts, admission.written.snapshot)
        result = msgspec.structs.replace(judged(result, admission), verdict=verdict)
        entry = self._entry(change, result)
        sources = sources_of_lines(session.history, entry, admission.written)
        entry = msgspec.structs.replace(entry, sources=sources, words=admission.words)
        if self.compression.is_preview:
            kept = await keep_preview(session, self.compression, entry, plan.base_version, self.basis)
            return self.compression.complete(as_preview(kept))
        self.compression.enter("installing")
        return await self._install(entry, plan.base_version)

    async def _finds_work(self) -> bool:
        """Whether there is something to hide; or to cut, where a failure keeps it from more."""
        session, items = self.session, planned_contents(self.session, self.compression)
        log = log_state(session, self.choice, reach_of(session, self.compression.wish).span)
        trim = await self._trim(items)
        if session.breaker.has_failed(self.tokens.tokens) and not self.forced:
            return bool(trim.cuts)
        return await off_loop(len(items), partial(self._plan, trim, log)) is not None

    def _plan(self, trim: Trim, log: LogState) -> Plan | None:
        """The strategy's plan. An automatic run that it has none for, which may be a rescue, does as `split`."""
        plan = self.strategy.plan(trim, log)
        if plan is None and not self.forced and self.strategy.name != "split":
            self.strategy = STRATEGIES["split"]()
            plan = self.strategy.plan(trim, log)
        return plan

    async def _trim(self, items: list[Item]) -> Trim:
        return await trimmed(self.session, self.choice, items, self.tokens.tokens, self.compression.compression_id)

    async def _summarise(self, plan: Plan, gate: SnapshotGate) -> Admission | None:
        """A snapshot and what the gate says of it; `None` if no answer held one.

        Where a model on this machine, which takes minutes, writes none that can be used, the built-in summariser does.
        """
        services = self.session.services
        model = services.models.compressor(services.settings(), self.choice)
        try:
            return await self._summarise_by(model, plan, gate)
        except ModelFault as fault:
            if not services.models.write_instead(self.choice, model, fault):
                raise
            admission = await self._summarise_by(self.choice.name, plan, gate)
            services.tell(services.models.wrote_instead(self.choice, model, fault))
            return admission

    async def _summarise_by(self, model: str, plan: Plan, gate: SnapshotGate) -> Admission | None:
        session, services = self.session, self.session.services
        settings = services.settings()
        is_own = model == self.choice.name
        capabilities = self.choice.provider.capabilities
        by_model = plan.asks_model and not capabilities.summarises_from_facts
        may_fall_back = by_model and (capabilities.runs_here or settings.built_in_fallback)
        summariser = Summariser(
            provider=Recorded(
                session,
                self.choice,
                lambda: self.compression.purpose,
                self.compression.compression_id,
                urgency=self.compression.urgency,
            ),
            model=model,
            window=min(session.limit(self.choice), services.models.limit(settings, model)),
            ledger=session.ledger,
            retries=self.retries if is_own else RetryBudget(services.clock, OTHER_SECONDS, OTHER_ATTEMPTS),
            prompt_id=self.compression.compression_id,
            nonce=services.new_nonce(),
            report=self.compression.enter,
            asked=gate.begin,
            cache=session.fact_cache,
            asks_once=capabilities.runs_here,
            unwanted=Unwanted(session.history.unwanted),
            in_force=[rule.text for rule in session.history.standing],
            released=[rule.text for rule in session.history.constraints.all() if rule.state == "released"],
        )
        try:
            finish = partial(self.strategy.finish, plan)
            written = await summariser.summarise(plan, self.guidance, finish=finish)
            admission = None
            if written is not None:
                admission = await gate.admit(written, can_repair=summariser.can_repair, repair=summariser.repair)
            if may_fall_back and (admission is None or admission.is_refused):
                built_in = await gate.admit(await summariser.from_facts(plan, self.guidance))
                if not built_in.is_refused:
                    return built_in._replace(is_built_in=True, by_model=False)
            return admission and admission._replace(by_model=by_model)
        finally:
            self.calls += summariser.calls

    async def _count(self, change: ViewChange) -> Counts:
        after = self.session.history.view_with(self._entry(change, self.result("COMPRESSED")))
        return await count_both(self.session, self.choice, after, self.retries)

    def _entry(self, change: ViewChange, result: CompressionResult) -> CompressionEntry:
        return change.entry(**self.session.stamp(), compression_id=self.compression.compression_id, result=result)

    # --- the ends

    def _nothing(self, message: str = "") -> CompressionResult:
        """End with NOOP, emitted and not logged. After a manual run the status shows it."""
        result = self.result("NOOP", message=message)
        if self.forced and not self.compression.is_preview:
            self.session.last_result = result
        return self.compression.complete(result)

    async def _failed(self, result: CompressionResult, fault: str = "") -> CompressionResult:
        await self._note_attempt(result, fault)
        return self.compression.fail(result)

    async def _refused(self, admission: Admission, plan: Plan, trim: Trim) -> CompressionResult:
        """End with a snapshot that the gate refused. An automatic run cuts outputs if that helps."""
        result = self.result("COMPRESSION_FAILED_LOW_RETENTION", plan=plan)
        result = msgspec.structs.replace(result, retention=admission.retention)
        if self.forced or not trim.tokens_saved:
            return await self._failed(result)
        await self._note_attempt(result)
        return await self._truncate_only(trim, self.session.history.version, because=result.message)

    async def _note_attempt(self, result: CompressionResult, fault: str = "") -> None:
        if self.compression.is_preview or self.compression.trigger == "background":
            return  # nobody waited for it
        await note_attempt(self.session, result, self.tokens.tokens, forced=self.forced, fault=fault)

    async def _install(self, entry: CompressionEntry, base: int, rules_as_of: int | None = None) -> CompressionResult:
        """Step 12. Outputs whose files cannot be written stay whole, which may use up the gain."""
        installed = await install(self.session, self.choice, self.compression, entry, base, rules_as_of)
        if installed.status == "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT":
            return await self._failed(self.result(installed.status, Counts.of(installed)))
        return installed

    async def _truncate_only(self, trim: Trim, version: int, *, because: str = "") -> CompressionResult:
        """Step 5: the cuts alone, without a model call, if they help. `because` begins the message."""
        before, source = self.tokens
        counts = Counts(before, max(0, before - trim.tokens_saved), source)
        if not trim.cuts or judge(counts) != "COMPRESSED":
            return self._nothing(because or NOT_AGAIN)
        self.compression.enter("installing")
        message = f"{because} {message_for('CONTENT_TRUNCATED', counts.before, counts.after)}".strip()
        result = self.result("CONTENT_TRUNCATED", counts, with_id=True, message=message)
        return await self._install(self._entry(ViewChange(cuts=trim.cuts), result), version)

    async def _after_fault(self, fault: CompanionError) -> CompressionResult:
        """End after a fault: a manual run raises; an automatic one cuts outputs if that helps, and returns."""
        result = self.result("NOOP", message=f"The chat was not compressed: {fault.message}")
        if not isinstance(fault, ModelFault):
            self.compression.fail(result)
            if not self.forced and isinstance(fault, StaleVersion):
                return result
            raise fault
        if self.forced:
            await self._failed(result, type(fault).__name__)
            raise fault
        await self._note_attempt(result, type(fault).__name__)
        items, version = self.session.history.curated(), self.session.history.version
        trim = await self._trim(items)
        if trim.cuts and trim.tokens_saved:
            return await self._truncate_only(trim, version, because=f"No summary: {fault.message}")
        return self.compression.fail(result)

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
        """A result as of now. Without `counts` both numbers are the token count at the beginning."""
        before, after, source = counts or Counts(self.tokens.tokens, self.tokens.tokens, self.tokens.source)
        return CompressionResult(
            compression_id=self.compression.compression_id if with_id else None,
            status=status,
            trigger=self.compression.trigger,
            original_token_count=before,
            new_token_count=after,
            token_count_source=source,
            split_at=plan.split_at if plan else None,
            kept_contents=plan.start_at + len(plan.tail) if plan else None,
            snapshot=snapshot,
            strategy=self.strategy.name if plan else None,
            model_calls=self.calls,
            duration_ms=self.compression.elapsed_ms,
            message=message or message_for(status, before, after),
        )


def why_of(error: Exception) -> str:
    """The part of an error that goes to all subscribers: a fault's message, nothing of a defect."""
    return error.message if isinstance(error, CompanionError) else "something went wrong inside."
