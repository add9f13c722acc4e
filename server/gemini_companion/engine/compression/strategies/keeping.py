"""What may stay of a span, and within which budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gemini_companion.engine.compression.strategies.layout import Layout
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Shape

KEEP_TOKENS: Final = 20_000
"""Tokens that stay word for word, with strategies that count them (Codex's and Pi's number)."""

_WINDOW_SHARE: Final = 4
"""In a small window, a quarter of it."""


def keep_tokens(limit: int) -> int:
    """Tokens that may stay word for word in a window of `limit` tokens."""
    return min(KEEP_TOKENS, limit // _WINDOW_SHARE)


def prompts_between(layout: Layout, start: int, end: int) -> list[int]:
    """What people wrote in `[start:end]`: plain user contents, rising."""
    return [
        index
        for index in range(start, end)
        if layout.items[index].shape is Shape.PLAIN_USER
        and layout.items[index].kind not in REPLACEMENT_KINDS
        and layout.items[index].kind != "ide"
    ]


def newest_within(layout: Layout, indexes: Sequence[int], tokens: int) -> tuple[int, ...]:
    """The newest of these contents that have at most so many tokens together, rising; one too large is passed over."""
    chosen: list[int] = []
    for index in reversed(indexes):
        cost = layout.items[index].measure.tokens
        if cost <= tokens:
            tokens -= cost
            chosen.append(index)
    return tuple(reversed(chosen))


def rounds_between(layout: Layout, start: int, end: int) -> list[tuple[list[int], list[int]]]:
    """The model's turns to speak in `[start:end]`: the indexes of each run, and of the results that follow it."""
    rounds: list[tuple[list[int], list[int]]] = []
    was_user = True
    for index in range(start, end):
        item = layout.items[index]
        if item.content.role == "user":
            was_user = True
            if item.shape is Shape.RESULTS and rounds:
                rounds[-1][1].append(index)
        elif item.kind not in REPLACEMENT_KINDS:
            if was_user:
                rounds.append(([], []))
                was_user = False
            rounds[-1][0].append(index)
    return rounds


def tokens_of(layout: Layout, indexes: Iterable[int]) -> int:
    """Estimated tokens of some contents."""
    return sum(layout.items[index].measure.tokens for index in indexes)
