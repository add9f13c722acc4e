"""Tokens of what surrounds a conversation in every request: system instruction, tools, environment. Counted once."""

from __future__ import annotations

import json
from typing import Any

from gemini_companion.engine.history.content import Content
from gemini_companion.engine.tokens.ledger import EstimatedParts, TokenLedger


class Surroundings:
    """Remembers the newest of each, by identity, with its tokens."""

    def __init__(self, ledger: TokenLedger) -> None:
        self._ledger = ledger
        self._system: tuple[str | None, int] = (None, 0)
        self._environment: tuple[Content | None, int] = (None, 0)
        self._tools: tuple[tuple[dict[str, Any], ...], int] = ((), 0)

    def parts(
        self, system: str | None, environment: Content | None, tools: tuple[dict[str, Any], ...]
    ) -> EstimatedParts:
        """A request of these and no conversation."""
        if self._system[0] is not system:
            self._system = (system, round(self._ledger.count_text(system or "")))
        if self._environment[0] is not environment:
            self._environment = (environment, self._ledger.measure(environment).tokens if environment else 0)
        if self._tools[0] is not tools:
            text = json.dumps(tools, ensure_ascii=False, separators=(",", ":")) if tools else ""
            self._tools = (tools, round(self._ledger.count_text(text)))
        return EstimatedParts(
            system_instruction=self._system[1], tools=self._tools[1], environment=self._environment[1]
        )
