"""Where a history is cut in two: what is summarised, and what stays word for word."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.json_length import json_length
from gemini_companion.engine.history.part import has_call, is_plain_user

PRESERVE_FRACTION: Final = 0.3
"""Share of the newest history that stays word for word (Gemini CLI's COMPRESSION_PRESERVE_THRESHOLD)."""

SPLIT_FRACTION: Final = 1 - PRESERVE_FRACTION

"""Share of the history that is compressed: the rest of `PRESERVE_FRACTION`."""


def find_split_point(contents: Sequence[Content], fraction: float) -> int:
    """The index of the first content to keep when about `fraction` of the history is to be compressed.

    It is the first plain user content (one without function responses) before which at least `fraction` of the
    characters of the compact JSON lie. If there is none: `len(contents)` when the last content is the model's and calls
    nothing, else the last plain user content, else 0. Raises `ValueError` unless 0 < fraction < 1.
    """
    check_fraction(fraction)
    candidates = [index for index, content in enumerate(contents) if is_plain_user(content)]
    closed = bool(contents) and contents[-1].role == "model" and not has_call(contents[-1])
    return split_by_weight([json_length(content) for content in contents], candidates, fraction, ends_closed=closed)


def check_fraction(fraction: float) -> None:
    """Raise `ValueError` unless 0 < fraction < 1 (NaN is refused too)."""
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must lie between 0 and 1, both exclusive, not {fraction!r}")


def split_by_weight(weights: Sequence[int], candidates: Sequence[int], fraction: float, *, ends_closed: bool) -> int:
    """Like `find_split_point`, on what is known already.

    `weights` has one weight per content (length of its compact JSON), `candidates` are rising indexes into it.

    `ends_closed` is true if everything may be compressed: the last content is the model's and calls nothing.
    """
    target = sum(weights) * fraction
    before = list(accumulate(weights, initial=0))
    first_past = bisect_left(before, target)
    position = bisect_left(candidates, first_past)
    if position < len(candidates):
        return candidates[position]
    if ends_closed:
        return len(weights)
    return candidates[-1] if candidates else 0


def split_inside_run(weights: Sequence[int], model_starts: Sequence[int], fraction: float, *, first: int) -> int:
    """The index at which to split an agent's run of one prompt and many tool rounds, or 0 if nowhere.

    The first of `model_starts` at or past `fraction` of the weight; if none lies that far, the last one before. They
    are rising indexes of contents of the model whose calls are all answered behind them, and only those past `first`
    count (something must lie between).
    """
    target = sum(weights) * fraction
    before = list(accumulate(weights, initial=0))
    fallback = 0
    for index in model_starts:
        if index <= first:
            continue
        if before[index] >= target:
            return index
        fallback = index
    return fallback
