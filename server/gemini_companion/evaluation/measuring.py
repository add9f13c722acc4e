"""The numbers of one pass: what stands in the request that a model would get, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.fact import FactKind, FactSource
from gemini_companion.engine.facts.retention import FactCache, placed_facts
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.evaluation.graders import kept_of_labels, kept_of_needed, text_in
from gemini_companion.evaluation.grading import fact_stands, plain, plain_contents, rule_stands, stands
from gemini_companion.evaluation.probes import PROBE_KINDS
from gemini_companion.evaluation.script import Script
from gemini_companion.evaluation.subject import INSTALLED, Outcome, Request

ARTIFACT_KINDS: Final[frozenset[FactKind]] = frozenset(("path", "symbol", "url", "command"))
"""Kinds of facts that make the trail of artifacts."""
TURNS: Final = 50
"""Turns of the script over which tokens are reckoned."""
CACHED_PRICE: Final = 0.25
"""Price of an input token that the provider has cached, in input tokens."""
OUTPUT_PRICE: Final = 8.0
"""Price of an output token, in input tokens."""
_LONGEST_LINE: Final = 160
_LONGEST_TEXT: Final = 400


class Share(msgspec.Struct, frozen=True):
    """So many of so many."""

    kept: int
    of: int

    @property
    def value(self) -> float | None:
        """From 0 to 1; `None` of nothing."""
        return self.kept / self.of if self.of else None


class PassNumbers(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was measured after one pass. The same for the same cell, whenever and wherever it runs."""

    number: int
    """From 1."""
    status: str
    shares: dict[str, Share]
    """By metric: `labels.rules`, `needed.names`; or `rules.hard`, `probes.recall`, `facts.path`, …"""
    tokens_before: int
    """Estimated tokens of the contents of a request before the pass."""
    tokens_after: int
    tokens_said: int
    """Of everything that was ever said."""
    calls: int
    """Calls to the summariser in this pass."""
    tokens_in: int
    tokens_out: int
    net_tokens: int
    """See `net_tokens`."""
    virtual_ms: int = 0
    retention: float | None = None
    appended: int = 0
    unsupported: int = 0
    invented: int | None = None
    """Of an invented path in the request: 1 if it stands there. `None` where none was invented."""

    @property
    def is_installed(self) -> bool:
        """The history is another one now."""
        return self.status in INSTALLED


class Measure:
    """Measures the passes of one run."""

    def __init__(self, script: Script, ledger: TokenLedger, cache: FactCache) -> None:
        self._script = script
        self._planted = script.planted
        self._ledger = ledger
        self._cache = cache
        self._plain: dict[int, tuple[Content, str]] = {}
        self._counted: dict[int, tuple[Content, int]] = {}
        self.said: list[Content] = []
        """Everything that was said so far."""

    def tokens(self, contents: Iterable[Content]) -> int:
        """Estimated tokens."""
        return sum(map(self._tokens_of, contents))

    def _tokens_of(self, content: Content) -> int:
        known = self._counted.get(id(content))
        if known is None:
            known = self._counted[id(content)] = (content, self._ledger.measure(content).tokens)
        return known[1]

    def shares(self, request: Request, number: int) -> dict[str, Share]:
        """What of the labels stands in a request after a pass, or of what is needed next, or of what was planted."""
        script = self._script
        if script.gold is None and not script.needed:
            return self._planted_shares(request)
        text = text_in([request.system, msgspec.to_builtins(request.contents)])
        if script.gold is not None:
            history = msgspec.to_builtins(script.labelled)
            found = kept_of_labels(script.gold, history, len(self.said), text, request.in_force)
            return {f"labels.{kind}": Share(*kept) for kind, kept in found.items()}
        found = kept_of_needed(script.needed[number - 1], text)
        return {f"needed.{kind}": Share(*kept) for kind, kept in found.items()}

    def _planted_shares(self, request: Request) -> dict[str, Share]:
        """What of rules, planted facts, and facts of what is hidden, stands in a request."""
        haystack = f"{plain(request.system)}\n{plain_contents(request.contents)}"
        shares: dict[str, Share] = {}
        for strength in ("hard", "soft"):
            rules = [rule for rule in self._planted.rules if rule.strength == strength]
            shares[f"rules.{strength}"] = Share(sum(rule_stands(rule, haystack) for rule in rules), len(rules))
        for kind in PROBE_KINDS:
            facts = [fact for fact in self._planted.facts if fact.kind == kind]
            shares[f"probes.{kind}"] = Share(sum(fact_stands(fact, haystack) for fact in facts), len(facts))
        return {**shares, **self._fact_shares(haystack)}

    def _fact_shares(self, haystack: str) -> dict[str, Share]:
        """By kind, the facts of the contents that are not in the request as they were said."""
        is_hidden = [self._plain_of(content) not in haystack for content in self.said]
        end = max((place for place, hidden in enumerate(is_hidden, start=1) if hidden), default=0)
        sources = [FactSource(index, content, index) for index, content in enumerate(self.said[:end])]
        found: dict[str, list[bool]] = {}
        for place, fact in placed_facts(sources, later=self.said[end:], cache=self._cache):
            if is_hidden[place]:
                found.setdefault(f"facts.{fact.kind}", []).append(stands(_needle(fact.kind, fact.text), haystack))
        return {name: Share(sum(kept), len(kept)) for name, kept in sorted(found.items())}

    def _plain_of(self, content: Content) -> str:
        known = self._plain.get(id(content))
        if known is None:
            known = self._plain[id(content)] = (content, plain(text_of_content(content)))
        return known[1]


def _needle(kind: FactKind, text: str) -> str:
    """What of a fact has to stand there: of a command or an error the first line."""
    limit = _LONGEST_TEXT
    if kind in ("command", "error"):
        text, limit = text.lstrip().partition("\n")[0], _LONGEST_LINE
    if len(text) > limit:
        end = text.rfind(" ", 0, limit + 1)
        text = text[: end if end > 0 else limit]
    return plain(text).strip(" .:;!。！：；-")


def net_tokens(before: int, after: int, *, tokens_in: int, tokens_out: int, turns: float, outcome: Outcome) -> int:
    """Input tokens that a pass saves over the turns until the next one, minus what it costs.

    Every request is one turn; its beginning is cached, and so costs a quarter. A changed beginning is not cached once.
    The summary's tokens are paid in full, those written at the price of output. Negative: it was not worth it.
    """
    cost = tokens_in + OUTPUT_PRICE * tokens_out
    if not outcome.is_installed:
        return -round(cost)
    unchanged = CACHED_PRICE * before * turns
    changed = after + CACHED_PRICE * after * max(0.0, turns - 1)
    return round(unchanged - changed - cost)


def together(shares: dict[str, Share], names: Sequence[str]) -> Share:
    """The sum of some shares."""
    chosen = [shares[name] for name in names if name in shares]
    return Share(sum(share.kept for share in chosen), sum(share.of for share in chosen))
