"""Where there is no editor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gemini_companion.tools.documents import Buffer, EditAnswer, FileDiagnostics, Saved
from gemini_companion.tools.ports import PersonsAnswer


class NoEditor:
    """An `EditorPort` of nobody: nothing is open, nobody answers."""

    def buffer(self, path: str) -> Buffer | None:
        """Nothing is open."""
        return None

    def unsaved(self) -> Sequence[Buffer]:
        """Nothing is open."""
        return ()

    def saved(self) -> Mapping[str, Saved]:
        """Nothing was saved."""
        return {}

    async def diagnostics(self, paths: Sequence[str], *, wait: bool) -> tuple[FileDiagnostics, ...] | None:
        """It cannot say."""
        return None

    async def apply_edit(self, path: str, text: str, label: str) -> EditAnswer:
        """It cannot."""
        return "unable"

    async def save(self, path: str) -> bool:
        """It cannot."""
        return False

    async def ask(self, question: str, options: Sequence[str], *, allows_text: bool) -> PersonsAnswer | None:
        """Nobody answers."""
        return None
