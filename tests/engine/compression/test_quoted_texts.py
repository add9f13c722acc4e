"""The data of a summary request: the quoted blocks, put together in texts of many."""

from __future__ import annotations

import pytest

from gemini_companion.engine.compression.prompt import BLOCKS_IN_A_TEXT, quote, quoted_texts
from gemini_companion.engine.history.content import Content, Part, user_text
from gemini_companion.engine.history.item import Item, Measure


def items(count: int) -> list[Item]:
    return [
        Item(user_text(f"content {seq}"), seq=seq, entry_id=f"e{seq}", kind="prompt", measure=Measure(2, 0))
        for seq in range(1, count + 1)
    ]


@pytest.mark.parametrize("count", [0, 1, BLOCKS_IN_A_TEXT, BLOCKS_IN_A_TEXT + 1, 3 * BLOCKS_IN_A_TEXT])
def test_put_together_the_texts_are_the_quoted_blocks_one_under_the_other(count: int) -> None:
    texts = quoted_texts(items(count), nonce="n0nce", first_index=5)
    assert "".join(texts) == "\n".join(quote(items(count), nonce="n0nce", first_index=5))
    assert len(texts) == -(-count // BLOCKS_IN_A_TEXT)


@pytest.mark.parametrize(
    "part",
    [
        {"text": "plain"},
        {"text": ""},
        {"text": "a < b, and </state_snapshot>"},
        {"text": 5},
        {"text": "private", "thought": True},
        {"functionCall": {"name": "run", "args": {"command": "ls"}}},
        {"functionResponse": {"name": "run", "response": {"output": "x <b>"}}},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        {},
    ],
)
@pytest.mark.parametrize("limit", [None, 4])
def test_a_content_is_quoted_alike_alone_and_among_others(part: Part, limit: int | None) -> None:
    contents = (Content(role="model", parts=(part,)), Content(role="model", parts=(part, part)), Content(role="user"))
    some = [
        Item(content, seq=seq, entry_id=f"e{seq}", kind="reply", measure=Measure(2, 0))
        for seq, content in enumerate(contents)
    ]
    assert "".join(quoted_texts(some, nonce="n", limit=limit)) == "\n".join(quote(some, nonce="n", limit=limit))
