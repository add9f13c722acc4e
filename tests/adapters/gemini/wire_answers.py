"""Answers as a service might write them, and as it never should: bodies of events, and lines of streams."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from hypothesis import strategies as st

Json = dict[str, Any]

words = st.text(st.characters(), max_size=5) | st.sampled_from(
    [
        "\ud800",
        "\ud83d\ude00",
        "🙂",
        "\u2028",
        "\x85",
        "\x00\x0b\x1c",
        "",
        "STOP",
        "stop",
        "5",
        "true",
        "+/+/aGk=",
        "-_8=",
    ]
)
strange = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**70), 2**70) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=3,
)
counts = st.integers(0, 10) | st.sampled_from([-1, 2**53, 2**53 - 1, 2**70, 5.0, "7", True, None, 10**400])
reasons = st.sampled_from(
    ["STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED", "stop", "", "NEW", "CONTINUATION", "IMAGE_OTHER", None, 3]
)
ODD_SIGNATURES: Final = [
    "AB==",
    "AA=",
    "AA",
    "A",
    "-_-_",
    "+/-_",
    "é",
    " AAAA",
    "AA\nAA",
    "====",
    "AA==AA==",
    "AAAA====",
    5,
]
signatures = st.binary(max_size=4).map(lambda raw: base64.b64encode(raw).decode()) | st.sampled_from(ODD_SIGNATURES)


def objects(known: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Json]:
    """Those fields, or some of them with something strange in it, or beside them a field of another name."""
    fields = st.fixed_dictionaries({}, optional=known)
    others = st.sampled_from([*known, "error", "new", "thought_signature", "finish_reason", "usage_metadata", "parts"])
    odd = st.builds(lambda drawn, name, value: {**drawn, name: value}, fields, others, strange)
    return fields | fields | fields | odd


details = st.lists(objects({"modality": st.sampled_from(["TEXT", "NEW"]), "tokenCount": counts}), max_size=1)
parts = objects({"text": words, "thought": st.booleans(), "thoughtSignature": signatures}) | st.sampled_from(
    [
        {"functionCall": {"name": "ls", "args": {"a": [1]}}},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        {"text": "x", "partMetadata": {"a": 1}},
    ]
)
ratings = st.lists(
    objects({"category": words, "probability": words, "blocked": st.booleans(), "severityScore": st.floats(0, 1)}),
    max_size=1,
)
candidates = objects(
    {
        "content": objects({"parts": st.lists(parts, max_size=2), "role": st.just("model")}),
        "finishReason": reasons,
        "index": counts,
        "finishMessage": words,
        "tokenCount": counts,
        "avgLogprobs": st.floats(-1, 0),
        "safetyRatings": ratings,
    }
)
usages = objects(
    {
        "promptTokenCount": counts,
        "cachedContentTokenCount": counts,
        "thoughtsTokenCount": counts,
        "candidatesTokenCount": counts,
        "totalTokenCount": counts,
        "toolUsePromptTokenCount": counts,
        "promptTokensDetails": details,
        "cacheTokensDetails": details,
        "trafficType": words,
        "serviceTier": words,
    }
)
bodies = objects(
    {
        "candidates": st.lists(candidates, max_size=2),
        "usageMetadata": usages,
        "modelVersion": words,
        "responseId": words,
        "createTime": st.sampled_from(["2026-11-21T01:02:03.5Z", "2026-11-21", "soon", "0000-01-01T00:00:00Z", 5]),
        "promptFeedback": st.just({"blockReason": "SAFETY"}),
    }
)
plain_bodies = st.builds(
    lambda text, finish: {
        "candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, **finish}],
        "usageMetadata": {"promptTokenCount": 3},
    },
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.sampled_from([{}, {"finishReason": "STOP"}]),
)


def written(body: object, escaped: bool) -> bytes:
    return json.dumps(body, ensure_ascii=escaped).encode("utf-8", "surrogatepass")


texts_of_events = st.builds(written, plain_bodies | plain_bodies | bodies | strange, st.booleans())
lines = (
    texts_of_events.map(lambda text: b"data: " + text + b"\n\n")
    | texts_of_events.map(lambda text: b"data:" + text + b"\r\n\r\n")
    | texts_of_events.map(lambda text: b"data: " + text[:3] + b"\ndata: " + text[3:] + b"\n\n")
    | texts_of_events.map(lambda text: b"data: " + text + b"\n")
    | st.binary(max_size=6)
    | st.sampled_from(
        [
            b": ping\n\n",
            b"event: x\nid: 3\n",
            b"\n",
            b"data: [DONE]\n\n",
            b'{"error": {"code": 503, "message": "Overloaded."}}\n',
            b'data: {"error": {"code": 429, "message": "Slowly."}}\n\n',
            b'{\n"error": {\n',
            b"data: {broken\n\n",
            b'data: {"candidates": [{"content": {"parts": [{"text": "\xff\xed\xa0\x80"}]}}]}\n\n',
            b'data: {"candidates": [{"content": {"parts": [{"text": "a\x0bb\x0b\x0bdata: {}"}]}}]}\n\n',
            b'data: {"candidates": [{"finishReason": "STOP", "finishReason": "NEW"}], "candidates": null}\n\n',
            b'data: {"usageMetadata": {"totalTokenCount": ' + b"1" * 4_500 + b"}}\n\n",
            b'data: {"responseId": ' + b"[" * 300 + b"]" * 300 + b"}\n\n",
        ]
    )
)
