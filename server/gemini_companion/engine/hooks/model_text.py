"""Requests and answers of a model as hooks see them: texts alone. And what hooks made of them, put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.part import is_thought, text_of

_MOST_MESSAGES: Final = 10_000


_SETTINGS: Final = (
    ("temperature", 0.0, 2.0),
    ("topP", 0.0, 1.0),
    ("topK", 1, 1_000),
    ("maxOutputTokens", 1, 10_000_000),
)
"""Values of a request that hooks may set, with the least and the greatest."""
_WHOLE: Final = frozenset({"maxOutputTokens"})


def settings_of(config: object) -> dict[str, float]:
    """The values of a hook's `config` that a request can have; what is out of range, or no number, is left out."""
    fields = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    found: dict[str, float] = {}
    for name, least, most in _SETTINGS:
        value = fields.get(name)
        kinds = int if name in _WHOLE else int | float
        if isinstance(value, kinds) and not isinstance(value, bool) and least <= value <= most:
            found[name] = value if name in _WHOLE else float(value)
    return found


def messages_of(contents: Sequence[Content]) -> list[dict[str, str]]:
    """The contents that have text, as role and text."""
    return [{"role": one.role, "content": text} for one in contents if (text := spoken(one.parts))]


def spoken(parts: Sequence[Part]) -> str:
    """The text of the parts, without thoughts."""
    return "".join(text_of(part) or "" for part in parts if not is_thought(part))


def with_messages(contents: Sequence[Content], messages: object) -> tuple[Content, ...]:
    """The contents with the texts of a hook's messages: by position, further ones behind.

    What is no text stays, and so do contents that the hook says nothing of. What is no message is left out.
    """
    if not isinstance(messages, list):
        return tuple(contents)
    wanted = [_message(one) for one in cast("list[object]", messages)[:_MOST_MESSAGES]]
    changed, at = list[Content](), 0
    for content in contents:
        if not spoken(content.parts):
            changed.append(content)
            continue
        told = wanted[at] if at < len(wanted) else None
        at += 1
        changed.append(content if told is None else _retold(content, told[1]))
    more = [Content(role=told[0], parts=({"text": told[1]},)) for told in wanted[at:] if told is not None and told[1]]
    return (*changed, *more)


def response_of(
    parts: Sequence[Part], finish_reason: str = "", usage: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """An answer as hooks see it; without a finish reason, what has come of it so far."""
    texts = [text for part in parts if not is_thought(part) and (text := text_of(part))]
    reason = {"finishReason": finish_reason} if finish_reason else {}
    return {
        "text": "".join(texts),
        "candidates": [{"content": {"role": "model", "parts": texts}, **reason, "index": 0}],
        **({} if usage is None else {"usageMetadata": dict(usage)}),
    }


def text_of_response(response: Mapping[str, Any] | None) -> str:
    """The text of a hook's `llm_response`; empty if there is none in it."""
    candidates: Any = (response or {}).get("candidates")
    first: Any = cast("list[object]", candidates)[0] if isinstance(candidates, list) and candidates else None
    content: Any = cast("dict[str, Any]", first).get("content") if isinstance(first, dict) else None
    parts: Any = cast("dict[str, Any]", content).get("parts") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        return ""
    texts: list[str] = []
    for part in cast("list[object]", parts):
        text = cast("dict[str, Any]", part).get("text") if isinstance(part, dict) else part
        texts += [text] if isinstance(text, str) else []
    return well_formed("".join(texts))


def with_text(parts: Sequence[Part], text: str) -> tuple[Part, ...]:
    """An answer with another text: thoughts and calls stay, at their places."""
    return _retold(Content(role="model", parts=tuple(parts)), text).parts


def _message(value: object) -> tuple[Any, str] | None:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    role, text = fields.get("role"), fields.get("content")
    if not isinstance(text, str):
        return None
    return ("model" if role in ("model", "assistant") else "user"), well_formed(text)


def _retold(content: Content, text: str) -> Content:
    if spoken(content.parts) == text:
        return content
    parts: list[Part] = []
    is_told = not text
    for part in content.parts:
        if is_thought(part) or text_of(part) is None:
            parts.append(part)
        elif not is_told:
            parts.append({**part, "text": text})
            is_told = True
    if not is_told:
        parts.insert(0, {"text": text})
    return Content(role=content.role, parts=tuple(parts) or ({"text": text},))
