"""What requests to models cost, as the budget counts it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, NamedTuple

from gemini_companion.engine.history.appending import TURN_KINDS
from gemini_companion.engine.history.fold import Fold
from gemini_companion.engine.history.log import Entry, ResumeEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.statistics.uses import believed
from gemini_companion.engine.tokens.rates import ASSUMED, cost_of, rates_of

SLOT_MS: Final = 15 * 60 * 1000
"""Spending of a store is kept by quarters of an hour: midnight anywhere is the beginning of one."""


class Spent(NamedTuple):
    """Tokens of requests and their answers, and millionths of a US dollar."""

    tokens: int = 0
    micro_dollars: int = 0

    @property
    def cost(self) -> float:
        """US dollars."""
        return self.micro_dollars / 1_000_000

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(self.tokens + other.tokens, self.micro_dollars + other.micro_dollars)


def spent_on(entry: Entry) -> Spent:
    """What an entry says was spent. A model without a listed price is taken for one of a usual price: a limit that such
    a model passes by would be none.
    """
    if not isinstance(entry, ModelCallEntry) or entry.is_local or entry.usage is None:
        return Spent()
    usage = entry.usage
    prompt, written = believed(usage.prompt_tokens), believed(usage.output_tokens) + believed(usage.thought_tokens)
    rates = rates_of(entry.model, prompt) or ASSUMED
    cost = cost_of(rates, prompt=prompt, cached=min(prompt, believed(usage.cached_tokens)), written=written)
    return Spent(prompt + written, round(cost * 1_000_000))


class Spending(Fold):
    """What a session has spent. One that was forked or imported begins at nothing: that was paid for elsewhere."""

    ignored: ClassVar = TURN_KINDS - {ModelCallEntry}

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.spent = Spent()
        for entry in entries:
            self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Take in the next entry."""
        if isinstance(entry, ModelCallEntry):
            self.spent = self.spent.plus(spent_on(entry))
        elif isinstance(entry, ResumeEntry) and entry.reason in ("fork", "import"):
            self.spent = Spent()
