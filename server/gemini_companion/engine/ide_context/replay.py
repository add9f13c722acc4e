"""Reading back what `render` wrote: what a model can know of the editor."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.ide_context.known import KnownState, UnsavedText
from gemini_companion.engine.ide_context.message import Changes, FileView, Message, UnsavedView, read_message


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
    message = read_message(text)
    if message.changes is None:
        return _full(message)
    if known is None:
        raise InvalidInput("A change of the IDE context stands where nothing was described before.")
    return _changed(known, message.changes)


def _full(message: Message) -> KnownState:
    others = message.other_open_files or ()
    unsaved = {view.path: text for view in message.other_unsaved_files if (text := _unsaved(view)) is not None}
    active = message.active_file or None
    if active is None or active.path is None:
        return KnownState(open=frozenset(others), unsaved=unsaved)
    return _focus(KnownState(open=frozenset(others), unsaved=unsaved), active, active.path)


def _changed(known: KnownState, changes: Changes) -> KnownState:
    opened = known.open.union(changes.files_opened).difference(changes.files_closed)
    unsaved = {path: text for path, text in known.unsaved.items() if path in opened}
    for view in changes.unsaved_text_changed:
        text = _unsaved(view)
        if text is None:
            unsaved.pop(view.path, None)
        else:
            unsaved[view.path] = text
    known = msgspec.structs.replace(known, open=opened, unsaved=unsaved)
    if (view := changes.active_file_changed) is not None:
        return KnownState(open=opened, unsaved=unsaved) if view.path is None else _focus(known, view, view.path)
    if (moved := changes.cursor_moved) is not None:
        known = msgspec.structs.replace(known, cursor=moved.cursor)
    if (selection := changes.selection_changed) is not None:
        known = msgspec.structs.replace(known, selected_text=selection.selected_text)
    if (visible := changes.visible_range_changed) is not None:
        known = msgspec.structs.replace(known, visible_range=visible.visible_range)
    if (found := changes.diagnostics_changed) is not None:
        known = msgspec.structs.replace(
            known, diagnostics=found.diagnostics, omitted_diagnostics=found.omitted_diagnostics
        )
    return known


def _focus(known: KnownState, view: FileView, path: str) -> KnownState:
    text = _unsaved(view)
    return KnownState(
        open=known.open | {path},
        active=path,
        cursor=view.cursor,
        selected_text=view.selected_text,
        visible_range=view.visible_range,
        diagnostics=view.diagnostics,
        omitted_diagnostics=view.omitted_diagnostics,
        unsaved=known.unsaved if text is None else {**known.unsaved, path: text},
    )


def _unsaved(view: FileView | UnsavedView) -> UnsavedText | None:
    if view.unsaved_text is None and not view.unsaved_text_omitted:
        return None
    return UnsavedText(text=view.unsaved_text, lines=view.unsaved_lines)
