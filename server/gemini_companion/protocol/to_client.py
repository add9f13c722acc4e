"""What the server sends, and with it the whole protocol: for schemas, TypeScript types and docs. No daemon loads it."""

from __future__ import annotations

from typing import Any, Final

from gemini_companion.protocol.client_types import (
    AskUserParams,
    AskUserResult,
    ConfirmToolParams,
    ConfirmToolResult,
    DiagnosticsParams,
    DiagnosticsResult,
    OpenDiffParams,
    OpenDiffResult,
    SaveDocumentParams,
    SaveDocumentResult,
)
from gemini_companion.protocol.methods import Method, ServerNotification, ServerRequest
from gemini_companion.protocol.sink import EVENT, STATUS_CHANGED, TAKEN
from gemini_companion.protocol.table import NOTIFICATIONS, REQUESTS
from gemini_companion.protocol.types import EventParams, SessionIdParams
from gemini_companion.sessions.results import CompressionStatusReport

TO_CLIENT: Final[tuple[ServerNotification[Any] | ServerRequest[Any, Any], ...]] = (
    ServerNotification(EVENT, EventParams, doc="What happens in a session that the client is subscribed to."),
    ServerNotification(STATUS_CHANGED, CompressionStatusReport, doc="Where compression stands, on every change of it."),
    ServerNotification(
        TAKEN,
        SessionIdParams,
        doc="Another process took a session that this client is subscribed to. Opening it again tells who has it now.",
    ),
    ServerRequest("gemini/confirmTool", ConfirmToolParams, ConfirmToolResult, doc="May this tool run?"),
    ServerRequest("gemini/askUser", AskUserParams, AskUserResult, doc="The model asks the person."),
    ServerRequest(
        "gemini/diagnostics", DiagnosticsParams, DiagnosticsResult, doc="What does the editor report for these files?"
    ),
    ServerRequest(
        "gemini/saveDocument", SaveDocumentParams, SaveDocumentResult, doc="Write an open document to the disk."
    ),
    ServerRequest("gemini/openDiff", OpenDiffParams, OpenDiffResult, doc="Show a proposed change."),
)

METHODS: Final[tuple[Method, ...]] = (*REQUESTS, *NOTIFICATIONS, *TO_CLIENT)
"""The whole protocol beyond LSP."""
