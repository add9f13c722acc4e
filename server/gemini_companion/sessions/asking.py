"""Asking a client's person or editor something, as sessions see it; `protocol` has the other side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.sessions.tool_results import ToolQuestion
from gemini_companion.tools.documents import EditAnswer, FileDiagnostics


class ConsentAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A person's answer to a tool's question; decoded, and no more believed than any other input."""

    outcome: Literal["once", "session", "always", "reject"]
    edited_args: dict[str, Any] | None = None
    edited_content: str | None = None
    """The file's text as the person corrected it."""
    reason: str = ""
    rule: ToolRule | None = None


class Asker(Protocol):
    """One client's person and editor. `None` means no answer: out of time, gone, refused, or not able to."""

    async def confirm(self, question: ToolQuestion, seconds: float) -> ConsentAnswer | None:
        """May this call go ahead? By `gemini/confirmTool`, else by a message with buttons."""
        ...

    async def ask(
        self, session_id: str, call_id: str, question: str, options: Sequence[str], *, allows_text: bool, seconds: float
    ) -> str | None:
        """The person's answer, by `gemini/askUser`, else by a message with the options as buttons."""
        ...

    async def diagnostics(self, paths: Sequence[str], *, wait_ms: int) -> tuple[FileDiagnostics, ...] | None:
        """What the editor reports for absolute paths."""
        ...

    async def apply_edit(self, path: str, before: str, after: str, label: str) -> EditAnswer:
        """Turn an open document's text from one into the other, by `workspace/applyEdit`, versioned."""
        ...

    async def save(self, path: str) -> bool:
        """Write an open document to the disk, by `gemini/saveDocument`; whether it was."""
        ...
