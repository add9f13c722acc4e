"""One turn: from a prompt to a stored answer, or back to the state before it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from gemini_companion.engine.errors import Cancelled, CompanionError, ContextOverflow, InternalFault
from gemini_companion.engine.history.content import Content, Part, visible_text_of
from gemini_companion.engine.history.log import (
    CompressionResult,
    ModelChangeEntry,
    PromptEntry,
    ReplyEntry,
    TurnEndEntry,
    TurnOutcome,
    Usage,
)
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.constraints.project import take_in_project_rules
from gemini_companion.sessions.constraints.request import assured
from gemini_companion.sessions.constraints.taking import PromptRules
from gemini_companion.sessions.context.environment import refresh_environment
from gemini_companion.sessions.context.ide import DueContext, prepare_context
from gemini_companion.sessions.context.mentions import Attached, attach
from gemini_companion.sessions.events import (
    Event,
    MaxTurnsReached,
    ModelChanged,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.models.port import LocalContext, ModelRequest
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.results import ChatResult, StopReason
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.session import Draft, Session
from gemini_companion.sessions.turn.overflow import overflow_of
from gemini_companion.sessions.turn.replacing import check_replaceable
from gemini_companion.sessions.turn.streaming import RETRY_SECONDS, Answer, stream_answer

_CHANGED: Final = ("COMPRESSED", "CONTENT_TRUNCATED")


class SafePoint(Protocol):
    """What may happen in the session while a turn holds its lane: called where no model call is open."""

    async def __call__(self, choice: ModelChoice, *, rescue: bool = False) -> CompressionResult | None:
        """Compress if it is due, or for a `rescue` whatever the count is; `None` if it was not due.

        Raises `Cancelled` if the compression was stopped.
        """
        ...


@dataclass(slots=True, kw_only=True)
class Turn:
    """A turn under way."""

    session: Session
    safe_point: SafePoint
    turn_id: str
    client: Client
    prompt: tuple[Part, ...]
    asked_model: str | None
    replaces: str | None = None
    """Id of the turn whose answer this one replaces."""
    started: float = 0.0
    """Seconds on the monotonic clock; 0 until it runs."""
    compression: CompressionResult | None = None
    """The compression that ran within it."""
    attached: Attached = field(default_factory=Attached)
    has_excluded: bool = False
    """The turn that it replaces is excluded from the view."""
    rules: PromptRules = field(init=False)
    choice: ModelChoice = field(init=False)
    retries: RetryBudget = field(init=False)
    """Shared by the answer and by the one after a rescue."""
    job: Job[ChatResult] = field(init=False)

    def emit(self, event: Event) -> None:
        """Emit an event of this turn."""
        self.session.emit(event, self.turn_id)

    async def run(self, job: Job[ChatResult]) -> ChatResult:
        """Answer the prompt. Raises `CompanionError`s, after the turn was rolled back and its end emitted."""
        session = self.session
        self.job = job
        self.started = session.services.clock.monotonic()
        self.retries = RetryBudget(session.services.clock, RETRY_SECONDS)
        session.asked_model = self.asked_model
        self.choice = session.choice()
        self.emit(TurnStarted(prompt=self.prompt, model=self.choice.name))
        try:
            return await self._answer()
        except asyncio.CancelledError:
            await self._end("cancelled", by=job.cancelled_by)
            self._emit_end(TurnCancelled(by=job.cancelled_by))
            raise
        except CompanionError as fault:
            await self._end("failed", reason=fault.message)
            self._emit_end(TurnFailed(error=session.services.describe_fault(fault)))
            raise
        except Exception as defect:  # the session must stay usable after a defect of the daemon
            await self._end("failed", reason=type(defect).__name__)
            self._emit_end(TurnFailed(error=session.services.describe_fault(InternalFault())))
            raise
        finally:
            session.asked_model = None

    async def abandon(self, by: str) -> None:
        """End a turn whose prompt was cancelled while it waited."""
        await self._end("cancelled", by=by)
        self.emit(TurnCancelled(by=by))

    async def _answer(self) -> ChatResult:
        session = self.session
        limit = session.services.settings().max_session_turns
        if limit is not None and session.turns - (self.replaces is not None) >= limit:
            self.emit(MaxTurnsReached(limit=limit))
            return self._stop("maxTurns")
        if self.replaces is not None:
            check_replaceable(session, self.replaces)
            session.history.exclude(self.replaces)
            self.has_excluded = True
        await take_in_project_rules(session)
        self.attached = await attach(session, self.client, self.prompt)
        await refresh_environment(session)
        await self._compress()
        await refresh_environment(session)
        due = await prepare_context(session, self.client)
        overflow = await overflow_of(session, self.choice, self._content(), due)
        if overflow is not None and session.mark(self.choice).tokens is not None:
            await self._compress(rescue=True)
            await refresh_environment(session)
            due = await prepare_context(session, self.client)
            overflow = await overflow_of(session, self.choice, self._content(), due)
        if overflow is not None:
            self.emit(overflow)
            return self._stop("contextWindowWillOverflow")
        await self._open(due)
        answer = await self._stream_with_rescue()
        return await self._complete(answer)

    async def _compress(self, *, rescue: bool = False) -> CompressionResult | None:
        """Compress if it is due. The result is reported with the answer; of several, one that changed the view."""
        try:
            result = await self.safe_point(self.choice, rescue=rescue)
        except Cancelled:  # the compression was, not the turn: the turn goes on without it
            result = None
        if self.job.cancelled_by:  # too late for what was installed meanwhile, but not for the turn
            raise asyncio.CancelledError
        if result is not None and (self.compression is None or result.status in _CHANGED):
            self.compression = result
        return result

    async def _open(self, due: DueContext) -> None:
        """Log the prompt, with the editor's state ahead of it."""
        session = self.session
        drafts: list[Draft] = []
        if due.text is not None:
            drafts.append(due.entry(session, self.turn_id))
        self.rules = await PromptRules.of(session, self.prompt, self.turn_id, self.replaces)
        await session.append(*drafts, self._prompt_draft(), *self.rules.with_prompt())
        self.rules.tell()
        if due.has_news:
            self.emit(due.receipt())
        if self.attached.has_news:
            self.emit(self.attached.receipt())

    def _content(self) -> Content:
        """The prompt's own parts and the attached files."""
        return Content(role="user", parts=(*self.prompt, *self.attached.parts))

    def _prompt_draft(self) -> Draft:
        stamp, attached = self.session.stamp(), self.attached
        return lambda seq: PromptEntry(
            **stamp,
            seq=seq,
            turn_id=self.turn_id,
            content=self._content(),
            client=self.client.client_id,
            attachments=tuple(attached.attachments),
            withheld=tuple(attached.withheld),
        )

    async def _stream_with_rescue(self) -> Answer:
        """Stream; if the provider refuses the size, compress and try once more."""
        try:
            return await self._stream()
        except ContextOverflow as overflow:
            session = self.session
            rescued = await self._compress(rescue=True)
            if rescued is None or rescued.status not in _CHANGED:
                raise
            await refresh_environment(session)
            await self._resend_context()
            try:
                return await self._stream()
            except ContextOverflow as again:
                raise ContextOverflow(again.message, hint=overflow.hint or again.hint) from overflow

    async def _resend_context(self) -> None:
        """Send the editor's state again, behind the prompt: a compression inside the turn removed it from the view."""
        session = self.session
        due = await prepare_context(session, self.client)
        if due.text is not None:
            await session.append(due.entry(session, self.turn_id))
            self.emit(due.receipt())

    async def _stream(self) -> Answer:
        session = self.session
        parts = session.parts()
        request = ModelRequest(
            model=self.choice.name,
            contents=session.request_contents(session.history.curated(close=True)),
            system_instruction=session.system_instruction,
            prompt_id=self.turn_id,
        )
        answer = await stream_answer(
            self.choice.provider,
            assured(session, request),
            self._local_context(),
            emit=self.emit,
            retries=self.retries,
        )
        if answer.usage is not None and self.choice.provider.capabilities.counts_remotely:
            session.observe(self.choice, answer.usage.prompt_tokens, parts)
        return answer

    def _local_context(self) -> LocalContext | None:
        """What the provider may know besides the request; `None` unless it runs on this machine."""
        if not self.choice.provider.capabilities.reads_documents:
            return None
        return LocalContext(documents=self.client.editor.documents, is_fallback=self.choice.is_fallback)

    async def _complete(self, answer: Answer) -> ChatResult:
        session = self.session
        usage = answer.usage or Usage()
        reply, end = session.stamp(), session.stamp()
        content = Content(role="model", parts=answer.parts)
        model = self.choice.name
        change, drafts = self._model_change()
        await session.commit(
            *drafts,
            lambda seq: ReplyEntry(
                **reply,
                seq=seq,
                turn_id=self.turn_id,
                content=content,
                model=model,
                finish_reason=answer.finish_reason,
                usage=usage,
            ),
            lambda seq: TurnEndEntry(
                **end,
                seq=seq,
                turn_id=self.turn_id,
                outcome="completed",
                kept_to=seq,
                duration_ms=session.elapsed_ms(self.started),
            ),
            *self._replacement(),  # ahead of the rules: what the replaced turn brought is withdrawn first
            *self.rules.with_answer(),
        )
        self.rules.tell()
        if change is not None:
            self.emit(change)
        self._emit_end(
            TurnCompleted(finish_reason=answer.finish_reason, usage=usage, duration_ms=session.elapsed_ms(self.started))
        )
        return self._result(visible_text_of(answer.parts), answer.finish_reason, usage)

    def _replacement(self) -> list[Draft]:
        """The end of the turn that this one replaces, to be written with the answer."""
        replaced = self.replaces
        if replaced is None:
            return []
        stamp = self.session.stamp()
        return [lambda seq: TurnEndEntry(**stamp, seq=seq, turn_id=replaced, outcome="replaced", by=self.turn_id)]

    def _restore(self) -> None:
        """Bring back the turn that was to be replaced: there is no new answer."""
        if self.has_excluded:
            self.session.history.restore()

    def _model_change(self) -> tuple[ModelChanged | None, list[Draft]]:
        """The change to the model that the request named; written with its first answer, so only once it has worked."""
        session, asked = self.session, self.asked_model
        if not asked or asked == session.meta.model:
            return None, []
        services, stamp, reason = session.services, session.stamp(), "named in the request"
        before = services.models.choose(services.settings(), session_model=session.meta.model).asked
        change = ModelChanged(from_=before, to=asked, reason=reason) if before != asked else None
        return change, [lambda seq: ModelChangeEntry(**stamp, seq=seq, model=asked, reason=reason)]

    def _emit_end(self, event: Event) -> None:
        """Emit the token count, then the turn's last event."""
        self.session.asked_model = None
        self.session.notify_usage(self.turn_id)
        self.emit(event)

    def _stop(self, reason: StopReason) -> ChatResult:
        """End a turn that sent and logged nothing; the result has the prompt."""
        self._restore()
        self.emit(TurnCompleted(finish_reason=reason, usage=Usage(), duration_ms=self.session.elapsed_ms(self.started)))
        result = self._result("", reason, Usage())
        return msgspec.structs.replace(result, stopped=reason, prompt=self.prompt)

    def _result(self, text: str, finish_reason: str, usage: Usage) -> ChatResult:
        return ChatResult(
            session_id=self.session.session_id,
            turn_id=self.turn_id,
            text=text,
            finish_reason=finish_reason,
            model=self.choice.name,
            usage=usage,
            compression=self.compression,
        )

    async def _end(self, outcome: TurnOutcome, *, reason: str = "", by: str = "") -> None:
        """Close the turn in the log: the prompt stays readable, the view is as before.

        If the store fails, the entries are written ahead of the next ones.
        """
        session = self.session
        self._restore()
        stamp, duration = session.stamp(), session.elapsed_ms(self.started) if self.started else None
        drafts: list[Draft] = [] if self.turn_id in session.open_turns else [self._prompt_draft()]
        drafts.append(
            lambda seq: TurnEndEntry(
                **stamp, seq=seq, turn_id=self.turn_id, outcome=outcome, reason=reason, by=by, duration_ms=duration
            )
        )
        try:
            await session.commit(*drafts)
        except CompanionError:
            session.write_later(*drafts)
