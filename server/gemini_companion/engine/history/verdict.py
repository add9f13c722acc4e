"""What a compression's result says of how it was made: the strategy's name, and the verdict on its cost."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

StrategyName: TypeAlias = Literal[
    "split", "semantic", "selective", "hierarchical", "reserve", "assemble", "userMessages", "record"
]
"""`settings.schema_companion` says what each does."""

DEFAULT_STRATEGY: Final[StrategyName] = "record"
"""What keeps most by README's table. `split` is Gemini CLI's: its snapshot is all that is left of the older 70 %."""

BackgroundMode: TypeAlias = Literal["auto", "idle", "off"]
"""When a compression is prepared ahead of need: from the soft mark on and in idle time; in idle time, and when
it is due; never."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whether a compression pays for itself. Every number is tokens at the price of the chat's fresh input tokens.

    Every field has a default, so that a later version may leave some out.
    """

    is_worth_it: bool = True
    saved_per_turn: int = 0
    """What each later turn costs less."""
    summary_tokens: int = 0
    """What the calls that write the snapshot cost, input and output."""
    lost_cache_tokens: int = 0
    """What the first request costs more because the provider's prefix cache no longer fits."""
    expected_turns: float = 0.0
    """Turns that are expected to profit."""
    net_tokens: int = 0
    """`savedPerTurn * expectedTurns - summaryTokens - lostCacheTokens`."""
    message: str = ""
    """A sentence for people, with the numbers."""
