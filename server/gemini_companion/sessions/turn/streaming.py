"""One model call of a turn: streamed, checked, retried where that can help, and discarded whole if it fails."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final, Protocol, cast

from gemini_companion.engine.errors import Blocked, ContextOverflow, ModelFault, ModelUnavailable
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.loop_entry import LOOP
from gemini_companion.engine.history.part import call_of, is_thought, is_truthy, text_of
from gemini_companion.sessions.events import Event, MessageDelta, MessageDiscarded, ModelLoading, ThoughtDelta
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelProvider, ModelRequest
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.turn.watching import Watch

logger = logging.getLogger(__name__)

RETRY_SECONDS: Final = 120.0
"""Seconds of waiting that the retries of one answer may add up to; a longer delay that a service asks for fails."""

SHORT_RETRY_SECONDS: Final = 10.0
"""The same where another model can answer instead."""

_BLOCKED: Final = {
    "SAFETY": "the safety filter stopped the answer",
    "PROHIBITED_CONTENT": "the service stopped the answer as prohibited content",
    "BLOCKLIST": "the answer held a term on a block list",
    "SPII": "the answer held sensitive personal data",
    "IMAGE_SAFETY": "the safety filter stopped an image in the answer",
    "LANGUAGE": "the service does not support the language",
}
_RETRIED: Final = {
    "MALFORMED_FUNCTION_CALL": "the model made a malformed function call",
    "UNEXPECTED_TOOL_CALL": "the model called a tool that it was not given",
    "RECITATION": "the answer was stopped for reciting a source",
    "OTHER": "the service stopped the answer without saying why",
}
_REFUSED: Final = (*_BLOCKED, "RECITATION")
"""Where a filter ended the answer: nothing of it stays in sight, also where it is not asked for again."""
_WHOLE: Final = frozenset({"STOP", "FUNCTION_CALL", "TOOL_CALL", "TOOL_CALLS", LOOP})
"""Finish reasons of an answer whose calls are whole; of one that nobody knows it is not known."""
_BLANK: Final = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole, valid answer."""

    parts: tuple[Part, ...]
    finish_reason: str
    usage: Usage | None
    model_version: str | None
    attempt: int = 1
    """The attempt of which it is, as in its deltas."""

    @property
    def is_cut(self) -> bool:
        """It ended before it was whole, as far as that is known."""
        return self.finish_reason.upper() not in _WHOLE


@dataclass(slots=True)
class _Draft:
    """An answer while it is received."""

    parts: list[Part] = field(default_factory=list[Part])
    finish_reason: str | None = None
    usage: Usage | None = None
    model_version: str | None = None
    shown: bool = False

    def add(self, chunk: ModelChunk) -> None:
        self.parts += chunk.parts
        self.finish_reason = chunk.finish_reason or self.finish_reason
        self.usage = chunk.usage or self.usage
        self.model_version = chunk.model_version or self.model_version

    def joined(self) -> tuple[Part, ...]:
        """The parts; neighbours that have only text of one kind are one."""
        joined: list[Part] = []
        for kind, neighbours in groupby(self.parts, key=_kind_of_text):
            run = list(neighbours)
            if kind is None or len(run) == 1:
                joined += run
            else:
                joined.append({**run[0], "text": "".join(text_of(part) or "" for part in run)})
        return tuple(joined)

    @property
    def has_text(self) -> bool:
        text = "".join(text_of(part) or "" for part in self.parts if not is_thought(part))
        return any(piece.strip(_BLANK) for piece in _outside_comments(text))

    @property
    def has_call(self) -> bool:
        return any(is_truthy(part.get("functionCall")) for part in self.parts)

    @property
    def has_nameless_call(self) -> bool:
        return any(_is_nameless(part) for part in self.parts)


def _is_nameless(part: Part) -> bool:
    call = call_of(part)
    return call is not None and not (isinstance(call.get("name"), str) and call["name"])


class Listener(Protocol):
    """Hears an answer while it comes."""

    def begin_attempt(self) -> None:
        """An answer begins; the attempt before it was void."""
        ...

    def hear(self, text: str) -> bool:
        """The next piece of its text; true if the rest is not worth waiting for."""
        ...


class Invalid(ModelUnavailable):
    """An invalid answer; trying again may give a valid one."""


async def stream_answer(
    provider: ModelProvider,
    request: ModelRequest,
    local: LocalContext | None = None,
    *,
    emit: Callable[[Event], None],
    retries: RetryBudget,
    listener: Listener | None = None,
    watched: Callable[[], Watch | None] = lambda: None,
    refused: Callable[[], None] = lambda: None,
) -> Answer:
    """Stream an answer, emitting each piece. Retries; a void attempt is reported as `messageDiscarded` before the next.
    What came of the last one stays shown, unless it was refused: it is all that there is.

    `retries` bounds the waiting; `watched` gives what looks at the pieces of one attempt before they are shown;
    `refused` is called for one that a filter ended, when it is taken back. Where `listener` has heard enough, the
    request is ended, and what came is the answer, with the finish reason `LOOP`.
    Raises `Blocked`, or the last `ModelFault`. Nothing of a void attempt is returned.
    """
    attempt = 1
    while True:
        draft = _Draft()
        if listener is not None:
            listener.begin_attempt()
        try:
            chunks = provider.stream(request, local)
            await _receive(chunks, draft, emit, attempt, request.model, watched(), listener)
            return replace(_checked(draft, bool(request.tools)), attempt=attempt)
        except ModelFault as fault:
            is_refused = isinstance(fault, Blocked) or draft.finish_reason in _REFUSED
            is_void = is_refused or isinstance(fault, ContextOverflow)
            if retries.allows(fault, attempt) or (draft.shown and is_void):
                emit(MessageDiscarded(attempt=attempt, reason=fault.message))
            if is_refused:
                refused()
            if not await retries.wait_before_retry(fault, attempt):
                raise
            attempt += 1


async def _receive(
    chunks: AsyncIterator[ModelChunk],
    draft: _Draft,
    emit: Callable[[Event], None],
    attempt: int,
    model: str,
    watch: Watch | None,
    listener: Listener | None,
) -> None:
    """Read the answer to its end. A fault after the finish reason is none: the answer is whole, and paid for."""
    async with aclosing(cast("AsyncGenerator[ModelChunk]", chunks)) as pieces:
        while True:
            try:
                chunk = await anext(pieces)
            except StopAsyncIteration:
                return
            except ModelFault as fault:
                if draft.finish_reason is None:
                    raise
                logger.debug("After the end of an answer: %s", fault.message)
                return
            if chunk.block_reason:
                raise Blocked(
                    f"The model's safety filter refused the prompt ({chunk.block_reason}).",
                    hint="Say it differently, or leave out what may have caused it.",
                )
            if chunk.is_loading:
                emit(ModelLoading(model=model))
            draft.add(chunk)
            if watch is not None:
                await watch.take(chunk.parts)
            for part in chunk.parts:
                text = text_of(part)
                if text:
                    draft.shown = True
                    emit(
                        ThoughtDelta(text=text, attempt=attempt)
                        if is_thought(part)
                        else MessageDelta(text=text, attempt=attempt)
                    )
                    if listener is not None and not is_thought(part) and listener.hear(text):
                        draft.finish_reason = LOOP
            if draft.finish_reason == LOOP:
                return


def _checked(draft: _Draft, has_tools: bool) -> Answer:
    """The draft as an answer. Raises `Blocked` or `Invalid`."""
    reason = draft.finish_reason
    if reason in _BLOCKED:
        raise Blocked(f"No answer: {_BLOCKED[reason]} ({reason}).", hint="Say it differently, or ask for a part of it.")
    if reason in _RETRIED:
        raise Invalid(
            f"No answer: {_RETRIED[reason]} ({reason}).", hint="Send the prompt again, or say it differently."
        )
    if draft.has_call and not has_tools:
        raise Invalid(
            "No answer: the model called a tool that it was not given (UNEXPECTED_TOOL_CALL).",
            hint="Send the prompt again.",
        )
    if draft.has_nameless_call:
        raise Invalid(
            "No answer: the model called a tool without naming it (MALFORMED_FUNCTION_CALL).",
            hint="Send the prompt again.",
        )
    if reason is None and not draft.has_call:
        raise Invalid(
            "The answer broke off: the service ended the stream without a finish reason.", hint="Send the prompt again."
        )
    if not draft.has_text and not draft.has_call:
        if reason == "MAX_TOKENS":
            raise ModelUnavailable(
                "The answer hit its token limit before a word of it came.",
                hint="Ask for something shorter.",
                retryable=False,
            )
        thinking = any(is_thought(part) for part in draft.parts)
        what = "The model thought, but did not answer." if thinking else "The model's answer was empty."
        raise Invalid(what, hint="Send the prompt again, or say it differently.")
    return Answer(
        parts=draft.joined(), finish_reason=reason or "STOP", usage=draft.usage, model_version=draft.model_version
    )


def _outside_comments(text: str) -> Iterator[str]:
    """What is not in HTML comments; one that is not closed is text."""
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        yield text[at:start]
        at = end + 3
    yield text[at:]


def _kind_of_text(part: Part) -> bool | None:
    """True for a part that is just a thought, False for one that is just text, else `None`."""
    if isinstance(part.get("text"), str) and all(key in ("text", "thought") for key in part):
        return is_thought(part)
    return None
