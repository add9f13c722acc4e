"""What is told of a request to a model beside the entry that it leaves in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.model_call import CallPurpose, ModelCallEntry
from gemini_companion.engine.statistics.uses import price_of
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from gemini_companion.sessions.observing.records import TEXT_TAKEN, ModelCalled, word

_ROLES: Final[Mapping[CallPurpose, str]] = {
    "answer": "main",
    "compression": "utility_compressor",
    "preparing": "utility_compressor",
    "title": "utility_title",
    "condensing": "utility_output",
    "grounding": "utility_tool",
}
"""Roles of calls that have no request of ours."""


class ModelCallTold:
    """Gathers what a request's record has in it; texts only `with_text`."""

    def __init__(self, request: ModelRequest | None, *, with_text: bool) -> None:
        self._request = request
        self._with_text = with_text
        self._finish_reason = ""
        self._response: list[str] = []
        self._length = 0

    def take(self, chunk: ModelChunk) -> None:
        """Note a piece of the answer."""
        self._finish_reason = chunk.finish_reason or self._finish_reason
        if self._with_text and self._length < TEXT_TAKEN:
            text = visible_text_of(chunk.parts)
            self._length += len(text)
            self._response.append(text)

    def record(self, entry: ModelCallEntry, session_id: str, provider: str) -> ModelCalled:
        """The record of a request that has ended."""
        request = self._request
        return ModelCalled(
            time=entry.time,
            session_id=session_id,
            provider=provider,
            model=entry.model[:200],
            purpose=entry.purpose,
            role=request.role if request is not None else _ROLES[entry.purpose],
            subject=entry.subject,
            prompt_id=(request.prompt_id if request is not None else "") or entry.subject,
            outcome=entry.outcome,
            fault=word(entry.fault) if entry.fault else "",
            finish_reason=word(self._finish_reason) if self._finish_reason else "",
            usage=entry.usage,
            duration_ms=entry.duration_ms,
            first_ms=entry.first_ms,
            cost=price_of(entry.usage, entry.model, is_local=entry.is_local),
            texts=self._texts(),
        )

    def _texts(self) -> dict[str, str]:
        """The request's last content, since those before it were sent with earlier ones, and the answer."""
        if not self._with_text:
            return {}
        last = self._request.contents[-1:] if self._request is not None else ()
        texts = {
            "request": "".join(visible_text_of(content.parts) for content in last)[:TEXT_TAKEN],
            "response": "".join(self._response)[:TEXT_TAKEN],
        }
        return {name: text for name, text in texts.items() if text}
