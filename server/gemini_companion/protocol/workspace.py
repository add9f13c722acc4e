"""The open documents and the workspace folders of a client, as far as dispatch and handlers need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from gemini_companion.engine.ide_context.positions import PositionEncoding


class TextDocument(Protocol):
    """A text as the editor has it, unsaved edits included."""

    @property
    def source(self) -> str:
        """The whole text."""
        ...

    @property
    def version(self) -> int | None:
        """The client's number of this text."""
        ...


class Folder(Protocol):
    """A root folder of the workspace."""

    @property
    def uri(self) -> str:
        """Its URI as the client wrote it."""
        ...


class Workspace(Protocol):
    """What a client described in `initialize` and has changed by notifications since."""

    @property
    def encoding(self) -> PositionEncoding:
        """The negotiated position encoding."""
        ...

    @property
    def folders(self) -> Mapping[str, Folder]:
        """The workspace folders by URI."""
        ...

    def opened(self, uri: str) -> TextDocument | None:
        """The document with this URI if it is open."""
        ...

    def apply(self, method: str, params: msgspec.Struct) -> None:
        """Apply one of `lsp.DOCUMENT_NOTIFICATIONS`. Raises `InvalidInput` for a change to a document that is not
        open, and for what is no URI.
        """
        ...
