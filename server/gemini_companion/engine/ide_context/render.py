"""An editor's state, or its changes, as a message to the model."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from gemini_companion.engine.ide_context.known import KnownState, UnsavedText
from gemini_companion.engine.ide_context.message import (
    Changes,
    CursorMoved,
    DiagnosticsChanged,
    FileView,
    Message,
    SelectionChanged,
    UnsavedView,
    VisibleRangeChanged,
    write_message,
)
from gemini_companion.engine.ide_context.state import EditorState, OpenFile


def render_full(state: EditorState) -> str | None:
    """The message with the whole state; `None` if no file is open."""
    if not state.files:
        return None
    active = state.active
    others = [file for file in state.files if file is not active]
    return write_message(
        Message(
            active_file=_view(active, UnsavedText.of(active)) if active else msgspec.UNSET,
            other_open_files=tuple(file.path for file in others) if others else msgspec.UNSET,
            other_unsaved_files=tuple(
                _unsaved(file.path, text) for file in others if (text := UnsavedText.of(file)) is not None
            ),
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
    differing = [file.path for file in state.files if now.unsaved.get(file.path) != before.unsaved.get(file.path)]
    # Unsaved text of a file that gets the focus is sent with it; such an entry cannot report a file as saved.
    inline = now.unsaved.get(path) if path is not None and path != before.active and path in differing else None
    changes = Changes(
        files_opened=tuple(file.path for file in state.files if file.path not in before.open),
        files_closed=tuple(sorted(before.open - now.open)),
        unsaved_text_changed=tuple(
            _unsaved(each, now.unsaved.get(each)) for each in differing if inline is None or each != path
        ),
    )
    if active is None or path is None:
        gone = None if before.active is None else FileView(path=None, previous_path=before.active)
        return replace(changes, active_file_changed=gone)
    if path != before.active:
        return replace(changes, active_file_changed=_view(active, inline))
    if now.cursor != before.cursor:
        changes = replace(changes, cursor_moved=CursorMoved(path=path, cursor=now.cursor))
    if now.selected_text != before.selected_text:
        changes = replace(changes, selection_changed=SelectionChanged(path=path, selected_text=now.selected_text))
    if now.visible_range != before.visible_range:
        changes = replace(
            changes, visible_range_changed=VisibleRangeChanged(path=path, visible_range=now.visible_range)
        )
    if (now.diagnostics, now.omitted_diagnostics) != (before.diagnostics, before.omitted_diagnostics):
        found = DiagnosticsChanged(path=path, diagnostics=now.diagnostics, omitted_diagnostics=now.omitted_diagnostics)
        changes = replace(changes, diagnostics_changed=found)
    return changes


def _view(file: OpenFile, unsaved: UnsavedText | None) -> FileView:
    return FileView(
        path=file.path,
        cursor=file.cursor,
        selected_text=file.selected_text or "",
        visible_range=file.visible_range,
        diagnostics=file.diagnostics,
        omitted_diagnostics=file.omitted_diagnostics,
        unsaved_text=unsaved.text if unsaved else None,
        unsaved_lines=unsaved.lines if unsaved else None,
        unsaved_text_omitted=unsaved is not None and unsaved.text is None,
    )


def _unsaved(path: str, unsaved: UnsavedText | None) -> UnsavedView:
    if unsaved is None:
        return UnsavedView(path=path, saved=True)
    return UnsavedView(
        path=path, unsaved_text=unsaved.text, unsaved_lines=unsaved.lines, unsaved_text_omitted=unsaved.text is None
    )
