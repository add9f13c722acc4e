"""What a model knows of an editor: the part of an `EditorState` that is sent, and of which deltas are differences."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.history.extent import SelectionCut
from gemini_companion.engine.ide_context.state import Cursor, Diagnostic, EditorState, FileText, LineRange, OpenFile


class KnownState(msgspec.Struct, frozen=True, kw_only=True):
    """What a model that read every message since the last full one knows of the editor.

    The order of the files, times and trust are in no delta, so they are not known.
    """

    open: frozenset[str] = frozenset()
    active: str | None = None
    """One of `open`, `None` if no file has the focus; the next nine are about it."""
    cursor: Cursor | None = None
    selected_text: str = ""
    selection_cut: SelectionCut | None = None
    visible_range: LineRange | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    omitted_diagnostics: int = 0
    text: FileText | None = None
    path_only: str = ""
    """Why there is no `text`."""
    is_unsaved: bool = False
    unsaved: dict[str, FileText | None] = {}
    """The texts of other open files that differ from the disk, by path; `None` for a text that was not sent."""
    told: dict[str, FileText] = {}
    """Every text as it was sent last, by path: also of files that have changed since, or are closed."""

    @staticmethod
    def of(state: EditorState) -> KnownState:
        """The part of an editor's state that is sent, with nothing in `told`."""
        active = state.active
        paths = frozenset(file.path for file in state.files)
        unsaved = {file.path: file.shown for file in state.files if file.is_unsaved and file is not active}
        if active is None:
            return KnownState(open=paths, unsaved=unsaved)
        return KnownState(
            open=paths,
            active=active.path,
            cursor=active.cursor,
            selected_text=active.selected_text or "",
            selection_cut=active.selection_cut,
            visible_range=active.visible_range,
            diagnostics=active.diagnostics,
            omitted_diagnostics=active.omitted_diagnostics,
            text=active.shown,
            path_only=active.path_only,
            is_unsaved=active.is_unsaved,
            unsaved=unsaved,
        )

    def as_state(self) -> EditorState:
        """An editor's state of which this is known."""
        files = [
            OpenFile(path=path, is_unsaved=path in self.unsaved, shown=self.unsaved.get(path))
            for path in sorted(self.open)
            if path != self.active
        ]
        if self.active is not None:
            active = OpenFile(
                path=self.active,
                is_active=True,
                cursor=self.cursor,
                selected_text=self.selected_text or None,
                selection_cut=self.selection_cut,
                visible_range=self.visible_range,
                diagnostics=self.diagnostics,
                omitted_diagnostics=self.omitted_diagnostics,
                shown=self.text,
                path_only=self.path_only,
                is_unsaved=self.is_unsaved,
            )
            files.insert(0, active)
        return EditorState(files=tuple(files))

    def without_memory(self) -> KnownState:
        """The same with nothing in `told`: what it knows of the editor as it is now."""
        return msgspec.structs.replace(self, told={})

    def before_focus_on(self, path: str | None) -> KnownState:
        """What is known of the other files, once `path` has the focus."""
        unsaved = {other: text for other, text in self.unsaved.items() if other != path}
        if self.active is not None and self.active != path and self.is_unsaved and self.active in self.open:
            unsaved[self.active] = self.text
        return KnownState(open=self.open, unsaved=unsaved, told=self.told)
