"""Records as logs: one for each that is more than the beginning of something."""

from __future__ import annotations

from typing import Final

from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LoggerProvider

from gemini_companion.adapters.telemetry import names
from gemini_companion.adapters.telemetry.names import PREFIX
from gemini_companion.adapters.telemetry.spans import Attributes, common, compression_attributes, usage_attributes
from gemini_companion.sessions.observing.records import (
    AnyRecord,
    CompressionBegan,
    CompressionEnded,
    HookCalled,
    ModelCalled,
    Noted,
    ToolCalled,
    TurnBegan,
    TurnEnded,
)

_BAD: Final = ("failed", "timedOut", "interrupted")


class Logs:
    """Makes logs of records."""

    def __init__(self, provider: LoggerProvider, version: str) -> None:
        self._logger = provider.get_logger(names.SERVICE, version)

    def take(self, record: AnyRecord, context: Context | None) -> None:
        """Make the record's log, within the span that it belongs to."""
        if isinstance(record, CompressionBegan):
            return
        name, attributes = _event_of(record)
        is_bad = attributes.get("outcome") in _BAD or "FAILED" in str(attributes.get("status", ""))
        self._logger.emit(
            timestamp=max(0, record.time) * 1_000_000,
            context=context or Context(),
            severity_number=SeverityNumber.ERROR if is_bad else SeverityNumber.INFO,
            severity_text="ERROR" if is_bad else "INFO",
            event_name=f"{PREFIX}.{name}",
            attributes={**common(record), "event.name": f"{PREFIX}.{name}", **attributes, **record.texts},
        )


def _event_of(record: AnyRecord) -> tuple[str, Attributes]:
    match record:
        case TurnBegan():
            return "user_prompt", {"prompt_length": record.prompt_length, "model": record.model}
        case TurnEnded():
            attributes: Attributes = {"outcome": record.outcome, "duration_ms": record.duration_ms}
            if record.finish_reason:
                attributes["finish_reason"] = record.finish_reason
            if record.error:
                attributes |= {names.ERROR_TYPE: record.error, "error_code": record.error_code}
            return "turn_end", attributes
        case ModelCalled():
            attributes = {
                "model": record.model,
                names.ROLE: record.role,
                names.PROMPT_ID: record.prompt_id,
                "duration_ms": record.duration_ms,
                "outcome": record.outcome,
                **usage_attributes(record),
            }
            if record.outcome == "failed":
                return "api_error", {**attributes, names.ERROR_TYPE: record.fault}
            return "api_response", {**attributes, "finish_reason": record.finish_reason}
        case ToolCalled():
            return "tool_call", {
                "function_name": record.name,
                "duration_ms": record.duration_ms,
                "success": record.outcome == "ok",
                "outcome": record.outcome,
                "decision": record.decision,
            }
        case HookCalled():
            return "hook_call", {
                "hook_event_name": record.event,
                "hook_name": record.name,
                "duration_ms": record.duration_ms,
                "outcome": record.outcome,
                "success": record.outcome not in _BAD,
            }
        case CompressionEnded():
            return "chat_compression", compression_attributes(record)
        case Noted():
            return "event", {"type": record.event}
        case CompressionBegan():
            raise AssertionError
