"""The method table: dispatch, schemas, TypeScript types and docs all read it.

What a client can send. The module of a handler is loaded when its method, or a type of it, is first needed.
"""

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
from gemini_companion.protocol import handlers, lsp
from gemini_companion.protocol.methods import Notification, Request, notification, request

_READS: Final = (SessionNotFound, StorageFault)
_WRITES: Final = (SessionNotFound, SessionBusy, StorageFault)
_ASKS: Final = (*_WRITES, ModelUnavailable, Unauthenticated, Cancelled)

REQUESTS: Final[tuple[Request[Any, Any], ...]] = (
    request("gemini/session/new", lambda: handlers.sessions.new, errors=(StorageFault, InvalidInput),
            doc="Start a session; it becomes the client's current one."),
    request("gemini/session/list", lambda: handlers.sessions.list_, errors=(StorageFault, InvalidInput),
            doc="List this project's sessions, newest first, or search them."),
    request("gemini/session/open", lambda: handlers.sessions.open_, errors=_READS,
            doc="Make a session the client's current one. Held for writing, unless another process has it."),
    request("gemini/session/subscribe", lambda: handlers.sessions.subscribe, errors=_READS,
            doc="Subscribe to a session's events, or unsubscribe."),
    request("gemini/session/fork", lambda: handlers.sessions.fork, errors=(*_READS, InvalidInput),
            doc="Go on from a point of a session in a new one, which becomes the current one."),
    request("gemini/session/rename", lambda: handlers.sessions.rename, errors=_WRITES, doc="Give a session a title."),
    request("gemini/session/keep", lambda: handlers.sessions.keep, errors=_WRITES, doc="Keep a session for good, or no longer."),
    request("gemini/session/delete", lambda: handlers.sessions.delete, errors=_WRITES, doc="Forget a session and its files."),
    request("gemini/session/export", lambda: handlers.sessions.export, errors=_READS, doc="A session as the text of a file."),
    request("gemini/session/import", lambda: handlers.sessions.import_, errors=(InvalidInput, StorageFault),
            doc="Read a session file; the session becomes the current one."),
    request("gemini/session/newest", lambda: handlers.sessions.newest, errors=_READS,
            doc="The newest turns of a session as its log has them, without loading it: what can be shown while it is opened."),
    request("gemini/session/history", lambda: handlers.views.history, errors=(*_READS, InvalidInput, StaleVersion),
            doc="What the model gets, or everything that was ever written. A page's cursor into the model's view holds until its epoch changes."),
    request("gemini/chat", lambda: handlers.chat.chat, errors=(*_ASKS, InvalidInput, ContextOverflow, Blocked, Overloaded), notes_cancel=True,
            doc="Send a prompt. Deltas come as events; the result is the whole answer. Prompts wait for each other in order."),
    request("gemini/chat/resume", lambda: handlers.chat.resume, errors=(*_ASKS, InvalidInput, ContextOverflow, Blocked, Overloaded),
            doc="Go on with a turn that was interrupted, or that used all its rounds, where it stands."),
    request("gemini/cancel", lambda: handlers.chat.cancel, errors=_READS, doc="Stop a job, whoever started it."),
    request("gemini/compress", lambda: handlers.compression.compress, errors=(*_ASKS, InvalidInput, StaleVersion),
            doc="Compress the history, or preview what that would give."),
    request("gemini/compressionStatus", lambda: handlers.compression.status, errors=_READS,
            doc="Where compression stands. Never waits."),
    request("gemini/compression/verdict", lambda: handlers.compression.verdict, errors=_READS,
            doc="Whether compressing now would pay for itself. An estimate; asks no model."),
    request("gemini/compression/apply", lambda: handlers.compression.apply, errors=(*_WRITES, CompressionNotFound, StaleVersion, Cancelled),
            doc="Install a preview, edited if wished."),
    request("gemini/compression/discard", lambda: handlers.compression.discard, errors=(*_WRITES, CompressionNotFound),
            doc="Throw a preview away: what is due is compressed of itself again. Nothing for one that was thrown away."),
    request("gemini/compression/undo", lambda: handlers.compression.undo_, errors=(*_WRITES, CompressionNotFound, Cancelled),
            doc="Take a compression back, with all that cover it. Later turns stay. Which one is settled when it is asked for."),
    request("gemini/compression/list", lambda: handlers.compression.list_, errors=_READS,
            doc="Every compression of the session, newest first."),
    request("gemini/compression/sources", lambda: handlers.compression.sources, errors=(*_READS, CompressionNotFound),
            doc="Which turns the lines of a snapshot come from, of a preview as well."),
    request("gemini/compression/rate", lambda: handlers.compression.rate_, errors=(*_WRITES, CompressionNotFound), doc="Rate a compression."),
    request("gemini/kept", lambda: handlers.compression.kept, errors=(*_READS, CompressionNotFound),
            doc="What a compression keeps word for word: the person's statements with their turns, and how much of the rest."),
    request("gemini/kept/set", lambda: handlers.compression.keep, errors=(*_WRITES, InvalidInput),
            doc="Keep a statement of the person's no more, or again; from the next compression on."),
    request("gemini/context", lambda: handlers.views.context, errors=_READS, doc="The token ledger, split by part."),
    request("gemini/systemPrompt", lambda: handlers.views.system_prompt, errors=_READS,
            doc="The system prompt that the session's next request has, with the tokens of its sections."),
    request("gemini/context/preview", lambda: handlers.views.context_preview, errors=_READS,
            doc="The IDE context as the next turn would send it, and what is left out and why."),
    request("gemini/files", lambda: handlers.editor.files,
            doc="The files and folders of the workspace that `@` can name in a prompt, those first that are most likely meant."),
    request("gemini/prompt/check", lambda: handlers.editor.check,
            doc="What a prompt names with `@`: what goes along with it, and what does not and why."),
    request("gemini/pin", lambda: handlers.views.pin, errors=(*_WRITES, InvalidInput),
            doc="Pin a text, or a turn's prompt: it stands word for word in every view after a compression."),
    request("gemini/unpin", lambda: handlers.views.unpin, errors=(*_WRITES, InvalidInput), doc="Take a pin away."),
    request("gemini/pins", lambda: handlers.views.list_pins, errors=_READS, doc="The pins of a session."),
    request("gemini/recall", lambda: handlers.recall.recall_, errors=(*_READS, InvalidInput),
            doc="Find what was said, in all sessions of the project or in one, best first; or give a turn or an entry back whole."),
    request("gemini/constraints", lambda: handlers.constraints.list_, errors=_READS,
            doc="The rules that the person set, pins among them: proposed, in force, released."),
    request("gemini/constraints/set", lambda: handlers.constraints.set_, errors=(*_WRITES, InvalidInput),
            doc="Take a rule in, propose, release or reword it, or make a new one."),
    request("gemini/memory/list", lambda: handlers.memory.list_,
            doc="The memory files that count now, with what they import, their tokens, and what is wrong with them."),
    request("gemini/memory/add", lambda: handlers.memory.add, errors=(InvalidInput, UntrustedWorkspace, StorageFault),
            doc="Keep a fact in a memory file: the person's own for every project, or the one of this project."),
    request("gemini/memory/reload", lambda: handlers.memory.reload,
            doc="Read the memory files anew. What is different counts from the next turn on."),
    request("gemini/agents/list", lambda: handlers.agents.list_,
            doc="The subagents that can be called, and the files that define none, with what is wrong with them."),
    request("gemini/hooks", lambda: handlers.hooks.list_,
            doc="The hooks of the settings, where each is from, whether it runs, and how it last ran."),
    request("gemini/hooks/set", lambda: handlers.hooks.set_, errors=(InvalidInput, InvalidSettings, StorageFault),
            doc="Turn the hooks of a name on or off, in the user's own settings file."),
    request("gemini/mcp/list", lambda: handlers.mcp.list_,
            doc="The MCP servers of the settings: what each starts or reaches, where it stands, what it offers. Starts none."),
    request("gemini/mcp/enable", lambda: handlers.mcp.enable, errors=(InvalidInput, StorageFault), doc="Use a server, or do not."),
    request("gemini/mcp/agree", lambda: handlers.mcp.agree, errors=(InvalidInput, StorageFault),
            doc="Agree to what the workspace's settings want to start, as it was shown; a change of it is asked about anew."),
    request("gemini/mcp/restart", lambda: handlers.mcp.restart, errors=(InvalidInput,), doc="End a server, if it runs, and start it."),
    request("gemini/mcp/login", lambda: handlers.mcp.login, errors=(InvalidInput,),
            doc="Start a server and log in to it, in the browser that the editor opens. Where it stands comes as an event."),
    request("gemini/mcp/logout", lambda: handlers.mcp.logout, errors=(InvalidInput, StorageFault), doc="Forget a login, and end the server."),
    request("gemini/mcp/log", lambda: handlers.mcp.log, errors=(InvalidInput,), doc="The newest lines of a server's log."),
    request("gemini/mcp/complete", lambda: handlers.mcp.complete,
            doc="Resources of the servers that answer, by what a person has typed of their names behind an `@`. Starts none."),
    request("gemini/session/mode", lambda: handlers.tools.mode, errors=_WRITES,
            doc="What the session's tools may do unasked: ask (read), plan (only read), acceptEdits (change files too)."),
    request("gemini/tools", lambda: handlers.tools.list_, errors=_READS, doc="The tools of a session, its tasks, and the questions that wait."),
    request("gemini/rules", lambda: handlers.tools.rules, errors=_READS, doc="The rules of consent in force, and where they come from."),
    request("gemini/rules/revoke", lambda: handlers.tools.revoke, errors=(*_WRITES, InvalidInput), doc="Take a rule of the session's or of the user's back."),
    request("gemini/commands/list", lambda: handlers.slash_commands.list_, doc="The slash commands that a prompt can be, prompts of MCP servers that run among them, and the command files that are skipped."),
    request("gemini/commands/sent", lambda: handlers.slash_commands.sent, errors=(*_READS, InvalidInput),
            doc="What went to the model in the place of a slash command."),
    request("gemini/skills/list", lambda: handlers.skills.list_, doc="The skills, where each is from, and whether models are told of it."),
    request("gemini/skills/enable", lambda: handlers.skills.enable, errors=(InvalidInput, InvalidSettings, StorageFault),
            doc="Turn a skill on or off, in the user's own settings."),
    request("gemini/commands", lambda: handlers.commands.list_, errors=_READS, doc="The commands that run, and background ones that ended."),
    request("gemini/commands/stop", lambda: handlers.commands.stop, errors=_WRITES, doc="End a command and all that it started."),
    request("gemini/changes", lambda: handlers.changes.list_, errors=_READS, doc="The files that turns changed, newest turn first, with diffs."),
    request("gemini/changes/revert", lambda: handlers.changes.revert, errors=(*_WRITES, InvalidInput),
            doc="Put files back as they were, three-way where the person edited meanwhile. A revert can be reverted."),
    request("gemini/changes/keep", lambda: handlers.changes.keep, errors=_WRITES, doc="The changes are wanted: they are not counted any more."),
    request("gemini/settings", lambda: handlers.settings.list_,
            doc="Every setting with the value in force, secrets masked, and where it comes from."),
    request("gemini/models", lambda: handlers.sessions.models, errors=_READS, doc="The models, which one answers, and why."),
    request("gemini/stats", lambda: handlers.views.stats, errors=_READS, doc="What a session or all of them did and cost."),
    request("gemini/events/replay", lambda: handlers.sessions.replay, errors=_READS,
            doc="The events after a number, in order; the deltas of a finished turn's answers come as one each."),
)  # fmt: skip

NOTIFICATIONS: Final[tuple[Notification[Any], ...]] = (
    notification("gemini/ideContext/didChange", lambda: handlers.editor.ide_context, doc="What the editor shows. A later one replaces an earlier one."),
)  # fmt: skip

LSP_REQUESTS: Final[tuple[Request[Any, Any], ...]] = (
    request("textDocument/codeAction", lambda: handlers.editor.code_action, doc="Ask Gemini about a range."),
)
"""LSP's own; not part of the schema."""

LSP_NOTIFICATIONS: Final[tuple[Notification[Any], ...]] = (
    notification(lsp.DID_OPEN, lambda: handlers.editor.did_open, doc="A document was opened."),
    notification(lsp.DID_CHANGE, lambda: handlers.editor.did_change, doc="A document changed."),
    notification(lsp.DID_SAVE, lambda: handlers.editor.did_save, doc="A document was saved."),
    notification(lsp.DID_CLOSE, lambda: handlers.editor.did_close, doc="A document was closed."),
    notification(lsp.DID_FOCUS, lambda: handlers.editor.did_focus, doc="A document got the focus."),
    notification(
        lsp.DID_CHANGE_FOLDERS, lambda: handlers.editor.did_change_folders, doc="The workspace folders changed."
    ),
    notification(
        "workspace/didChangeConfiguration",
        lambda: handlers.editor.did_change_configuration,
        doc="The editor's settings changed.",
    ),
    notification("$/setTrace", lambda: handlers.editor.set_trace, doc="Nothing is traced."),
)
"""LSP's own; not part of the schema."""
