"""What `initialize` answers, and what the notifications about documents do to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec
from lsprotocol import types
from pygls.uris import from_fs_path

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import lsp
from gemini_companion.protocol.documents import Documents

_ENCODINGS: Final = ("utf-16", "utf-8", "utf-32")
"""Position encodings; the first is LSP's default."""


def open_workspace(params: lsp.InitializeParams) -> Documents:
    """The workspace that a client describes: its folders, or else its root, and the first position encoding of its list that we know."""
    root_uri = params.root_uri or (from_fs_path(params.root_path) if params.root_path else None)
    folders = params.workspace_folders
    if folders is None:
        folders = (lsp.WorkspaceFolder(uri=root_uri),) if root_uri else ()
    try:
        return Documents(
            root_uri,
            types.TextDocumentSyncKind.Incremental,
            [types.WorkspaceFolder(uri=folder.uri, name=folder.name) for folder in folders],
            _position_encoding(params.capabilities),
        )
    except ValueError as error:  # as for file://[
        raise InvalidInput("$.rootUri: this is no URI.", path="$.rootUri") from error


def capabilities_of(documents: Documents, commands: Iterable[str], experimental: Mapping[str, Any]) -> dict[str, Any]:
    """What the server can do by itself; hooks add theirs with `merge`."""
    capabilities: dict[str, Any] = {
        "positionEncoding": documents.position_encoding,
        "textDocumentSync": {"openClose": True, "change": int(types.TextDocumentSyncKind.Incremental), "save": {"includeText": False}},
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
        "experimental": {"geminiCompanion": dict(experimental)},
    }
    if names := sorted(commands):
        capabilities["executeCommandProvider"] = {"commands": names, "workDoneProgress": True}
    return capabilities


def merge(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `more` laid over it, object by object."""
    merged = dict(base)
    for key, value in more.items():
        below = merged.get(key)
        both_objects = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value)) if both_objects else value
    return merged


def apply_to_documents(documents: Documents, method: str, params: msgspec.Struct) -> None:
    """Bring the documents to where the client's are. Raises `InvalidInput` for a change to one that is not open and for what is no URI."""
    match params:
        case lsp.DidOpenParams(text_document=item):
            try:
                documents.put_text_document(
                    types.TextDocumentItem(uri=item.uri, language_id=item.language_id, version=item.version or 0, text=item.text)
                )
            except ValueError as error:
                raise InvalidInput("$.textDocument.uri: this is no URI.", path="$.textDocument.uri") from error
        case lsp.DidChangeParams(text_document=identifier, content_changes=changes):
            document = documents.opened(identifier.uri)
            if document is None:
                raise InvalidInput("$.textDocument.uri: this document is not open.", path="$.textDocument.uri")
            for change in changes:
                if change.range is None:
                    document.replace_all(change.text)
                else:
                    document.replace(change.range.start, change.range.end, change.text)
            document.version = identifier.version
        case lsp.DocumentParams(text_document=identifier):
            if method == lsp.DID_CLOSE:
                documents.remove_text_document(identifier.uri)
        case lsp.DidChangeFoldersParams(event=event):
            for folder in event.removed:
                documents.remove_folder(folder.uri)
            for folder in event.added:
                documents.add_folder(types.WorkspaceFolder(uri=folder.uri, name=folder.name))
        case _:
            raise TypeError(type(params))


def command_argument(params: lsp.ExecuteCommandParams) -> object:
    """The one object that a command of ours takes, still undecoded, with the command's `workDoneToken` in it. Raises `InvalidInput`.

    From Lua an empty list comes as `{}` and an empty object as `[]`; an object that is not in a list is taken as well.
    """
    given = params.arguments
    arguments = [given] if isinstance(given, dict) else given or [None]
    if len(arguments) > 1:
        raise InvalidInput("$.arguments: expected one object.", path="$.arguments")
    argument = {} if arguments[0] in (None, []) else arguments[0]
    if params.work_done_token is None or not isinstance(argument, dict):
        return argument
    return {"workDoneToken": params.work_done_token, **cast("dict[str, Any]", argument)}


def _position_encoding(capabilities: Mapping[str, Any]) -> str:
    general = capabilities.get("general")
    offered = cast("dict[str, object]", general).get("positionEncodings") if isinstance(general, dict) else None
    known = [name for name in cast("list[object]", offered) if name in _ENCODINGS] if isinstance(offered, list) else []
    return str(known[0]) if known else _ENCODINGS[0]
