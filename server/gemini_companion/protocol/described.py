"""The workspace as a client describes it in `initialize`. Nothing of pygls but its module of URIs is loaded for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from pygls.uris import from_fs_path, to_fs_path

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import lsp

if TYPE_CHECKING:
    from gemini_companion.engine.ide_context.positions import PositionEncoding

_ENCODINGS: Final = ("utf-16", "utf-8", "utf-32")
"""Position encodings; the first is LSP's default."""


class Described(NamedTuple):
    """What a workspace begins with."""

    root_uri: str | None
    folders: tuple[lsp.WorkspaceFolder, ...]
    encoding: PositionEncoding


def described(params: lsp.InitializeParams) -> Described:
    """The folders of a client, or else its root, and the first position encoding of its list that we know. Raises
    `InvalidInput` for a root that is no URI.
    """
    try:
        root_uri = params.root_uri or (from_fs_path(params.root_path) if params.root_path else None)
        if root_uri is not None:
            to_fs_path(root_uri)
    except ValueError as error:  # as for file://[
        raise InvalidInput("$.rootUri: this is no URI.", path="$.rootUri") from error
    folders = params.workspace_folders
    if folders is None:
        folders = (lsp.WorkspaceFolder(uri=root_uri),) if root_uri else ()
    return Described(root_uri, tuple(folders), _position_encoding(params.capabilities))


def _position_encoding(capabilities: Mapping[str, Any]) -> PositionEncoding:
    general = capabilities.get("general")
    offered = cast("dict[str, object]", general).get("positionEncodings") if isinstance(general, dict) else None
    listed = cast("list[object]", offered) if isinstance(offered, list) else []
    return cast("PositionEncoding", next((name for name in listed if name in _ENCODINGS), _ENCODINGS[0]))
