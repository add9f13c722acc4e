"""What the summariser is asked: the history as quoted data, and the requests around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.compression.instructions import FIRST_REQUEST, LENGTH_REQUEST, MERGE_REQUEST, NO_ANSWER
from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.history.content import Content, Part, model_text, user_text
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.part import call_of, is_thought, media_of, response_of, response_text, text_of
from gemini_companion.engine.history.retention import MissingFact
from gemini_companion.engine.ide_context.message import read_message

BLOCKS_IN_A_TEXT: Final = 32
"""So few fit into the processor's cache while they are joined; one text of a whole window takes half as long again."""

_encode: Final = msgspec.json.Encoder().encode
_NEVER_QUOTED: Final = frozenset({"thought", "thoughtSignature"})

_PATH_KEYS: Final = frozenset({"path", "previousPath", "otherOpenFiles", "filesOpened", "filesClosed"})
"""Fields of an IDE context message that hold a path, or several."""


def quote(items: Sequence[Item], *, nonce: str, first_index: int = 0, limit: int | None = None) -> list[str]:
    """Each item as a fenced block of text, numbered from `first_index`.

    `nonce` is the secret marker of the fences. `limit`, in characters, cuts a body in the middle where no window
    could hold it.
    """
    return ["\n".join(_fenced(index, item, nonce, limit)) for index, item in enumerate(items, first_index)]


def quoted_texts(items: Sequence[Item], *, nonce: str, first_index: int = 0, limit: int | None = None) -> list[str]:
    """The blocks of `quote`, joined into texts of `BLOCKS_IN_A_TEXT` blocks each; concatenated they are the data."""
    texts: list[str] = []
    for start in range(0, len(items), BLOCKS_IN_A_TEXT):
        lines = [""] if start else []
        for index, item in enumerate(items[start : start + BLOCKS_IN_A_TEXT], first_index + start):
            parts = item.content.parts
            if limit is None and len(parts) == 1 and len(part := parts[0]) == 1 and item.kind != "ide":
                text = part.get("text")
                if type(text) is str and "<" not in text:  # most contents are one text, and need nothing else
                    lines += f"<<<content {index} {item.content.role} {nonce}", text, f"content {index} {nonce}>>>"
                    continue
            lines += _fenced(index, item, nonce, limit)
        texts.append("\n".join(lines))
    return texts


def summary_contents(
    texts: Sequence[str], *, previous_snapshot: str | None, guidance: str, nonce: str, words: int = 0
) -> tuple[Content, ...]:
    """The contents of the first request: one user content with a part per text of `quoted_texts`, then the request.

    `previous_snapshot` comes first where there is one. `guidance` is the user's own wish, `""` for none. `words` is
    the length to aim at, 0 for any.
    """
    parts: list[Part] = []
    if previous_snapshot is not None:
        parts.append(
            {"text": f"<<<earlier snapshot {nonce}\n{neutralise(previous_snapshot)}\nearlier snapshot {nonce}>>>\n"}
        )
    parts.extend({"text": text} for text in texts)
    request = FIRST_REQUEST if previous_snapshot is None else MERGE_REQUEST
    if words:
        request += f" {LENGTH_REQUEST.format(words=words)}"
    if guidance:
        request += f"\nThe user asks that the snapshot heed this in particular: {neutralise(guidance)}"
    parts.append({"text": request})
    return (Content(role="user", parts=tuple(parts)),)


def follow_up(contents: tuple[Content, ...], answer: str, request: str) -> tuple[Content, ...]:
    """The contents of a follow-up request: those of the request before, its answer, and the next question."""
    return (*contents, model_text(answer or NO_ANSWER), user_text(request))


def missing_list(missing: Sequence[MissingFact]) -> str:
    """What a snapshot left out, an entry a line, as data that no tag and no line break gets out of."""
    return "\n".join(f"- {fact.kind}: {neutralise(' '.join(fact.text.split()))}" for fact in missing)


def _fenced(index: int, item: Item, nonce: str, limit: int | None) -> tuple[str, ...]:
    """The lines of a block: what opens the fence, the body, what closes it. One string may hold many lines."""
    lines = _quotable(item)
    if limit is not None:
        lines = _shortened(lines, limit)
    for line in lines:
        if "<" in line:
            lines = (neutralise("\n".join(lines)),)
            break
    # The fence's own brackets open no reserved tag, nor can one begin in a body and end outside of it.
    return f"<<<content {index} {item.content.role} {nonce}", *lines, f"content {index} {nonce}>>>"


def _quotable(item: Item) -> tuple[str, ...]:
    """The text of an item, in pieces that are not copied: a history may have hundreds of megabytes of them."""
    parts = item.content.parts
    if item.kind == "ide":
        return tuple([f"[editor: {', '.join(editor_paths(text_of(part) or ''))}]" for part in parts]) or ("",)
    if len(parts) != 1:
        return tuple(filter(None, ["\n".join(_lines(part)) for part in parts])) or ("",)
    part = parts[0]
    if len(part) == 1:  # nearly every content: one text, one call or one result
        for field, value in part.items():
            if field == "text" and isinstance(value, str):
                return (value,)
            if isinstance(value, dict):
                if field == "functionResponse":
                    return _result(cast("dict[str, Any]", value))
                if field == "functionCall":
                    return (_call(cast("dict[str, Any]", value)),)
    return _lines(part) or ("",)


def _shortened(lines: tuple[str, ...], limit: int) -> tuple[str, ...]:
    body = "\n".join(lines)
    if len(body) <= limit:
        return lines
    head = limit // 5
    return (f"{body[:head]}\n[… {len(body) - limit:,} characters left out …]\n{body[-(limit - head) :]}",)


def _lines(part: Part) -> tuple[str, ...]:
    if is_thought(part):
        return ()
    lines: list[str] = []
    if (text := text_of(part)) is not None:
        lines.append(text)
    if (call := call_of(part)) is not None:
        lines.append(_call(call))
    if (response := response_of(part)) is not None:
        lines += _result(response)
    if (media := media_of(part)) is not None:
        lines.append(describe_media(media))
    unknown = {} if lines else {key: value for key, value in part.items() if key not in _NEVER_QUOTED}
    return (_json(unknown),) if unknown else tuple(lines)


def _call(call: dict[str, Any]) -> str:
    return f"[call {call.get('name', '')} {_json(call.get('args', {}))}]"


def _result(response: dict[str, Any]) -> tuple[str, ...]:
    name = f"[result {response.get('name', '')}]"
    text = response_text(response)
    if text is None:
        text = whole_text(response)
    return (name, text, *nested_media(response)) if "parts" in response else (name, text)


def editor_paths(text: str) -> list[str]:
    """The paths that an IDE context message names, in order, each once; empty if the text is no such message."""
    try:
        message = read_message(text)
    except InvalidInput:
        return []
    paths: dict[str, None] = {}
    pending: list[tuple[str, object]] = [("", msgspec.to_builtins(message))]
    while pending:
        key, value = pending.pop()
        if isinstance(value, dict):
            pending.extend(reversed(list(cast("dict[str, object]", value).items())))
        elif isinstance(value, list | tuple):
            pending.extend((key, member) for member in reversed(cast("list[object]", value)))
        elif isinstance(value, str) and key in _PATH_KEYS:
            paths[value] = None
    return list(paths)


def nested_media(response: dict[str, Any]) -> list[str]:
    """Descriptions of the media that a function response carries in parts of its own."""
    nested = response.get("parts")
    if not isinstance(nested, list):
        return []
    parts = (cast("Part", part) for part in cast("list[object]", nested) if isinstance(part, dict))
    return [describe_media(media) for part in parts if (media := media_of(part)) is not None]


def describe_media(media: dict[str, Any]) -> str:
    """`[screen.png, image/png, 34 kB]` for a media object: its name if it has one, its type, its size if inline."""
    mime = str(media.get("mimeType") or "unknown type")[:100]
    data, name = media.get("data"), media.get("displayName")
    if isinstance(name, str) and name:
        mime = f"{neutralise(one_line(name[:200]))}, {mime}"
    if isinstance(data, str):
        return f"[{mime}, {max(1, len(data) * 3 // 4 // 1000)} kB]"
    return f"[{mime}, {str(media.get('fileUri') or 'a file')[:500]}]"


def _json(value: object) -> str:
    try:
        return _encode(value).decode()
    except (TypeError, UnicodeEncodeError, RecursionError):
        return repr(value)[:1000]
