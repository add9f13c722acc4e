"""The receipt of a turn's IDE context: the event `ideContextSent`, and `gemini/context/preview`."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.extent import SelectionCut, TextExtent
from gemini_companion.engine.history.log import Withheld
from gemini_companion.engine.ide_context.state import FileText

Kind: TypeAlias = Literal["full", "delta", "none"]


NO_ROOM: Final = "too long to go along"
"""Why the unsaved text of a file without the focus does not go along."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What went to the model with this turn. The wire's `ideContextSent` has no kind `none`."""

    kind: Kind
    files: tuple[str, ...] = ()
    """Absolute paths that the message names."""
    closed: tuple[str, ...] = ()
    """Those of `files` that it says are open no more."""
    texts: tuple[TextExtent, ...] = ()
    """How much it gives of the files whose text it is about."""
    selection_chars: int = 0
    """Characters of selected text in the message."""
    selection_cut: SelectionCut | None = None
    """Which lines these are of a selection that was too long."""
    withheld: tuple[Withheld, ...] = ()


def extent_of(
    path: str, text: FileText | None, *, is_unsaved: bool = False, as_changes: bool = False, reason: str = ""
) -> TextExtent:
    """How much of a file `text` is; `reason` is why there is none."""
    if text is None:
        return TextExtent(path=path, extent="path", unsaved=is_unsaved, reason=reason)
    if text.lines is None:
        return TextExtent(path=path, extent="whole", unsaved=is_unsaved, as_changes=as_changes)
    return TextExtent(
        path=path,
        extent="part" if text.is_cut else "lines",
        lines=(text.lines.start_line, text.lines.end_line),
        line_count=text.line_count,
        unsaved=is_unsaved,
        as_changes=as_changes,
    )


def masked_secrets(path: str, count: int) -> Withheld:
    """A report that a file was sent without the secrets in it."""
    return Withheld(name=base_name(path), reason="1 secret masked" if count == 1 else f"{count} secrets masked")


def base_name(path: str) -> str:
    """The last name of a path, with either kind of slash; a root comes back whole."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
