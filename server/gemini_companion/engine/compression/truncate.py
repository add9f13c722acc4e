"""The reverse budget for tool outputs: the newest stay whole, older large ones are cut to head and tail."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from gemini_companion.engine.compression.types import Trim
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import Item, MeasureContent, Shape
from gemini_companion.engine.history.part import response_of, response_text
from gemini_companion.engine.tokens.json_text import json_text

RESPONSE_BUDGET_TOKENS: Final = 50_000
"""Tokens of function responses, counted from the newest, that stay whole (Gemini CLI's
COMPRESSION_FUNCTION_RESPONSE_TOKEN_BUDGET).
"""

BUDGET_SHARE: Final = 1 / 8
"""Share of a model's window that these have at most: in a small one the whole budget would spare everything."""

OUTPUT_LIMIT_CHARACTERS: Final = 40_000
"""Characters that are left of an output that is cut (Gemini CLI's default for truncating tools)."""

MINIMUM_OUTPUT_CHARACTERS: Final = 2_000
"""Characters that are left of an output however full the window is.

Gemini CLI's limit falls to zero there, and its cut then makes the text longer.
"""

HEAD_SHARE: Final = 0.2
"""Share of the limit that shows the beginning; the rest shows the end, where outputs report their result."""


def response_budget(window: int) -> int:
    """The tokens of function responses that stay whole for a model that accepts `window` tokens."""
    return min(RESPONSE_BUDGET_TOKENS, int(BUDGET_SHARE * window))


class PlannedCut(NamedTuple):
    """An output to be cut: its place in the log, its whole text, and the file that will hold that."""

    seq: int
    part: int
    """Index of the part in the content of entry `seq`, from 0."""
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
    """The function responses that are over the budget, oldest first.

    Walks from the newest to the oldest: an output that does not fit into what is left of `budget` tokens is cut to
    `limit` characters, if it is longer than that; the cut text is what then counts. `limit` is never taken as less
    than `MINIMUM_OUTPUT_CHARACTERS`. `count_text` estimates the tokens of a text; `tag` makes the file names unique.
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
    """The text of a response: its string, `output`, `content`, or else its JSON, indented by two spaces."""
    text = response_text(response)
    if text is not None:
        return text
    body = response.get("response")
    try:
        return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()
    except (TypeError, ValueError, RecursionError):  # nested too deep, or with a lone surrogate
        return json_text(body)


def shortened(whole: str, *, path: str, limit: int) -> str:
    """Head and tail of `whole`, `limit` characters in all, with lines that name what is missing and the file.

    `path` is the file that holds the whole. `limit` is never taken as less than `MINIMUM_OUTPUT_CHARACTERS`; a text
    that would not get shorter comes back as it is.
    """
    return head_and_tail(whole, where=f"The whole output is in {path}", limit=limit)


def head_and_tail(whole: str, *, where: str, limit: int) -> str:
    """The same with a sentence that says where the whole is, or that it is nowhere."""
    limit = max(limit, MINIMUM_OUTPUT_CHARACTERS)
    if len(whole) <= limit:
        return whole
    total = len(whole)
    available = limit - len(_opening(total, total, total, where)) - len(_gap(total))  # no number exceeds the total
    head = max(0, int(available * HEAD_SHARE))
    tail = max(0, available - head)
    text = f"{_opening(head, tail, total, where)}{whole[:head]}{_gap(total - head - tail)}{whole[total - tail :]}"
    return text if len(text) < total else whole


def _opening(head: int, tail: int, total: int, where: str) -> str:
    return f"[Shortened: the first {head:,} and the last {tail:,} characters of {total:,}. {where}]\n"


def _gap(missing: int) -> str:
    return f"\n\n[… {missing:,} characters left out …]\n\n"


def output_file_name(response: dict[str, Any], seq: int, part: int, tag: str) -> str:
    """`<tool>_<seq>-<part>_<tag>.txt`, lower case, of letters, digits, `_` and `-`."""
    name = re.sub(r"[^a-z0-9_-]", "_", str(response.get("name", "") or "tool").lower())[:64]
    return f"{name}_{seq}-{part}_{tag}.txt"


def trim_outputs(
    items: list[Item],
    *,
    measure: MeasureContent,
    count_text: Callable[[str], float],
    tag: str,
    path_of: Callable[[str], str],
    limit: int = OUTPUT_LIMIT_CHARACTERS,
    budget: int = RESPONSE_BUDGET_TOKENS,
) -> Trim:
    """Cut the tool outputs of a curated view that are over the budget; see `plan_cuts`.

    A cut that would not shorten its content is left out. `measure` estimates a content's tokens, `path_of` gives the
    path of a private file by its name. Nothing is written.
    """
    planned = plan_cuts(items, count_text=count_text, tag=tag, limit=limit, budget=budget)
    outputs: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for cut in planned:
        outputs[cut.seq][cut.part] = shortened(cut.whole, path=path_of(cut.file_name), limit=limit)
    if not planned:
        return Trim(items=items, cut_items=items, cuts=())
    cut_items: list[Item] = []
    saved: dict[tuple[int, int], int] = {}
    for item in items:
        if item.shape is Shape.RESULTS:
            for number, output in outputs.get(item.seq, {}).items():
                shorter = item.with_outputs({number: output}, measure)
                if shorter.weight < item.weight and shorter.measure.tokens < item.measure.tokens:
                    saved[item.seq, number] = item.measure.tokens - shorter.measure.tokens
                    item = shorter
        cut_items.append(item)
    cuts = tuple(
        Cut(
            seq=cut.seq,
            part=cut.part,
            output=outputs[cut.seq][cut.part],
            path=path_of(cut.file_name),
            tokens_saved=saved[cut.seq, cut.part],
        )
        for cut in planned
        if (cut.seq, cut.part) in saved
    )
    return Trim(items=items, cut_items=cut_items, cuts=cuts)
