"""Handlers of what the editor tells: documents, the IDE context notice, folders, trust; of code actions, and of the files that can be named."""

from __future__ import annotations

from typing import Any

import msgspec

from gemini_companion.engine.ide_context.positions import cursor_at
from gemini_companion.engine.ide_context.state import SEVERITIES, Diagnostic
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.lsp import (
    DidChangeFoldersParams,
    DidChangeParams,
    DidOpenParams,
    DocumentParams,
    Position,
    Range,
)
from gemini_companion.protocol.paths import path_of
from gemini_companion.protocol.types import CodeActionParams, ConfigurationParams, EditorSettings, FilesParams, IdeContextParams, SentDiagnostic
from gemini_companion.sessions.editor import Place, ReportedFile
from gemini_companion.sessions.file_names import find_files
from gemini_companion.sessions.ide import refusal_of
from gemini_companion.sessions.ports import Refusal
from gemini_companion.sessions.results import WorkspaceFileList

_MAX_DIAGNOSTICS = 200
_MAX_MESSAGE = 2_000


def did_open(host: Host, connection: Connection, params: DidOpenParams) -> None:
    path, document = path_of(params.text_document.uri), connection.documents.opened(params.text_document.uri)
    if path and document is not None:
        host.client(connection).editor.open(path, lambda: document.source)


def did_change(host: Host, connection: Connection, params: DidChangeParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client(connection).editor.change(path)


def did_save(host: Host, connection: Connection, params: DocumentParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client(connection).editor.save(path)


def did_close(host: Host, connection: Connection, params: DocumentParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client(connection).editor.close(path)


def did_focus(host: Host, connection: Connection, params: DocumentParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client(connection).editor.look_at(path)


def did_change_folders(host: Host, connection: Connection, params: DidChangeFoldersParams) -> None:
    host.set_folders(connection)


def did_change_configuration(host: Host, connection: Connection, params: ConfigurationParams) -> None:
    """Only our own section counts, and only if it is an object."""
    try:
        section = msgspec.convert(params.settings, EditorSettings).gemini_companion
    except msgspec.ValidationError:
        section = None
    host.set_editor_settings(section)


def ide_context(host: Host, connection: Connection, params: IdeContextParams) -> None:
    client = host.client(connection)
    visible = {path_of(shown.uri): shown.range for shown in params.visible_ranges}
    files: list[ReportedFile] = []
    for file in params.open_files:
        path = path_of(file.uri)
        if path is None:
            continue
        shown = visible.get(path)
        files.append(
            ReportedFile(
                path=path,
                last_focused_at=file.last_focused_at,
                is_active=file.is_active,
                cursor=_place(file.cursor) if file.cursor else None,
                selection=span_of(file.selection) if file.selection else None,
                selected_text=file.selected_text,
                visible=span_of(shown) if shown else None,
            )
        )
    client.editor.report(files, filter(None, map(path_of, params.excluded)))
    if params.is_trusted is not None:
        host.set_trust(connection, params.is_trusted)


async def files(host: Host, connection: Connection, params: FilesParams) -> WorkspaceFileList:
    return await find_files(host.app.services.workspace, host.client(connection), params.query, params.limit)


async def code_action(host: Host, connection: Connection, params: CodeActionParams) -> list[dict[str, Any]]:
    """Offer to ask about the range, unless the file is withheld; what the range is, is news of the selection."""
    path = path_of(params.text_document.uri)
    if path is None:
        return []
    client = host.client(connection)
    span = span_of(params.range)
    diagnostics = tuple(_diagnostic(raw, host, connection, path) for raw in params.context.diagnostics[:_MAX_DIAGNOSTICS])
    client.editor.look_at(path, span, diagnostics)
    what = _described(client.editor.text(path, span), span, path)
    refusal = await refusal_of(host.app.services.workspace, client, path)
    if refusal is not None:  # the prompt would carry its path to the model, and an answer could say nothing about it
        return _unavailable(connection, refusal)
    actions = [
        _action("Ask Gemini about this", "", f"What does {what} do, and what should I know about it?"),
        _action("Explain", "", f"Explain {what} step by step."),
    ]
    actions += [_fix(raw, diagnostic, path) for raw, diagnostic in zip(params.context.diagnostics, diagnostics, strict=False)]
    return actions


def _described(text: str, span: tuple[Place, Place], path: str) -> str:
    """A range in words; lines count from 1, and an end at the beginning of a line leaves that line out."""
    first, (last, character) = span[0][0] + 1, (span[1][0] + 1, span[1][1])
    if last > first and character == 0:
        last -= 1
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"{'the selected code' if text.strip() else 'the code'} ({path}, {lines})"


def _unavailable(connection: Connection, refusal: Refusal) -> list[dict[str, Any]]:
    """Why nothing is offered, for an editor that can show it."""
    if not connection.supports("textDocument.codeAction.disabledSupport"):
        return []
    reason = f"Gemini is not shown {refusal.name}: {refusal.reason}."
    return [{"title": "Ask Gemini about this", "kind": "", "disabled": {"reason": reason}}]


def _action(title: str, kind: str, prompt: str) -> dict[str, Any]:
    return {"title": title, "kind": kind, "command": {"title": title, "command": "gemini.chat", "arguments": [{"prompt": prompt}]}}


def _fix(raw: dict[str, Any], diagnostic: Diagnostic, path: str) -> dict[str, Any]:
    prompt = f"Fix this {diagnostic.severity} in {path}, line {diagnostic.line}: {diagnostic.message}"
    return {**_action("Fix this diagnostic", "quickfix", prompt), "diagnostics": [raw]}


def _diagnostic(raw: dict[str, Any], host: Host, connection: Connection, path: str) -> Diagnostic:
    """A diagnostic out of whatever a client sent; one that is none stands at the file's beginning with an empty message."""
    try:
        sent = msgspec.convert(raw, SentDiagnostic)
    except msgspec.ValidationError:
        sent = SentDiagnostic()
    editor = host.client(connection).editor
    buffer = editor.buffer(path)
    cursor = cursor_at(buffer.text if buffer else None, *_place(sent.range.start), editor.encoding)
    severity = sent.severity or 1
    return Diagnostic(
        line=cursor.line,
        character=cursor.character,
        severity=SEVERITIES[severity - 1] if 1 <= severity <= len(SEVERITIES) else "error",
        message=sent.message[:_MAX_MESSAGE],
        source=(sent.source or "")[:100],
    )


def _place(position: Position) -> Place:
    return position.line, position.character


def span_of(range_: Range) -> tuple[Place, Place]:
    return _place(range_.start), _place(range_.end)
