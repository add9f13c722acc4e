"""Secrets masked for good, by all that looks for them: for what nobody needs to get back."""

from __future__ import annotations

from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.engine.redaction.documents import redacted_document
from gemini_companion.engine.redaction.finding import Finder, all_secrets
from gemini_companion.engine.redaction.markers import replaced


class Masking:
    """Masks what our own patterns and Betterleaks' rules find, and what `known` does: the vault's own secrets, which
    nothing around them may give away. Any thread may call it.
    """

    def __init__(self, known: Finder | None = None) -> None:
        self._finders = (Betterleaks(),) if known is None else (known, Betterleaks())

    def document(self, data: bytes) -> bytes:
        """A JSON document with its secrets masked; a value counts as one by the key that it stands under, too.

        Raises `msgspec.DecodeError` for what is no JSON.
        """
        masked = redacted_document(data, _mask, self._finders)
        return data if masked is None else masked

    def text(self, text: str) -> str:
        """A text with its secrets masked; one that is JSON as a document."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                return self.document(text.encode()).decode()
            except (ValueError, RecursionError):
                pass
        return replaced(text, all_secrets(text, self._finders), _mask)


def _mask(secret: str, kind: str) -> str:
    return f"[masked: {kind}]"
