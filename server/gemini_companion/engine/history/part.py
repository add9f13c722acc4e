"""Reading one part of a content, whatever JSON it holds. Nothing here raises."""

from __future__ import annotations

from typing import Any, Final, cast

from gemini_companion.engine.history.content import Content, Part, visible_text_of

SKIP_SIGNATURE: Final = "skip_thought_signature_validator"
"""What Gemini 3 accepts in place of a thought's signature that no longer fits its call (a literal of its API)."""


def is_truthy(value: object) -> bool:
    """JavaScript's truthiness: objects and arrays always are, even empty ones, as in Gemini CLI."""
    if isinstance(value, dict | list | tuple):
        return True
    if isinstance(value, float) and value != value:  # NaN
        return False
    return bool(value)


def text_of(part: Part) -> str | None:
    """The part's text, or `None` if it has none."""
    text = part.get("text")
    return text if isinstance(text, str) else None


def is_thought(part: Part) -> bool:
    """True for the model's private reasoning."""
    return part.get("thought") is True


def call_of(part: Part) -> dict[str, Any] | None:
    """The function call object, or `None`. A truthy value that is no object counts as an empty call."""
    return _object(part.get("functionCall"))


def response_of(part: Part) -> dict[str, Any] | None:
    """The function response object, or `None`. A truthy value that is no object counts as an empty response."""
    return _object(part.get("functionResponse"))


def media_of(part: Part) -> dict[str, Any] | None:
    """The `inlineData` or `fileData` object, or `None`."""
    return _object(part.get("inlineData")) or _object(part.get("fileData"))


def has_call(content: Content) -> bool:
    """True if any part calls a function."""
    return any(is_truthy(part.get("functionCall")) for part in content.parts)


def has_response(content: Content) -> bool:
    """True if any part answers a function call."""
    return any(is_truthy(part.get("functionResponse")) for part in content.parts)


def is_plain_user(content: Content) -> bool:
    """True for a user content without function responses: where a history may be split."""
    return content.role == "user" and not has_response(content)


def visible_text(content: Content) -> str:
    """All text of a content except thoughts: a model's is one text in pieces, a user's parts stand apart."""
    if content.role != "user":
        return visible_text_of(content.parts)
    return "\n".join(text for part in content.parts if (text := visible_text_of((part,))))


def response_text(response: dict[str, Any]) -> str | None:
    """The string that a function response carries: `output`, else `content`; `None` if it carries other JSON."""
    body = response.get("response")
    if isinstance(body, str):
        return body
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        for key in ("output", "content"):
            value = fields.get(key)
            if isinstance(value, str):
                return value
    return None


def _object(value: object) -> dict[str, Any] | None:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return {} if is_truthy(value) else None
