"""The workspace of a client, made when something of it is needed: no answer to `initialize` waits for pygls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

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

    @property
    def encoding(self) -> PositionEncoding:
        """The negotiated position encoding."""
        return self._described.encoding

    @property
    def folders(self) -> Mapping[str, Folder]:
        """The workspace folders by URI."""
        return self._documents.folders

    def opened(self, uri: str) -> Document | None:
        """The document with this URI if it is open."""
        return self._documents.opened(uri)

    def apply(self, method: str, params: msgspec.Struct) -> None:
        """Apply one of `lsp.DOCUMENT_NOTIFICATIONS`. Raises `InvalidInput` as `Documents` does."""
        self._documents.apply(method, params)

    @cached_property
    def _documents(self) -> Documents:
        from gemini_companion.protocol.documents import documents_of

        return documents_of(self._described)
