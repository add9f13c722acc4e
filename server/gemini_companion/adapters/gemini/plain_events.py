"""Events of an answer that hold nothing but text, made into `ModelChunk`s without the SDK, which is given all others.

The SDK decodes each event twice, encodes it once and validates it, and we dump what it made: four fifths of what a
delta costs. What is taken here is narrow on purpose: an event with any other field, type or value than those below is
the SDK's, so what becomes of it needs no second answer. The chunk of one that is taken is what `answer.chunk_of` makes.

Of an event of more than `LARGE_BYTES` calls and data are taken too: the SDK would hold the event loop for seconds.

Of usage alone fields may be there that nobody knows: the SDK leaves out what it does not know, and nothing else of it
is told. The service adds one from time to time, to every event, and all streams went the slow way until it stood here.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import msgspec

from gemini_companion.adapters.gemini.answer import plain_json, without_code
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.models.port import ModelChunk

LARGE_BYTES: Final = 1024 * 1024
"""An event of more is large: what is done with it is done beside the event loop."""
_DATA: Final = b"data: "
_TEXT: Final = re.compile(rb'"text"\s*+:\s*+"')
_ENDS_WITH_HALF: Final = re.compile(
    rb'"text"\s*+:\s*+"(?:[^"\\]|\\(?!u[dD][89abAB][0-9a-fA-F]{2}").)*+(?P<half>\\u[dD][89abAB][0-9a-fA-F]{2})"'
)
_NUMBERED_REASONS: Final = (
    *("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST"),
    *("PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL"),
)
"""Finish reasons by their numbers, which proxies send in place of their names."""
_NUL: Final = rb"\u0000"

_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
_Never: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=0)] | msgspec.UnsetType
"""What no value is: an event with such a field is the SDK's."""
_FinishReason: TypeAlias = Literal[
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "OTHER",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
]


# One class for each object of the API, with its names. A field that is here and unused is one that says nothing to us.


class _Object(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    pass


class _Call(_Object):
    id: str | None = None
    args: dict[str, Any] | None = None
    name: str | None = None


class _Blob(_Object):
    data: str | None = None
    display_name: str | None = None
    mime_type: str | None = None


class _Part(_Object):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Call | None = None
    inline_data: _Blob | None = None


class _Content(_Object):
    parts: list[_Part] | None = None
    role: str | None = None


class _SafetyRating(_Object):
    category: str | None = None
    probability: str | None = None
    probability_score: float | None = None
    severity: str | None = None
    severity_score: float | None = None
    blocked: bool | None = None


class _Candidate(_Object):
    content: _Content | None = None
    finish_reason: _FinishReason | int | None = None
    finish_message: str | None = None
    index: _Count | None = None
    token_count: _Count | None = None
    avg_logprobs: float | None = None
    safety_ratings: list[_SafetyRating] | None = None


class _TokensOfKind(_Object, forbid_unknown_fields=False):
    modality: str | None = None
    token_count: _Count | None = None
    _token_count: _Never = msgspec.field(name="token_count", default=msgspec.UNSET)


class _Counts(_Object, forbid_unknown_fields=False):
    prompt_token_count: _Count | None = None
    cached_content_token_count: _Count | None = None
    thoughts_token_count: _Count | None = None
    candidates_token_count: _Count | None = None
    total_token_count: _Count | None = None
    tool_use_prompt_token_count: _Count | None = None
    prompt_tokens_details: list[_TokensOfKind] | None = None
    cache_tokens_details: list[_TokensOfKind] | None = None
    candidates_tokens_details: list[_TokensOfKind] | None = None
    tool_use_prompt_tokens_details: list[_TokensOfKind] | None = None
    traffic_type: str | None = None


if TYPE_CHECKING:
    _Usage: TypeAlias = _Counts
else:  # the SDK takes its fields by their other spelling too
    _Usage = msgspec.defstruct(
        "_Usage",
        [(f"_{name}", _Never, msgspec.field(name=name, default=msgspec.UNSET)) for name in _Counts.__struct_fields__],
        bases=(_Counts,),
    )


class _Event(_Object):
    candidates: Annotated[list[_Candidate], msgspec.Meta(max_length=1)] | None = None
    usage_metadata: _Usage | None = None
    model_version: str | None = None
    response_id: str | None = None
    create_time: datetime | None = None


_EVENT: Final = msgspec.json.Decoder(_Event)


class PlainEvents:
    """Takes lines as `EventLines` gives them, and gives the chunks of plain events and the lines of all others."""

    def __init__(self) -> None:
        self._data = b""
        """The line of data of an event whose end has not come."""
        self._half = b""
        """The first half of a surrogate pair, with which the text of the event before ended."""
        self._is_theirs = False
        """True while the SDK has lines of the event under way: it has the rest of them too."""

    def pieces(self, lines: bytes, *, is_end: bool) -> Iterator[ModelChunk | bytes]:
        """Chunks, and bytes for the SDK, in the order of the stream; at its end (`is_end`) all that is left.

        An event of several lines of data or with bare JSON, and one without an end, are the SDK's.
        """
        given: list[bytes] = []
        for line in lines.split(b"\n")[:-1]:
            if line.startswith(_DATA) and not self._data:
                self._data = self._with_whole_signs(line)
            elif line or self._is_theirs:
                given += self._left(line)
                self._is_theirs = bool(line)
            elif self._data:
                if (chunk := plain_chunk(self._data[len(_DATA) :])) is None:
                    given += self._left(b"")
                    continue
                self._data = b""
                if given:
                    yield b"".join(given)
                    given = []
                yield chunk
        if is_end and self._data:
            given += (self._data, b"\n")
        if given:
            yield b"".join(given)

    def _with_whole_signs(self, line: bytes) -> bytes:
        """The line with a sign whose halves stand in two events whole in the second."""
        if self._half:
            text = _TEXT.search(line)
            if text is not None:
                line = line[: text.end()] + self._half + line[text.end() :]
                self._half = b""
        if b"\\ud" in line or b"\\uD" in line:
            found = _ENDS_WITH_HALF.search(line)
            if found is not None:
                self._half = found["half"]
                line = line[: found.start("half")] + line[found.end("half") :]
        return line

    def _left(self, line: bytes) -> Iterator[bytes]:
        """This line, after the one that waited."""
        if self._data:
            yield self._data
            yield b"\n"
            self._data = b""
        yield line
        yield b"\n"


def plain_chunk(data: bytes) -> ModelChunk | None:
    """The chunk of an event's data, JSON in UTF-8; `None` if there is more or other in it than what is known here."""
    try:
        event = _EVENT.decode(data)
        if not data.isascii():
            data.decode()  # what is passed over was not looked at
    except (ValueError, RecursionError):  # not JSON, not UTF-8, a lone surrogate, or not as it is described above
        return None
    if event.create_time is not None and _NUL in data:  # a time that the SDK does not take
        return None
    parts: list[Part] = []
    finish_reason = None
    if event.candidates:
        candidate = event.candidates[0]
        finish_reason = candidate.finish_reason
        is_ours = len(data) > LARGE_BYTES
        if isinstance(finish_reason, int):  # the SDK gives up at one
            is_known = 0 <= finish_reason < len(_NUMBERED_REASONS)
            finish_reason = _NUMBERED_REASONS[finish_reason] if is_known else str(finish_reason)
            is_ours = True
        for part in (candidate.content.parts if candidate.content else None) or ():
            fields = _large_fields(part) if is_ours else None if _is_large_kind(part) else {}
            if fields is None:
                return None
            if part.text is not None:
                fields["text"] = part.text
            if part.thought is not None:
                fields["thought"] = part.thought
            if (signature := part.thought_signature) is not None:
                if not _is_base64(signature):
                    return None
                fields["thoughtSignature"] = signature
            if fields:
                parts.append(fields)
    return ModelChunk(
        parts=tuple(parts),
        finish_reason=None if finish_reason == "FINISH_REASON_UNSPECIFIED" else finish_reason,
        usage=_usage_of(event.usage_metadata) if event.usage_metadata is not None else None,
        model_version=event.model_version or None,
    )


def _is_large_kind(part: _Part) -> bool:
    return part.function_call is not None or part.inline_data is not None


def _large_fields(part: _Part) -> dict[str, Any] | None:
    """The call and the data of a part, as `answer.part_of` has them; `None` for what is the SDK's."""
    fields: dict[str, Any] = {}
    if (call := part.function_call) is not None:
        named = {"id": call.id, "args": call.args, "name": call.name and without_code(call.name)}
        try:
            fields["functionCall"] = plain_json({key: value for key, value in named.items() if value is not None})
        except ModelUnavailable:  # nested too deep
            return None
    if (blob := part.inline_data) is not None:
        if blob.data is not None and not _is_base64(blob.data):
            return None
        named = {"data": blob.data, "displayName": blob.display_name, "mimeType": blob.mime_type}
        fields["inlineData"] = {key: value for key, value in named.items() if value is not None}
    return fields


def _is_base64(text: str) -> bool:
    """True if it is in the standard alphabet and padded: any other spelling comes back from the SDK as this one."""
    try:
        return binascii.b2a_base64(binascii.a2b_base64(text, strict_mode=True), newline=False) == text.encode()
    except ValueError:
        return False


def _usage_of(usage: _Usage) -> Usage:
    return Usage(
        prompt_tokens=usage.prompt_token_count or 0,
        cached_tokens=usage.cached_content_token_count or 0,
        thought_tokens=usage.thoughts_token_count or 0,
        output_tokens=usage.candidates_token_count or 0,
        total_tokens=usage.total_token_count or 0,
    )
