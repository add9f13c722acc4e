"""What one client's editor shows, from its own notification or derived from `textDocument/*`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from gemini_companion.engine.ide_context.positions import PositionEncoding, count_line_breaks, cursor_at, text_between
from gemini_companion.engine.ide_context.state import Cursor, Diagnostic, LineRange, OpenFile
from gemini_companion.sessions.models.port import OpenDocument
from gemini_companion.settings.obeyed import gate
from gemini_companion.tools.documents import Saved

MAX_REPORTED: Final = 1_000
"""Open files of one report that are used."""

MAX_DOCUMENTS: Final = 2_000
"""Buffers kept per client; the one longest without focus is dropped first."""

MAX_SAVED: Final = 50
"""Saved documents that are remembered."""

TextPosition = tuple[int, int]
"""An LSP position: line and character, from 0."""


class ReportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """An open file as a client reports it; `path` is absolute, positions are LSP's."""

    path: str
    file: str | None = None
    """The file that it is of, where `path` is not one; see `OpenFile`."""
    text: str | None = None
    """All of it, where no file holds it."""
    uri: str = ""
    """As the client named it; empty for the URI of the path."""
    last_focused_at: float = 0
    """When it last had the focus; any unit, larger is newer."""
    is_active: bool = False
    cursor: TextPosition | None = None
    selection: tuple[TextPosition, TextPosition] | None = None
    selected_text: str | None = None
    visible: tuple[TextPosition, TextPosition] | None = None


class PlacelessFile(msgspec.Struct, frozen=True, kw_only=True):
    """Something open that is no file on disk, and why it does not go along."""

    uri: str
    name: str
    reason: str


class Buffer(msgspec.Struct, kw_only=True):
    """A text document that the client has open and keeps synchronised."""

    path: str
    read: Callable[[], str]
    """Gives the current text; called only when it is needed, not at every keystroke."""
    focused: int
    """Rises with every sign of work in the document."""
    maybe_dirty: bool = True
    """False after a save without later changes."""
    selection: tuple[TextPosition, TextPosition] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """The text, unsaved edits included."""
        return self.read()


class Editor:
    """The state of one client's editor. Paths are absolute; `encoding` is the negotiated unit of LSP characters."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.encoding: PositionEncoding = "utf-16"
        self._reported: tuple[ReportedFile, ...] | None = None
        self.placeless: tuple[PlacelessFile, ...] = ()
        """What is open and is no file on disk."""
        self.excluded: frozenset[str] = frozenset()
        """Files that the user excluded: nothing of them is sent."""
        self._buffers: dict[str, Buffer] = {}
        self._focus = itertools.count(1)
        self._saved: dict[str, Saved] = {}
        self._documents: tuple[OpenDocument, ...] = ()

    def report(
        self, files: Sequence[ReportedFile], excluded: Iterable[str] = (), placeless: Sequence[PlacelessFile] = ()
    ) -> None:
        """Take the client's report of what is open; from then on it counts instead of the open documents."""
        self._reported = tuple(files[:MAX_REPORTED])
        self.placeless = tuple(placeless[:MAX_REPORTED])
        self.excluded = frozenset(excluded)

    def open(self, path: str, read: Callable[[], str]) -> None:
        """Open a document; `read` gives its current text at any time until it is closed."""
        self._buffers[path] = Buffer(path=path, read=read, focused=next(self._focus))
        if len(self._buffers) > MAX_DOCUMENTS:
            del self._buffers[min(self._buffers.values(), key=lambda buffer: buffer.focused).path]

    def change(self, path: str) -> None:
        """Note that a document's text has changed."""
        if (buffer := self._buffers.get(path)) is not None:
            buffer.maybe_dirty, buffer.focused = True, next(self._focus)
            buffer.selection = None  # it referred to the text before

    def save(self, path: str) -> None:
        """Note that a document was saved."""
        if (buffer := self._buffers.get(path)) is not None:
            buffer.maybe_dirty, buffer.focused = False, next(self._focus)
            self._saved.pop(path, None)
            self._saved[path] = Saved.of(buffer.focused, buffer.text)
            if len(self._saved) > MAX_SAVED:
                del self._saved[next(iter(self._saved))]
            gate.wrote(path, lambda data: self._saved[path].is_text(data.decode("utf-8", "replace")))

    def saved(self) -> Mapping[str, Saved]:
        """The documents that were saved last, also those that were closed since."""
        return self._saved

    def close(self, path: str) -> None:
        """Close a document."""
        self._buffers.pop(path, None)

    def look_at(
        self,
        path: str,
        selection: tuple[TextPosition, TextPosition] | None = None,
        diagnostics: tuple[Diagnostic, ...] | None = None,
    ) -> None:
        """Note that the user works in a document, as a request about it shows."""
        if (buffer := self._buffers.get(path)) is not None:
            buffer.focused = next(self._focus)
            if selection is not None:
                buffer.selection = selection
            if diagnostics is not None:
                buffer.diagnostics = diagnostics

    def buffer(self, path: str) -> Buffer | None:
        """The open document of this path, or `None`."""
        return self._buffers.get(path)

    def buffers(self) -> list[tuple[str, Buffer]]:
        """The open documents and their paths."""
        return list(self._buffers.items())

    def text(self, path: str, selection: tuple[TextPosition, TextPosition]) -> str:
        """The text of a range of an open document, empty if it is not open."""
        buffer = self._buffers.get(path)
        return text_between(buffer.text, *selection, self.encoding) if buffer else ""

    def files(self) -> list[OpenFile]:
        """The open files, not yet checked for whether they may be shown, and without their texts.

        A file that is said to be unsaved may equal the disk.
        """
        if self._reported is not None:
            return [self._from_report(file) for file in self._reported]
        newest = max((buffer.focused for buffer in self._buffers.values()), default=0)
        return [self._from_buffer(buffer, is_active=buffer.focused == newest) for buffer in self._buffers.values()]

    def uri(self, path: str) -> str:
        """What the client calls an open file."""
        reported = next((file.uri for file in self._reported or () if file.path == path), "")
        return reported or Path(path).as_uri()

    def show_documents(self, documents: Sequence[OpenDocument]) -> None:
        """Set what a model provider on this machine may read."""
        self._documents = tuple(documents)

    def documents(self) -> Sequence[OpenDocument]:
        """The open files that may be shown, with their texts, as `show_documents` set them."""
        return self._documents

    def _from_report(self, file: ReportedFile) -> OpenFile:
        buffer = self._buffers.get(file.path)
        text = buffer.text if buffer and file.text is None else file.text
        selected = file.selected_text
        if file.selection is not None and text is not None:
            whole = text_between(text, *file.selection, self.encoding)
            if whole.startswith(selected or ""):  # a client may have cut it; a text that differs is newer than ours
                selected = whole
        position = file.cursor or (file.selection[1] if file.selection else None)
        return OpenFile(
            path=file.path,
            file=file.file,
            text=file.text,
            last_focused_at=file.last_focused_at,
            is_active=file.is_active,
            cursor=cursor_at(text, *position, self.encoding) if position else None,
            selected_text=selected,
            selected_lines=_selected_lines(file.selection) if file.selection else None,
            visible_range=_lines(file.visible) if file.visible else None,
            is_unsaved=file.file == "" or (buffer is not None and buffer.maybe_dirty),
            diagnostics=buffer.diagnostics if buffer else (),
        )

    def _from_buffer(self, buffer: Buffer, *, is_active: bool) -> OpenFile:
        cursor: Cursor | None = None
        selected: str | None = None
        if buffer.selection is not None:
            cursor = cursor_at(buffer.text, *buffer.selection[1], self.encoding)
            selected = text_between(buffer.text, *buffer.selection, self.encoding) or None
        return OpenFile(
            path=buffer.path,
            last_focused_at=buffer.focused,
            is_active=is_active,
            cursor=cursor,
            selected_text=selected,
            selected_lines=_selected_lines(buffer.selection) if selected and buffer.selection else None,
            is_unsaved=buffer.maybe_dirty,
            diagnostics=buffer.diagnostics,
        )

    def selected_lines(self, path: str) -> tuple[int, int] | None:
        """First and last selected line, from 1, in the document of this path; `None` without a selection."""
        for file in self._reported or ():
            if file.path == path and file.selection is not None:
                return file.selection[0][0] + 1, file.selection[1][0] + 1
        buffer = self._buffers.get(path)
        if buffer is None or buffer.selection is None:
            return None
        first, last = sorted((buffer.selection[0][0], buffer.selection[1][0]))
        return first + 1, min(last, count_line_breaks(buffer.text)) + 1


def _lines(visible: tuple[TextPosition, TextPosition]) -> LineRange:
    first, last = sorted((visible[0][0], visible[1][0]))
    return LineRange(start_line=max(0, first) + 1, end_line=max(0, last) + 1)


def _selected_lines(selection: tuple[TextPosition, TextPosition]) -> LineRange:
    """The lines that hold something selected, from 1: an end at the beginning of a line leaves that line out."""
    (first, _), (last, character) = sorted(selection)
    return LineRange(start_line=first + 1, end_line=max(first, last - (character == 0)) + 1)
