"""The method table: dispatch, schemas, TypeScript types and docs all read it."""

from __future__ import annotations

from typing import Any, Final

from gemini_companion.engine.errors import (
    Blocked,
    Cancelled,
    CheckpointNotFound,
    ContextOverflow,
    InvalidInput,
    ModelUnavailable,
    Overloaded,
    SessionBusy,
    SessionNotFound,
    StaleVersion,
    StorageFault,
    Unauthenticated,
)
from gemini_companion.engine.history.log import CompressionResult
from gemini_companion.protocol import lsp
from gemini_companion.protocol.handlers import chat, editor, sessions
from gemini_companion.protocol.host import EVENT, STATUS_CHANGED
from gemini_companion.protocol.methods import Empty, Method, Notification, Request, ServerNotification, ServerRequest
from gemini_companion.protocol.types import (
    ApplyParams,
    CancelParams,
    ChatParams,
    CompressParams,
    ConfirmToolParams,
    ConfirmToolResult,
    EventParams,
    ExportParams,
    FilesParams,
    ForkParams,
    HistoryParams,
    IdeContextParams,
    ImportParams,
    ListSessionsParams,
    NewSessionParams,
    OpenDiffParams,
    OpenDiffResult,
    OpenSessionParams,
    PinParams,
    RateParams,
    RenameParams,
    ReplayParams,
    SessionIdParams,
    SessionParams,
    SubscribeParams,
    UndoParams,
    UnpinParams,
)
from gemini_companion.sessions.results import (
    CancelResult,
    ChatResult,
    CompactionList,
    CompressionStatusReport,
    ContextPreview,
    ContextReport,
    EventPage,
    Exported,
    HistoryPage,
    ModelReport,
    Pin,
    PinList,
    SessionInfo,
    SessionList,
    Stats,
    WorkspaceFileList,
)

_READS: Final = (SessionNotFound, StorageFault)
_WRITES: Final = (SessionNotFound, SessionBusy, StorageFault)
_ASKS: Final = (*_WRITES, ModelUnavailable, Unauthenticated, Cancelled)

REQUESTS: Final[tuple[Request[Any, Any], ...]] = (
    Request("gemini/session/new", NewSessionParams, SessionInfo, sessions.new, scope="ordered", errors=(StorageFault,),
            doc="Start a session; it becomes the client's current one."),
    Request("gemini/session/list", ListSessionsParams, SessionList, sessions.list_, errors=(StorageFault, InvalidInput),
            doc="List this project's sessions, newest first, or search them."),
    Request("gemini/session/open", OpenSessionParams, SessionInfo, sessions.open_, scope="ordered", errors=_READS,
            doc="Make a session the client's current one. Held for writing, unless another process has it."),
    Request("gemini/session/subscribe", SubscribeParams, None, sessions.subscribe, errors=_READS,
            doc="Hear a session's events, or no more."),
    Request("gemini/session/fork", ForkParams, SessionInfo, sessions.fork, scope="ordered", errors=(*_READS, InvalidInput),
            doc="Go on from a point of a session in a new one, which becomes the current one."),
    Request("gemini/session/rename", RenameParams, SessionInfo, sessions.rename, errors=_WRITES, doc="Give a session a title."),
    Request("gemini/session/delete", SessionIdParams, None, sessions.delete, errors=_WRITES, doc="Forget a session and its files."),
    Request("gemini/session/export", ExportParams, Exported, sessions.export, errors=_READS, doc="A session as the text of a file."),
    Request("gemini/session/import", ImportParams, SessionInfo, sessions.import_, scope="ordered", errors=(InvalidInput, StorageFault),
            doc="Read a session file; the session becomes the current one."),
    Request("gemini/session/history", HistoryParams, HistoryPage, sessions.history, errors=(*_READS, InvalidInput, StaleVersion),
            doc="What the model gets, or everything that was ever said. A page's cursor into the model's view holds until its epoch changes."),
    Request("gemini/chat", ChatParams, ChatResult, chat.chat, errors=(*_ASKS, InvalidInput, ContextOverflow, Blocked, Overloaded),
            doc="Send a prompt. Deltas come as events; the result is the whole answer. Prompts wait for each other in order."),
    Request("gemini/cancel", CancelParams, CancelResult, chat.cancel, errors=_READS, doc="Stop a job, whoever started it."),
    Request("gemini/compress", CompressParams, CompressionResult, chat.compress, errors=(*_ASKS, StaleVersion),
            doc="Compress the history, or preview what that would give."),
    Request("gemini/compressionStatus", SessionParams, CompressionStatusReport, chat.compression_status, errors=_READS,
            doc="Where compression stands. Never waits."),
    Request("gemini/compression/apply", ApplyParams, CompressionResult, chat.apply, errors=(*_WRITES, CheckpointNotFound, StaleVersion, Cancelled),
            doc="Install a preview, edited if wished."),
    Request("gemini/compression/undo", UndoParams, CompressionResult, chat.undo_, errors=(*_WRITES, CheckpointNotFound, Cancelled),
            doc="Take a compaction back, with all that cover it. Later turns stay."),
    Request("gemini/compression/list", SessionParams, CompactionList, chat.compactions, errors=_READS,
            doc="Every compaction of the session, newest first."),
    Request("gemini/compression/rate", RateParams, None, sessions.rate, errors=(*_WRITES, CheckpointNotFound), doc="Say how good a compaction is."),
    Request("gemini/context", SessionParams, ContextReport, sessions.context, errors=_READS, doc="The token ledger, split by part."),
    Request("gemini/context/preview", SessionParams, ContextPreview, sessions.context_preview, errors=_READS,
            doc="The IDE context as the next turn would send it, and what is left out and why."),
    Request("gemini/files", FilesParams, WorkspaceFileList, editor.files,
            doc="The files and folders of the workspace that `@` can name in a prompt, those first that are most likely meant."),
    Request("gemini/pin", PinParams, Pin, sessions.pin, errors=(*_WRITES, InvalidInput),
            doc="Pin a text, or a turn's prompt: it stands word for word in every view after a compression."),
    Request("gemini/unpin", UnpinParams, None, sessions.unpin, errors=(*_WRITES, InvalidInput), doc="Take a pin away."),
    Request("gemini/pins", SessionParams, PinList, sessions.pins, errors=_READS, doc="The pins of a session."),
    Request("gemini/models", Empty, ModelReport, sessions.models, errors=_READS, doc="The models, which one answers, and why."),
    Request("gemini/stats", SessionParams, Stats, sessions.session_stats, errors=_READS, doc="Sums over a session."),
    Request("gemini/events/replay", ReplayParams, EventPage, sessions.replay, errors=_READS,
            doc="The events after a number, in order; a finished turn's deltas come as one."),
)  # fmt: skip

NOTIFICATIONS: Final[tuple[Notification[Any], ...]] = (
    Notification("gemini/ideContext/didChange", IdeContextParams, editor.ide_context, doc="What the editor shows. Later news wins."),
)

LSP_NOTIFICATIONS: Final[tuple[Notification[Any], ...]] = (
    Notification(lsp.DID_OPEN, lsp.DidOpenParams, editor.did_open, doc="A document was opened."),
    Notification(lsp.DID_CHANGE, lsp.DidChangeParams, editor.did_change, doc="A document changed."),
    Notification(lsp.DID_SAVE, lsp.DocumentParams, editor.did_save, doc="A document was saved."),
    Notification(lsp.DID_CLOSE, lsp.DocumentParams, editor.did_close, doc="A document was closed."),
    Notification(lsp.DID_FOCUS, lsp.DocumentParams, editor.did_focus, doc="A document got the focus."),
    Notification(lsp.DID_CHANGE_FOLDERS, lsp.DidChangeFoldersParams, editor.did_change_folders, doc="The workspace folders changed."),
)
"""LSP's own; not part of the schema."""

TO_CLIENT: Final[tuple[ServerNotification[Any] | ServerRequest[Any, Any], ...]] = (
    ServerNotification(EVENT, EventParams, doc="What happens in a session that the client hears."),
    ServerNotification(STATUS_CHANGED, CompressionStatusReport, doc="Where compression stands, on every change of it."),
    ServerRequest("gemini/confirmTool", ConfirmToolParams, ConfirmToolResult, doc="May this tool run?"),
    ServerRequest("gemini/openDiff", OpenDiffParams, OpenDiffResult, doc="Show a proposed change."),
)

METHODS: Final[tuple[Method, ...]] = (*REQUESTS, *NOTIFICATIONS, *TO_CLIENT)
"""The whole protocol beyond LSP."""
