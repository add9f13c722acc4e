"""No form of a number in an answer's usage costs the answer: what is no count is left out, whoever reads the rest."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.gemini.event_stream import with_usable_counts
from gemini_companion.adapters.gemini.provider import GeminiProvider
from gemini_companion.engine.history.content import visible_text_of
from tests.adapters.gemini.calls import HI, collect
from tests.support.emulator import Emulator, answer

ODD: Final[list[Any]] = [1.5, -0.5, "abc", "12", True, None, [], {}, 1e308, -1, 10**30, 2**53]
FIELDS: Final = (
    "promptTokenCount",
    "candidatesTokenCount",
    "totalTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "promptTokensDetails",
    "candidatesTokensDetails",
)


@pytest.mark.parametrize("value", ODD, ids=repr)
async def test_an_answer_with_an_odd_count_is_an_answer(emulator: Emulator, gemini: GeminiProvider, value: Any) -> None:
    for field in FIELDS:
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 2, field: value}
        for method in ("streamGenerateContent", "generateContent"):
            emulator.script(answer("Hello", usage=usage), method=method)
        chunks = await collect(gemini)
        whole = await gemini.generate(HI)
        for told in (chunks, [whole]):
            assert "".join(visible_text_of(chunk.parts) for chunk in told) == "Hello"
            counts = [chunk.usage for chunk in told if chunk.usage is not None]
            assert all(one.prompt_tokens == 7 for one in counts) or field == "promptTokenCount"
            assert all(0 <= one.total_tokens < 2**53 for one in counts)


NORMAL: Final = [
    {"usageMetadata": {"promptTokenCount": 3, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 3}]}},
    {"candidates": [{"content": {"parts": [{"text": 'a "promptTokenCount": 1.5 of a text'}]}}]},
    {"usageMetadata": {"trafficType": "ON_DEMAND", "totalTokenCount": 0}},
]


@pytest.mark.parametrize("body", NORMAL)
def test_what_has_no_odd_count_goes_by_as_it_came(body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    assert with_usable_counts(data) is data


@given(st.binary(max_size=200) | st.text(max_size=60).map(str.encode))
def test_what_is_no_answer_goes_by_as_it_came(data: bytes) -> None:
    odd = data + b'"totalTokenCount": x'
    assert with_usable_counts(odd) == odd
