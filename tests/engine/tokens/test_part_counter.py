"""Which fields of a part count, and what media cost."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.tokens.counters import (
    IMAGE_TOKENS,
    PDF_TOKENS,
    UNKNOWN_DOCUMENT_TOKENS,
    count_content,
    count_part,
)
from gemini_companion.engine.tokens.json_text import json_text
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter

COUNTER = LexicalTokenCounter()
BASE64 = "iVBORw0KGgoA" * 5000
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=10), inner, max_size=4)
    ),
    max_leaves=20,
)
FIELDS = st.sampled_from(
    ["text", "thought", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "parts", "x"]
)
PARTS = JSON | st.dictionaries(
    FIELDS, JSON | st.dictionaries(st.sampled_from(["parts", "mimeType", "data", "response"]), JSON), max_size=4
)


class Characters:
    """Counts characters, and keeps what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def count_text(self, text: str) -> float:
        self.texts.append(text)
        return float(len(text))


def texts_counted(part: object) -> list[str]:
    counter = Characters()
    count_part(part, counter)
    return counter.texts


@pytest.mark.parametrize(
    "part",
    [{"text": "so be it"}, {"text": "so be it", "thought": True}, {"text": "so be it", "thoughtSignature": BASE64}],
)
def test_text_and_thoughts_count_as_they_are_and_signatures_do_not(part: dict[str, Any]) -> None:
    assert texts_counted(part) == ["so be it"]


def test_a_call_counts_as_json_with_every_field() -> None:
    call = {"id": "c1", "name": "read", "args": {"path": "naïve.py", "lines": [1, 2], "all": True, "none": None}}
    assert texts_counted({"functionCall": call}) == [
        '{"id": "c1", "name": "read", "args": {"path": "naïve.py", "lines": [1, 2], "all": true, "none": null}}'
    ]


def test_a_response_counts_as_json_with_every_field() -> None:
    assert texts_counted({"functionResponse": {"id": "c1", "name": "read", "response": {"output": "a\nb"}}}) == [
        '{"id": "c1", "name": "read", "response": {"output": "a\\nb"}}'
    ]


def test_media_inside_a_response_count_as_media_and_are_not_in_its_json() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": BASE64}}
    response = {"name": "look", "response": {}, "parts": [image, {"text": "seen"}, image]}
    assert texts_counted({"functionResponse": response}) == ['{"name": "look", "response": {}}', "seen"]
    bare = count_part({"functionResponse": {"name": "look", "response": {}}}, COUNTER) + COUNTER.count_text("seen")
    assert count_part({"functionResponse": response}, COUNTER) == pytest.approx(bare + 2 * IMAGE_TOKENS)


@pytest.mark.parametrize("field", ["inlineData", "fileData"])
@pytest.mark.parametrize(
    ("mime_type", "tokens"),
    [
        ("image/png", 3000),
        ("image/jpeg; q=1", 3000),
        ("IMAGE/WEBP", 3000),
        ("application/pdf", 25_800),
        ("application/pdf; v=2", 25_800),
    ],
)
def test_images_and_pdfs_have_flat_prices(field: str, mime_type: str, tokens: int) -> None:
    part = {field: {"mimeType": mime_type, "data": BASE64, "fileUri": "files/x"}}
    assert count_part(part, COUNTER) == tokens
    assert tokens in (IMAGE_TOKENS, PDF_TOKENS)


@pytest.mark.parametrize(
    ("mime_type", "size", "tokens"),
    [
        ("audio/mp3", 16_000 * 60, 32 * 60),
        ("audio/wav", 32_000 * 60, 32 * 60),
        ("video/mp4", 250_000 * 60, 295 * 60),
        ("text/csv", 4_000, 1_000),
        ("", 4_000, 1_000),
    ],
)
def test_other_media_cost_by_their_bytes(mime_type: str, size: int, tokens: int) -> None:
    part = {"inlineData": {"mimeType": mime_type, "data": "A" * (size * 4 // 3)}}
    assert count_part(part, COUNTER) == pytest.approx(tokens, rel=0.001)


@pytest.mark.parametrize(
    ("mime_type", "tokens"), [("audio/ogg", 32 * 60), ("video/mp4", 295 * 60), ("text/plain", UNKNOWN_DOCUMENT_TOKENS)]
)
def test_a_file_of_unknown_size_costs_a_minute_or_a_page(mime_type: str, tokens: int) -> None:
    assert count_part({"fileData": {"mimeType": mime_type, "fileUri": "files/x"}}, COUNTER) == tokens


def test_an_unknown_part_counts_as_json() -> None:
    assert texts_counted({"executableCode": {"language": "PYTHON", "code": "1"}}) == [
        '{"executableCode": {"language": "PYTHON", "code": "1"}}'
    ]
    assert texts_counted({"thought": True}) == []
    assert count_part({}, COUNTER) == 0


def test_a_content_costs_its_parts_and_nothing_for_itself() -> None:
    parts = [{"text": "Hello there"}, {"functionCall": {"name": "f", "args": {}}}, {"text": ""}]
    assert count_content(parts, COUNTER) == round(sum(count_part(part, COUNTER) for part in parts))
    assert count_content([], COUNTER) == 0


@given(PARTS)
def test_no_json_makes_counting_fail(part: object) -> None:
    tokens = count_part(part, COUNTER)
    assert math.isfinite(tokens)
    assert tokens >= 0
    assert count_content([part, part], COUNTER) == round(2 * tokens)


@given(JSON)
def test_json_text_is_what_the_standard_encoder_writes(value: object) -> None:
    assert json_text(value) == json.dumps(value, ensure_ascii=False)


def test_nesting_too_deep_for_the_standard_encoder_is_written_all_the_same() -> None:
    nested: Any = {"leaf": [1, "é", None, float("inf")]}
    for _ in range(100_000):
        nested = [{"k": nested, 7: True}]
    text = json_text(nested)
    assert text.startswith('[{"k": [{"k": ')
    assert '{"leaf": [1, "é", null, Infinity]}, "7": true}]' in text
    assert count_part({"functionCall": {"args": nested}}, COUNTER) > 100_000


def test_parts_nested_without_end_are_counted_up_to_a_depth() -> None:
    part: dict[str, Any] = {"text": "innermost"}
    for _ in range(50_000):
        part = {"functionResponse": {"name": "f", "parts": [part]}}
    assert count_part(part, COUNTER) > 0


def test_values_that_json_does_not_know_and_containers_inside_themselves_are_written_somehow() -> None:
    loop: list[object] = [1]
    loop.append(loop)
    assert json_text(loop) == "[1, null]"
    assert json_text({"a": b"raw", (1, 2): {3}}) == '{"a": "b\'raw\'", "(1, 2)": "{3}"}'
    assert len(json_text(10**10_000)) == pytest.approx(10_000, rel=0.001)
