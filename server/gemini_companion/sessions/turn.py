"""One turn: from a prompt to a stored answer, or back to where it was."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

import msgspec

from gemini_companion.engine.errors import Cancelled, CompanionError, ContextOverflow, InternalFault, InvalidInput
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
from gemini_companion.sessions.attaching import Attached, attach
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compressing import compress_automatically
from gemini_companion.sessions.environment import refresh_environment
from gemini_companion.sessions.events import (
    ContextWindowWillOverflow,
    Event,
    MaxTurnsReached,
    ModelChanged,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from gemini_companion.sessions.ide import DueContext, prepare_context
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.ports import ModelRequest
from gemini_companion.sessions.results import ChatResult, StopReason
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.services import ModelChoice
from gemini_companion.sessions.session import Draft, Session
from gemini_companion.sessions.streaming import RETRY_SECONDS, Answer, stream_answer

_CHANGED: Final = ("COMPRESSED", "CONTENT_TRUNCATED")

OVERFLOW_SHARE: Final = 0.95
"""Share of what is left of the window that a prompt with its IDE context may take (seeds: the 95 % rule)."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """A turn under way."""

    session: Session
    turn_id: str
    client: Client
    prompt: tuple[Part, ...]
    asked_model: str | None
    replaces: str | None = None
    """The turn whose answer is asked for anew."""
    started: float = 0.0
    compression: CompressionResult | None = None
    attached: Attached = field(default_factory=Attached)
    has_set_aside: bool = False
    """The turn that it replaces is out of the view for now."""
    choice: ModelChoice = field(init=False)
    job: Job[ChatResult] = field(init=False)

    def emit(self, event: Event) -> None:
        """Tell an event of this turn."""
        self.session.emit(event, self.turn_id)

    async def run(self, job: Job[ChatResult]) -> ChatResult:
        """Answer the prompt. Raises `CompanionError`s, after the turn was rolled back and told of."""
        session = self.session
        self.job = job
        self.started = session.services.clock.monotonic()
        session.asked_model = self.asked_model
        self.choice = session.choice()
        self.emit(TurnStarted(prompt=self.prompt, model=self.choice.name))
        try:
            return await self._answer()
        except asyncio.CancelledError:
            await self._end("cancelled", by=job.cancelled_by)
            self._tell_end(TurnCancelled(by=job.cancelled_by))
            raise
        except CompanionError as fault:
            await self._end("failed", reason=fault.message)
            self._tell_end(TurnFailed(error=session.services.describe_fault(fault)))
            raise
        except Exception as defect:  # ours; the session must stay usable all the same
            await self._end("failed", reason=type(defect).__name__)
            self._tell_end(TurnFailed(error=session.services.describe_fault(InternalFault())))
            raise
        finally:
            session.asked_model = None

    async def abandon(self, by: str) -> None:
        """The prompt was cancelled while it waited."""
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
            session.history.set_aside(self.replaces)
            self.has_set_aside = True
        self.attached = await attach(session, self.client, self.prompt)
        await refresh_environment(session)
        await self._compress()
        await refresh_environment(session)
        due = await prepare_context(session, self.client)
        overflow = self._overflow(due)
        if overflow is not None and session.trigger_at(self.choice) is not None:
            await self._compress(rescue=True)
            await refresh_environment(session)
            due = await prepare_context(session, self.client)
            overflow = self._overflow(due)
        if overflow is not None:
            self.emit(overflow)
            return self._stop("contextWindowWillOverflow")
        await self._open(due)
        answer = await self._stream_with_rescue(due)
        return await self._complete(answer)

    async def _compress(self, *, rescue: bool = False) -> CompressionResult | None:
        """Compress if it is due. What became of it is told with the answer; a run that changed nothing does not hide one that did."""
        try:
            result = await compress_automatically(self.session, self.choice, rescue=rescue)
        except Cancelled:  # the compression was, not the turn: the turn goes on without it
            result = None
        if self.job.cancelled_by:  # too late for what was installed meanwhile, but not for the turn
            raise asyncio.CancelledError
        if result is not None and (self.compression is None or result.status in _CHANGED):
            self.compression = result
        return result

    def _overflow(self, due: DueContext) -> ContextWindowWillOverflow | None:
        """The two numbers, if prompt, attached files and IDE context exceed 95 % of what the rest leaves of the window."""
        session = self.session
        prompt = session.ledger.measure(self._content()).tokens + due.tokens(session)
        estimated = session.ledger.estimate_text(self.choice.name, prompt)
        remaining = session.limit(self.choice) - session.reading(self.choice).tokens
        if estimated <= OVERFLOW_SHARE * remaining:
            return None
        return ContextWindowWillOverflow(estimated_request_token_count=estimated, remaining_token_count=max(0, remaining))

    async def _open(self, due: DueContext) -> None:
        """Write the prompt, and the editor's state in front of it."""
        session = self.session
        drafts: list[Draft] = []
        if due.text is not None:
            drafts.append(due.entry(session, self.turn_id))
        drafts.append(self._prompt_draft())
        await session.append(*drafts)
        if due.has_news:
            self.emit(due.receipt())
        if self.attached.has_news:
            self.emit(self.attached.receipt())

    def _content(self) -> Content:
        """The person's words and the files that they name."""
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

    async def _stream_with_rescue(self, due: DueContext) -> Answer:
        """Stream; if the provider refuses the size, compress once and try once more."""
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
        """The view's epoch changed inside the turn: the editor's state has left it and goes out again, behind the prompt."""
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
            documents=self.client.editor.documents,
            stands_in=self.choice.client.provider == "offline" and self.choice.asked != self.choice.name,
        )
        answer = await stream_answer(self.choice.client, request, emit=self.emit, retries=RetryBudget(session.services.clock, RETRY_SECONDS))
        if answer.usage is not None and self.choice.client.provider != "offline":
            session.ledger.observe(self.choice.name, session.history.epoch, parts, answer.usage.prompt_tokens)
        return answer

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
                **reply, seq=seq, turn_id=self.turn_id, content=content, model=model, finish_reason=answer.finish_reason, usage=usage
            ),
            lambda seq: TurnEndEntry(
                **end, seq=seq, turn_id=self.turn_id, outcome="completed", kept_to=seq, duration_ms=session.elapsed_ms(self.started)
            ),
            *self._replacement(),
        )
        if change is not None:
            self.emit(change)
        self._tell_end(TurnCompleted(finish_reason=answer.finish_reason, usage=usage, duration_ms=session.elapsed_ms(self.started)))
        return self._result(visible_text_of(answer.parts), answer.finish_reason, usage)

    def _replacement(self) -> list[Draft]:
        """The end of the turn that this one replaces, written with the answer: until then nothing is lost."""
        replaced = self.replaces
        if replaced is None:
            return []
        stamp = self.session.stamp()
        return [lambda seq: TurnEndEntry(**stamp, seq=seq, turn_id=replaced, outcome="replaced", by=self.turn_id)]

    def _bring_back(self) -> None:
        """There is no new answer: the old one stands."""
        if self.has_set_aside:
            self.session.history.bring_back()

    def _model_change(self) -> tuple[ModelChanged | None, list[Draft]]:
        """The model that the request named is the session's from its first answer on: a name that never answered sticks nowhere."""
        session, asked = self.session, self.asked_model
        if not asked or asked == session.meta.model:
            return None, []
        services, stamp, reason = session.services, session.stamp(), "named in the request"
        before = services.models.choose(services.settings(), session_model=session.meta.model).asked
        change = ModelChanged(from_=before, to=asked, reason=reason) if before != asked else None
        return change, [lambda seq: ModelChangeEntry(**stamp, seq=seq, model=asked, reason=reason)]

    def _tell_end(self, event: Event) -> None:
        """Tell the meter, then the turn's last event."""
        self.session.asked_model = None
        self.session.tell_usage(self.turn_id)
        self.emit(event)

    def _stop(self, reason: StopReason) -> ChatResult:
        """Nothing was sent and nothing is logged: the prompt goes back to whoever wrote it."""
        self._bring_back()
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
        """Close the turn in the log: the prompt stays readable, the view is as it was. A store that fails now is caught up with later."""
        session = self.session
        self._bring_back()
        stamp, duration = session.stamp(), session.elapsed_ms(self.started) if self.started else None
        drafts: list[Draft] = [] if self.turn_id in session.open_turns else [self._prompt_draft()]
        drafts.append(lambda seq: TurnEndEntry(**stamp, seq=seq, turn_id=self.turn_id, outcome=outcome, reason=reason, by=by, duration_ms=duration))
        try:
            await session.commit(*drafts)
        except CompanionError:
            session.write_later(*drafts)


def check_replaceable(session: Session, turn_id: str) -> None:
    """Raises `InvalidInput` unless the turn is the newest of the view and all of it is there: only its answer can be given anew."""
    history = session.history
    if history.newest_turn != turn_id:
        raise InvalidInput(
            f"{turn_id} is not the newest turn of this chat, so its answer cannot be given anew.",
            path="$.replaces",
            hint="Fork the chat before that turn instead, and ask there.",
        )
    if history.is_hidden(turn_id):
        raise InvalidInput(
            f"{turn_id} is hidden by a compression, so its answer cannot be given anew.",
            path="$.replaces",
            hint="Undo the compression, or fork the chat before that turn instead, and ask there.",
        )
