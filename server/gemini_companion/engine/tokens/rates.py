"""What tokens of a model cost, in proportion to each other.

Google's list prices for requests up to 200,000 tokens, in US dollars per million tokens, as of October 2026. Only the
proportions between them are used, so a later list with other sums changes little. Cached input costs a tenth of fresh
input with every model listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


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
    "gemini-3.1-flash-lite": _listed(0.25, 1.5),
    "gemini-3-pro-preview": _listed(2.0, 12.0),
    "gemini-3-flash-preview": _listed(0.5, 3.0),
    "gemini-2.5-pro": _listed(1.25, 10.0),
    "gemini-2.5-flash": _listed(0.3, 2.5),
    "gemini-2.5-flash-lite": _listed(0.1, 0.4),
}


def rates_of(model: str) -> Rates | None:
    """The prices of a model, `None` for one that is not listed. A path in front of the name does not matter."""
    return _RATES.get(model.rsplit("/", 1)[-1])
