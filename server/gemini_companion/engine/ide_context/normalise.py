"""What an editor reports, made ready for a model: ordered, bounded, masked."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.extent import SelectionCut
from gemini_companion.engine.ide_context.excerpt import excerpt, whole
from gemini_companion.engine.ide_context.positions import count_line_breaks
from gemini_companion.engine.ide_context.secrets import REACH, mask_between
from gemini_companion.engine.ide_context.state import SEVERITIES, Cursor, Diagnostic, EditorState, LineRange, OpenFile

MAX_FILES = 10
"""Open files that are sent, as in Gemini CLI (`companion.ide.maxOpenFiles`)."""
MAX_SELECTION = 16_384
"""Characters of selected text, as in Gemini CLI, which counts UTF-16 units."""
MAX_ACTIVE_TEXT = 16_384
"""Characters of the active file's text (`companion.ide.activeFileCharacters`). About 4,000 tokens."""
MAX_EXTRAS = 8_192
"""Characters of unsaved text of other files, and of diagnostics. About 2,000 tokens; our choice."""
TRUNCATED = "… [truncated]"
"""Ends a text that was cut."""
TEXT_IS_OFF = "turned off in the settings"
"""Why a text does not go along that the settings give no room."""

_MAX_DIAGNOSTICS = 20
_MAX_MESSAGE = 300
_MAX_POSITION = 2**31


def normalise(
    files: Iterable[OpenFile],
    *,
    is_trusted: bool | None = None,
    max_files: int = MAX_FILES,
    max_selection: int = MAX_SELECTION,
    max_active_text: int = MAX_ACTIVE_TEXT,
    max_extras: int = MAX_EXTRAS,
) -> EditorState:
    """Order, bound and mask the open files. Fields that only this function sets are ignored in its input.

    Newest first, equally new ones in the order given, each path once. Only the newest can be active; the others lose
    cursor, selection, visible range and diagnostics. Texts are masked before they are cut, so that no part of a secret
    stays. The active file's text has `max_active_text` characters, an excerpt around selection or cursor if need be.
    Of `max_extras` characters the diagnostics get at most half, the other files' unsaved texts the rest, whole or not
    at all.
    """
    newest_first = sorted(
        files,
        key=lambda file: file.last_focused_at if file.last_focused_at == file.last_focused_at else 0,
        reverse=True,
    )
    distinct: dict[str, OpenFile] = {}
    for file in newest_first:
        distinct.setdefault(well_formed(file.path), file)
    distinct.pop("", None)

    kept: list[OpenFile] = []
    left = max_extras
    for path, file in list(distinct.items())[: max(0, max_files)]:
        if kept or not file.is_active:
            sent, spent = _background(path, file, left)
        else:
            sent, spent = _foreground(path, file, max_selection, max_active_text, left // 2)
        kept.append(sent)
        left -= spent
    return EditorState(files=tuple(kept), is_trusted=is_trusted)


def _foreground(
    path: str, file: OpenFile, max_selection: int, max_text: int, max_diagnostics: int
) -> tuple[OpenFile, int]:
    """The active file as it is sent, and the characters that its diagnostics take."""
    cursor = file.cursor and Cursor(line=_position(file.cursor.line), character=_position(file.cursor.character))
    visible = file.visible_range and _range(file.visible_range)
    selected = file.selected_lines and _range(file.selected_lines)
    selection, selection_cut, in_selection = _selection(file.selected_text or "", selected, max_selection)
    diagnostics, in_diagnostics = _diagnostics(file.diagnostics, max_diagnostics)
    focus = selected.start_line if selected else cursor.line if cursor else visible.start_line if visible else 1
    shown, in_text = (None, 0) if file.text is None or max_text < 1 else excerpt(file.text, focus, max_text)
    sent = OpenFile(
        path=path,
        last_focused_at=file.last_focused_at,
        is_active=True,
        cursor=cursor,
        selected_text=selection or None,
        selected_lines=selected,
        selection_cut=selection_cut,
        visible_range=visible,
        shown=shown,
        is_unsaved=file.is_unsaved,
        path_only="" if shown else file.path_only or (TEXT_IS_OFF if file.text is not None else ""),
        diagnostics=diagnostics,
        omitted_diagnostics=len(file.diagnostics) - len(diagnostics),
        masked=in_selection + in_diagnostics + in_text,
    )
    return sent, sum(len(diagnostic.message) for diagnostic in diagnostics)


def _background(path: str, file: OpenFile, budget: int) -> tuple[OpenFile, int]:
    """A file without the focus as it is sent, and the characters of the budget that it takes."""
    is_told = file.is_unsaved and file.text is not None and budget > 0
    shown, masked = whole(file.text or "", budget) if is_told else (None, 0)
    sent = OpenFile(
        path=path,
        last_focused_at=file.last_focused_at,
        shown=shown,
        is_unsaved=file.is_unsaved,
        masked=masked if shown else 0,
    )
    return sent, len(shown.text) if shown else 0


def _selection(text: str, selected: LineRange | None, limit: int) -> tuple[str, SelectionCut | None, int]:
    """The selected text as it is sent, what of it that is if it is not all, and how many secrets were masked.

    It is cut after a line, unless one line takes more than half of it, and then ends with `TRUNCATED`.
    """
    if len(text) <= limit:
        text = well_formed(text)
        shown, masked = mask_between(text, 0, len(text))
        if len(shown) <= limit:
            return shown, None, masked
    shown, masked = mask_between(well_formed(text[: limit + REACH]), 0, limit)
    shown = shown[:limit]
    if (line_break := max(shown.rfind("\n", limit // 2), shown.rfind("\r", limit // 2))) >= 0:
        shown = shown[: line_break + 1]
    if selected is None:
        return shown + TRUNCATED, None, masked
    first = selected.start_line
    last = min(selected.end_line, first + count_line_breaks(shown) - shown.endswith(("\n", "\r")))
    cut = SelectionCut(sent=(first, last), selected=(first, selected.end_line))
    return shown + TRUNCATED, cut, masked


def _cut(text: str, limit: int) -> tuple[str, int]:
    """At most `limit` characters of the text, then `TRUNCATED` if there was more; and how many secrets were masked."""
    text = well_formed(text[: limit + REACH])
    shown, masked = mask_between(text, 0, limit)
    return (shown[:limit] + TRUNCATED if len(text) > limit or len(shown) > limit else shown), masked


def _diagnostics(diagnostics: tuple[Diagnostic, ...], budget: int) -> tuple[tuple[Diagnostic, ...], int]:
    """The worst of them that fit into the budget, then in the order of the text; and how many secrets were masked."""
    sent: list[Diagnostic] = []
    hidden = 0
    for diagnostic in sorted(
        diagnostics, key=lambda each: (SEVERITIES.index(each.severity), each.line, each.character)
    )[:_MAX_DIAGNOSTICS]:
        message, masked = _cut(diagnostic.message, _MAX_MESSAGE)
        budget -= len(message)
        if budget < 0:
            break
        hidden += masked
        sent.append(
            Diagnostic(
                line=_position(diagnostic.line),
                character=_position(diagnostic.character),
                severity=diagnostic.severity,
                message=message,
                source=well_formed(diagnostic.source[:40]),
            )
        )
    return tuple(sent), hidden


def _range(lines: LineRange) -> LineRange:
    start = _position(lines.start_line)
    return LineRange(start_line=start, end_line=max(start, _position(lines.end_line)))


def _position(value: int) -> int:
    return max(1, min(value, _MAX_POSITION))
