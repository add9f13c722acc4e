"""A provider's prefix cache, and what a session costs with it."""

from __future__ import annotations

from typing import Any

import msgspec

from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.tokens.rates import Rates
from gemini_companion.sessions.models.port import ModelRequest
from tests.support.scripted_model import SNAPSHOT, count_request
from tests.support.sessions import Studio


class Caching:
    """A provider's prefix cache: of a request it finds what the one before had in common with it, from the front."""

    def __init__(self, studio: Studio, *, works: bool = True) -> None:
        self._works = works
        self._last: list[Any] = []
        self.sent: list[tuple[int, int]] = []
        """Of each request of a turn, its tokens and those found in the cache."""
        studio.model.answer_usage = self.usage

    def usage(self, request: ModelRequest, answer: str) -> Usage:
        common = 0
        for old, new in zip(self._last, request.contents, strict=False):
            if old != new or not self._works:
                break
            common += 1
        self._last = list(request.contents)
        prefix = msgspec.structs.replace(request, contents=request.contents[:common])
        tokens, cached = count_request(request), count_request(prefix) if common else 0
        self.sent.append((tokens, cached))
        return Usage(prompt_tokens=tokens, cached_tokens=cached, output_tokens=len(answer) // 4)

    def price(self, studio: Studio, rates: Rates) -> int:
        """Tokens at the price of fresh input: every request of turns, and every call for a snapshot."""
        cached = rates.cached / rates.fresh
        turns = sum(tokens - found * (1 - cached) for tokens, found in self.sent)
        calls = [request for request in studio.model.requests if request.role == "utility_compressor"]
        written = len(calls) * len(SNAPSHOT) / 4 * rates.output / rates.fresh
        return round(turns + sum(count_request(request) for request in calls) + written)
