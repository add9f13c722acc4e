"""The method table: dispatch, schemas, TypeScript types and docs all read it."""

from __future__ import annotations

from typing import Any, Final

from gemini_companion.engine.errors import (
    Blocked,
    Cancelled,
    CompressionNotFound,
    ContextOverflow,
    InvalidInput,
    InvalidSettings,
    ModelUnavailable,
    Overloaded,
    SessionBusy,
    SessionNotFound,
    StaleVersion,
    StorageFault,
    Unauthenticated,
    UntrustedWorkspace,
)
from gemini_companion.protocol import lsp
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
from gemini_companion.protocol.handlers import (
    agents,
    changes,
    chat,
    commands,
    compression,
    constraints,
    editor,
    hooks,
    mcp,
    memory,
    recall,
    sessions,
    settings,
    skills,
    slash_commands,
    tools,
)
from gemini_companion.protocol.methods import (
    Method,
    Notification,
    Request,
    ServerNotification,
    ServerRequest,
    notification,
    request,
)
from gemini_companion.protocol.sink import EVENT, STATUS_CHANGED
from gemini_companion.protocol.types import EventParams
from gemini_companion.sessions.results import CompressionStatusReport

_READS: Final = (SessionNotFound, StorageFault)
_WRITES: Final = (SessionNotFound, SessionBusy, StorageFault)
_ASKS: Final = (*_WRITES, ModelUnavailable, Unauthenticated, Cancelled)

REQUESTS: Final[tuple[Request[Any, Any], ...]] = (
    request("gemini/session/new", sessions.new, errors=(StorageFault, InvalidInput),
            doc="Start a session; it becomes the client's current one."),
    request("gemini/session/list", sessions.list_, errors=(StorageFault, InvalidInput),
            doc="List this project's sessions, newest first, or search them."),
    request("gemini/session/open", sessions.open_, errors=_READS,
            doc="Make a session the client's current one. Held for writing, unless another process has it."),
    request("gemini/session/subscribe", sessions.subscribe, errors=_READS,
            doc="Subscribe to a session's events, or unsubscribe."),
    request("gemini/session/fork", sessions.fork, errors=(*_READS, InvalidInput),
            doc="Go on from a point of a session in a new one, which becomes the current one."),
    request("gemini/session/rename", sessions.rename, errors=_WRITES, doc="Give a session a title."),
    request("gemini/session/keep", sessions.keep, errors=_WRITES, doc="Keep a session for good, or no longer."),
    request("gemini/session/delete", sessions.delete, errors=_WRITES, doc="Forget a session and its files."),
    request("gemini/session/export", sessions.export, errors=_READS, doc="A session as the text of a file."),
    request("gemini/session/import", sessions.import_, errors=(InvalidInput, StorageFault),
            doc="Read a session file; the session becomes the current one."),
    request("gemini/session/history", sessions.history, errors=(*_READS, InvalidInput, StaleVersion),
            doc="What the model gets, or everything that was ever written. A page's cursor into the model's view holds until its epoch changes."),
    request("gemini/chat", chat.chat, errors=(*_ASKS, InvalidInput, ContextOverflow, Blocked, Overloaded),
            doc="Send a prompt. Deltas come as events; the result is the whole answer. Prompts wait for each other in order."),
    request("gemini/chat/resume", chat.resume, errors=(*_ASKS, InvalidInput, ContextOverflow, Blocked, Overloaded),
            doc="Go on with a turn that was interrupted, or that used all its rounds, where it stands."),
    request("gemini/cancel", chat.cancel, errors=_READS, doc="Stop a job, whoever started it."),
    request("gemini/compress", compression.compress, errors=(*_ASKS, InvalidInput, StaleVersion),
            doc="Compress the history, or preview what that would give."),
    request("gemini/compressionStatus", compression.status, errors=_READS,
            doc="Where compression stands. Never waits."),
    request("gemini/compression/verdict", compression.verdict, errors=_READS,
            doc="Whether compressing now would pay for itself. An estimate; asks no model."),
    request("gemini/compression/apply", compression.apply, errors=(*_WRITES, CompressionNotFound, StaleVersion, Cancelled),
            doc="Install a preview, edited if wished."),
    request("gemini/compression/undo", compression.undo_, errors=(*_WRITES, CompressionNotFound, Cancelled),
            doc="Take a compression back, with all that cover it. Later turns stay."),
    request("gemini/compression/list", compression.list_, errors=_READS,
            doc="Every compression of the session, newest first."),
    request("gemini/compression/sources", compression.sources, errors=(*_READS, CompressionNotFound),
            doc="Which turns the lines of a snapshot come from, of a preview as well."),
    request("gemini/compression/rate", compression.rate_, errors=(*_WRITES, CompressionNotFound), doc="Rate a compression."),
    request("gemini/context", sessions.context, errors=_READS, doc="The token ledger, split by part."),
    request("gemini/systemPrompt", sessions.system_prompt, errors=_READS,
            doc="The system prompt that the session's next request has, with the tokens of its sections."),
    request("gemini/context/preview", sessions.context_preview, errors=_READS,
            doc="The IDE context as the next turn would send it, and what is left out and why."),
    request("gemini/files", editor.files,
            doc="The files and folders of the workspace that `@` can name in a prompt, those first that are most likely meant."),
    request("gemini/prompt/check", editor.check,
            doc="What a prompt names with `@`: what goes along with it, and what does not and why."),
    request("gemini/pin", sessions.pin, errors=(*_WRITES, InvalidInput),
            doc="Pin a text, or a turn's prompt: it stands word for word in every view after a compression."),
    request("gemini/unpin", sessions.unpin, errors=(*_WRITES, InvalidInput), doc="Take a pin away."),
    request("gemini/pins", sessions.list_pins, errors=_READS, doc="The pins of a session."),
    request("gemini/recall", recall.recall_, errors=(*_READS, InvalidInput),
            doc="Find what was said, in all sessions of the project or in one, best first; or give a turn or an entry back whole."),
    request("gemini/constraints", constraints.list_, errors=_READS,
            doc="The rules that the person set, pins among them: proposed, in force, released."),
    request("gemini/constraints/set", constraints.set_, errors=(*_WRITES, InvalidInput),
            doc="Take a rule in, propose, release or reword it, or make a new one."),
    request("gemini/memory/list", memory.list_,
            doc="The memory files that count now, with what they import, their tokens, and what is wrong with them."),
    request("gemini/memory/add", memory.add, errors=(InvalidInput, UntrustedWorkspace, StorageFault),
            doc="Keep a fact in a memory file: the person's own for every project, or the one of this project."),
    request("gemini/memory/reload", memory.reload,
            doc="Read the memory files anew. What is different counts from the next turn on."),
    request("gemini/agents/list", agents.list_,
            doc="The subagents that can be called, and the files that define none, with what is wrong with them."),
    request("gemini/hooks", hooks.list_,
            doc="The hooks of the settings, where each is from, whether it runs, and how it last ran."),
    request("gemini/hooks/set", hooks.set_, errors=(InvalidInput, InvalidSettings, StorageFault),
            doc="Turn the hooks of a name on or off, in the user's own settings file."),
    request("gemini/mcp/list", mcp.list_,
            doc="The MCP servers of the settings: what each starts or reaches, where it stands, what it offers. Starts none."),
    request("gemini/mcp/enable", mcp.enable, errors=(InvalidInput, StorageFault), doc="Use a server, or do not."),
    request("gemini/mcp/agree", mcp.agree, errors=(InvalidInput, StorageFault),
            doc="Agree to what the workspace's settings want to start, as it was shown; a change of it is asked about anew."),
    request("gemini/mcp/restart", mcp.restart, errors=(InvalidInput,), doc="End a server, if it runs, and start it."),
    request("gemini/mcp/login", mcp.login, errors=(InvalidInput,),
            doc="Start a server and log in to it, in the browser that the editor opens. Where it stands comes as an event."),
    request("gemini/mcp/logout", mcp.logout, errors=(InvalidInput, StorageFault), doc="Forget a login, and end the server."),
    request("gemini/mcp/log", mcp.log, errors=(InvalidInput,), doc="The newest lines of a server's log."),
    request("gemini/mcp/complete", mcp.complete,
            doc="Resources of the servers that answer, by what a person has typed of their names behind an `@`. Starts none."),
    request("gemini/session/mode", tools.mode, errors=_WRITES,
            doc="What the session's tools may do unasked: ask (read), plan (only read), acceptEdits (change files too)."),
    request("gemini/tools", tools.list_, errors=_READS, doc="The tools of a session, its tasks, and the questions that wait."),
    request("gemini/rules", tools.rules, errors=_READS, doc="The rules of consent in force, and where they come from."),
    request("gemini/rules/revoke", tools.revoke, errors=(*_WRITES, InvalidInput), doc="Take a rule of the session's or of the user's back."),
    request("gemini/commands/list", slash_commands.list_, doc="The slash commands that a prompt can be, prompts of MCP servers that run among them, and the command files that are skipped."),
    request("gemini/commands/sent", slash_commands.sent, errors=(*_READS, InvalidInput),
            doc="What went to the model in the place of a slash command."),
    request("gemini/skills/list", skills.list_, doc="The skills, where each is from, and whether models are told of it."),
    request("gemini/skills/enable", skills.enable, errors=(InvalidInput, InvalidSettings, StorageFault),
            doc="Turn a skill on or off, in the user's own settings."),
    request("gemini/commands", commands.list_, errors=_READS, doc="The commands that run, and background ones that ended."),
    request("gemini/commands/stop", commands.stop, errors=_WRITES, doc="End a command and all that it started."),
    request("gemini/changes", changes.list_, errors=_READS, doc="The files that turns changed, newest turn first, with diffs."),
    request("gemini/changes/revert", changes.revert, errors=(*_WRITES, InvalidInput),
            doc="Put files back as they were, three-way where the person edited meanwhile. A revert can be reverted."),
    request("gemini/changes/keep", changes.keep, errors=_WRITES, doc="The changes are wanted: they are not counted any more."),
    request("gemini/settings", settings.list_,
            doc="Every setting with the value in force, secrets masked, and where it comes from."),
    request("gemini/models", sessions.models, errors=_READS, doc="The models, which one answers, and why."),
    request("gemini/stats", sessions.stats, errors=_READS, doc="What a session or all of them did and cost."),
    request("gemini/events/replay", sessions.replay, errors=_READS,
            doc="The events after a number, in order; a finished turn's deltas come as one."),
)  # fmt: skip

NOTIFICATIONS: Final[tuple[Notification[Any], ...]] = (
    notification("gemini/ideContext/didChange", editor.ide_context, doc="What the editor shows. A later one replaces an earlier one."),
)  # fmt: skip

LSP_REQUESTS: Final[tuple[Request[Any, Any], ...]] = (
    request("textDocument/codeAction", editor.code_action, doc="Ask Gemini about a range."),
)
"""LSP's own; not part of the schema."""

LSP_NOTIFICATIONS: Final[tuple[Notification[Any], ...]] = (
    notification(lsp.DID_OPEN, editor.did_open, doc="A document was opened."),
    notification(lsp.DID_CHANGE, editor.did_change, doc="A document changed."),
    notification(lsp.DID_SAVE, editor.did_save, doc="A document was saved."),
    notification(lsp.DID_CLOSE, editor.did_close, doc="A document was closed."),
    notification(lsp.DID_FOCUS, editor.did_focus, doc="A document got the focus."),
    notification(lsp.DID_CHANGE_FOLDERS, editor.did_change_folders, doc="The workspace folders changed."),
    notification(
        "workspace/didChangeConfiguration", editor.did_change_configuration, doc="The editor's settings changed."
    ),
    notification("$/setTrace", editor.set_trace, doc="Nothing is traced."),
)
"""LSP's own; not part of the schema."""

TO_CLIENT: Final[tuple[ServerNotification[Any] | ServerRequest[Any, Any], ...]] = (
    ServerNotification(EVENT, EventParams, doc="What happens in a session that the client is subscribed to."),
    ServerNotification(STATUS_CHANGED, CompressionStatusReport, doc="Where compression stands, on every change of it."),
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
