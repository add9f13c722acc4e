"""Sums over requests to a model, and over calls of a tool."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import CallRecord
from gemini_companion.engine.history.usage import Usage
from gemini_companion.engine.tokens.rates import cost_of, rates_of

SAMPLES: Final = 2_000
"""Newest durations that medians are made of."""

MOST: Final = 10**12
"""No count of one request is believed beyond it: an imported file may say anything."""


def _samples() -> deque[int]:
    return deque(maxlen=SAMPLES)


def believed(count: int) -> int:
    """A count within bounds."""
    return max(0, min(MOST, count))


def price_of(usage: Usage | None, model: str, *, is_local: bool) -> float | None:
    """US dollars for a request by the price table; `None` where nobody counted, or the model is not listed.

    A model on this machine costs nothing.
    """
    if is_local:
        return 0.0
    if not is_counted(usage):
        return None
    prompt = believed(usage.prompt_tokens)
    rates = rates_of(model, prompt)
    if rates is None:
        return None
    written = believed(usage.output_tokens) + believed(usage.thought_tokens)
    return cost_of(rates, prompt=prompt, cached=believed(usage.cached_tokens), written=written)


def is_counted(usage: Usage | None) -> TypeGuard[Usage]:
    """Whether the provider said how many tokens a request had."""
    return usage is not None and any((usage.prompt_tokens, usage.output_tokens, usage.thought_tokens))


@dataclass(slots=True)
class ModelUse:
    """The requests to one model for one purpose."""

    calls: int = 0
    failures: int = 0
    """Calls that failed or were cancelled."""
    prompt: int = 0
    cached: int = 0
    thoughts: int = 0
    output: int = 0
    uncounted: int = 0
    """Calls whose tokens nobody counted."""
    unpriced: int = 0
    """Calls with tokens of a model that the price table does not have."""
    is_paid: bool = False
    """Some call was not of a model on this machine."""
    cost: float = 0.0
    """US dollars, of the calls that are priced."""
    first_ms: deque[int] = field(default_factory=_samples)
    whole_ms: deque[int] = field(default_factory=_samples)

    def add_call(self, entry: ModelCallEntry) -> float:
        """Count a request; returns its cost in US dollars, 0 where that is not known."""
        self.calls += 1
        self.failures += entry.outcome != "ok"
        if entry.outcome == "ok":
            self.whole_ms.append(believed(entry.duration_ms))
            if entry.first_ms is not None:
                self.first_ms.append(believed(entry.first_ms))
        return self._add_tokens(entry.usage, entry.model, is_local=entry.is_local)

    def add_answer(self, usage: Usage | None, model: str) -> None:
        """Count an answer of which no `modelCall` tells: an earlier version wrote it, or another program."""
        self.calls += 1
        self._add_tokens(usage, model, is_local=False)

    def add(self, other: ModelUse) -> None:
        """Add the sums of another one."""
        for name in ("calls", "failures", "prompt", "cached", "thoughts", "output", "uncounted", "unpriced", "cost"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.is_paid = self.is_paid or other.is_paid
        self.first_ms.extend(other.first_ms)
        self.whole_ms.extend(other.whole_ms)

    def _add_tokens(self, usage: Usage | None, model: str, *, is_local: bool) -> float:
        self.is_paid = self.is_paid or not is_local
        if not is_counted(usage):
            self.uncounted += 1
            return 0.0
        self.prompt += believed(usage.prompt_tokens)
        self.cached += believed(usage.cached_tokens)
        self.thoughts += believed(usage.thought_tokens)
        self.output += believed(usage.output_tokens)
        cost = price_of(usage, model, is_local=is_local)
        self.unpriced += cost is None
        self.cost += cost or 0.0
        return cost or 0.0


@dataclass(slots=True)
class TurnUse:
    """The requests of one turn: its answers, and what was asked of models on the way."""

    time: int
    """Of the first of them, ms since 1970."""
    calls: int = 0
    prompt: int = 0
    cached: int = 0
    written: int = 0
    cost: float = 0.0
    """US dollars, of the calls that are priced."""
    is_cost_complete: bool = True

    def add_call(self, entry: ModelCallEntry) -> None:
        """Count a request. One that failed and that nobody counted is taken to have cost nothing."""
        self.calls += 1
        usage = entry.usage
        if is_counted(usage):
            self.prompt += believed(usage.prompt_tokens)
            self.cached += believed(usage.cached_tokens)
            self.written += believed(usage.output_tokens) + believed(usage.thought_tokens)
        price = price_of(usage, entry.model, is_local=entry.is_local)
        self.cost += price or 0.0
        self.is_cost_complete = self.is_cost_complete and (price is not None or entry.outcome != "ok")


@dataclass(slots=True)
class ToolUse:
    """The calls of one tool."""

    calls: int = 0
    ok: int = 0
    declined: int = 0
    failed: int = 0
    """Calls that failed, ran out of time or were interrupted."""
    duration_ms: int = 0

    def add_call(self, record: CallRecord) -> None:
        """Count a call."""
        self.calls += 1
        if record.outcome == "ok":
            self.ok += 1
        elif record.outcome == "declined":
            self.declined += 1
        else:
            self.failed += 1
        self.duration_ms += believed(record.duration_ms)

    def add(self, other: ToolUse) -> None:
        """Add the sums of another one."""
        self.calls += other.calls
        self.ok += other.ok
        self.declined += other.declined
        self.failed += other.failed
        self.duration_ms += other.duration_ms
