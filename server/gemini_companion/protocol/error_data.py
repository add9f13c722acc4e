"""A fault as the event `turnFailed` carries it."""

from __future__ import annotations

from gemini_companion.engine.errors import CompanionError
from gemini_companion.protocol.errors import wire_error_of
from gemini_companion.sessions.results import ErrorData


def describe(fault: CompanionError) -> ErrorData:
    """The same code, kind and words as in an error reply."""
    wire = wire_error_of(type(fault))
    return ErrorData(code=wire.code, kind=wire.kind, message=fault.message, hint=fault.hint, retryable=fault.retryable)
