"""A conversation that grows and is compressed again and again, by summarisers that cannot be had on order otherwise."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from gemini_companion.engine.compression.gate import GateOptions, gate
from gemini_companion.engine.compression.sources import sources_of
from gemini_companion.engine.compression.strategies.split import SplitStrategy
from gemini_companion.engine.compression.types import LogState, Plan, Trim
from gemini_companion.engine.facts.content_text import text_of_content
from gemini_companion.engine.facts.fact import FactSource
from gemini_companion.engine.facts.haystack import Haystack, needle_of, shown
from gemini_companion.engine.facts.neutralise import SECTIONS, neutralise
from gemini_companion.engine.facts.page import read_earlier
from gemini_companion.engine.facts.retention import (
    FactCache,
    placed_facts,
)
from gemini_companion.engine.facts.snapshot import extractive_snapshot
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.item import REPLACEMENT_KINDS
from gemini_companion.engine.history.log import CompressionEntry, CompressionResult
from gemini_companion.engine.history.view import History
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.interchange.importing import entries_of

SummariserName: TypeAlias = Literal["oracle", "lossy", "terse", "offline"]
SUMMARISERS: Final[tuple[SummariserName, ...]] = ("oracle", "lossy", "terse", "offline")
ARTIFACTS: Final = frozenset(("path", "symbol", "url", "command"))

LOSS: Final = 0.3
"""Share of its items that the lossy summariser drops, with each compression anew."""
TERSE_TOKENS: Final = 150
_LEDGER: Final = TokenLedger()
_SECTION_OF: Final = {
    "directive": "active_constraints",
    "decision": "key_knowledge",
    "task": "task_state",
    "path": "file_system_state",
    "command": "recent_actions",
}
_RESULT: Final = CompressionResult(
    status="COMPRESSED",
    trigger="manual",
    original_token_count=0,
    new_token_count=0,
    token_count_source="estimate",
    model_calls=0,
    duration_ms=0,
    message="",
)


class Kept(NamedTuple):
    """After a pass: facts by kind, how many of them stand in the view, and what takes the place of what is hidden."""

    passes: int
    facts: Counter[str]
    kept: Counter[str]
    hidden_tokens: float
    replaced_by_tokens: float
    refused: int
    """Compressions that the gate refused so far."""
    unsupported: int
    """Claims of the snapshot that it found no source for."""

    def share(self, kinds: frozenset[str] | None = None) -> float:
        """Share of the facts of some kinds, or of all, that stand in the view."""
        facts = sum(count for kind, count in self.facts.items() if kinds is None or kind in kinds)
        kept = sum(count for kind, count in self.kept.items() if kinds is None or kind in kinds)
        return kept / facts if facts else 1.0


@dataclass(slots=True)
class GrowingChat:
    """A conversation of the corpus, told in pieces."""

    contents: Sequence[Content]
    summariser: SummariserName
    has_gate: bool
    seed: int = 0
    passes: int = 10
    history: History = field(default_factory=lambda: History(_LEDGER.measure))
    cache: FactCache = field(default_factory=FactCache)
    refused: int = 0
    unsupported: int = 0

    def run(self) -> list[Kept]:
        """What is kept after each pass."""
        entries = [entry for entry in entries_of(self.contents, now=1) if entry.id]
        chance = random.Random(self.seed)
        measured: list[Kept] = []
        done = 0
        for number in range(1, self.passes + 1):
            for entry in entries[done : len(entries) * number // self.passes]:
                self.history.apply(msgspec.structs.replace(entry, seq=self.history.version + 1))
            done = len(entries) * number // self.passes
            self._compress(number, chance)
            measured.append(self._measure(number))
        return measured

    def _compress(self, number: int, chance: random.Random) -> None:
        history = self.history
        items = history.curated()
        trim = Trim(items=items, cut_items=items, cuts=())
        strategy = SplitStrategy()
        plan = strategy.plan(trim, LogState(history.version, tuple(history.in_force.values())))
        if plan is None:
            return
        snapshot = _WRITERS[self.summariser](plan, chance, self.cache)
        kept = {item.seq for item in plan.kept}
        hidden = [
            item for item in history.sources if plan.hides[0] <= item.seq <= plan.hides[1] and item.seq not in kept
        ]
        fresh = frozenset(item.seq for item in plan.hidden)
        beside = [item for item in items if item.seq not in fresh and item.kind not in REPLACEMENT_KINDS]
        gated = gate(
            sources_of(hidden),
            snapshot,
            [text_of_content(item.content) for item in beside],
            GateOptions(is_on=self.has_gate),
            count_text=_LEDGER.count_text,
            hidden_tokens=sum(item.measure.tokens for item in hidden),
            fresh=fresh,
            cache=self.cache,
        )
        self.unsupported += len(gated.retention.unsupported)
        if gated.verdict != "pass":
            self.refused += 1
            return
        entry = strategy.conclude(plan, snapshot).with_appendix(gated.appendix)
        gone = sum(item.measure.tokens for item in items if plan.hides[0] <= item.seq <= plan.hides[1])
        if sum(_LEDGER.measure(content).tokens for content in entry.replacement) >= gone:
            return  # no gain: the product installs none either
        result = msgspec.structs.replace(_RESULT, snapshot=snapshot)
        applied = entry.entry(id=f"e{number}", time=number, compression_id=f"c{number}", result=result)
        history.apply(msgspec.structs.replace(applied, seq=history.version + 1))

    def _measure(self, number: int) -> Kept:
        history = self.history
        newest = next((entry for entry in reversed(list(history.in_force.values())) if entry.hides), None)
        hidden = _hidden(history, newest) if newest else []
        items = history.curated()
        view = Haystack(text_of_content(item.content) for item in items)
        facts: Counter[str] = Counter()
        kept: Counter[str] = Counter()
        for _, fact in placed_facts(sources_of(hidden), cache=self.cache):
            facts[fact.kind] += 1
            kept[fact.kind] += view.has(needle_of(fact))
        return Kept(
            number,
            facts,
            kept,
            sum(item.measure.tokens for item in hidden),
            sum(item.measure.tokens for item in items if item.kind in REPLACEMENT_KINDS),
            self.refused,
            self.unsupported,
        )


def _hidden(history: History, entry: CompressionEntry):
    first, last = entry.hides or (1, 0)
    return [item for item in history.sources if first <= item.seq <= last and item.seq not in entry.keeps]


def _items(plan: Plan, cache: FactCache) -> list[tuple[str, str]]:
    """What a perfect summariser would say: every line of the earlier snapshot, every fact of the fresh contents."""
    earlier = [(name, entry) for name, lines in read_earlier(plan.previous_snapshot).items() for entry in lines]
    facts = [
        (_SECTION_OF.get(fact.kind, "key_knowledge"), f"- {shown(fact)}")
        for _, fact in placed_facts(sources_of(plan.hidden), cache=cache)
    ]
    return list(dict.fromkeys((*earlier, *facts)))


def _page(items: Sequence[tuple[str, str]]) -> str:
    body = "\n".join(
        f"<{name}>\n{neutralise(chr(10).join(text for section, text in items if section == name) or 'none')}\n</{name}>"
        for name in SECTIONS
    )
    return f"<state_snapshot>\n{body}\n</state_snapshot>"


def _oracle(plan: Plan, chance: random.Random, cache: FactCache) -> str:
    return _page(_items(plan, cache))


def _lossy(plan: Plan, chance: random.Random, cache: FactCache) -> str:
    return _page([item for item in _items(plan, cache) if chance.random() >= LOSS])


def _terse(plan: Plan, chance: random.Random, cache: FactCache) -> str:
    items = _items(plan, cache)
    chance.shuffle(items)
    kept: list[tuple[str, str]] = []
    left = float(TERSE_TOKENS)
    for item in items:
        left -= _LEDGER.count_text(item[1])
        if left < 0:
            break
        kept.append(item)
    return _page(kept)


def _offline(plan: Plan, chance: random.Random, cache: FactCache) -> str:
    sources: tuple[FactSource, ...] = sources_of(plan.hidden)
    budget = max(400, plan.hidden_tokens // 5)
    earlier = read_earlier(plan.previous_snapshot)
    carried = "\n".join((*earlier["active_constraints"], *earlier["key_knowledge"]))
    budget += int(min(_LEDGER.count_text(carried), 2 * budget))
    return extractive_snapshot(
        sources, previous=plan.previous_snapshot, budget_tokens=budget, count_text=_LEDGER.count_text
    )


_WRITERS: Final[dict[SummariserName, Callable[[Plan, random.Random, FactCache], str]]] = {
    "oracle": _oracle,
    "lossy": _lossy,
    "terse": _terse,
    "offline": _offline,
}
