"""What a model knows of an editor: the part of an `EditorState` that is sent, and of which deltas are differences."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.ide_context.state import Cursor, Diagnostic, EditorState, LineRange, OpenFile


class UnsavedText(msgspec.Struct, frozen=True, kw_only=True):
    """A file differs from the disk: by this text, by these lines of it, or (no text) in a way that is not known."""

    text: str | None = None
    lines: LineRange | None = None
    """Which lines `text` is an excerpt of, `None` if it is the whole file."""

    @staticmethod
    def of(file: OpenFile) -> UnsavedText | None:
        """The file's unsaved text as it is sent; `None` if there are no unsaved edits."""
        if file.unsaved_text is None and not file.unsaved_omitted:
            return None
        return UnsavedText(text=file.unsaved_text, lines=file.unsaved_lines)


class KnownState(msgspec.Struct, frozen=True, kw_only=True):
    """What a model that read every message since the last full one knows of the editor.

    The order of the files, times and trust are in no delta, so they are not known.
    """

    open: frozenset[str] = frozenset()
    active: str | None = None
    """One of `open`, `None` if no file has the focus; the next five are about it."""
    cursor: Cursor | None = None
    selected_text: str = ""
    visible_range: LineRange | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    omitted_diagnostics: int = 0
    unsaved: dict[str, UnsavedText] = {}
    """By path, all in `open`."""

    @staticmethod
    def of(state: EditorState) -> KnownState:
        """The part of an editor's state that is sent."""
        unsaved = {file.path: text for file in state.files if (text := UnsavedText.of(file)) is not None}
        paths = frozenset(file.path for file in state.files)
        active = state.active
        if active is None:
            return KnownState(open=paths, unsaved=unsaved)
        return KnownState(
            open=paths,
            active=active.path,
            cursor=active.cursor,
            selected_text=active.selected_text or "",
            visible_range=active.visible_range,
            diagnostics=active.diagnostics,
            omitted_diagnostics=active.omitted_diagnostics,
            unsaved=unsaved,
        )
