"""`Usage`: the tokens of an answer as its provider counted them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Tokens of one answer as the provider counted them (or the offline model's ledger estimate)."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    thought_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    utility_tokens: int | msgspec.UnsetType = msgspec.UNSET
    """Of requests that were made on the way to it, such as for condensing an output; `total_tokens` has them in it.
    Unset where there were none.
    """


def sum_of(usages: Sequence[Usage]) -> Usage:
    """The tokens of several answers."""
    totals: dict[str, int] = {}
    for usage in usages:
        for name, tokens in msgspec.structs.asdict(usage).items():
            if tokens is not msgspec.UNSET:
                totals[name] = totals.get(name, 0) + tokens
    return Usage(**totals)
