"""Records as metrics. No session, turn or text is among their attributes, so their number does not grow with use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opentelemetry.metrics import Counter, Histogram
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.util.types import AttributeValue

from gemini_companion.adapters.telemetry import names
from gemini_companion.adapters.telemetry.names import PREFIX
from gemini_companion.adapters.telemetry.spans import PREVIEW, model_attributes
from gemini_companion.sessions.observing.records import (
    AnyRecord,
    CompressionEnded,
    HookCalled,
    ModelCalled,
    ToolCalled,
    TurnBegan,
    TurnEnded,
)

MOST_SESSIONS: Final = 10_000
"""Ids that are remembered so that each session is counted once."""

_TOKEN_BUCKETS: Final = tuple(float(4**power) for power in range(14))
_SECOND_BUCKETS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""Both as the conventions have them."""
_MS_BUCKETS: Final = (5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1e3, 2.5e3, 5e3, 1e4, 3e4, 6e4, 3e5)


class Metrics:
    """Keeps the sums."""

    def __init__(self, provider: MeterProvider, version: str) -> None:
        meter = provider.get_meter(names.SERVICE, version)
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        for name, unit in names.METRICS.items():
            if unit in ("s", "ms") or name in ("gen_ai.client.token.usage", f"{PREFIX}.chat_compression.tokens"):
                buckets = _SECOND_BUCKETS if unit == "s" else _MS_BUCKETS if unit == "ms" else _TOKEN_BUCKETS
                self._histograms[name] = meter.create_histogram(
                    name, unit=unit, explicit_bucket_boundaries_advisory=buckets
                )
            else:
                self._counters[name] = meter.create_counter(name, unit=unit)
        self._sessions: dict[str, None] = {}

    def take(self, record: AnyRecord) -> None:
        """Count a record."""
        match record:
            case TurnBegan():
                if record.session_id not in self._sessions:
                    self._sessions[record.session_id] = None
                    if len(self._sessions) > MOST_SESSIONS:
                        del self._sessions[next(iter(self._sessions))]
                    self._add("session.count", 1, {})
            case TurnEnded():
                error = {names.ERROR_TYPE: record.error} if record.error else {}
                self._add("turn.count", 1, {"outcome": record.outcome, **error})
                self._measure(f"{PREFIX}.turn.duration", record.duration_ms / 1000, {"outcome": record.outcome})
            case ModelCalled():
                self._model(record)
            case ToolCalled():
                attributes = {
                    "function_name": record.name,
                    "success": record.outcome == "ok",
                    "decision": record.decision,
                }
                self._add("tool.call.count", 1, attributes)
                self._measure(f"{PREFIX}.tool.call.latency", record.duration_ms, {"function_name": record.name})
            case HookCalled():
                attributes = {
                    "hook_event_name": record.event,
                    "hook_name": record.name,
                    "success": record.outcome not in ("failed", "timedOut"),
                }
                self._add("hook_call.count", 1, attributes)
                self._measure(f"{PREFIX}.hook_call.latency", record.duration_ms, attributes)
            case CompressionEnded():
                self._compression(record)
            case _:
                pass

    def dropped(self, count: int) -> None:
        """Count records that were left out because nobody took them."""
        self._add("telemetry.dropped", count, {})

    def _model(self, record: ModelCalled) -> None:
        attributes = model_attributes(record)
        role = attributes.pop(names.ROLE)
        failed = {names.ERROR_TYPE: record.fault} if record.outcome == "failed" else {}
        seconds = record.duration_ms / 1000
        self._measure("gen_ai.client.operation.duration", seconds, {**attributes, **failed})
        if record.first_ms is not None:
            self._measure("gen_ai.client.operation.time_to_first_chunk", record.first_ms / 1000, attributes)
        own: dict[str, AttributeValue] = {"model": record.model, "role": role}
        self._add("api.request.count", 1, {**own, "outcome": record.outcome, **failed})
        self._measure(f"{PREFIX}.api.request.latency", record.duration_ms, own)
        if record.cost:
            self._add("cost", record.cost, own)
        if record.usage is None:
            return
        usage = record.usage
        for kind, tokens in (("input", usage.prompt_tokens), ("output", usage.output_tokens + usage.thought_tokens)):
            self._measure("gen_ai.client.token.usage", max(0, tokens), {**attributes, names.TOKEN_TYPE: kind})
        sums = {
            "input": usage.prompt_tokens,
            "output": usage.output_tokens,
            "thought": usage.thought_tokens,
            "cache": usage.cached_tokens,
        }
        for kind, tokens in sums.items():
            if tokens > 0:
                self._add("token.usage", tokens, {"model": record.model, "type": kind})

    def _compression(self, record: CompressionEnded) -> None:
        attributes = {"status": record.status or "CANCELLED", "trigger": record.trigger or ""}
        self._add("chat_compression.count", 1, attributes)
        if record.status not in (None, PREVIEW):
            for kind, tokens in (("before", record.tokens_before), ("after", record.tokens_after)):
                self._measure(f"{PREFIX}.chat_compression.tokens", max(0, tokens), {"type": kind})

    def _add(self, name: str, amount: float, attributes: Mapping[str, AttributeValue]) -> None:
        self._counters[f"{PREFIX}.{name}"].add(amount, attributes)

    def _measure(self, name: str, amount: float, attributes: Mapping[str, AttributeValue]) -> None:
        self._histograms[name].record(amount, attributes)
