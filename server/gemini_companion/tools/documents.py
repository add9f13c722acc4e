"""What an editor says of its documents."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import msgspec

EditAnswer: TypeAlias = Literal["made", "refused", "unanswered", "unable"]
"""What became of an edit that an editor was asked to make. `unable`: it was not asked, for it has not opened the
document or takes no edits at all. `refused`: the person or the editor said no, or the text is another by now.
`unanswered`: it may still make it.
"""


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A problem that the editor reports."""

    line: int
    """From 1."""
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""
    code: str = ""


class FileDiagnostics(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What the editor reports for a file; `is_current` if it is about the text as it is now."""

    path: str
    diagnostics: tuple[Diagnostic, ...]
    is_current: bool = True


class Buffer(msgspec.Struct, frozen=True, kw_only=True):
    """An open document."""

    path: str
    text: str
    is_dirty: bool
    """It differs from what is on the disk."""


class Saved(NamedTuple):
    """That an editor saved a document."""

    number: int
    """Rises with each save of any document."""
    text_hash: int

    @classmethod
    def of(cls, number: int, text: str) -> Saved:
        """Of the text that was saved."""
        return cls(number, hash(text.replace("\r\n", "\n")))

    def is_text(self, text: str) -> bool:
        """Whether a text is the one that was saved, whatever its line ends."""
        return Saved.of(self.number, text) == self
