"""What servers answer, as text and parts of a request."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.escapes import value_for_model
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.mcp.schemas import clean_text
from gemini_companion.engine.media_types import agreed_type

MAX_MEDIA_BYTES: Final = 10 * 2**20
"""Of all media of one answer; a request takes 20 MB, and media grow by a third in it."""
MOST_BLOCKS: Final = 10_000
_MAX_TEXT: Final = 4_000_000
"""Characters of one block; the transport ends far above."""
_MAX_UNREADABLE: Final = 4_000
"""Characters of what cannot be read, as JSON."""
_KNOWN: Final = frozenset({"content", "structuredContent", "isError", "resultType"})
_KINDS: Final = frozenset(
    {
        *("image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/heif", "application/pdf"),
        *("audio/wav", "audio/mp3", "audio/mpeg", "audio/aac", "audio/ogg", "audio/flac", "audio/aiff", "audio/mp4"),
    }
)
"""Media types that a model takes."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """An answer: its text, its media, and whether the server says that it failed."""

    text: str
    media: tuple[Part, ...] = ()
    is_error: bool = False


def result_of(raw: Mapping[str, Any]) -> Answered:
    """The result of a tool's call."""
    content = raw.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else [] if content is None else [content]
    reading = _Reading()
    texts = list(reading.of(blocks))
    others = {key: held for key, held in raw.items() if key not in _KNOWN and not key.startswith("_")}
    if others and not texts and not reading.media:  # from before `content`, or from a server of its own mind
        texts.append(_shown(others))
    structured = value_for_model(raw.get("structuredContent"))
    if structured is not None and not _is_told(texts, blocks, structured):
        texts.append(json.dumps(_without_media(structured, _media_in(blocks)), ensure_ascii=False))
    return Answered(text="\n".join(texts), media=tuple(reading.media), is_error=raw.get("isError") is True)


def resource_of(raw: Mapping[str, Any]) -> Answered:
    """What was read of a resource."""
    contents = raw.get("contents")
    reading = _Reading()
    blocks = [
        {"type": "resource", "resource": one}
        for one in (cast("list[object]", contents) if isinstance(contents, list) else ())
    ]
    return Answered(text="\n".join(reading.of(blocks, with_heads=len(blocks) > 1)), media=tuple(reading.media))


def prompt_of(raw: Mapping[str, Any]) -> Answered:
    """The messages of a prompt as one text; who is meant to say each is named where it is not the person."""
    messages = raw.get("messages")
    reading = _Reading()
    texts: list[str] = []
    for message in (cast("list[object]", messages) if isinstance(messages, list) else [])[:MOST_BLOCKS]:
        fields = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
        content = fields.get("content")
        blocks = cast("list[object]", content) if isinstance(content, list) else [content]
        said = "\n".join(reading.of(blocks))
        if said:
            texts.append(f"[assistant] {said}" if fields.get("role") == "assistant" else said)
    return Answered(text="\n\n".join(texts), media=tuple(reading.media))


def _media_in(blocks: Iterable[object]) -> frozenset[str]:
    """What the blocks have as base64."""
    found: set[str] = set()
    for block in blocks:
        fields = cast("dict[str, Any]", block) if isinstance(block, dict) else {}
        held = fields.get("resource")
        inner = cast("dict[str, Any]", held) if isinstance(held, dict) else {}
        found.update(data for data in (fields.get("data"), inner.get("blob")) if isinstance(data, str) and data)
    return frozenset(found)


def _without_media(value: object, media: frozenset[str]) -> object:
    """The value without what stands in it as base64 and is told as a picture or a sound already."""
    if isinstance(value, str):
        return "[as above]" if value in media else value
    if isinstance(value, list):
        return [_without_media(one, media) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _without_media(one, media) for key, one in cast("dict[str, object]", value).items()}
    return value


def _is_told(texts: list[str], blocks: list[object], structured: object) -> bool:
    """Whether the blocks, whose texts these are, say what the structured content says: servers send both, the same."""
    for text in texts:
        try:
            if json.loads(text) == structured:
                return True
        except (ValueError, RecursionError):
            continue
    fields = cast("dict[str, Any]", structured) if isinstance(structured, dict) else {}
    if len(fields) == 1:  # SDKs put what a tool gives under one name, most of them `result`
        ((name, told),) = fields.items()
        if told == blocks or told in ("\n".join(texts), *texts) or [str(told)] == texts:
            return True
        return name == "result" and told in ([], {}, "", None)
    return False


class _Reading:
    def __init__(self) -> None:
        self.media: list[Part] = []
        self._left = MAX_MEDIA_BYTES

    def of(self, blocks: Iterable[object], *, with_heads: bool = True) -> Iterator[str]:
        for number, block in enumerate(blocks):
            if number >= MOST_BLOCKS:
                yield f"[Only the first {MOST_BLOCKS} pieces are shown.]"
                return
            if isinstance(block, dict):
                yield from self._one(cast("dict[str, Any]", block), with_heads)
            elif isinstance(block, str):
                yield _bounded(block)
            elif block is not None:
                yield _unreadable(block)

    def _one(self, block: dict[str, Any], with_heads: bool) -> Iterator[str]:
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                yield _bounded(block["text"])
            case "image" | "audio":
                yield from self._media(block.get("mimeType"), block.get("data"), str(block["type"]))
            case "resource_link":
                uri, name, words = (_line(block.get(key)) for key in ("uri", "name", "description"))
                yield f"[Resource {uri}: {name} {words}]"
            case "resource":
                held = block.get("resource")
                fields = cast("dict[str, Any]", held) if isinstance(held, dict) else {}
                uri = _line(fields.get("uri"))
                if isinstance(fields.get("text"), str):
                    text = _bounded(fields["text"])
                    yield f"[Resource {uri}]\n{text}" if with_heads else text
                elif isinstance(fields.get("blob"), str):
                    yield from self._media(fields.get("mimeType"), fields["blob"], f"resource {uri}")
                else:
                    yield _unreadable(block)
            case _:
                yield _unreadable(block)

    def _media(self, mime_type: object, data: object, what: str) -> Iterator[str]:
        kind = str(mime_type).partition(";")[0].strip().lower()
        if not isinstance(data, str) or kind not in _KINDS:
            yield f"[The {what} ({_line(mime_type)}) is of a kind that cannot be shown.]"
            return
        size = len(data) * 3 // 4
        if size > self._left:
            yield f"[The {what} ({kind}, {size:,} bytes) is too large to be shown.]"
            return
        try:
            decoded = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            yield f"[The {what} ({kind}) is damaged: it is no base64.]"
            return
        found = agreed_type(kind, decoded)
        if found is None:  # a service refuses the whole request for it, and every later one
            is_empty = "it is empty" if not decoded else "its bytes are of no such kind"
            yield f"[The {what} ({kind}, {len(decoded):,} bytes) is damaged: {is_empty}.]"
            return
        kind = found
        self._left -= len(decoded)
        self.media.append({"inlineData": {"mimeType": kind, "data": base64.b64encode(decoded).decode()}})


def _unreadable(piece: object) -> str:
    """A piece that is not as the protocol has it, word for word as far as it is short."""
    kind: object = cast("dict[str, Any]", piece).get("type") if isinstance(piece, dict) else type(piece).__name__
    return f"[A piece of the kind {_line(str(kind))} cannot be read. It is: {_shown(cast('object', piece))}]"


def _shown(value: object) -> str:
    text = json.dumps(value_for_model(value), ensure_ascii=False)
    return text if len(text) <= _MAX_UNREADABLE else f"{text[:_MAX_UNREADABLE]}… ({len(text):,} characters)"


def _bounded(text: object) -> str:
    """A text of any length; of a longer one the beginning, and word of how much there was."""
    if not isinstance(text, str) or len(text) <= _MAX_TEXT:
        return clean_text(text, _MAX_TEXT)
    kept = clean_text(text[:_MAX_TEXT], _MAX_TEXT)
    return f"{kept}\n[The first {_MAX_TEXT:,} of {len(text):,} characters. Ask for less at once to see the rest.]"


def _line(text: object) -> str:
    return " ".join(clean_text(text, 300).split())
