"""Records as spans: a turn, and below it its requests, calls, hooks and compressions."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, TypeAlias

import msgspec
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.util.types import AttributeValue

from gemini_companion.adapters.telemetry import names
from gemini_companion.sessions.observing.records import (
    AnyRecord,
    CompressionBegan,
    CompressionEnded,
    HookCalled,
    ModelCalled,
    ToolCalled,
    TurnBegan,
    TurnEnded,
)

Attributes: TypeAlias = dict[str, AttributeValue]

PREVIEW: Final = "PREVIEW"
"""What changed nothing yet: its tokens are told with its installation, which has the same id."""
MOST_OPEN: Final = 256
"""Turns and compressions under way at a time; the oldest is ended for one more."""


class Spans:
    """Makes spans of records. Those of turns and compressions are open until their end comes."""

    def __init__(self, provider: TracerProvider, version: str) -> None:
        self._tracer = provider.get_tracer(names.SERVICE, version)
        self._open: OrderedDict[str, Span] = OrderedDict()
        """By the id of the turn or the compression."""

    def take(self, record: AnyRecord) -> Context | None:
        """Make the record's span; the context of what it belongs to, for its log."""
        match record:
            case TurnBegan():
                return self._begin_turn(record)
            case TurnEnded():
                return self._end_turn(record)
            case ModelCalled():
                return self._model(record)
            case ToolCalled():
                return self._tool(record)
            case HookCalled():
                return self._hook(record)
            case CompressionBegan():
                span = self._tracer.start_span(
                    names.COMPRESSION_SPAN,
                    context=self._around(record.turn_id),
                    attributes={**common(record), "compression_id": record.compression_id, "trigger": record.trigger},
                    start_time=_ns(record.time),
                )
                return self._keep(record.compression_id, span)
            case CompressionEnded():
                return self._end_compression(record)
            case _:
                return self._around(record.turn_id)

    def close(self) -> None:
        """End what is open: it will not be told of any more."""
        while self._open:
            self._open.popitem()[1].end()

    def _around(self, *ids: str) -> Context | None:
        """The context of the first of these that is open."""
        span = next((self._open[one] for one in ids if one in self._open), None)
        return None if span is None else set_span_in_context(span, Context())

    def _keep(self, key: str, span: Span) -> Context:
        if (before := self._open.pop(key, None)) is not None:
            before.end()
        self._open[key] = span
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].end()
        return set_span_in_context(span, Context())

    def _begin_turn(self, record: TurnBegan) -> Context:
        span = self._tracer.start_span(
            names.TURN_SPAN,
            context=Context(),
            attributes={
                **common(record),
                names.OPERATION: "invoke_agent",
                names.AGENT: names.SERVICE,
                names.REQUEST_MODEL: record.model,
                "prompt_length": record.prompt_length,
                **_texts(record, {"prompt": names.INPUT_TEXT}),
            },
            start_time=_ns(record.time),
        )
        return self._keep(record.turn_id, span)

    def _end_turn(self, record: TurnEnded) -> Context | None:
        span = self._open.pop(record.turn_id, None)
        if span is None:  # it waited and never ran, or it is from before telemetry was turned on
            return None
        attributes: Attributes = {"outcome": record.outcome}
        if record.finish_reason:
            attributes[names.FINISH_REASONS] = [record.finish_reason]
        if record.usage is not None:
            attributes[names.INPUT_TOKENS] = record.usage.prompt_tokens
            attributes[names.OUTPUT_TOKENS] = record.usage.output_tokens
            attributes[names.CACHED_TOKENS] = record.usage.cached_tokens
            attributes[names.THOUGHT_TOKENS] = record.usage.thought_tokens
        span.set_attributes(attributes)
        if record.outcome == "failed":
            span.set_attributes({names.ERROR_TYPE: record.error, "error_code": record.error_code})
            span.set_status(Status(StatusCode.ERROR, record.texts.get("message", record.error)))
        span.end(_ns(record.time))
        return set_span_in_context(span, Context())

    def _model(self, record: ModelCalled) -> Context:
        attributes = {
            **common(record),
            **model_attributes(record),
            names.PROMPT_ID: record.prompt_id,
            **usage_attributes(record),
            **_texts(record, {"request": names.INPUT_TEXT, "response": names.OUTPUT_TEXT}),
        }
        if record.finish_reason:
            attributes[names.FINISH_REASONS] = [record.finish_reason]
        if record.first_ms is not None:
            attributes[names.FIRST_CHUNK] = record.first_ms / 1000
        span = self._tracer.start_span(
            f"{names.MODEL_SPAN} {record.model}",
            context=self._around(record.subject, record.turn_id) or Context(),
            kind=SpanKind.CLIENT,
            attributes=attributes,
            start_time=_ns(record.time - record.duration_ms),
        )
        return self._end(span, record.time, record.fault if record.outcome == "failed" else "")

    def _tool(self, record: ToolCalled) -> Context:
        span = self._tracer.start_span(
            f"{names.TOOL_SPAN} {record.name}",
            context=self._around(record.turn_id) or Context(),
            attributes={
                **common(record),
                names.OPERATION: "execute_tool",
                names.TOOL_NAME: record.name,
                names.TOOL_TYPE: "function",
                names.TOOL_CALL: record.call_id,
                "outcome": record.outcome,
                "decision": record.decision,
                **_texts(record, {"args": names.ARGUMENTS}),
            },
            start_time=_ns(record.time - record.duration_ms),
        )
        return self._end(span, record.time, "" if record.outcome == "ok" else record.outcome)

    def _hook(self, record: HookCalled) -> Context:
        span = self._tracer.start_span(
            f"{names.HOOK_SPAN} {record.event}",
            context=self._around(record.turn_id) or Context(),
            attributes={
                **common(record),
                "hook_event_name": record.event,
                "hook_name": record.texts.get("name", record.name),
                "outcome": record.outcome,
            },
            start_time=_ns(record.time - record.duration_ms),
        )
        return self._end(span, record.time, record.outcome if record.outcome in ("failed", "timedOut") else "")

    def _end_compression(self, record: CompressionEnded) -> Context | None:
        span = self._open.pop(record.compression_id, None)
        if span is None:
            return None
        span.set_attributes(compression_attributes(record))
        status = record.status or "CANCELLED"
        if "FAILED" in status:
            span.set_attribute(names.ERROR_TYPE, status)
            span.set_status(Status(StatusCode.ERROR, status))
        span.end(_ns(record.time))
        return set_span_in_context(span, Context())

    def _end(self, span: Span, time: int, fault: str) -> Context:
        if fault:
            span.set_attribute(names.ERROR_TYPE, fault)
            span.set_status(Status(StatusCode.ERROR, fault))
        span.end(_ns(time))
        return set_span_in_context(span, Context())


def common(record: AnyRecord) -> Attributes:
    """What every span and log has."""
    attributes: Attributes = {names.SESSION: record.session_id, names.CONVERSATION: record.session_id}
    if record.turn_id:
        attributes[names.PROMPT_ID] = record.turn_id
    return attributes


def model_attributes(record: ModelCalled) -> Attributes:
    """Which model was asked, and for what."""
    return {
        names.OPERATION: "generate_content",
        names.PROVIDER: names.PROVIDERS.get(record.provider, record.provider),
        names.REQUEST_MODEL: record.model,
        names.ROLE: record.role,
    }


def usage_attributes(record: ModelCalled) -> Attributes:
    """Tokens and cost, as far as they are known."""
    found: Attributes = {}
    if record.usage is not None:
        found[names.INPUT_TOKENS] = record.usage.prompt_tokens
        found[names.OUTPUT_TOKENS] = record.usage.output_tokens
        found[names.CACHED_TOKENS] = record.usage.cached_tokens
        found[names.THOUGHT_TOKENS] = record.usage.thought_tokens
    if record.cost is not None:
        found[names.COST] = record.cost
    return found


def compression_attributes(record: CompressionEnded) -> Attributes:
    """What a compression did."""
    found: Attributes = {
        "compression_id": record.compression_id,
        "status": record.status or "CANCELLED",
        "model_calls": record.model_calls,
        "duration_ms": record.duration_ms,
    }
    if record.status != PREVIEW:
        found |= {"tokens_before": record.tokens_before, "tokens_after": record.tokens_after}
    if record.trigger is not None:
        found["trigger"] = record.trigger
    if record.strategy:
        found["strategy"] = record.strategy
    if record.retention is not None:
        found["retention"] = record.retention
    return found


def _texts(record: AnyRecord, keys: dict[str, str]) -> Attributes:
    return {key: _message(key, record.texts[name]) for name, key in keys.items() if name in record.texts}


def _message(key: str, text: str) -> str:
    """A text in the form that the conventions ask for."""
    role = {names.INPUT_TEXT: "user", names.OUTPUT_TEXT: "assistant"}.get(key)
    if role is None:
        return text
    return msgspec.json.encode([{"role": role, "parts": [{"type": "text", "content": text}]}]).decode()


def _ns(ms: int) -> int:
    return max(0, ms) * 1_000_000
