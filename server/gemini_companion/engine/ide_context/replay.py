"""Reading back what `render` wrote: what a model can know of the editor."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.ide_context.known import KnownState
from gemini_companion.engine.ide_context.message import (
    Changes,
    ContentView,
    FileView,
    Message,
    UnsavedView,
    read_message,
)
from gemini_companion.engine.ide_context.render import first_line
from gemini_companion.engine.ide_context.state import FileText
from gemini_companion.engine.ide_context.text_diff import patched


def replay(texts: Iterable[str]) -> KnownState | None:
    """What a model knows after these messages, in order; `None` after none. Raises `InvalidInput` like `apply_text`."""
    known: KnownState | None = None
    for text in texts:
        known = apply_text(known, text)
    return known


def apply_text(known: KnownState | None, text: str) -> KnownState:
    """What a model that knew `known` knows after this message.

    Raises `InvalidInput` if the text is no IDE context message, or a delta with nothing before it.
    """
    return apply_message(known, read_message(text))


def apply_message(known: KnownState | None, message: Message) -> KnownState:
    """The same for a message that is read already."""
    if message.changes is None:
        return _full(message)
    if known is None:
        raise InvalidInput("A change of the IDE context stands where nothing was described before.")
    return _changed(known, message.changes)


def _full(message: Message) -> KnownState:
    others = message.other_open_files or ()
    known = KnownState(open=frozenset(others))
    for view in message.other_unsaved_files:
        known = _with_unsaved(known, view)
    active = message.active_file or None
    if active is None or active.path is None:
        return known
    return _focus(known, active, active.path)


def _changed(known: KnownState, changes: Changes) -> KnownState:
    opened = known.open.union(changes.files_opened).difference(changes.files_closed)
    known = replace(known, open=opened, unsaved={path: text for path, text in known.unsaved.items() if path in opened})
    if (view := changes.active_file_changed) is not None:
        known = known.before_focus_on(None) if view.path is None else _focus(known, view, view.path)
    for unsaved in changes.unsaved_text_changed:
        known = _with_unsaved(known, unsaved)
    if view is not None:
        return known
    if (moved := changes.cursor_moved) is not None:
        known = replace(known, cursor=moved.cursor)
    if (selection := changes.selection_changed) is not None:
        known = replace(known, selected_text=selection.selected_text, selection_cut=selection.selection_cut)
    if (visible := changes.visible_range_changed) is not None:
        known = replace(known, visible_range=visible.visible_range)
    if (found := changes.diagnostics_changed) is not None:
        known = replace(known, diagnostics=found.diagnostics, omitted_diagnostics=found.omitted_diagnostics)
    if (changed := changes.content_changed) is not None:
        known = _with_content(known, changed.path, changed.content)
    return known


def _focus(known: KnownState, view: FileView, path: str) -> KnownState:
    before = known.before_focus_on(path)
    known = KnownState(
        open=known.open | {path},
        active=path,
        cursor=view.cursor,
        selected_text=view.selected_text,
        selection_cut=view.selection_cut,
        visible_range=view.visible_range,
        diagnostics=view.diagnostics,
        omitted_diagnostics=view.omitted_diagnostics,
        unsaved=before.unsaved,
        told=before.told,
    )
    return _with_content(known, path, view.content)


def _with_content(known: KnownState, path: str, view: ContentView | None) -> KnownState:
    """With the text of the active file. Raises `InvalidInput` for a change of a text that was not told."""
    if view is None or view.omitted or not (view.unchanged or view.text is not None or view.diff is not None):
        return replace(
            known, text=None, path_only=view.omitted if view else "", is_unsaved=view is not None and view.unsaved
        )
    if view.text is not None:
        text = FileText(text=view.text, lines=view.lines, line_count=view.line_count, is_cut=view.cut)
    elif (before := known.told.get(path)) is None:
        raise InvalidInput("A change of a file's text stands where that text was not described before.")
    elif view.diff is not None:
        made = patched(before.text, view.diff, before_line=first_line(before))
        text = FileText(text=made, lines=view.lines, line_count=view.line_count, is_cut=view.cut)
    else:
        text = before
    return replace(known, text=text, path_only="", is_unsaved=view.unsaved, told={**known.told, path: text})


def _with_unsaved(known: KnownState, view: UnsavedView) -> KnownState:
    """With what is said of a file without the focus."""
    if view.saved:
        return replace(known, unsaved={path: text for path, text in known.unsaved.items() if path != view.path})
    text = None if view.unsaved_text is None else FileText(text=view.unsaved_text)
    told = known.told if text is None else {**known.told, view.path: text}
    return replace(known, unsaved={**known.unsaved, view.path: text}, told=told)
