"""An editor's state, or its changes, as a message to the model."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from gemini_companion.engine.ide_context.known import KnownState
from gemini_companion.engine.ide_context.message import (
    Changes,
    ContentChanged,
    ContentView,
    CursorMoved,
    DiagnosticsChanged,
    FileView,
    Message,
    SelectionChanged,
    UnsavedView,
    VisibleRangeChanged,
    write_message,
)
from gemini_companion.engine.ide_context.state import EditorState, FileText, OpenFile
from gemini_companion.engine.ide_context.text_diff import unified_diff


def render_full(state: EditorState) -> str | None:
    """The message with the whole state; `None` if no file is open."""
    if not state.files:
        return None
    active = state.active
    others = [file for file in state.files if file is not active]
    return write_message(
        Message(
            active_file=_view(active, {}) if active else msgspec.UNSET,
            other_open_files=tuple(file.path for file in others) if others else msgspec.UNSET,
            other_unsaved_files=tuple(_unsaved(file.path, file.shown) for file in others if file.is_unsaved),
        )
    )


def render_nothing_open() -> str:
    """The full message for a state without open files, for a model that knows of open files."""
    return write_message(Message(active_file=None, other_open_files=()))


def render_delta(before: KnownState, state: EditorState) -> str | None:
    """The message with what differs between `before`, which the model knows, and `state`; `None` if nothing does."""
    changes = _changes(before, state)
    return None if changes == Changes() else write_message(Message(changes=changes))


def _changes(before: KnownState, state: EditorState) -> Changes:
    now = KnownState.of(state)
    active, path = state.active, now.active
    others = before.before_focus_on(path).unsaved
    changes = Changes(
        files_opened=tuple(file.path for file in state.files if file.path not in before.open),
        files_closed=tuple(sorted(before.open - now.open)),
        unsaved_text_changed=tuple(
            _unsaved(file.path, file.shown) if file.is_unsaved else UnsavedView(path=file.path, saved=True)
            for file in state.files
            if file is not active and _differs(file, others)
        ),
    )
    if active is None or path is None:
        gone = None if before.active is None else FileView(path=None, previous_path=before.active)
        return replace(changes, active_file_changed=gone)
    if path != before.active:
        return replace(changes, active_file_changed=_view(active, before.told))
    if now.cursor != before.cursor:
        changes = replace(changes, cursor_moved=CursorMoved(path=path, cursor=now.cursor))
    if (now.selected_text, now.selection_cut) != (before.selected_text, before.selection_cut):
        selection = SelectionChanged(path=path, selected_text=now.selected_text, selection_cut=now.selection_cut)
        changes = replace(changes, selection_changed=selection)
    if now.visible_range != before.visible_range:
        changes = replace(
            changes, visible_range_changed=VisibleRangeChanged(path=path, visible_range=now.visible_range)
        )
    if (now.diagnostics, now.omitted_diagnostics) != (before.diagnostics, before.omitted_diagnostics):
        found = DiagnosticsChanged(path=path, diagnostics=now.diagnostics, omitted_diagnostics=now.omitted_diagnostics)
        changes = replace(changes, diagnostics_changed=found)
    if (now.text, now.path_only, now.is_unsaved) != (before.text, before.path_only, before.is_unsaved):
        content = ContentChanged(path=path, content=_content(active, before.told))
        changes = replace(changes, content_changed=content)
    return changes


def _differs(file: OpenFile, known: dict[str, FileText | None]) -> bool:
    """True if the model does not know whether this file differs from the disk, or by what."""
    if not file.is_unsaved:
        return file.path in known
    return file.path not in known or known[file.path] != file.shown


def _view(file: OpenFile, told: dict[str, FileText]) -> FileView:
    return FileView(
        path=file.path,
        cursor=file.cursor,
        selected_text=file.selected_text or "",
        selection_cut=file.selection_cut,
        visible_range=file.visible_range,
        diagnostics=file.diagnostics,
        omitted_diagnostics=file.omitted_diagnostics,
        content=_content(file, told),
    )


def _content(file: OpenFile, told: dict[str, FileText]) -> ContentView | None:
    """The active file's text, as changes of what was told where that is less than half as long."""
    shown = file.shown
    if shown is None:
        return (
            ContentView(omitted=file.path_only, unsaved=file.is_unsaved) if file.path_only or file.is_unsaved else None
        )
    before = told.get(file.path)
    if before == shown:
        return ContentView(unchanged=True, unsaved=file.is_unsaved)
    view = ContentView(lines=shown.lines, line_count=shown.line_count, cut=shown.is_cut, unsaved=file.is_unsaved)
    if before is not None:
        diff = unified_diff(before.text, shown.text, before_line=first_line(before), now_line=first_line(shown))
        if 2 * len(diff) < len(shown.text):
            return replace(view, diff=diff)
    return replace(view, text=shown.text)


def first_line(text: FileText) -> int:
    """The number of its first line, from 1."""
    return text.lines.start_line if text.lines else 1


def _unsaved(path: str, shown: FileText | None) -> UnsavedView:
    return UnsavedView(path=path, unsaved_text=shown.text if shown else None, unsaved_text_omitted=shown is None)
