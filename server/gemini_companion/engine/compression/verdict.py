"""Whether a compression pays for itself.

    net = saved per turn * turns that profit - cost of the summary - lost cache

All in tokens at the price of the chat's fresh input, so that models with other prices and cached tokens add up.

- *Saved per turn*: what the request gets shorter by, for each request of a turn. Where the provider caches, a repeated
  token costs a tenth, so a token less saves only that.
- *Turns that profit*: a session that has had n turns is expected to have as many more (the rule of a survival with a
  heavy tail, Lindy's), at least one and at most `MOST_TURNS`; but no more than fit until the window is full, for then
  it is compressed anyhow.
- *Summary*: two calls read the hidden span, and write the snapshot; at the prices of the model that writes it.
- *Lost cache*: the first request afterwards pays in full for what it would have read from the cache.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from gemini_companion.engine.history.verdict import Verdict
from gemini_companion.engine.tokens.rates import ASSUMED, FREE, Rates

MOST_TURNS: Final = 50.0

HARD_SHARE: Final = 0.85
"""Share of the limit from which no verdict keeps an automatic run from compressing."""

CLEARLY: Final = 0.25
"""A verdict is clearly negative when the loss is more than this share of the cost."""

_INSTRUCTION_TOKENS: Final = 2_000
"""Of the summariser's own instruction, in each call."""
_SNAPSHOT_SHARE: Final = 0.2
_LEAST_SNAPSHOT: Final = 250
_MOST_SNAPSHOT: Final = 4_000
"""What the summariser is asked to keep to, in tokens; see `summariser.TOKENS_A_WORD`."""
_CALLS: Final = 2


class Outlook(NamedTuple):
    """What a verdict rests on. Tokens are of whole requests, as the ledger counts them."""

    before: int
    """Tokens of the next request as things stand."""
    after: int
    """The same if the compression were installed."""
    untouched: int
    """Tokens in front of what is hidden, whose cache stays."""
    hidden: int
    """Tokens that the summariser reads; 0 if no model is asked."""
    snapshot: int
    """Tokens of the snapshot."""
    expected_turns: float
    requests_per_turn: float = 1.0
    cached_share: float = 0.0
    """Share of the input that the provider has lately found in its cache, 0 to 1."""
    rates: Rates = ASSUMED
    """Of the chat's model."""
    compressor: Rates = ASSUMED
    """Of the model that writes the snapshot, on the same scale."""


def expected_turns(turns: int, growth: float, room: int) -> float:
    """How many later turns profit: see the module.

    `growth` is tokens a turn, `room` the tokens until the window is full.
    """
    more = min(MOST_TURNS, max(1.0, float(turns)))
    return max(1.0, min(more, room / growth)) if growth > 0 else more


def snapshot_tokens(hidden: int) -> int:
    """Tokens that a snapshot of so many hidden ones is expected to have."""
    return round(min(_MOST_SNAPSHOT, max(_LEAST_SNAPSHOT, hidden * _SNAPSHOT_SHARE)))


def verdict_of(outlook: Outlook) -> Verdict:
    """The verdict on a compression; see the module. Where nothing costs anything, being shorter is enough."""
    rates = outlook.rates
    discount = 1 - rates.cached / rates.fresh if rates.fresh else 0.0
    cached = max(0.0, min(1.0, outlook.cached_share)) * discount
    shorter = outlook.before - outlook.after
    per_turn = round(shorter * (1 - cached) * max(1.0, outlook.requests_per_turn))
    summary = round(_summary_cost(outlook))
    lost = round(max(0, outlook.after - outlook.untouched) * cached)
    net = round(per_turn * outlook.expected_turns) - summary - lost
    return Verdict(
        is_worth_it=net > 0,
        saved_per_turn=per_turn,
        summary_tokens=summary,
        lost_cache_tokens=lost,
        expected_turns=round(outlook.expected_turns, 1),
        net_tokens=net,
        message=_sentence(per_turn, summary, lost, outlook.expected_turns, net),
    )


def is_clearly_negative(verdict: Verdict) -> bool:
    """Whether the loss is large enough to let an automatic run wait."""
    return verdict.net_tokens < -CLEARLY * (verdict.summary_tokens + verdict.lost_cache_tokens)


def _summary_cost(outlook: Outlook) -> float:
    if not outlook.hidden or outlook.compressor == FREE:
        return 0.0
    scale = outlook.rates.fresh or outlook.compressor.fresh
    read = _CALLS * (outlook.hidden + _INSTRUCTION_TOKENS) + outlook.snapshot  # the second call reads the first answer
    written = _CALLS * outlook.snapshot
    return (read * outlook.compressor.fresh + written * outlook.compressor.output) / scale


def _sentence(per_turn: int, summary: int, lost: int, turns: float, net: int) -> str:
    numbers = (
        f"it would save some {max(0, per_turn):,} tokens a turn over about {turns:.0f} more, for {summary:,} tokens of"
        f" summary and {lost:,} of lost cache"
    )
    if net > 0:
        return f"Worth it: {numbers}. Net gain: {net:,} tokens."
    return f"Not worth it yet: {numbers}. Net loss: {-net:,} tokens."
