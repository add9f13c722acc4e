"""The workspace of a client, made with its first document: neither `initialize` nor a first prompt waits for pygls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

import msgspec

from gemini_companion.protocol import lsp
from gemini_companion.protocol.described import described

if TYPE_CHECKING:
    from gemini_companion.engine.ide_context.positions import PositionEncoding
    from gemini_companion.protocol.documents import Document, Documents
    from gemini_companion.protocol.workspace import Folder


class LateWorkspace:
    """Fulfils `protocol.workspace.Workspace` by `Documents`. Made of a root that is no URI it raises `InvalidInput`."""

    def __init__(self, params: lsp.InitializeParams) -> None:
        self._described = described(params)
        self._documents: Documents | None = None
        """From the first notification on."""

    @property
    def encoding(self) -> PositionEncoding:
        """The negotiated position encoding."""
        return self._described.encoding

    @property
    def folders(self) -> Mapping[str, Folder]:
        """The workspace folders by URI, as pygls spells it."""
        if self._documents is None:
            return {unquote(folder.uri): folder for folder in self._described.folders}
        return self._documents.folders

    def opened(self, uri: str) -> Document | None:
        """The document with this URI if it is open."""
        return None if self._documents is None else self._documents.opened(uri)

    def apply(self, method: str, params: msgspec.Struct) -> None:
        """Apply one of `lsp.DOCUMENT_NOTIFICATIONS`. Raises `InvalidInput` as `Documents` does."""
        if self._documents is None:
            from gemini_companion.protocol.documents import documents_of

            self._documents = documents_of(self._described)
        self._documents.apply(method, params)
