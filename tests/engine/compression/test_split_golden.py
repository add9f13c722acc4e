"""Gemini CLI's split points (`tests/data/split_points.json`): equal in every case that a `Content` can express."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.compression import find_split_point
from gemini_companion.engine.history import Content
from gemini_companion.engine.history.log import PromptEntry, decode_entry, encode_entry
from tests.support.golden import expand

CASES = json.loads((Path(__file__).parents[2] / "data" / "split_points.json").read_text("utf-8"))["cases"]
NO_CONTENT: dict[str, str] = {
    "odd_last_4": "the role system",
    "odd_mid_4": "the role system",
    "odd_last_5": "no role",
    "odd_mid_5": "no role",
    "odd_last_12": "the role function",
    "odd_mid_12": "the role function",
}
"""Cases whose contents are none of ours, and why: there is no third role."""


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_the_split_falls_where_gemini_clis_does(case: dict[str, Any]) -> None:
    raw, fraction = expand(case["contents"]), case["fraction"]
    if case["id"] in NO_CONTENT:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(raw, list[Content])
        return
    contents = msgspec.convert(raw, list[Content])
    if case.get("refused"):
        with pytest.raises(ValueError, match="fraction"):
            find_split_point(contents, fraction)
        return
    assert find_split_point(contents, fraction) == case["splitAt"]


@pytest.mark.parametrize(
    "raw",
    [
        {"role": "user"},
        {"role": "model", "parts": []},
        {"role": "user", "parts": [{"text": "", "extra": {"deep": [None]}}]},
    ],
)
def test_a_content_weighs_the_same_after_it_was_stored(raw: dict[str, Any]) -> None:
    content = msgspec.convert(raw, Content)
    entry = decode_entry(encode_entry(PromptEntry(id="e1", seq=1, time=0, turn_id="t1", content=content)))
    assert isinstance(entry, PromptEntry)
    assert msgspec.json.decode(msgspec.json.encode(entry.content)) == raw
    assert (entry.content.parts is Content(role="user").parts) == ("parts" not in raw)
