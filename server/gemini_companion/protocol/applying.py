"""A new text for an open document as LSP's `WorkspaceEdit`: one replacement, as small as prefix and suffix allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gemini_companion.protocol.connection import Connection

if TYPE_CHECKING:
    from gemini_companion.engine.ide_context.positions import PositionEncoding

_ANNOTATION: Final = "gemini-companion"
_WIDTHS: Final = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


def workspace_edit(
    connection: Connection, uri: str, version: int | None, before: str, after: str, label: str
) -> dict[str, Any]:
    """The edit that turns `before` into `after`: versioned and with an annotation where the client takes these."""
    edit: dict[str, Any] = text_edit(before, after, connection.documents.encoding)
    if not connection.supports("workspace.workspaceEdit.documentChanges"):
        return {"changes": {uri: [edit]}}
    whole: dict[str, Any] = {
        "documentChanges": [{"textDocument": {"uri": uri, "version": version}, "edits": [edit]}],
    }
    if connection.supports("workspace.workspaceEdit.changeAnnotationSupport"):
        edit["annotationId"] = _ANNOTATION
        whole["changeAnnotations"] = {_ANNOTATION: {"label": label, "needsConfirmation": False}}
    return whole


def text_edit(before: str, after: str, encoding: PositionEncoding) -> dict[str, Any]:
    """The one replacement in LSP's positions. It splits no CRLF."""
    start = _common(before, after)
    left = min(len(before), len(after)) - start
    end = _common(before[::-1][:left], after[::-1][:left]) if left else 0
    if start and before[start - 1] == "\r":
        start -= 1
    stop = len(before) - end
    if end and stop and before[stop - 1 : stop + 1] == "\r\n":
        stop, end = stop + 1, end - 1
    return {
        "range": {"start": _position(before, start, encoding), "end": _position(before, stop, encoding)},
        "newText": after[start : len(after) - end],
    }


def _common(one: str, other: str) -> int:
    """The length of what both begin with, by halving: comparing slices is faster than comparing characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _position(text: str, offset: int, encoding: PositionEncoding) -> dict[str, int]:
    head = text[:offset]
    line = head.count("\n") + head.count("\r") - head.count("\r\n")
    last = head[max(head.rfind("\n"), head.rfind("\r")) + 1 :]
    if encoding not in _WIDTHS or last.isascii():
        return {"line": line, "character": len(last)}
    codec, width = _WIDTHS[encoding]
    return {"line": line, "character": len(last.encode(codec, "surrogatepass")) // width}
