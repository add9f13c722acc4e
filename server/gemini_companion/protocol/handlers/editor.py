"""Handlers of what the editor reports (documents, the IDE context notice, folders, settings), of code actions, of the
files that can be named, and of a selection that is pinned.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol.code_actions import code_actions
from gemini_companion.protocol.editor_state import diagnostics_of, placeless_files, reported_files, span_of
from gemini_companion.protocol.host import Host
from gemini_companion.protocol.lsp import DidChangeFoldersParams, DidChangeParams, DidOpenParams, DocumentParams
from gemini_companion.protocol.paths import path_of
from gemini_companion.protocol.types import (
    CodeActionParams,
    ConfigurationParams,
    EditorSettings,
    FilesParams,
    IdeContextParams,
    PinSelectionParams,
    PromptCheckParams,
    SetTraceParams,
)
from gemini_companion.sessions import pins
from gemini_companion.sessions.context.code_actions import prompt_actions
from gemini_companion.sessions.context.file_names import find_files
from gemini_companion.sessions.context.prompt_check import check_prompt
from gemini_companion.sessions.context.reports import PromptCheck
from gemini_companion.sessions.results import Pin, WorkspaceFileList


def did_open(host: Host, params: DidOpenParams) -> None:
    uri = params.text_document.uri
    path, document = path_of(uri), host.connection.documents.opened(uri)
    if path and document is not None:
        host.client.editor.open(path, lambda: document.source)


def did_change(host: Host, params: DidChangeParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client.editor.change(path)


def did_save(host: Host, params: DocumentParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client.editor.save(path)


def did_close(host: Host, params: DocumentParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client.editor.close(path)


def did_focus(host: Host, params: DocumentParams) -> None:
    if path := path_of(params.text_document.uri):
        host.client.editor.look_at(path)


def did_change_folders(host: Host, params: DidChangeFoldersParams) -> None:
    host.update_folders()


def did_change_configuration(host: Host, params: ConfigurationParams) -> None:
    """Only our own section counts, and only if it is an object."""
    try:
        section = msgspec.convert(params.settings, EditorSettings).gemini_companion
    except msgspec.ValidationError:
        section = None
    host.settings.set_editor_section(section)


def set_trace(host: Host, params: SetTraceParams) -> None:
    """Nothing is traced."""


def ide_context(host: Host, params: IdeContextParams) -> None:
    host.client.editor.report(
        reported_files(params), filter(None, map(path_of, params.excluded)), placeless_files(params)
    )
    if params.is_trusted is not None:
        host.set_trust(params.is_trusted)


async def files(host: Host, params: FilesParams) -> WorkspaceFileList:
    host.app.expect_prompt()
    return await find_files(host.app.services.workspace, host.client, params.query, params.limit)


async def check(host: Host, params: PromptCheckParams) -> PromptCheck:
    host.app.expect_prompt()
    return await check_prompt(host.app.services, host.client, params.prompt)


async def code_action(host: Host, params: CodeActionParams) -> list[dict[str, Any]]:
    path = path_of(params.text_document.uri)
    if path is None:
        return []
    sent = params.context.diagnostics
    diagnostics = diagnostics_of(sent, host.client.editor, path)
    offered = await prompt_actions(host.app.services.workspace, host.client, path, span_of(params.range), diagnostics)
    return code_actions(offered, sent, host.connection)


async def pin_selection(host: Host, params: PinSelectionParams) -> Pin:
    """Pin the text of a range of an open document."""
    path = path_of(params.uri)
    text = host.client.editor.text(path, span_of(params.range)).strip() if path else ""
    if not text:
        raise InvalidInput(
            "There is no text in this range of an open document.", path="$.range", hint="Select some text first."
        )
    return await pins.pin(await host.hold(params.session_id), text=text)
