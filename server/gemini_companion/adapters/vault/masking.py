"""Secrets masked for good, by all that looks for them: for what nobody needs to get back."""

from __future__ import annotations

from typing import Final

from gemini_companion.adapters.vault.betterleaks import Betterleaks
from gemini_companion.engine.redaction.documents import redacted_document
from gemini_companion.engine.redaction.finding import all_secrets
from gemini_companion.engine.redaction.markers import replaced

_FINDERS: Final = (Betterleaks(),)


def masked_document(data: bytes) -> bytes:
    """A JSON document with its secrets masked; a value counts as one by the key that it stands under, too."""
    masked = redacted_document(data, _mask, _FINDERS)
    return data if masked is None else masked


def masked_text(text: str) -> str:
    """A text with its secrets masked; one that is JSON as a document."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return masked_document(text.encode()).decode()
        except (ValueError, RecursionError):
            pass
    return replaced(text, all_secrets(text, _FINDERS), _mask)


def _mask(secret: str, kind: str) -> str:
    return f"[masked: {kind}]"
