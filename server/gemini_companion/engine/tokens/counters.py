"""Tokens of parts and contents: which of their fields count, and what media cost.

A part is a plain JSON object in Gemini's form. What counts, per part, is its text (thoughts included), its function
call or its function response; a part's thought signature does not. Contents cost nothing beyond their parts. Nothing
here raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol, TypeGuard

from gemini_companion.engine.tokens.json_text import json_text

RULES_OF_COUNTING: Final = 1
"""Rises whenever any content may get another size than before, by this module, the lexical counter or the ledger: sizes
that were stored before count no more. `tests/engine/tokens/test_rules_of_counting.py` notices.
"""

IMAGE_TOKENS: Final = 3_000
"""Any `image/*`, whatever its size. Source: Gemini CLI 0.61.0, as measured."""

PDF_TOKENS: Final = 25_800
"""Any `application/pdf`: 100 pages of 258 tokens. Source: Gemini CLI 0.61.0, as measured."""

AUDIO_TOKENS_PER_SECOND: Final = 32
"""Source: the Gemini API's guide to counting tokens."""

VIDEO_TOKENS_PER_SECOND: Final = 263 + AUDIO_TOKENS_PER_SECOND
"""Frames at one a second, and the sound track. Source: the Gemini API's guide to counting tokens."""

UNKNOWN_MEDIA_SECONDS: Final = 60
"""Seconds assumed for audio or video that is only referred to, so that its size is not known. Our choice."""

DOCUMENT_BYTES_PER_TOKEN: Final = 4
"""Bytes per token of any other media type; such files are read as text. Our choice."""

UNKNOWN_DOCUMENT_TOKENS: Final = 258
"""Tokens of any other file that is only referred to: one page. Our choice, with the API's price of a page."""

_BYTES_PER_SECOND: Final[Mapping[str, int]] = {
    "audio/wav": 32_000,
    "audio/x-wav": 32_000,
    "audio/l16": 32_000,
    "audio/pcm": 32_000,
    "audio/aiff": 32_000,
    "audio/x-aiff": 32_000,
    "audio/flac": 16_000,
}
"""Uncompressed sound is taken as 16-bit mono at 16 kHz, the rate the API itself works at; FLAC halves that."""

_AUDIO_BYTES_PER_SECOND: Final = 16_000
"""Any other audio: 128 kbit a second."""

_VIDEO_BYTES_PER_SECOND: Final = 250_000
"""Any video: 2 Mbit a second."""

_NEVER_COUNTED: Final = frozenset({"thought", "thoughtSignature"})
_MEDIA_FIELDS: Final = ("inlineData", "fileData")
_MAX_NESTED_PARTS_DEPTH: Final = 8


class TokenCounter(Protocol):
    """An estimate of the tokens of a text."""

    def count_text(self, text: str) -> float:
        """Tokens of `text`: finite and at least 0, for any string. Never raises."""
        ...


def count_content(content_parts: Iterable[object], counter: TokenCounter) -> int:
    """Tokens of a content's parts together, rounded once. Parts may be any JSON; a bare string is a text."""
    return round(sum(count_part(part, counter) for part in content_parts))


def count_media(content_parts: Iterable[object]) -> int:
    """How many of the tokens of a content's parts are media, those inside of function responses too."""
    return round(sum(_media_of(part, 0) for part in content_parts))


def count_part(part: object, counter: TokenCounter) -> float:
    """Tokens of one part, at least 0, whatever JSON it is.

    Text counts as it is. A function call or response counts as its JSON with `, ` and `: `, every field included,
    except a response's own `parts`, which are counted as parts. Media cost by type: see the constants of this module.
    Any other value counts as its JSON; a bare string counts as text.
    """
    return _count(part, counter, 0)


def _count(part: object, counter: TokenCounter, depth: int) -> float:
    if isinstance(part, str):
        return counter.count_text(part)
    if not _is_object(part):
        return counter.count_text(json_text(part))
    counted: list[float] = []
    text = part.get("text")
    if isinstance(text, str):
        counted.append(counter.count_text(text))
    call = part.get("functionCall")
    if _is_object(call):
        counted.append(counter.count_text(json_text(call)))
    response = part.get("functionResponse")
    if _is_object(response):
        counted.append(_count_response(response, counter, depth))
    counted += [_count_media(media) for field in _MEDIA_FIELDS if _is_object(media := part.get(field))]
    if counted:
        return sum(counted)
    unknown = {key: value for key, value in part.items() if key not in _NEVER_COUNTED}
    return counter.count_text(json_text(unknown)) if unknown else 0.0


def _count_response(response: dict[object, object], counter: TokenCounter, depth: int) -> float:
    nested = response.get("parts")
    if not _is_list(nested) or depth >= _MAX_NESTED_PARTS_DEPTH:
        return counter.count_text(json_text(response))
    own = counter.count_text(json_text({key: value for key, value in response.items() if key != "parts"}))
    return own + sum(_count(part, counter, depth + 1) for part in nested)


def _media_of(part: object, depth: int) -> float:
    if not _is_object(part):
        return 0.0
    tokens = sum(_count_media(media) for field in _MEDIA_FIELDS if _is_object(media := part.get(field)))
    response = part.get("functionResponse")
    nested = response.get("parts") if _is_object(response) else None
    if _is_list(nested) and depth < _MAX_NESTED_PARTS_DEPTH:
        tokens += sum(_media_of(one, depth + 1) for one in nested)
    return tokens


def _count_media(media: dict[object, object]) -> float:
    """Tokens of an `inlineData` or `fileData` object, by its type; base64 is never counted as text."""
    mime_type = media.get("mimeType")
    kind = mime_type.partition(";")[0].strip().lower() if isinstance(mime_type, str) else ""
    if kind.startswith("image/"):
        return float(IMAGE_TOKENS)
    if kind == "application/pdf":
        return float(PDF_TOKENS)
    data = media.get("data")
    size = len(data) * 3 / 4 if isinstance(data, str) else None
    if kind.startswith("audio/"):
        rate = _BYTES_PER_SECOND.get(kind, _AUDIO_BYTES_PER_SECOND)
        return AUDIO_TOKENS_PER_SECOND * (UNKNOWN_MEDIA_SECONDS if size is None else size / rate)
    if kind.startswith("video/"):
        return VIDEO_TOKENS_PER_SECOND * (UNKNOWN_MEDIA_SECONDS if size is None else size / _VIDEO_BYTES_PER_SECOND)
    return UNKNOWN_DOCUMENT_TOKENS if size is None else size / DOCUMENT_BYTES_PER_TOKEN


def _is_object(value: object) -> TypeGuard[dict[object, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)
