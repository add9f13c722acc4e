"""The reverse budget for tool outputs: the newest stay whole, older large ones are cut to head and tail."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.item import Item, MeasureContent, Shape
from gemini_companion.engine.history.part import response_of, response_text

RESPONSE_BUDGET_TOKENS: Final = 50_000
"""Tokens of function responses, counted from the newest, that stay whole (seeds: COMPRESSION_FUNCTION_RESPONSE_TOKEN_BUDGET)."""

OUTPUT_LIMIT_CHARACTERS: Final = 40_000
"""Characters that are left of an output that is cut (peer: default tool truncation threshold)."""

MINIMUM_OUTPUT_CHARACTERS: Final = 2_000
"""What is left of one however full the window is. The peer's limit falls to nothing there, and its cut then grows the text."""

HEAD_SHARE: Final = 0.2
"""Share of the limit that shows the beginning; the rest shows the end, where outputs say what came of them."""


class PlannedCut(NamedTuple):
    """An output to be cut: where it stands, its whole text, and the file that will hold it."""

    seq: int
    part: int
    whole: str
    file_name: str


def plan_cuts(
    items: Sequence[Item],
    *,
    count_text: Callable[[str], float],
    tag: str,
    budget: int = RESPONSE_BUDGET_TOKENS,
    limit: int = OUTPUT_LIMIT_CHARACTERS,
) -> list[PlannedCut]:
    """Which outputs are over the budget, oldest first.

    Walks from the newest to the oldest: an output that does not fit into what is left of `budget` tokens is cut to `limit` characters, if
    it is longer than that; the counter goes on with what is left of it. `tag` makes the file names unique.
    """
    limit = max(limit, MINIMUM_OUTPUT_CHARACTERS)
    cuts: list[PlannedCut] = []
    spent = 0
    for item in reversed(items):
        if item.shape is not Shape.RESULTS:
            continue
        tool_tokens = item.measure.tool_tokens
        if item.weight <= limit or spent + tool_tokens <= budget:
            spent += tool_tokens
            continue
        for index in range(len(item.content.parts) - 1, -1, -1):
            response = response_of(item.content.parts[index])
            if response is None:
                continue
            whole = whole_text(response)
            tokens = int(count_text(whole))
            if spent + tokens > budget and len(whole) > limit:
                cuts.append(PlannedCut(item.seq, index, whole, output_file_name(response, item.seq, index, tag)))
                tokens = int(tokens * limit / len(whole))
            spent += tokens
    return cuts[::-1]


def whole_text(response: dict[str, Any]) -> str:
    """The text of a response: its string, `output`, `content`, or else its JSON indented by two spaces."""
    text = response_text(response)
    if text is not None:
        return text
    body = response.get("response")
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()


def shortened(whole: str, *, path: str, limit: int) -> str:
    """Head and tail of `whole` within `limit` characters, with a line that says what is missing and where it is."""
    limit = max(limit, MINIMUM_OUTPUT_CHARACTERS)
    if len(whole) <= limit:
        return whole
    head = int(limit * HEAD_SHARE)
    tail = limit - head
    missing = len(whole) - limit
    return (
        f"[Shortened: the first {head:,} and the last {tail:,} characters of {len(whole):,}. The whole output is in {path}]\n"
        f"{whole[:head]}\n\n[… {missing:,} characters left out …]\n\n{whole[-tail:]}"
    )


def cut_item(item: Item, outputs: dict[int, str], measure: MeasureContent) -> Item:
    """The item with the outputs of some parts (index to text) replaced; id, name and unknown fields stay."""
    parts: list[Part] = list(item.content.parts)
    for index, output in outputs.items():
        response = response_of(parts[index])
        if response is not None:
            parts[index] = {**parts[index], "functionResponse": {**response, "response": {"output": output}}}
    content = Content(role=item.content.role, parts=tuple(parts))
    return item.with_content(content, measure(content))


def output_file_name(response: dict[str, Any], seq: int, part: int, tag: str) -> str:
    """`<tool>_<seq>-<part>_<tag>.txt`, lower case, of letters, digits, `_` and `-`."""
    name = re.sub(r"[^a-z0-9_-]", "_", str(response.get("name", "") or "tool").lower())[:64]
    return f"{name}_{seq}-{part}_{tag}.txt"
