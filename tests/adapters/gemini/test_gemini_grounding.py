"""Searching and reading by Gemini's own tools, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.adapters.gemini import GeminiProvider
from gemini_companion.adapters.gemini.grounding import grounded_of
from gemini_companion.engine.errors import ModelUnavailable
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.tools.grounding import GroundedPassage, WebPage, WebSource
from tests.support.emulator import Emulator, faults, grounded

MODEL = "gemini-2.5-pro"
pytestmark = pytest.mark.usefixtures("bounded")


async def test_a_search_is_a_request_of_its_own_and_its_sources_are_read(
    gemini: GeminiProvider, emulator: Emulator
) -> None:
    text = "Größe: 5. Neu."
    emulator.script(
        grounded(
            text,
            sources=[("https://a.org", "A\nB"), ("javascript:alert(1)", "bad"), ("https://c.org", "C")],
            passages=[(len("Größe: 5.".encode()), [0, 1]), (len(text.encode()), [2, 9]), (999, [0])],
        )
    )
    found = await gemini.ground("Wie groß?", model=MODEL, by="search")
    (request,) = emulator.requests
    assert (request.method, request.body["tools"], request.prompt) == (
        "generateContent",
        [{"googleSearch": {}}],
        "Wie groß?",
    )
    assert found.text == text
    assert found.sources == (
        WebSource(address="https://a.org", title="A B"),
        WebSource(address="https://c.org", title="C"),
    )
    assert found.passages == (GroundedPassage(end=9, sources=(0,)), GroundedPassage(end=14, sources=(1,)))


async def test_pages_are_read_by_the_service_and_what_came_of_each_is_told(
    gemini: GeminiProvider, emulator: Emulator
) -> None:
    emulator.script(
        grounded("So.", pages=[("https://a.org", "SUCCESS"), ("https://b.org", "UNSAFE"), ("x", "SUCCESS")])
    )
    found = await gemini.ground("Read https://a.org, https://b.org", model=MODEL, by="pages")
    assert emulator.requests[0].body["tools"] == [{"urlContext": {}}]
    assert found.pages == (
        WebPage(address="https://a.org", is_read=True, state="success"),
        WebPage(address="https://b.org", is_read=False, state="unsafe"),
    )


async def test_a_question_that_is_refused_is_a_fault(gemini: GeminiProvider, emulator: Emulator) -> None:
    emulator.script(faults.prompt_blocked())
    with pytest.raises(ModelUnavailable, match="SAFETY"):
        await gemini.ground("x", model=MODEL, by="search")


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 50) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    *(
                        "groundingChunks",
                        "groundingSupports",
                        "web",
                        "uri",
                        "title",
                        "segment",
                        "endIndex",
                        "partIndex",
                    ),
                    *("groundingChunkIndices", "urlMetadata", "retrievedUrl", "urlRetrievalStatus"),
                )
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(JSON, JSON, st.lists(st.text(max_size=5), max_size=3))
def test_whatever_comes_is_read_or_left_out(grounding: Any, pages: Any, texts: list[str]) -> None:
    found = grounded_of(ModelChunk(parts=tuple({"text": text} for text in texts)), grounding, pages)
    assert found.text == "".join(texts)
    for passage in found.passages:
        assert 0 <= passage.end <= len(found.text)
        assert all(number < len(found.sources) for number in passage.sources)
