"""What a turn asks of the model: each request at a safe point, with a way out where it does not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import msgspec

from gemini_companion.engine.errors import Cancelled, ContextOverflow, ModelUnavailable
from gemini_companion.engine.history.content import Content, Part, visible_text_of
from gemini_companion.engine.history.log import AttemptEntry, CompressionEntry, CompressionResult
from gemini_companion.engine.tokens.ledger import FACTOR_RANGE
from gemini_companion.sessions.budget.limits import over_budget
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.constraints.request import assured
from gemini_companion.sessions.context.environment import refresh_environment
from gemini_companion.sessions.context.ide import DueContext, prepare_context
from gemini_companion.sessions.context.system_prompt import settle_system_prompt
from gemini_companion.sessions.events import ContextWindowWillOverflow, Event, MessageDelta, MessageDiscarded
from gemini_companion.sessions.loops.watch import LoopWatch
from gemini_companion.sessions.models.port import LocalContext, ModelRequest
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.routing.router import can_change, reroute, route
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.recording import Recorded
from gemini_companion.sessions.tools.tooling import Outputs, WholeOutputs
from gemini_companion.sessions.turn.hooks import TurnHooks
from gemini_companion.sessions.turn.overflow import OVERFLOW_SHARE, overflow_of, overflow_of_view, what_is_too_much
from gemini_companion.sessions.turn.refusals import Trial
from gemini_companion.sessions.turn.showing import Showing
from gemini_companion.sessions.turn.streaming import RETRY_SECONDS, SHORT_RETRY_SECONDS, Answer, stream_answer

FITTED_SHARE: Final = 0.9
"""Share of the window that a view has after it was shortened: the next round should not need that again."""

_RESCUES: Final = 2
"""Where what was prepared ahead does not make enough room, there is time to compress what came since."""

_CHANGED: Final = ("COMPRESSED", "CONTENT_TRUNCATED")


class SafePoint(Protocol):
    """What may happen in the session while a turn holds its lane: called where no model call is open."""

    async def __call__(self, choice: ModelChoice, *, rescue: bool = False) -> CompressionResult | None:
        """Compress if it is due, or for a `rescue` whatever the count is; `None` if it was not due.

        Raises `Cancelled` if the compression was stopped.
        """
        ...


@dataclass(slots=True, kw_only=True)
class Requests:
    """The requests of one turn."""

    session: Session
    client: Client
    turn_id: str
    choice: ModelChoice
    safe_point: SafePoint
    is_cancelled: Callable[[], bool]
    hooks: TurnHooks
    loops: LoopWatch = field(init=False)
    outputs: Outputs = field(default_factory=WholeOutputs)
    showing: Showing
    compression: CompressionResult | None = None
    """The compression that ran within the turn."""
    too_much: str = ""
    """Where something did not fit, or would cost too much: what that is and what to do, in sentences for people."""
    _retries: RetryBudget = field(init=False)
    """Shared by an answer and by the one after a rescue."""

    def __post_init__(self) -> None:
        self.loops = LoopWatch(self.session, self.turn_id)

    async def is_over_budget(self) -> bool:
        """Whether nothing more may be spent; then `too_much` says why and what to do."""
        if self.choice.provider.capabilities.runs_here:
            return False
        use = await over_budget(self.session, self.turn_id)
        self.too_much = f"{use.sentence} {use.hint}" if use is not None else self.too_much
        return use is not None

    async def route(self, prompt: tuple[Part, ...] = (), *, resumes: bool = False) -> None:
        """Choose the turn's model, once."""
        self.choice, change = await route(self.session, self.turn_id, visible_text_of(prompt), resumes=resumes)
        if change is not None:
            self.emit(change)

    def emit(self, event: Event) -> None:
        """Emit an event of the turn."""
        self.showing.hear(event)
        self.session.emit(event, self.turn_id)

    async def make_room(self, content: Content) -> tuple[DueContext, ContextWindowWillOverflow | None]:
        """Compress ahead of a prompt, if it is due or if it would not fit otherwise.

        Returns the IDE context to send with it, and the event to emit if it does not fit all the same.
        """
        session = self.session
        version = session.history.version
        await self.compress()
        await refresh_environment(session)
        due = await prepare_context(session, self.client)
        overflow = await overflow_of(session, self.choice, content, due)
        for _ in range(_RESCUES):
            if overflow is None or session.mark(self.choice).tokens is None:
                break
            rescued = await self.compress(rescue=True)
            await refresh_environment(session)
            due = await prepare_context(session, self.client)
            overflow = await overflow_of(session, self.choice, content, due)
            if rescued is None or rescued.trigger != "background":
                break
        if overflow is not None and await self._fit(session.ledger.measure(content).tokens + due.tokens(session)):
            await refresh_environment(session)
            due = await prepare_context(session, self.client)
            overflow = await overflow_of(session, self.choice, content, due)
        if overflow is not None:
            overflow = self._explained(overflow, version, content, due)
        return due, overflow

    async def make_room_again(self, fresh: Callable[[], int], epoch: int) -> ContextWindowWillOverflow | None:
        """The same behind a finished round; `fresh` tells its tokens, which stand in the view already.

        If the view has changed since `epoch`, by a compression or by masks, the editor's state is sent again, once.
        """
        session = self.session
        version = session.history.version
        await self.compress()
        overflow = overflow_of_view(session, self.choice, fresh())
        for _ in range(_RESCUES):
            if overflow is None or session.mark(self.choice).tokens is None:
                break
            rescued = await self.compress(rescue=True)
            overflow = overflow_of_view(session, self.choice, fresh())
            if rescued is None or rescued.trigger != "background":
                break
        if overflow is not None and await self._fit(0):
            overflow = overflow_of_view(session, self.choice, fresh())
        if overflow is not None:
            overflow = self._explained(overflow, version)
        if session.history.epoch != epoch:
            await refresh_environment(session)
            await self.resend_context()
        return overflow

    def _explained(
        self,
        overflow: ContextWindowWillOverflow,
        version: int,
        content: Content | None = None,
        due: DueContext | None = None,
    ) -> ContextWindowWillOverflow:
        """The event and the turn's result say the same: what is too much although room was made from `version` on."""
        made = self.session.history.entries.since(version + 1)
        was_compressed = any(
            isinstance(entry, AttemptEntry)
            or (isinstance(entry, CompressionEntry) and entry.result.status != "CONTENT_TRUNCATED")
            for entry in made
        )
        self.too_much = what_is_too_much(self.session, self.choice, content, due, was_compressed=was_compressed)
        return msgspec.structs.replace(overflow, message=self.too_much)

    async def compress(self, *, rescue: bool = False) -> CompressionResult | None:
        """Compress if it is due. The result is reported with the answer; of several, one that changed the view."""
        try:
            result = await self.safe_point(self.choice, rescue=rescue)
        except Cancelled:  # the compression was, not the turn: the turn goes on without it
            result = None
        if self.is_cancelled():  # too late for what was installed meanwhile, but not for the turn
            raise asyncio.CancelledError
        if result is not None and (self.compression is None or result.status in _CHANGED):
            self.compression = result
        return result

    async def resend_context(self) -> None:
        """Send the editor's state again, behind the rest: a compression inside the turn removed it from the view."""
        session = self.session
        due = await prepare_context(session, self.client)
        if due.text is not None:
            await session.append(due.entry(session, self.turn_id))
            self.emit(due.receipt())

    async def answer(self) -> Answer:
        """Stream the next answer. If the model cannot answer now, the next one does, to the end of the turn; if the
        provider refuses the size, compress and try once more, then shorten and try a last time.
        """
        services = self.session.services
        while True:
            seconds = SHORT_RETRY_SECONDS if can_change(self.session, self.choice) else RETRY_SECONDS
            self._retries = RetryBudget(services.clock, seconds, services.settings().max_attempts)
            try:
                answer = await self._answer()
            except ModelUnavailable as fault:
                rerouted = reroute(self.session, self.choice, fault)
                if rerouted is None:
                    for event in self.showing.taken_back():
                        self.emit(event)
                    raise
                self.choice, change = rerouted
                if self.showing:
                    self.emit(MessageDiscarded(attempt=self.showing.attempt, reason=fault.message))
                self.emit(change)
            else:
                services.models.availability.answered(self.choice.name)
                return answer

    async def _answer(self) -> Answer:
        try:
            return await self._accepted()
        except ContextOverflow as refused:
            overflow = first = refused
        for make_smaller in (self._rescue, self._shorten):
            if not await make_smaller():
                continue
            await refresh_environment(self.session)
            await self.resend_context()
            try:
                return await self._accepted()
            except ContextOverflow as again:
                overflow = ContextOverflow(again.message, hint=first.hint or again.hint)
        raise overflow

    async def _accepted(self) -> Answer:
        """Stream the answer; what the service refuses of the request, a picture or a tool, costs only itself."""
        trial = Trial(self.session, self.choice)
        while True:
            try:
                answer = await self._stream(trial)
            except ModelUnavailable as refused:
                if not trial.goes_on(refused):
                    raise
            else:
                if await trial.passed():  # the editor's state went with the old view
                    await refresh_environment(self.session)
                    await self.resend_context()
                return answer

    async def _rescue(self) -> bool:
        rescued = await self.compress(rescue=True)
        return rescued is not None and rescued.status in _CHANGED

    async def _shorten(self) -> bool:
        """Shorten what is largest in the view to half of it; whether there was anything to shorten."""
        room = sum(item.measure.tokens for item in self.session.history.curated()) // 2
        return await self._shortened_to(room)

    async def _fit(self, more: int) -> bool:
        """Shorten what is largest in the view until `more` tokens fit beside it; whether there was anything.

        Reached only where no compression helped: single parts are too large for the window.
        """
        session, limit = self.session, self.session.limit(self.choice)
        counts = session.parts().total, session.token_count(self.choice).tokens
        excess = max(counts) + round(more / OVERFLOW_SHARE) - int(FITTED_SHARE * limit)
        view = sum(item.measure.tokens for item in session.history.curated())
        return excess > 0 and await self._shortened_to(max(0, view - round(excess / FACTOR_RANGE[0])))

    async def _shortened_to(self, room: int) -> bool:
        may_shorten_texts = self.session.mark(self.choice).tokens is not None
        return await self.outputs.fit(self.session, room, texts=may_shorten_texts)

    async def _stream(self, trial: Trial) -> Answer:
        session = self.session
        if session.services.with_environment:
            settle_system_prompt(session, self.choice)  # a plan that was agreed to in this turn changed the tools
        parts = session.parts()
        request = ModelRequest(
            model=self.choice.name,
            contents=trial.contents(session.request_contents(close=True)),
            conversation=session.conversation,
            system_instruction=session.system_instruction,
            tools=trial.tools(session.declarations(self.choice)),
            prompt_id=self.turn_id,
            temperature=session.meta.agent.definition.temperature if session.meta.agent is not None else None,
        )
        wished = await self.hooks.before_model(request)
        if isinstance(wished, Answer):
            self.emit(MessageDelta(text=visible_text_of(wished.parts), attempt=1))
            return wished
        answer = await stream_answer(
            Recorded(session, self.choice, "answer", self.turn_id, parts=parts),
            assured(session, wished),
            self._local_context(),
            emit=self.emit,
            retries=self._retries,
            watched=lambda: self.hooks.watch(wished),
            refused=self.showing.forget_discarded,
            listener=self.loops,
        )
        answer = replace(answer, parts=self.loops.answered(answer.parts, answer.attempt, self.emit))
        if wished is request and answer.usage is not None and self.choice.provider.capabilities.counts_remotely:
            session.observe(self.choice, answer.usage.prompt_tokens, parts)
        return await self.hooks.after_model(wished, answer, self.emit)

    def _local_context(self) -> LocalContext | None:
        """What the provider may know besides the request; `None` unless it runs on this machine."""
        if not self.choice.provider.capabilities.reads_documents:
            return None
        return LocalContext(
            documents=self.client.editor.documents,
            folders=tuple(self.client.folders or self.session.meta.workspace_folders),
            is_fallback=self.choice.is_fallback,
        )
