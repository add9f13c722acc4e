"""The form of an IDE context message: one sentence, then JSON, indented by two spaces, in a fence.

One set of types writes and reads it. Keys and their order up to `selectedText` and `selectionChanged` are Gemini CLI's;
what comes after them is ours. JSON keeps every line break of a string escaped, so that no text, however hostile, can
close the fence.
"""

from __future__ import annotations

import msgspec

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.history.extent import SelectionCut
from gemini_companion.engine.ide_context.state import Cursor, Diagnostic, LineRange

_FULL = "What the user's editor shows now, as JSON. It is background to the request, not part of it."
_DELTA = (
    "What has changed in the user's editor since it was last described, as JSON. It is background to the request, not"
    " part of it."
)
_OPENING = "\n```json\n"
_CLOSING = "\n```"


class ContentView(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The text of the active file: one of `text`, `diff`, `unchanged` and `omitted`."""

    lines: LineRange | None = None
    """Which lines it is, if it is not whole; then `line_count` is how many the file has."""
    line_count: int = 0
    cut: bool = False
    """The first or the last of these lines is not whole."""
    unsaved: bool = False
    """It is not on the disk yet."""
    text: str | None = None
    diff: str | None = None
    """What has changed since the text of this file was last given, as a unified diff."""
    unchanged: bool = False
    """It is the text that was last given of this file."""
    omitted: str = ""
    """Why the text is not given."""


class FileView(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The active file. `path` is `None`, and `previous_path` set, when no file is active any more."""

    path: str | None
    previous_path: str | None = None
    cursor: Cursor | None = None
    selected_text: str = ""
    selection_cut: SelectionCut | None = None
    """Which lines are given of a selection that is too long."""
    visible_range: LineRange | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    omitted_diagnostics: int = 0
    content: ContentView | None = None


class ContentChanged(msgspec.Struct, frozen=True, kw_only=True):
    """The text of the file that stayed active; without `content` nothing is known of it any more."""

    path: str
    content: ContentView | None


class UnsavedView(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How a file without the focus differs from the disk: by `unsaved_text`, or by a text that is too long.

    If `saved`, it no longer differs.
    """

    path: str
    unsaved_text: str | None = None
    unsaved_text_omitted: bool = False
    saved: bool = False


class CursorMoved(msgspec.Struct, frozen=True, kw_only=True):
    """`cursor` is `None` when there is none any more, a case that Gemini CLI leaves out."""

    path: str
    cursor: Cursor | None


class SelectionChanged(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`selected_text` is empty when nothing is selected any more."""

    path: str
    selected_text: str
    selection_cut: SelectionCut | None = None


class VisibleRangeChanged(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`visible_range` is `None` when it is not known any more."""

    path: str
    visible_range: LineRange | None


class DiagnosticsChanged(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All diagnostics that are sent now, perhaps none; `omitted_diagnostics` counts those left out."""

    path: str
    diagnostics: tuple[Diagnostic, ...]
    omitted_diagnostics: int


class Changes(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What is different now; `cursor_moved` to `content_changed` apply to the file that stayed active."""

    files_opened: tuple[str, ...] = ()
    files_closed: tuple[str, ...] = ()
    active_file_changed: FileView | None = None
    cursor_moved: CursorMoved | None = None
    selection_changed: SelectionChanged | None = None
    visible_range_changed: VisibleRangeChanged | None = None
    diagnostics_changed: DiagnosticsChanged | None = None
    content_changed: ContentChanged | None = None
    unsaved_text_changed: tuple[UnsavedView, ...] = ()


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The JSON of a message: a delta if `changes` is there, else a full one.

    `active_file` is `None` (JSON `null`) where a full message reports that nothing is open, and unset where only other
    files are.
    """

    changes: Changes | None = None
    active_file: FileView | msgspec.UnsetType | None = msgspec.UNSET
    other_open_files: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    other_unsaved_files: tuple[UnsavedView, ...] = ()


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Message)


def write_message(message: Message) -> str:
    """The message as text, the way a model gets it."""
    body = msgspec.json.format(_encoder.encode(message), indent=2).decode()
    return f"{_FULL if message.changes is None else _DELTA}{_OPENING}{body}{_CLOSING}"


def read_message(text: str) -> Message:
    """The message in a text that `write_message` made. Raises `InvalidInput` for any other."""
    sentence, opening, rest = text.partition(_OPENING)
    if not opening or "\n" in sentence or not rest.endswith(_CLOSING):
        raise InvalidInput("This text is no IDE context message: it needs one sentence and a fence of JSON.")
    try:
        return _decoder.decode(rest.removesuffix(_CLOSING))
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise InvalidInput(f"The JSON of an IDE context message cannot be read: {error}") from error
