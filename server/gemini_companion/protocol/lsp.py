"""The part of LSP that is supported, as strict Structs: life cycle, open documents, commands.

lsprotocol has all of these, but its converter coerces (a `null` text becomes the text "None") and refuses a whole
`initialize` for one unknown enumeration value in capabilities that nobody reads.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

Unsigned: TypeAlias = Annotated[int, Meta(ge=0)]


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class Position(_Wire, frozen=True, kw_only=True):
    """A place in a text: a line and a character, both from 0; characters count code units of the negotiated
    encoding.
    """

    line: Unsigned
    character: Unsigned


class Range(_Wire, frozen=True, kw_only=True):
    """From `start` to `end`, which is not part of it."""

    start: Position
    end: Position


class TextDocumentIdentifier(_Wire, frozen=True, kw_only=True):
    """A document by its URI."""

    uri: str


class VersionedTextDocumentIdentifier(_Wire, frozen=True, kw_only=True):
    """A document by its URI, and its version after the change."""

    uri: str
    version: int | None = None


class TextDocumentItem(_Wire, frozen=True, kw_only=True):
    """A document with its text."""

    uri: str
    text: str
    language_id: str = "plaintext"
    version: int | None = None


class DidOpenParams(_Wire, frozen=True, kw_only=True):
    """A document was opened; from now on the client's text counts, not the disk's."""

    text_document: TextDocumentItem


class ContentChange(_Wire, frozen=True, kw_only=True):
    """New text for a range, or for the whole document without one."""

    text: str
    range: Range | None = None


class DidChangeParams(_Wire, frozen=True, kw_only=True):
    """Changes to a document, each applied to what the one before left."""

    text_document: VersionedTextDocumentIdentifier
    content_changes: tuple[ContentChange, ...]


class DocumentParams(_Wire, frozen=True, kw_only=True):
    """Something happened to a document: it was closed, saved, looked at."""

    text_document: TextDocumentIdentifier


class WorkspaceFolder(_Wire, frozen=True, kw_only=True):
    """A root folder of the workspace."""

    uri: str
    name: str = ""


class FoldersChange(_Wire, frozen=True, kw_only=True):
    """Folders that came and went."""

    added: tuple[WorkspaceFolder, ...] = ()
    removed: tuple[WorkspaceFolder, ...] = ()


class DidChangeFoldersParams(_Wire, frozen=True, kw_only=True):
    """The workspace's folders changed."""

    event: FoldersChange


class ClientInfo(_Wire, frozen=True, kw_only=True):
    """Who the client is."""

    name: str = "client"
    version: str | None = None


class InitializeParams(_Wire, frozen=True, kw_only=True):
    """What a client sends first. `capabilities` and `initialization_options` are left as they are."""

    capabilities: dict[str, Any] = {}
    process_id: int | None = None
    client_info: ClientInfo | None = None
    locale: str | None = None
    root_uri: str | None = None
    root_path: str | None = None
    workspace_folders: tuple[WorkspaceFolder, ...] | None = None
    initialization_options: Any = None


class ExecuteCommandParams(_Wire, frozen=True, kw_only=True):
    """A command and its arguments; ours take one object."""

    command: str
    arguments: list[Any] | dict[str, Any] | None = None
    work_done_token: int | str | None = None


DID_OPEN = "textDocument/didOpen"
DID_CHANGE = "textDocument/didChange"
DID_SAVE = "textDocument/didSave"
DID_CLOSE = "textDocument/didClose"
DID_FOCUS = "textDocument/didFocus"
"""No part of LSP, but some clients send it for Copilot's server: the document that the person looks at."""
DID_CHANGE_FOLDERS = "workspace/didChangeWorkspaceFolders"
EXECUTE_COMMAND = "workspace/executeCommand"

DOCUMENT_NOTIFICATIONS: dict[str, type[msgspec.Struct]] = {
    DID_OPEN: DidOpenParams,
    DID_CHANGE: DidChangeParams,
    DID_SAVE: DocumentParams,
    DID_CLOSE: DocumentParams,
    DID_FOCUS: DocumentParams,
    DID_CHANGE_FOLDERS: DidChangeFoldersParams,
}
"""What changes the workspace, with the params that `Routes.bind_notification` hands on after that."""
