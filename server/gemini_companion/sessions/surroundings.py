"""Tokens of what surrounds a conversation in every request: system instruction, tools, environment. Counted once."""

from __future__ import annotations

import json
from typing import Any

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.memory.tiers import Tiers
from gemini_companion.engine.tokens.ledger import EstimatedParts, TokenLedger


class Surroundings:
    """Remembers the newest of each, by identity, with its tokens."""

    def __init__(self, ledger: TokenLedger) -> None:
        self.memory = Tiers()
        """The memory that stands in the system instruction and the environment. Set by `use_memory` alone."""
        self._memory_tokens = (0, 0)
        """Of them in the system instruction, and in the environment."""
        self._ledger = ledger
        self._system: tuple[str | None, int] = (None, 0)
        self._environment: tuple[Content | None, int] = (None, 0)
        self._tools: tuple[tuple[dict[str, Any], ...], int] = ((), 0)

    @property
    def environment_tokens(self) -> int:
        """Estimated tokens of the environment's content, with the memory in it, as `parts` was last asked of them."""
        return self._environment[1]

    def use_memory(self, memory: Tiers, *, in_system: bool) -> None:
        """Take the memory that system instruction and environment are made with from now on."""
        if memory.standing != self.memory.standing or self._memory_tokens[0] == 0:
            first = self._ledger.count_text(memory.extension) + self._ledger.count_text(memory.project)
            system = self._ledger.count_text(memory.system) if in_system else 0
            self._memory_tokens = (round(system), round(first))
        self.memory = memory

    def parts(
        self, system: str | None, environment: Content | None, tools: tuple[dict[str, Any], ...]
    ) -> EstimatedParts:
        """A request of these and no conversation. Memory is a part of its own, wherever it stands."""
        if self._system[0] is not system:
            self._system = (system, round(self._ledger.count_text(system or "")))
        if self._environment[0] is not environment:
            self._environment = (environment, self._ledger.measure(environment).tokens if environment else 0)
        if self._tools[0] is not tools:
            text = json.dumps(tools, ensure_ascii=False, separators=(",", ":")) if tools else ""
            self._tools = (tools, round(self._ledger.count_text(text)))
        in_system = min(self._memory_tokens[0], self._system[1])
        in_environment = min(self._memory_tokens[1], self._environment[1])
        return EstimatedParts(
            system_instruction=self._system[1] - in_system,
            tools=self._tools[1],
            environment=self._environment[1] - in_environment,
            memory=in_system + in_environment,
        )
