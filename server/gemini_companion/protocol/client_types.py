"""What the daemon asks of a client."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.sessions.tool_results import ToolQuestion


class _Params(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class ConfirmToolParams(ToolQuestion, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A tool asks before it acts. The fields are those of the event `toolQuestionAsked`, but for `text`."""

    text: str = ""
    """All of it as plain text, for a client that has `questionText` in `supports`: whole, and signs that nobody can see
    are shown by their number.
    """


class ConfirmToolResult(_Params, frozen=True, kw_only=True):
    """The person's answer."""

    outcome: Literal["once", "session", "always", "reject"]
    edited_args: dict[str, Any] | None = None
    """The arguments as the person changed them; they pass every check again."""
    edited_content: str | None = None
    """The text of the file as the person corrected it in the diff; the model is told."""
    reason: str | None = None
    """Why not, for the model."""
    rule: ToolRule | None = None
    """The rule to keep, if the person changed it."""


class AskUserParams(_Params, frozen=True, kw_only=True):
    """The model asks the person something."""

    session_id: str
    tool_call_id: str
    question: str
    options: tuple[str, ...] = ()
    allows_text: bool = True
    """An answer in the person's own words is welcome."""


class AskUserResult(_Params, frozen=True, kw_only=True):
    """The answer: an option's text, or the person's own; absent if they would not say."""

    answer: str | None = None


class DiagnosticsParams(_Params, frozen=True, kw_only=True):
    """Which problems does the editor report?"""

    paths: tuple[str, ...]
    wait_ms: int = 0
    """How long to wait for those of the newest text, at most."""


class EditorDiagnostic(_Params, frozen=True, kw_only=True):
    """A problem that the editor reports."""

    line: int
    """From 1."""
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""
    code: str = ""


class EditorFileDiagnostics(_Params, frozen=True, kw_only=True):
    """The problems of one file; `isCurrent` if they are about its text as it is now."""

    path: str
    diagnostics: tuple[EditorDiagnostic, ...]
    is_current: bool = True


class DiagnosticsResult(_Params, frozen=True, kw_only=True):
    """The problems of each file that was asked about."""

    files: tuple[EditorFileDiagnostics, ...]


class SaveDocumentParams(_Params, frozen=True, kw_only=True):
    """An open document is to be written to the disk, as the person's own save does it."""

    path: str


class SaveDocumentResult(_Params, frozen=True, kw_only=True):
    """Whether the disk has the document's text now."""

    saved: bool


class OpenDiffParams(_Params, frozen=True, kw_only=True):
    """A proposed content of a file, to be looked at."""

    path: str
    new_content: str


class OpenDiffResult(_Params, frozen=True, kw_only=True):
    """What became of it; `content` if the person edited it."""

    outcome: Literal["accepted", "rejected"]
    content: str | None = None
