"""What tokens of a model cost: the one price table.

Google's list prices in US dollars per million tokens of text, from `PRICES_FROM` as of `PRICES_AS_OF`. Cached input
costs a tenth of fresh input with every model listed; what a cache of one's own costs by the hour is not in it. Some
models cost more where a request has more than `LONG_REQUEST` tokens: that is the whole request then. Verdicts use only
the proportions; statistics and telemetry show the sums, which are an estimate: no plan, credit or discount is known
here. Whoever changes a price changes the date, and looks at all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

PRICES_FROM: Final = "https://ai.google.dev/gemini-api/docs/pricing"
PRICES_AS_OF: Final = "2026-10"
"""Year and month."""


class Rates(NamedTuple):
    """Prices of a million tokens: fresh input, output, and input that the provider finds in its cache."""

    fresh: float
    output: float
    cached: float


FREE: Final = Rates(0.0, 0.0, 0.0)
"""A model that runs on this machine."""

ASSUMED: Final = Rates(1.0, 6.0, 1.0)
"""A model that is not listed: output at the usual multiple, and no cache."""


def _listed(fresh: float, output: float) -> Rates:
    return Rates(fresh, output, fresh / 10)


_RATES: Final[Mapping[str, Rates]] = {
    "gemini-3.8-flash": _listed(0.75, 4.5),
    "gemini-3.5-flash": _listed(1.5, 9.0),
    "gemini-3.5-flash-lite": _listed(0.25, 1.5),
    "gemini-3.1-pro-preview": _listed(2.0, 12.0),
    "gemini-3.1-pro-preview-customtools": _listed(2.0, 12.0),
    "gemini-3.1-flash-lite": _listed(0.25, 1.5),
    "gemini-3.1-flash-lite-preview": _listed(0.25, 1.5),
    "gemini-3-pro-preview": _listed(2.0, 12.0),
    "gemini-3-flash-preview": _listed(0.5, 3.0),
    "gemini-2.5-pro": _listed(1.25, 10.0),
    "gemini-2.5-flash": _listed(0.3, 2.5),
    "gemini-2.5-flash-lite": _listed(0.1, 0.4),
}


LONG_REQUEST: Final = 200_000
"""Tokens of a request from which on the prices of `_LONG` hold."""

_LONG: Final[Mapping[str, Rates]] = {
    "gemini-3.1-pro-preview": _listed(4.0, 18.0),
    "gemini-3.1-pro-preview-customtools": _listed(4.0, 18.0),
    "gemini-3-pro-preview": _listed(4.0, 18.0),
    "gemini-2.5-pro": _listed(2.5, 15.0),
}


def price_table() -> Mapping[str, tuple[Rates, Rates | None]]:
    """The prices of each model that is listed, those of short requests and, where they differ, of long ones."""
    return {name: (rates, _LONG.get(name)) for name, rates in _RATES.items()}


def rates_of(model: str, prompt_tokens: int = 0) -> Rates | None:
    """The prices of a model for a request of so many tokens, `None` for one that is not listed.

    A path in front of the name does not matter.
    """
    name = model.rsplit("/", 1)[-1]
    rates = _RATES.get(name)
    return _LONG.get(name, rates) if prompt_tokens > LONG_REQUEST else rates


def cost_of(rates: Rates, *, prompt: int, cached: int, written: int) -> float:
    """US dollars for one request. `written` are the tokens of answer and thoughts; `cached` are part of `prompt`."""
    read = min(cached, prompt)
    return ((prompt - read) * rates.fresh + read * rates.cached + written * rates.output) / 1_000_000
