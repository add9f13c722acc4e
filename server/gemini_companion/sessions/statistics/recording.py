"""`Recorded`: a provider each of whose requests waits for its slot, and leaves an entry in the session's log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import TYPE_CHECKING, Final, cast

import msgspec

from gemini_companion.engine.errors import ContextOverflow, ModelFault, ModelUnavailable
from gemini_companion.engine.history.model_call import CallOutcome, CallPurpose, ModelCallEntry
from gemini_companion.engine.history.part import text_of
from gemini_companion.engine.history.usage import Usage
from gemini_companion.engine.scheduling.fair_slots import Urgency
from gemini_companion.engine.tokens.ledger import BELIEVABLE_TIMES, UNKNOWN_TOKENS, RequestParts, media_in
from gemini_companion.sessions.budget.limits import check_budget
from gemini_companion.sessions.models.port import (
    Capabilities,
    CountedTokens,
    FactSummariser,
    Grounder,
    GroundingMeans,
    LocalContext,
    ModelChunk,
    ModelProvider,
    ModelRequest,
)
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.observing.calls import ModelCallTold
from gemini_companion.sessions.observing.service import Observing
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.slots import model_slot
from gemini_companion.tools.grounding import Grounded

if TYPE_CHECKING:
    from gemini_companion.engine.facts.fact import SummaryTask

_AWAITED: Final = frozenset[CallPurpose]({"answer", "compression", "condensing", "grounding", "routing"})
"""What a person waits for; whatever else there is lets it go first."""

MOST_WRITTEN: Final = 200_000
"""Tokens that no model writes in one answer, its thoughts among them."""

WINDOW_OF_NONE: Final = 20_000_000
"""Tokens that no model accepts in one request."""

CHARACTERS_A_TOKEN: Final = 4

_UNSURE: Final = 1.1
"""By how much an estimate may be too low."""

_WHOLE: Final = frozenset({None, "STOP", "MAX_TOKENS"})
"""Finish reasons of an answer that can be used."""


class Recorded(ModelProvider):
    """A provider in a session, for one purpose. It answers as the provider does; entries go with the next ones.

    `subject` is the id of what is asked for, `parts` what an answer's request consists of, `seconds` what one request
    may take, without the wait for its slot. Purpose and `urgency` are looked at for each request: somebody may begin to
    wait for what nobody did. Every request of a session to a model passes here, and nothing here calls another: no
    slot is waited for by who has one.
    """

    def __init__(
        self,
        session: Session,
        choice: ModelChoice,
        purpose: CallPurpose | Callable[[], CallPurpose],
        subject: str = "",
        *,
        urgency: Urgency | None = None,
        parts: RequestParts | None = None,
        seconds: float | None = None,
    ) -> None:
        self._seconds = seconds
        self._session = session
        self._choice = choice
        self._provider = choice.provider
        self._purpose: CallPurpose | Callable[[], CallPurpose] = purpose
        self._urgency = urgency
        self._subject = subject
        self._parts = parts

    @property
    def name(self) -> str:
        """The provider's."""
        return self._provider.name

    @property
    def capabilities(self) -> Capabilities:
        """The provider's."""
        return self._provider.capabilities

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        """As the provider."""
        async with self._slot():
            call = _Call(self, request.model, request)
            try:
                chunks = cast("AsyncGenerator[ModelChunk]", self._provider.stream(request, local))
                async with aclosing(chunks):
                    async for chunk in chunks:
                        yield call.take(chunk, is_first=True)
            except BaseException as error:
                call.end(error)
                raise call.understood(error) from None
            call.end()

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """As the provider. Raises `Blocked` where the budget is used up, `TimeoutError` where it takes too long."""
        async with self._slot(), asyncio.timeout(self._seconds):
            await self._check_budget()
            call = _Call(self, request.model, request)
            try:
                chunk = await self._provider.generate(request)
            except BaseException as error:
                call.end(error)
                raise call.understood(error) from None
            chunk = call.take(chunk)
            call.end()
            return chunk

    async def summarise(self, task: SummaryTask) -> str:
        """As a provider that is a `FactSummariser`."""
        async with self._slot():
            call = _Call(self, self._choice.name)
            try:
                snapshot = await cast("FactSummariser", self._provider).summarise(task)
            except BaseException as error:
                call.end(error)
                raise
            call.end()
            return snapshot

    async def ground(self, prompt: str, *, model: str, by: GroundingMeans) -> Grounded:
        """As a provider that is a `Grounder`. Raises `Blocked` where the budget is used up."""
        async with self._slot():
            await self._check_budget()
            call = _Call(self, model)
            try:
                found = await cast("Grounder", self._provider).ground(prompt, model=model, by=by)
            except BaseException as error:
                call.end(error)
                raise
            call.end()
            return found

    def _slot(self) -> AbstractAsyncContextManager[None]:
        urgency = self._urgency or Urgency("first" if self._purpose_now() in _AWAITED else "later")
        return model_slot(self._session, self._provider, urgency)

    def _purpose_now(self) -> CallPurpose:
        return self._purpose() if callable(self._purpose) else self._purpose

    async def _check_budget(self) -> None:
        if not self.capabilities.runs_here:
            await check_budget(self._session)

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        """As the provider; counting costs nothing and is not recorded."""
        return await self._provider.count_tokens(request)

    async def warm_up(self) -> None:
        """Do nothing: the provider is the registry's."""

    async def close(self) -> None:
        """Do nothing."""

    @property
    def observing(self) -> Observing:
        """Who watches."""
        return self._session.services.observing

    def record(
        self,
        told: ModelCallTold,
        *,
        model: str,
        outcome: CallOutcome,
        fault: str,
        usage: Usage | None,
        duration_ms: int,
        first_ms: int | None,
    ) -> None:
        """Queue the entry of a request, and tell of it."""
        session, choice, parts = self._session, self._choice, self._parts
        stamp = session.stamp()
        by_part: dict[str, int] | None = None
        if parts is not None and usage is not None:
            by_part = msgspec.to_builtins(session.ledger.scaled(parts, usage.prompt_tokens))
        entry = ModelCallEntry(
            **stamp,
            seq=0,
            purpose=self._purpose_now(),
            subject=self._subject,
            model=model,
            outcome=outcome,
            fault=fault,
            usage=usage,
            duration_ms=duration_ms,
            first_ms=first_ms,
            is_local=self.capabilities.runs_here,
            by_part=by_part,
            token_limit=session.limit(choice) if by_part is not None else 0,
            compression_at=session.mark(choice).tokens if by_part is not None else None,
        )
        session.write_later(lambda seq: msgspec.structs.replace(entry, seq=seq))
        self.observing.model_called(told.record(entry, session.session_id, self._provider.name))

    def learn_limit(self, model: str, tokens: int) -> None:
        """Keep what the service said that it accepts."""
        self._session.services.models.learn_limit(model, tokens)

    def most_of(self, request: ModelRequest | None) -> tuple[int, int]:
        """The tokens that a request has by our estimate, and the most that are believed of it."""
        parts, window = self._parts, self._session.limit(self._choice)
        if parts is not None:
            estimated, is_text = self._session.ledger.estimate(self._choice.name, parts), not media_in(parts)
        elif request is not None:
            texts = [text_of(part) for content in request.contents for part in content.parts]
            estimated = sum(map(len, filter(None, texts))) // CHARACTERS_A_TOKEN
            is_text = None not in texts
        else:
            return 0, window
        return estimated, round(BELIEVABLE_TIMES * (estimated if is_text else max(window, estimated))) + UNKNOWN_TOKENS

    def elapsed_ms(self, started: float) -> int:
        """Milliseconds since a point on the monotonic clock."""
        return self._session.elapsed_ms(started)

    def monotonic(self) -> float:
        """Seconds on the monotonic clock."""
        return self._session.services.clock.monotonic()


class _Call:
    """One request while it runs."""

    def __init__(self, recorded: Recorded, model: str, request: ModelRequest | None = None) -> None:
        self._recorded = recorded
        self._told = ModelCallTold(request, with_text=recorded.observing.wants_text)
        self._model = model
        self._request = request
        self._characters = 0
        self._started = recorded.monotonic()
        self._first_ms: int | None = None
        self._usage: Usage | None = None
        self._finish_reason: str | None = None
        self._block_reason = ""

    def take(self, chunk: ModelChunk, *, is_first: bool = False) -> ModelChunk:
        """Note what a piece says, and give it without counts that cannot be; `is_first` for one of several, whose first
        counts.
        """
        self._characters += sum(len(text_of(part) or "") for part in chunk.parts)
        if chunk.usage is not None:
            booked, told = self._believed(chunk.usage)
            self._usage = booked
            chunk = msgspec.structs.replace(chunk, usage=told)
        if is_first and self._first_ms is None and chunk.parts:
            self._first_ms = self._recorded.elapsed_ms(self._started)
        self._told.take(chunk)
        self._finish_reason = chunk.finish_reason or self._finish_reason
        self._block_reason = chunk.block_reason or self._block_reason
        return chunk

    def _believed(self, usage: Usage) -> tuple[Usage, Usage]:
        """The counts as they are booked, and as they are told: our estimate in place of one that cannot be, and 0."""
        booked = told = usage
        if usage.prompt_tokens > WINDOW_OF_NONE or usage.prompt_tokens > self._most()[1]:
            booked = msgspec.structs.replace(booked, prompt_tokens=self._most()[0], cached_tokens=0, total_tokens=0)
            told = msgspec.structs.replace(told, prompt_tokens=0, cached_tokens=0, total_tokens=0)
        if usage.output_tokens + usage.thought_tokens > MOST_WRITTEN:
            written = self._characters // CHARACTERS_A_TOKEN
            booked = msgspec.structs.replace(booked, output_tokens=written, thought_tokens=0, total_tokens=0)
            told = msgspec.structs.replace(told, output_tokens=written, thought_tokens=0, total_tokens=0)
        if usage.cached_tokens > booked.prompt_tokens:
            booked = msgspec.structs.replace(booked, cached_tokens=0)
        if max(usage.total_tokens, usage.cached_tokens) > WINDOW_OF_NONE:
            told = msgspec.structs.replace(told, total_tokens=0, cached_tokens=0)
            booked = msgspec.structs.replace(booked, total_tokens=0)
        return booked, told

    def _most(self) -> tuple[int, int]:
        return self._recorded.most_of(self._request)

    def end(self, error: BaseException | None = None) -> None:
        """Record it."""
        outcome, fault = self._outcome(error)
        self._recorded.record(
            self._told,
            model=self._model,
            outcome=outcome,
            fault=fault,
            usage=self._usage,
            duration_ms=self._recorded.elapsed_ms(self._started),
            first_ms=self._first_ms,
        )

    def understood(self, error: BaseException) -> BaseException:
        """The fault as it is handled: no wait helps a request that has more tokens than a whole minute may have."""
        if isinstance(error, ContextOverflow):
            if error.limit is not None:
                self._recorded.learn_limit(self._model, error.limit)
            return error
        if not isinstance(error, ModelUnavailable) or error.token_quota is None:
            return error
        tokens = self._most()[0]
        if tokens * _UNSURE <= error.token_quota:
            return error
        self._recorded.learn_limit(self._model, error.token_quota)
        return ContextOverflow(
            f"The request has about {tokens:,} tokens, and this key's quota for {self._model} is {error.token_quota:,}"
            f" in a minute: {error.message}",
            hint="Compress the chat with `gemini/compress`, or choose another model or a key with a larger quota.",
            limit=error.token_quota,
        )

    def _outcome(self, error: BaseException | None) -> tuple[CallOutcome, str]:
        if self._block_reason:
            return "failed", self._block_reason
        if self._finish_reason not in _WHOLE:
            return "failed", self._finish_reason or ""
        if error is None or self._finish_reason is not None:  # a fault behind the end takes nothing back
            return "ok", ""
        if isinstance(error, asyncio.CancelledError | GeneratorExit):
            return "cancelled", ""
        return "failed", type(error).__name__ if isinstance(error, ModelFault) else "Defect"
