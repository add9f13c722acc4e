"""`Observing`: turns a session's events, and its requests to models, into records for whoever watches."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import Any, Final, Generic, TypeVar

import msgspec

from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.sessions.compression_events import (
    CompressionCancelled,
    CompressionCompleted,
    CompressionFailed,
    CompressionProgress,
    CompressionStarted,
)
from gemini_companion.sessions.events import (
    ConstraintsChanged,
    Event,
    HookRan,
    IdeContextSent,
    MessageDelta,
    ThoughtDelta,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
    UsageUpdated,
)
from gemini_companion.sessions.observing.port import Observer
from gemini_companion.sessions.observing.records import (
    TEXT_TAKEN,
    AnyRecord,
    CompressionBegan,
    CompressionEnded,
    HookCalled,
    ModelCalled,
    Noted,
    ToolCalled,
    TurnBegan,
    TurnEnded,
    word,
)
from gemini_companion.sessions.observing.ring import Ring
from gemini_companion.sessions.tool_events import (
    ToolCallCompleted,
    ToolCallProgress,
    ToolCallStarted,
    ToolQuestionAnswered,
)

logger = logging.getLogger(__name__)

MOST_OPEN: Final = 1_000
"""Turns and calls without an end that are remembered; older ones are forgotten."""

_UNSEEN: Final = frozenset(
    {
        MessageDelta,
        ThoughtDelta,
        ToolCallProgress,
        UsageUpdated,
        CompressionProgress,
        IdeContextSent,
        ConstraintsChanged,
    }
)
"""Pieces, and what comes along with every turn."""

T = TypeVar("T")


class _Few(Generic[T]):
    """A dictionary that forgets the oldest."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, T] = OrderedDict()

    def put(self, key: str, value: T) -> None:
        self._held[key] = value
        if len(self._held) > MOST_OPEN:
            self._held.popitem(last=False)

    def get(self, key: str) -> T | None:
        return self._held.get(key)

    def pop(self, key: str) -> T | None:
        return self._held.pop(key, None)


class _OpenCall(msgspec.Struct):
    name: str
    args: dict[str, Any]
    answered: str = ""
    """What a person said."""


class Observing:
    """What happens in all sessions of a process. One per application.

    Nothing here waits, and a fault of it is logged and costs a record, never a turn.
    """

    def __init__(self) -> None:
        self.ring = Ring()
        self._observers: tuple[Observer, ...] = (self.ring,)
        self._turns: _Few[str] = _Few()
        """The turn under way, by session."""
        self._triggers: _Few[CompressionStarted] = _Few()
        self._calls: _Few[_OpenCall] = _Few()

    def add(self, observer: Observer) -> None:
        """Give it every record from here on."""
        self._observers = (*self._observers, observer)

    def remove(self, observer: Observer) -> None:
        """Give it no more."""
        self._observers = tuple(one for one in self._observers if one is not observer)

    @property
    def wants_text(self) -> bool:
        """Whether anybody asked for texts."""
        return any(observer.wants_text for observer in self._observers)

    def event(self, session_id: str, time: int, turn_id: str | None, event: Event) -> None:
        """A session's event, as its subscribers get it."""
        if type(event) in _UNSEEN:
            return
        try:
            record = self._record_of(session_id, time, turn_id or "", event)
            if record is not None:
                self._tell(record)
        except Exception:
            logger.exception("An event was not observed")

    def model_called(self, record: ModelCalled) -> None:
        """A request to a model has ended."""
        try:
            if record.purpose != "title" and not record.turn_id:
                turn = record.subject if record.purpose == "answer" else self._turns.get(record.session_id)
                record = msgspec.structs.replace(record, turn_id=turn or "")
            self._tell(record)
        except Exception:
            logger.exception("A request was not observed")

    def _tell(self, record: AnyRecord) -> None:
        for observer in self._observers:
            observer.take(record)

    def _texts(self, **texts: str) -> dict[str, str]:
        if not self.wants_text:
            return {}
        return {name: text[:TEXT_TAKEN] for name, text in texts.items() if text}

    def _record_of(self, session_id: str, time: int, turn_id: str, event: Event) -> AnyRecord | None:
        """`None` for an event that is part of another one's record."""
        common: dict[str, Any] = {"time": time, "session_id": session_id, "turn_id": turn_id}
        match event:
            case TurnStarted():
                self._turns.put(session_id, turn_id)
                text = visible_text_of(event.prompt)
                return TurnBegan(**common, model=event.model, prompt_length=len(text), texts=self._texts(prompt=text))
            case TurnCompleted() | TurnFailed() | TurnCancelled():
                if self._turns.get(session_id) == turn_id:
                    self._turns.pop(session_id)
                return self._end_of_turn(common, event)
            case ToolCallStarted():
                self._calls.put(
                    event.tool_call_id, self._calls.pop(event.tool_call_id) or _OpenCall(event.name, event.args)
                )
                return None
            case ToolQuestionAnswered():
                if (call := self._calls.get(event.tool_call_id)) is not None:
                    call.answered = event.outcome
                return None
            case ToolCallCompleted():
                return self._end_of_call(common, event)
            case HookRan():
                return HookCalled(
                    **common,
                    event=event.event,
                    name=_first_word(event.name),
                    outcome=event.outcome,
                    duration_ms=event.duration_ms,
                    texts=self._texts(name=event.name, message=event.message),
                )
            case CompressionStarted() | CompressionCompleted() | CompressionFailed() | CompressionCancelled():
                common["turn_id"] = turn_id or self._turns.get(session_id) or ""
                return self._compression(common, event)
            case _:
                return Noted(**common, event=str(event.__struct_config__.tag))

    def _end_of_turn(self, common: dict[str, Any], event: TurnCompleted | TurnFailed | TurnCancelled) -> TurnEnded:
        match event:
            case TurnCompleted():
                return TurnEnded(
                    **common,
                    outcome="completed",
                    finish_reason=word(event.finish_reason),
                    usage=event.turn_usage,
                    duration_ms=event.duration_ms,
                )
            case TurnFailed():
                return TurnEnded(
                    **common,
                    outcome="failed",
                    error=event.error.kind,
                    error_code=event.error.code,
                    retryable=event.error.retryable,
                    texts=self._texts(message=event.error.message),
                )
            case TurnCancelled():
                return TurnEnded(**common, outcome="cancelled")

    def _end_of_call(self, common: dict[str, Any], event: ToolCallCompleted) -> ToolCalled:
        call = self._calls.pop(event.tool_call_id) or _OpenCall("", {})
        refused = event.outcome == "declined" or call.answered in ("reject", "timeout", "gone")
        args = ""
        if call.args and self.wants_text:
            args = msgspec.json.encode(call.args).decode()
        return ToolCalled(
            **common,
            call_id=event.tool_call_id,
            name=word(event.name or call.name),
            outcome=event.outcome,
            decision="reject" if refused else "accept" if call.answered else "auto_accept",
            duration_ms=event.duration_ms,
            texts=self._texts(args=args),
        )

    def _compression(
        self,
        common: dict[str, Any],
        event: CompressionStarted | CompressionCompleted | CompressionFailed | CompressionCancelled,
    ) -> CompressionBegan | CompressionEnded:
        common["compression_id"] = event.compression_id
        match event:
            case CompressionStarted():
                self._triggers.put(event.compression_id, event)
                return CompressionBegan(**common, trigger=event.trigger)
            case CompressionCompleted() | CompressionFailed():
                self._triggers.pop(event.compression_id)
                return CompressionEnded(**common, **_numbers_of(event.result))
            case CompressionCancelled():
                begun = self._triggers.pop(event.compression_id)
                return CompressionEnded(**common, trigger=begun.trigger if begun else None)


def _numbers_of(result: CompressionResult) -> dict[str, Any]:
    return {
        "status": result.status,
        "trigger": result.trigger,
        "tokens_before": result.original_token_count,
        "tokens_after": result.new_token_count,
        "model_calls": result.model_calls,
        "duration_ms": result.duration_ms,
        "strategy": result.strategy or "",
        "retention": result.retention.score if result.retention is not None else None,
    }


def _first_word(name: str) -> str:
    """The base name of a command's program: its arguments may be anything."""
    first = (name.split() or [""])[0]
    return word(first.replace("\\", "/").rsplit("/", 1)[-1])
