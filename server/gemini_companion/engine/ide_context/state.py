"""What an editor shows, as plain values: the input of everything in this package.

Positions are 1-based lines and characters (code points), as a model gets them. `normalise` makes the `EditorState` that
may be sent: ordered, bounded, and free of what looks like a secret.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

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


class OpenFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the editor has open. `path` is absolute and may be shown to a model."""

    path: str
    last_focused_at: float = 0
    """When it last had the focus; any unit, larger is newer."""
    is_active: bool = False
    cursor: Cursor | None = None
    selected_text: str | None = None
    visible_range: LineRange | None = None
    unsaved_text: str | None = None
    """The buffer where it differs from the disk, else `None`. After `normalise`: masked, perhaps an excerpt."""
    unsaved_lines: LineRange | None = None
    """Which lines `unsaved_text` is an excerpt of; `None` if it is the whole buffer. Set by `normalise`."""
    unsaved_omitted: bool = False
    """There are unsaved edits, but their text did not fit. Set by `normalise`."""
    diagnostics: tuple[Diagnostic, ...] = ()
    omitted_diagnostics: int = 0
    """How many more there are. Set by `normalise`."""
    masked: int = 0
    """How many secrets were masked in its texts. Set by `normalise`."""


class EditorState(msgspec.Struct, frozen=True, kw_only=True):
    """What one client's editor shows and a model may get; made by `normalise`.

    Newest first, paths distinct; only `files[0]` can be active, and only the active file has cursor, selection, visible
    range and diagnostics.
    """

    files: tuple[OpenFile, ...] = ()
    is_trusted: bool | None = None
    """What the editor reported of the workspace, `None` if nothing. It has no effect here."""

    @property
    def active(self) -> OpenFile | None:
        """The file that has the focus, if any."""
        return self.files[0] if self.files and self.files[0].is_active else None
