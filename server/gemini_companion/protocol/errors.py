"""What a fault looks like on the wire: one table from the fault tree to JSON-RPC error codes, and the errors of the wire itself.

Every error carries `FaultData`; no error carries a traceback.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from pygls.exceptions import JsonRpcException

from gemini_companion.engine import errors as faults

if TYPE_CHECKING:
    from gemini_companion.sessions.results import ErrorData

logger = logging.getLogger(__name__)


class FaultData(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The `data` of every error."""

    kind: str
    """A word that a program can switch on; one for each code."""
    message: str
    """What happened, for people."""
    hint: str
    """What to do next; may be empty."""
    retryable: bool
    """Whether trying again can help."""
    retry_after_ms: int | None = None
    """How long to wait before that, in milliseconds, where somebody said so."""
    path: str | None = None
    """Which field is missing or ill-typed, as in `$.parts[0].text`."""


class WireError(NamedTuple):
    """How a kind of error is told to a client: JSON-RPC's `code`, and `data.kind`, the word a program can switch on."""

    code: int
    kind: str


PARSE_ERROR: Final = WireError(-32700, "parseError")
INVALID_REQUEST: Final = WireError(-32600, "invalidRequest")
METHOD_NOT_FOUND: Final = WireError(-32601, "methodNotFound")
NOT_INITIALIZED: Final = WireError(-32002, "serverNotInitialized")
CANCELLED: Final = WireError(-32800, "cancelled")
DEFECT: Final = WireError(-32603, "defect")

WIRE_ERRORS: Final[Mapping[type[faults.CompanionError], WireError]] = {
    faults.CompanionError: WireError(-32803, "failed"),
    faults.InvalidInput: WireError(-32602, "invalidParams"),
    faults.SessionNotFound: WireError(1001, "sessionNotFound"),
    faults.SessionBusy: WireError(1002, "sessionBusy"),
    # One kind per code, as the protocol's table has it: that counting failed is said by the message.
    faults.ModelFault: WireError(1003, "modelUnavailable"),
    faults.ModelUnavailable: WireError(1003, "modelUnavailable"),
    faults.TokenCountFailed: WireError(1003, "modelUnavailable"),
    faults.Unauthenticated: WireError(1004, "unauthenticated"),
    faults.ContextOverflow: WireError(1005, "contextOverflow"),
    faults.InvalidSettings: WireError(1006, "invalidSettings"),
    faults.UntrustedWorkspace: WireError(1007, "untrustedWorkspace"),
    faults.StaleVersion: WireError(1008, "staleVersion"),
    faults.CheckpointNotFound: WireError(1009, "checkpointNotFound"),
    faults.Blocked: WireError(1010, "blocked"),
    faults.Overloaded: WireError(1011, "overloaded"),
    faults.StorageFault: WireError(-32803, "storage"),
    faults.Cancelled: CANCELLED,
    faults.InternalFault: DEFECT,
}
"""The whole fault tree; a test demands an entry for each of its classes. -32803 is LSP's RequestFailed."""


def wire_error_of(fault: type[faults.CompanionError]) -> WireError:
    """The entry of a fault's class, or of its nearest ancestor for a class that is declared outside the tree's module."""
    return next(WIRE_ERRORS[ancestor] for ancestor in fault.__mro__ if ancestor in WIRE_ERRORS)


def refusal(
    wire: WireError, message: str, *, hint: str = "", retryable: bool = False, retry_after_ms: int | None = None, path: str | None = None
) -> JsonRpcException:
    """An error reply."""
    data = FaultData(kind=wire.kind, message=message, hint=hint, retryable=retryable, retry_after_ms=retry_after_ms, path=path)
    return JsonRpcException(message, code=wire.code, data=msgspec.to_builtins(data))


def cancelled() -> JsonRpcException:
    """The answer to a request that was cancelled."""
    return refusal(CANCELLED, "The request was cancelled.")


def to_wire(error: BaseException, *, doing: str = "") -> JsonRpcException:
    """The error reply for whatever a handler raised.

    A fault of the tree keeps its message and hint. Anything else is a defect of ours: it is logged with its traceback (`doing` says
    at what), and the client hears no more than that.
    """
    if isinstance(error, JsonRpcException):
        return _with_data(error)
    if isinstance(error, asyncio.CancelledError):
        return cancelled()
    if isinstance(error, faults.CompanionError):
        return refusal(
            wire_error_of(type(error)),
            error.message,
            hint=error.hint,
            retryable=error.retryable,
            retry_after_ms=error.retry_after_ms,
            path=error.path if isinstance(error, faults.InvalidInput) else None,
        )
    log_defect(error, doing=doing)
    return refusal(
        DEFECT,
        "Something went wrong inside Gemini Companion.",
        hint="The server's log (its standard error, or --log-file) says where; please report it with that.",
    )


def log_defect(error: BaseException, *, doing: str) -> None:
    """Log where an unexpected exception came from: types and frames of its whole chain, but no messages, for they may quote a conversation."""
    lines: list[str] = []
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        lines.append(f"{type(link).__module__}.{type(link).__qualname__}\n{''.join(traceback.format_tb(link.__traceback__))}")
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    logger.error("Defect in %s: %s", doing or "the server", "while handling ".join(lines))


def _with_data(error: JsonRpcException) -> JsonRpcException:
    data: object = error.data
    if isinstance(data, dict) and "kind" in data:
        return error
    return refusal(WireError(error.code, "failed"), error.message)


def describe(fault: faults.CompanionError) -> ErrorData:
    """A fault for the event `turnFailed`."""
    from gemini_companion.sessions.results import ErrorData  # not on the way to `initialize`

    wire = wire_error_of(type(fault))
    return ErrorData(code=wire.code, kind=wire.kind, message=fault.message, hint=fault.hint, retryable=fault.retryable)
