r"""Open text documents: pygls' workspace with its line arithmetic repaired.

pygls splits lines with `str.splitlines`, which also breaks at form feeds, U+0085, U+2028 and others. LSP knows only
`\n`, `\r\n` and `\r`, so after an edit below such a character pygls' text is no longer the editor's. It also splits and
joins the whole text for every keystroke (tens of milliseconds of a blocked event loop for 10 MB); here an edit costs
the lines it touches.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, cast
from urllib.parse import unquote

import msgspec
from lsprotocol import types
from pygls.workspace import TextDocument, Workspace

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import lsp
from gemini_companion.protocol.described import Described, described

if TYPE_CHECKING:
    from gemini_companion.engine.ide_context.positions import PositionEncoding

_UNITS: dict[str, tuple[str, int]] = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}
"""Codec, and bytes per code unit. UTF-32 units are Python's own."""
_OTHER_BREAKS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Where `str.splitlines` breaks and LSP does not."""


class Position(Protocol):
    """A place in a text: a line, and code units of the negotiated encoding within it; both from 0."""

    @property
    def line(self) -> int:
        """From 0; past the last line means the end of the text."""
        ...

    @property
    def character(self) -> int:
        """From 0; past the end of the line means its end."""
        ...


class Document(TextDocument):
    """A text as the editor has it, unsaved edits included.

    While it is open `_lines` is the text, split after every line ending; the last line has none and may be empty.
    """

    def __init__(
        self, uri: str, text: str | None, version: int | None, language_id: str | None, *, encoding: str
    ) -> None:
        super().__init__(uri, text, version, language_id)
        self._units = _UNITS.get(encoding)
        self._lines = None if text is None else split_lines(text)

    @property
    def lines(self) -> Sequence[str]:
        """The lines with their endings."""
        lines = split_lines(self.source) if self._lines is None else self._lines
        return tuple(lines if lines[-1] else lines[:-1])

    @property
    def source(self) -> str:
        """The whole text; of a document that is not open, what the disk has."""
        if self._source is None and self._lines is not None:
            self._source = "".join(self._lines)
        return super().source

    def replace_all(self, text: str) -> None:
        """Take a new text."""
        self._source, self._lines = text, split_lines(text)

    def replace(self, start: Position, end: Position, text: str) -> None:
        """Put `text` in the place of what is between two positions, whichever comes first."""
        if self._lines is None:
            self._lines = split_lines(self.source)
        lines = self._lines
        (first, from_), (last, to) = sorted((self._locate(start), self._locate(end)))
        changed = lines[first][:from_] + text + lines[last][to:]
        if first and changed.startswith("\n") and lines[first - 1].endswith("\r"):  # the two become one ending
            first -= 1
            changed = lines[first] + changed
        fresh = split_lines(changed)
        if last + 1 < len(lines):
            # positions never reach past a line's ending, so `changed` ends with one, and the line after it is there
            fresh.pop()
        lines[first : last + 1] = fresh
        self._source = None

    def _locate(self, position: Position) -> tuple[int, int]:
        """Line and code point of a position, both within the text."""
        assert self._lines is not None
        if position.line >= len(self._lines):
            return len(self._lines) - 1, len(self._lines[-1])
        line = self._lines[position.line].rstrip("\r\n")
        if self._units is None or line.isascii():
            return position.line, min(position.character, len(line))
        codec, width = self._units
        before = line.encode(codec, "surrogatepass")[: position.character * width]
        return position.line, len(before.decode(codec, "ignore"))


class Documents(Workspace):
    """pygls' workspace, of such documents. Fulfils `protocol.workspace.Workspace`."""

    @property
    def encoding(self) -> PositionEncoding:
        """The negotiated position encoding."""
        encoding = self.position_encoding
        name = encoding.value if isinstance(encoding, types.PositionEncodingKind) else encoding
        return cast("PositionEncoding", name)

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return Document(doc_uri, source, version, language_id, encoding=self.encoding)

    def opened(self, uri: str) -> Document | None:
        """The document with this URI if it is open."""
        document = self.text_documents.get(unquote(uri))
        return document if isinstance(document, Document) else None

    def apply(self, method: str, params: msgspec.Struct) -> None:
        """Apply one of `lsp.DOCUMENT_NOTIFICATIONS`. Raises `InvalidInput` for a change to a document that is not
        open, and for what is no URI.
        """
        match params:
            case lsp.DidOpenParams(text_document=item):
                self._open(item)
            case lsp.DidChangeParams():
                self._change(params)
            case lsp.DocumentParams(text_document=identifier):
                if method == lsp.DID_CLOSE:
                    self.remove_text_document(identifier.uri)
            case lsp.DidChangeFoldersParams(event=event):
                for folder in event.removed:
                    self.remove_folder(folder.uri)
                for folder in event.added:
                    self.add_folder(types.WorkspaceFolder(uri=folder.uri, name=folder.name))
            case _:
                raise TypeError(type(params))

    def _open(self, item: lsp.TextDocumentItem) -> None:
        try:
            self.put_text_document(
                types.TextDocumentItem(
                    uri=item.uri, language_id=item.language_id, version=item.version or 0, text=item.text
                )
            )
        except ValueError as error:
            raise InvalidInput("$.textDocument.uri: this is no URI.", path="$.textDocument.uri") from error

    def _change(self, params: lsp.DidChangeParams) -> None:
        document = self.opened(params.text_document.uri)
        if document is None:
            raise InvalidInput("$.textDocument.uri: this document is not open.", path="$.textDocument.uri")
        for change in params.content_changes:
            if change.range is None:
                document.replace_all(change.text)
            else:
                document.replace(change.range.start, change.range.end, change.text)
        document.version = params.text_document.version


def open_workspace(params: lsp.InitializeParams) -> Documents:
    """The workspace that a client describes. Raises `InvalidInput` for a root that is no URI."""
    return documents_of(described(params))


def documents_of(workspace: Described) -> Documents:
    """That workspace, in which no document is open."""
    return Documents(
        workspace.root_uri,
        types.TextDocumentSyncKind.Incremental,
        [types.WorkspaceFolder(uri=folder.uri, name=folder.name) for folder in workspace.folders],
        workspace.encoding,
    )


def split_lines(text: str) -> list[str]:
    """The lines of a text with their endings, as LSP counts them; joined they are the text. The last has no ending and
    may be empty.
    """
    odd = any(mark in text for mark in _OTHER_BREAKS)
    lines = (
        list(io.StringIO(text, newline="")) if odd else text.splitlines(keepends=True)
    )  # the latter is three times as fast
    if not lines or lines[-1][-1] in "\r\n":
        lines.append("")
    return lines
