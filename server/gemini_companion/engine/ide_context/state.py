"""What an editor shows, as plain values: the input of everything in this package.

Positions are 1-based lines and characters (code points), as a model gets them. `normalise` makes the `EditorState` that
may be sent: ordered, bounded, and free of what looks like a secret.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.extent import SelectionCut

Severity: TypeAlias = Literal["error", "warning", "information", "hint"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "information", "hint")


class Cursor(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A position in a text; line and character start at 1."""

    line: int
    character: int


class LineRange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whole lines, from 1, both inclusive."""

    start_line: int
    end_line: int


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A compiler's or linter's message about one position, from 1."""

    line: int
    character: int
    severity: Severity
    message: str
    source: str = ""
    """The tool that reports it, such as `pyright`."""


class FileText(msgspec.Struct, frozen=True, kw_only=True):
    """A file's text as a model gets it: masked, its lines ended by line feeds, all of it or a part."""

    text: str
    lines: LineRange | None = None
    """Which lines it is, `None` if it is all of them."""
    line_count: int = 0
    """How many lines the file has, if this is a part of it."""
    is_cut: bool = False
    """Its first or last line is not whole."""


class OpenFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the editor has open. `path` is absolute and may be shown to a model."""

    path: str
    file: str | None = None
    """The file that it is of, where `path` is not one: a notebook, or empty for a text that was never saved."""
    last_focused_at: float = 0
    """When it last had the focus; any unit, larger is newer."""
    is_active: bool = False
    cursor: Cursor | None = None
    selected_text: str | None = None
    selected_lines: LineRange | None = None
    """Every line that holds something selected, as far as that is known."""
    visible_range: LineRange | None = None
    text: str | None = None
    """All of it as the editor has it, where it may go along; only read by `normalise`, which sets `shown` instead."""
    is_unsaved: bool = False
    """The editor's text is not what is on disk."""
    path_only: str = ""
    """Why its text does not go along, in a few words; empty if it does, or if that need not be said."""
    diagnostics: tuple[Diagnostic, ...] = ()

    shown: FileText | None = None
    """What of the text goes along. Set by `normalise`, like the rest."""
    selection_cut: SelectionCut | None = None
    omitted_diagnostics: int = 0
    """How many more there are."""
    masked: int = 0
    """How many secrets were masked in its texts."""

    @property
    def on_disk(self) -> str:
        """The path of its file, empty if it has none."""
        return self.path if self.file is None else self.file


class EditorState(msgspec.Struct, frozen=True, kw_only=True):
    """What one client's editor shows and a model may get; made by `normalise`.

    Newest first, paths distinct; only `files[0]` can be active, and only the active file has cursor, selection, visible
    range and diagnostics. Of the others only unsaved texts are shown.
    """

    files: tuple[OpenFile, ...] = ()
    is_trusted: bool | None = None
    """What the editor reported of the workspace, `None` if nothing. It has no effect here."""

    @property
    def active(self) -> OpenFile | None:
        """The file that has the focus, if any."""
        return self.files[0] if self.files and self.files[0].is_active else None
