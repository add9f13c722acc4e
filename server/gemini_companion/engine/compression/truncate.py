"""The reverse budget for tool outputs: the newest stay whole, older large ones are cut to head and tail."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from gemini_companion.engine.history.item import Item, Shape
from gemini_companion.engine.history.part import response_of, response_text
from gemini_companion.engine.tokens.json_text import json_text

RESPONSE_BUDGET_TOKENS: Final = 50_000
"""Tokens of function responses, counted from the newest, that stay whole (seeds: COMPRESSION_FUNCTION_RESPONSE_TOKEN_BUDGET)."""

OUTPUT_LIMIT_CHARACTERS: Final = 40_000
"""Characters that are left of an output that is cut (peer: default tool truncation threshold)."""

MINIMUM_OUTPUT_CHARACTERS: Final = 2_000
"""What is left of one however full the window is. The peer's limit falls to nothing there, and its cut then grows the text."""

HEAD_SHARE: Final = 0.2
"""Share of the limit that shows the beginning; the rest shows the end, where outputs say what came of them."""


class PlannedCut(NamedTuple):
    """An output to be cut: where it stands in the log, its whole text, and the file that will hold it."""

    seq: int
    part: int
    whole: str
    """The text as it is in the log, even where the view shows an earlier cut of it."""
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
    it is longer than that; the counter goes on with what is left of it. `limit` is never taken as less than `MINIMUM_OUTPUT_CHARACTERS`.
    `tag` makes the file names unique.
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
            shown = whole_text(response)
            tokens = int(count_text(shown))
            if spent + tokens > budget and len(shown) > limit:
                number = item.part_number(index)
                whole = whole_text(response_of(item.original.parts[number]) or response)
                cuts.append(PlannedCut(item.seq, number, whole, output_file_name(response, item.seq, number, tag)))
                tokens = int(tokens * limit / len(shown))
            spent += tokens
    return cuts[::-1]


def whole_text(response: dict[str, Any]) -> str:
    """The text of a response: its string, `output`, `content`, or else its JSON indented by two spaces. Never raises."""
    text = response_text(response)
    if text is not None:
        return text
    body = response.get("response")
    try:
        return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()
    except (TypeError, ValueError, RecursionError):  # nested too deep, or with a lone surrogate
        return json_text(body)


def shortened(whole: str, *, path: str, limit: int) -> str:
    """Head and tail of `whole`, `limit` characters in all, with lines that say how much is missing and where it is.

    `limit` is never taken as less than `MINIMUM_OUTPUT_CHARACTERS`, and what does not get shorter by it is given back as it is.
    """
    limit = max(limit, MINIMUM_OUTPUT_CHARACTERS)
    if len(whole) <= limit:
        return whole
    total = len(whole)
    room = limit - len(_opening(total, total, total, path)) - len(_gap(total))  # no number is longer than the total
    head = max(0, int(room * HEAD_SHARE))
    tail = max(0, room - head)
    text = f"{_opening(head, tail, total, path)}{whole[:head]}{_gap(total - head - tail)}{whole[total - tail :]}"
    return text if len(text) < total else whole


def _opening(head: int, tail: int, total: int, path: str) -> str:
    return f"[Shortened: the first {head:,} and the last {tail:,} characters of {total:,}. The whole output is in {path}]\n"


def _gap(missing: int) -> str:
    return f"\n\n[… {missing:,} characters left out …]\n\n"


def output_file_name(response: dict[str, Any], seq: int, part: int, tag: str) -> str:
    """`<tool>_<seq>-<part>_<tag>.txt`, lower case, of letters, digits, `_` and `-`."""
    name = re.sub(r"[^a-z0-9_-]", "_", str(response.get("name", "") or "tool").lower())[:64]
    return f"{name}_{seq}-{part}_{tag}.txt"
