"""What the emulator can be told to answer: whole responses, pieces with gates between them, errors, broken connections.

A reply is written once and sent by either method: a stream sends each piece as an event, `generateContent` sends them
merged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.emulator.errors import ApiError
from tests.support.emulator.waiting import Gate

Json = dict[str, Any]

SIGNATURE = "CgVzaWduZWQ="
"""A thought signature for calls that a script makes up."""

_RESPONSE_FIELDS = frozenset(
    {"candidates", "promptFeedback", "usageMetadata", "error", "modelVersion", "responseId", "totalTokens"}
)


class Drop:
    """A step: the connection closes here, in the middle of the answer."""


@dataclass(frozen=True)
class Trickle:
    """A step: these bytes over and over, until the client hangs up."""

    data: bytes


@dataclass(frozen=True)
class Pause:
    """A step: nothing is sent for so many seconds. For runs that take time anyway; a test uses a `Gate`."""

    seconds: float


Step = Json | bytes | Gate | Pause | Drop | Trickle
"""A response (or piece of one), raw bytes inside the stream, a gate, a pause, a trickle, or the end of the connection."""


@dataclass(frozen=True)
class Reply:
    """One answer, in steps."""

    steps: tuple[Step, ...] = ()
    error: ApiError | None = None
    """An error answer instead of the steps."""
    usage: Mapping[str, int] | Literal["auto"] | None = "auto"
    """`usageMetadata` of the pieces: counted by the emulator, given here (laid over the counted), or left out."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    """The whole body as it is, packed for instance (say so in `headers`), in place of the steps."""

    @property
    def gates(self) -> tuple[Gate, ...]:
        """The gates among the steps, in order."""
        return tuple(step for step in self.steps if isinstance(step, Gate))

    @property
    def responses(self) -> tuple[Json, ...]:
        """The responses among the steps."""
        return tuple(step for step in self.steps if isinstance(step, dict))


Piece = str | Step
"""A text, a part (`{"functionCall": …}`), or a step; a dictionary with a response's fields is a response as it is."""


def answer(
    *pieces: Piece, finish: str | None = "STOP", usage: Mapping[str, int] | Literal["auto"] | None = "auto"
) -> Reply:
    """An answer whose last piece carries `finish` as its finish reason; `None` for an answer that just stops."""
    steps = [_step(piece) for piece in pieces]
    if finish is not None:
        candidates = [step["candidates"][0] for step in steps if isinstance(step, dict) and step.get("candidates")]
        if not candidates:
            steps.append({"candidates": [{"index": 0, "finishReason": finish}]})
        elif not any("finishReason" in candidate for candidate in candidates):
            candidates[-1]["finishReason"] = finish
    return Reply(steps=tuple(steps), usage=usage)


def responses(*bodies: Json) -> Reply:
    """Recorded responses, exactly as they are."""
    return Reply(steps=bodies, usage=None)


def failure(error: ApiError) -> Reply:
    """An error answer."""
    return Reply(error=error)


def token_count(total: int) -> Reply:
    """An answer to `countTokens`."""
    return responses({"totalTokens": total})


def slow(*texts: str, finish: str | None = "STOP") -> Reply:
    """Pieces of text with a gate before each but the first, which the test opens one by one (`reply.gates`)."""
    pieces: list[Piece] = [piece for text in texts for piece in (Gate(), text)]
    return answer(*pieces[1:], finish=finish)


def call(name: str, args: Any = None, *, call_id: str | None = None, signature: str | None = SIGNATURE) -> Json:
    """A part that calls a function. `args` are as they are, even where they are no object; `None` for none at all."""
    wire: Json = {"name": name} if args is None else {"name": name, "args": args}
    part: Json = {"functionCall": {"id": call_id, **wire} if call_id else wire}
    return {**part, "thoughtSignature": signature} if signature else part


def parallel(*made: tuple[str, Any], ids: bool = True) -> tuple[Json, ...]:
    """Parts that call functions side by side: the signature is on the first alone, as the service has it."""
    return tuple(
        call(name, args, call_id=f"call-{number}" if ids else None, signature=None if number else SIGNATURE)
        for number, (name, args) in enumerate(made)
    )


def thought(text: str) -> Json:
    """A part with a summary of the model's thoughts."""
    return {"text": text, "thought": True}


def grounded(
    text: str,
    *,
    sources: Sequence[tuple[str, str]] = (),
    passages: Sequence[tuple[int, Sequence[int]]] = (),
    pages: Sequence[tuple[str, str]] = (),
) -> Reply:
    """An answer to a search (`sources`: address and title; `passages`: where they end, in bytes, and their sources) or
    from pages (address and state).
    """
    grounding = {
        "groundingChunks": [{"web": {"uri": address, "title": title}} for address, title in sources],
        "groundingSupports": [
            {"segment": {"endIndex": end}, "groundingChunkIndices": list(numbers)} for end, numbers in passages
        ],
    }
    urls = [
        {"retrievedUrl": address, "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{state}"} for address, state in pages
    ]
    candidate: Json = {"index": 0, "content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    if sources:
        candidate["groundingMetadata"] = grounding
    if pages:
        candidate["urlContextMetadata"] = {"urlMetadata": urls}
    return responses({"candidates": [candidate]})


def merged(bodies: Iterable[Json]) -> Json:
    """The pieces of a stream as the one response that `generateContent` gives."""
    whole: Json = {}
    parts: list[Json] = []
    candidate: Json = {}
    for body in bodies:
        whole.update({key: value for key, value in body.items() if key != "candidates"})
        for piece in body.get("candidates", [])[:1]:
            candidate.update({key: value for key, value in piece.items() if key != "content"})
            for part in piece.get("content", {}).get("parts", []):
                if (
                    parts
                    and _joinable(parts[-1])
                    and _joinable(part)
                    and parts[-1].get("thought") == part.get("thought")
                ):
                    parts[-1] = {**parts[-1], "text": parts[-1]["text"] + part["text"]}
                else:
                    parts.append(part)
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    return {"candidates": [candidate], **whole} if candidate else whole


def _joinable(part: Json) -> bool:
    return isinstance(part.get("text"), str) and part.keys() <= {"text", "thought"}


def _step(piece: Piece) -> Step:
    if isinstance(piece, str):
        piece = {"text": piece}
    if isinstance(piece, dict) and not (piece.keys() & _RESPONSE_FIELDS):
        return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [json.loads(json.dumps(piece))]}}]}
    return piece
