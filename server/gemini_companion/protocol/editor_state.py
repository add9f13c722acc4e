"""What an editor sends of its state, in the types of the sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from gemini_companion.engine.ide_context.positions import cursor_at
from gemini_companion.engine.ide_context.receipt import base_name
from gemini_companion.engine.ide_context.state import SEVERITIES, Diagnostic
from gemini_companion.protocol.lsp import Position, Range
from gemini_companion.protocol.paths import path_of
from gemini_companion.protocol.types import IdeContextParams, OpenFileReport, SentDiagnostic
from gemini_companion.sessions.context.open_files import TAKEN_OUT
from gemini_companion.sessions.editor import Editor, PlacelessFile, ReportedFile, TextPosition

_UNTITLED: Final = "untitled:"
_MAX_DIAGNOSTICS: Final = 200
_MAX_MESSAGE: Final = 2_000


def position_of(position: Position) -> TextPosition:
    """A line and a character."""
    return position.line, position.character


def span_of(range_: Range) -> tuple[TextPosition, TextPosition]:
    """The start and the end of a range."""
    return position_of(range_.start), position_of(range_.end)


def reported_files(params: IdeContextParams) -> list[ReportedFile]:
    """The open files of a notice; those whose URI is no path are left out, but for untitled texts that it has."""
    visible = {path_of(shown.uri): span_of(shown.range) for shown in params.visible_ranges}
    return [
        ReportedFile(
            path=f"{path}#cell-{file.cell}" if file.cell and file.text is not None else path,
            file=path if path_of(file.uri) is not None else "",
            text=file.text,
            uri=file.uri,
            last_focused_at=file.last_focused_at,
            is_active=file.is_active,
            cursor=position_of(file.cursor) if file.cursor else None,
            selection=span_of(file.selection) if file.selection else None,
            selected_text=file.selected_text,
            visible=visible.get(path),
        )
        for file in params.open_files
        if (path := path_of(file.uri) or _untitled(file, params)) is not None
    ]


def _untitled(file: OpenFileReport, params: IdeContextParams) -> str | None:
    """What a model knows an untitled text by, that goes along; it is no path, so that nobody looks for it on disk."""
    is_one = file.uri.startswith(_UNTITLED) and file.text is not None and file.uri not in params.excluded
    return unquote(file.uri) if is_one else None


def placeless_files(params: IdeContextParams) -> list[PlacelessFile]:
    """What a notice names that is no file on disk."""
    return [
        PlacelessFile(
            uri=file.uri,
            name=base_name(unquote(file.uri.partition(":")[2])) or file.uri,
            reason=TAKEN_OUT
            if file.uri in params.excluded
            else "not saved yet"
            if file.uri.startswith(_UNTITLED)
            else "not a file on disk",
        )
        for file in params.open_files
        if path_of(file.uri) is None and _untitled(file, params) is None
    ]


def diagnostics_of(sent: Iterable[dict[str, Any]], editor: Editor, path: str) -> list[Diagnostic]:
    """The first diagnostics of a file, in the order in which they were sent, at most 200."""
    return [_diagnostic(raw, editor, path) for _, raw in zip(range(_MAX_DIAGNOSTICS), sent, strict=False)]


def _diagnostic(raw: dict[str, Any], editor: Editor, path: str) -> Diagnostic:
    """A diagnostic out of whatever a client sent; one that is none stands at the file's beginning with an empty
    message.
    """
    try:
        sent = msgspec.convert(raw, SentDiagnostic)
    except msgspec.ValidationError:
        sent = SentDiagnostic()
    buffer = editor.buffer(path)
    cursor = cursor_at(buffer.text if buffer else None, *position_of(sent.range.start), editor.encoding)
    severity = sent.severity or 1
    return Diagnostic(
        line=cursor.line,
        character=cursor.character,
        severity=SEVERITIES[severity - 1] if 1 <= severity <= len(SEVERITIES) else "error",
        message=sent.message[:_MAX_MESSAGE],
        source=(sent.source or "")[:100],
    )
