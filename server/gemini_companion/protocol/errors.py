"""What a fault looks like on the wire: one table from the fault tree to JSON-RPC error codes, and the errors of the
wire itself.

Every error carries `FaultData`; no error carries a traceback.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from gemini_companion.engine import errors as faults

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
    """How long to wait before that, in milliseconds, where that is known."""
    path: str | None = None
    """Which field is missing or ill-typed, as in `$.parts[0].text`."""


class RpcError(Exception):
    """An error reply as JSON-RPC has it: `code`, `message`, and `data`, which is a `FaultData` in builtins; `to_wire`
    adds it where it is absent.
    """

    def __init__(self, message: str, *, code: int, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data


class WireError(NamedTuple):
    """How a kind of error is sent to a client: JSON-RPC's `code`, and `data.kind`, the word a program can switch on."""

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
    # One kind for each code, as in the protocol's table; that counting failed stands in the message.
    faults.ModelFault: WireError(1003, "modelUnavailable"),
    faults.ModelUnavailable: WireError(1003, "modelUnavailable"),
    faults.TokenCountFailed: WireError(1003, "modelUnavailable"),
    faults.Unauthenticated: WireError(1004, "unauthenticated"),
    faults.ContextOverflow: WireError(1005, "contextOverflow"),
    faults.InvalidSettings: WireError(1006, "invalidSettings"),
    faults.UntrustedWorkspace: WireError(1007, "untrustedWorkspace"),
    faults.StaleVersion: WireError(1008, "staleVersion"),
    faults.CompressionNotFound: WireError(1009, "compressionNotFound"),
    faults.Blocked: WireError(1010, "blocked"),
    faults.Overloaded: WireError(1011, "overloaded"),
    faults.StorageFault: WireError(-32803, "storage"),
    faults.Cancelled: CANCELLED,
    faults.InternalFault: DEFECT,
}
"""The whole fault tree; a test demands an entry for each of its classes. -32803 is LSP's RequestFailed."""


def wire_error_of(fault: type[faults.CompanionError]) -> WireError:
    """The entry of a fault's class, or of its nearest ancestor for a class that is declared outside the tree's
    module.
    """
    return next(WIRE_ERRORS[ancestor] for ancestor in fault.__mro__ if ancestor in WIRE_ERRORS)


def protocol_error(
    wire: WireError,
    message: str,
    *,
    hint: str = "",
    retryable: bool = False,
    retry_after_ms: int | None = None,
    path: str | None = None,
) -> RpcError:
    """An error reply."""
    data = FaultData(
        kind=wire.kind, message=message, hint=hint, retryable=retryable, retry_after_ms=retry_after_ms, path=path
    )
    return RpcError(message, code=wire.code, data=msgspec.to_builtins(data))


def cancelled() -> RpcError:
    """The answer to a request that was cancelled."""
    return protocol_error(CANCELLED, "The request was cancelled.")


def to_wire(error: BaseException, *, doing: str = "") -> RpcError:
    """The error reply for whatever a handler raised.

    A fault of the tree keeps its message and hint. Anything else is a defect of ours: it is logged with its traceback
    (`doing` names what was being done), and the client gets no more than that.
    """
    if isinstance(error, RpcError):
        return _with_data(error)
    if isinstance(error, asyncio.CancelledError):
        return cancelled()
    if isinstance(error, faults.CompanionError):
        return protocol_error(
            wire_error_of(type(error)),
            error.message,
            hint=error.hint,
            retryable=error.retryable,
            retry_after_ms=error.retry_after_ms,
            path=error.path if isinstance(error, faults.InvalidInput) else None,
        )
    log_defect(error, doing=doing)
    return protocol_error(
        DEFECT,
        "Something went wrong inside Gemini Companion.",
        hint="The server's log (its standard error, or --log-file) says where; please report it with that.",
    )


def log_defect(error: BaseException, *, doing: str) -> None:
    """Log where an unexpected exception came from: types and frames of its whole chain, but no messages, for they may
    quote a conversation.
    """
    lines: list[str] = []
    link: BaseException | None = error
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        lines.append(
            f"{type(link).__module__}.{type(link).__qualname__}\n{''.join(traceback.format_tb(link.__traceback__))}"
        )
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    logger.error("Defect in %s: %s", doing or "the server", "while handling ".join(lines))


def _with_data(error: RpcError) -> RpcError:
    if error.data is not None:
        return error
    return protocol_error(WireError(error.code, "failed"), error.message)
