"""Searching and reading by Gemini's own tools: the body of such a request, and what its answer rests on.

A separate request without function declarations, since older models refuse both together. What came is checked field by
field: whatever is not as documented is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, cast

from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.history.part import is_thought, text_of
from gemini_companion.sessions.models.port import GroundingMeans, ModelChunk
from gemini_companion.tools.grounding import Grounded, GroundedPassage, WebPage, WebSource

Json: TypeAlias = dict[str, Any]

_TOOLS: Final[dict[GroundingMeans, str]] = {"search": "googleSearch", "pages": "urlContext"}
_MOST_SOURCES: Final = 100
_MOST_PASSAGES: Final = 1_000
_LONGEST_ADDRESS: Final = 2_000
_LONGEST_TITLE: Final = 300
_READ: Final = "SUCCESS"
_STATE_PREFIX: Final = "URL_RETRIEVAL_STATUS_"


def ground_body(prompt: str, by: GroundingMeans) -> Json:
    """The body of the `generateContent`."""
    return {"contents": [{"role": "user", "parts": [{"text": prompt}]}], "tools": [{_TOOLS[by]: {}}]}


def grounded_of(chunk: ModelChunk, grounding: object, url_context: object) -> Grounded:
    """The answer in `chunk`, and what it rests on, from `groundingMetadata` and `urlContextMetadata` as JSON."""
    texts = ["" if is_thought(part) else text_of(part) or "" for part in chunk.parts]
    fields = _object(grounding)
    kept: dict[int, int] = {}
    sources: list[WebSource] = []
    for number, wire in enumerate(_list(fields.get("groundingChunks"))[:_MOST_SOURCES]):
        source = _source(_object(_object(wire).get("web")))
        if source is not None:
            kept[number] = len(sources)
            sources.append(source)
    return Grounded(
        text="".join(texts),
        sources=tuple(sources),
        passages=tuple(_passages(_list(fields.get("groundingSupports"))[:_MOST_PASSAGES], texts, kept)),
        pages=tuple(_pages(_list(_object(url_context).get("urlMetadata"))[:_MOST_SOURCES])),
    )


def _source(web: Json) -> WebSource | None:
    address = _address(web.get("uri"))
    return WebSource(address=address, title=_line(web.get("title"))) if address else None


def _passages(supports: Sequence[object], texts: Sequence[str], kept: dict[int, int]) -> Iterator[GroundedPassage]:
    for support in map(_object, supports):
        segment = _object(support.get("segment"))
        end = _end(segment, texts)
        numbers = [number for number in _list(support.get("groundingChunkIndices")) if type(number) is int]
        sources = tuple(dict.fromkeys(kept[number] for number in numbers if number in kept))
        if end is not None and sources:
            yield GroundedPassage(end=end, sources=sources)


def _end(segment: Json, texts: Sequence[str]) -> int | None:
    """Where a segment ends in all of the text, in characters; the service counts bytes of one part."""
    part, end = segment.get("partIndex", 0), segment.get("endIndex")
    if type(part) is not int or type(end) is not int or not 0 <= part < len(texts):
        return None
    encoded = texts[part].encode()
    if not 0 < end <= len(encoded):
        return None
    return sum(map(len, texts[:part])) + len(encoded[:end].decode("utf-8", "ignore"))


def _pages(wires: Sequence[object]) -> Iterator[WebPage]:
    for wire in map(_object, wires):
        address = _address(wire.get("retrievedUrl"))
        state = str(wire.get("urlRetrievalStatus") or "").removeprefix(_STATE_PREFIX)[:40]
        if address:
            yield WebPage(address=address, is_read=state == _READ, state=state.lower() or "unknown")


def _address(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_ADDRESS or one_line(value) != value or " " in value:
        return ""
    return value if value.lower().startswith(("https://", "http://")) else ""


def _line(value: object) -> str:
    words = " ".join(value.split()) if isinstance(value, str) else ""
    return one_line(words)[:_LONGEST_TITLE]


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
