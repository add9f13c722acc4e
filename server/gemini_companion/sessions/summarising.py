"""Getting a snapshot out of a model: quote, ask, verify, repair, in blocks where the history is larger than any window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.compression.answer import read_snapshot
from gemini_companion.engine.compression.plan import Plan
from gemini_companion.engine.compression.prompt import (
    REPAIR_REQUEST,
    SYSTEM_INSTRUCTION,
    VERIFY_REQUEST,
    follow_up,
    quote,
    summary_contents,
)
from gemini_companion.engine.facts.extract import FactSource
from gemini_companion.engine.facts.snapshot import SummaryTask
from gemini_companion.engine.history.content import Content, user_text, visible_text_of
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.events import Phase
from gemini_companion.sessions.ports import Clock, ModelClient, ModelRequest
from gemini_companion.sessions.retry import RetryBudget

RETRY_SECONDS: Final = 20.0
"""Waiting that all retries of one compression may add up to."""

ANSWER_TOKENS: Final = 8_192
"""Room left for one answer; two are. In a window under 64k, an eighth of it."""

FENCE_TOKENS: Final = 30
"""About what the two lines of a fence cost."""

IN_THREAD_FROM: Final = 2_000
"""Contents from which quoting and planning leave the event loop."""

OFFLINE_BUDGET_SHARE: Final = 5
"""The offline model's snapshot may take a fifth of what it hides."""

ReportPhase = Callable[[Phase, int | None, int | None], None]


class Summary(NamedTuple):
    """A snapshot, if one could be had, and how many generate calls it took."""

    snapshot: str | None
    calls: int


class Summariser:
    """One compression's talk with the compressor model. `window` is the smaller one of the conversation's and the compressor's."""

    def __init__(
        self, *, client: ModelClient, model: str, window: int, ledger: TokenLedger, clock: Clock, prompt_id: str, nonce: str, report: ReportPhase
    ) -> None:
        self._client = client
        self._model = model
        self._ledger = ledger
        self._prompt_id = prompt_id
        self._nonce = nonce
        self._report = report
        self._retries = RetryBudget(clock, RETRY_SECONDS)
        self.calls = 0
        answer = min(ANSWER_TOKENS, window // 8)
        self._answer_tokens = answer
        self._room = max(1_000, window - 2 * answer - round(ledger.count_text(SYSTEM_INSTRUCTION)) - 300)
        """Tokens that quoted history may take."""

    async def summarise(self, plan: Plan, guidance: str) -> Summary:
        """Write and verify a snapshot of the plan's hidden span. Raises `ModelFault`s that retries did not cure."""
        if self._client.provider == "offline":
            return await self._extract(plan, guidance)
        blocks = await _off_loop(len(plan.hidden), lambda: self._blocks(plan))
        snapshot = plan.previous_snapshot
        for number, block in enumerate(blocks[:-1], start=1):
            self._report("summarising", number, len(blocks))
            contents = summary_contents(block, previous_snapshot=snapshot, guidance=guidance, nonce=self._nonce)
            answer = await self._ask(contents, f"-block-{number}")
            snapshot = read_snapshot(answer) or await self._repair(contents, answer)
            if snapshot is None:
                return Summary(None, self.calls)
        last = len(blocks) if len(blocks) > 1 else None
        contents = summary_contents(blocks[-1], previous_snapshot=snapshot, guidance=guidance, nonce=self._nonce)
        return await self._two_passes(contents, last)

    async def _two_passes(self, contents: tuple[Content, ...], block: int | None) -> Summary:
        self._report("summarising", block, block)
        first = await self._ask(contents, "")
        self._report("verifying", None, None)
        second = await self._ask(follow_up(contents, first, VERIFY_REQUEST), "-verify")
        snapshot = read_snapshot(second) or read_snapshot(first) or await self._repair(contents, second or first)
        return Summary(snapshot, self.calls)

    async def _repair(self, contents: tuple[Content, ...], answer: str) -> str | None:
        self._report("repairing", None, None)
        return read_snapshot(await self._ask(follow_up(contents, answer, REPAIR_REQUEST), "-repair"))

    async def _extract(self, plan: Plan, guidance: str) -> Summary:
        """The offline model reads the contents themselves; no window limits it."""
        hidden_tokens = plan.hidden_tokens
        task = SummaryTask(
            sources=tuple(
                FactSource(index=index, content=item.content, seq=item.seq, ide_context=item.kind == "ide") for index, item in enumerate(plan.hidden)
            ),
            previous_snapshot=plan.previous_snapshot,
            guidance=guidance,
            budget_tokens=max(400, hidden_tokens // OFFLINE_BUDGET_SHARE),
            hidden_tokens=hidden_tokens,
        )
        self._report("summarising", None, None)
        first = await self._ask((user_text("Write the snapshot."),), "", task)
        self._report("verifying", None, None)
        second = await self._ask((user_text("Verify the snapshot."),), "-verify", task)
        return Summary(read_snapshot(second) or read_snapshot(first), self.calls)

    def _blocks(self, plan: Plan) -> list[list[str]]:
        """The hidden span, quoted: the originals if they fit in one request, else with outputs cut, else in as many blocks as it takes."""
        previous = round(self._ledger.count_text(plan.previous_snapshot or ""))
        for items in (plan.hidden, plan.hidden_cut):
            if sum(item.measure.tokens + FENCE_TOKENS for item in items) + previous <= self._room:
                return [quote(items, nonce=self._nonce)]
        room = max(500, self._room - max(previous, self._answer_tokens))
        blocks: list[list[str]] = []
        start, spent = 0, 0
        for index, item in enumerate(plan.hidden_cut):
            cost = min(item.measure.tokens, room) + FENCE_TOKENS
            if index > start and spent + cost > room:
                blocks.append(self._quote_within(plan.hidden_cut[start:index], start, room))
                start, spent = index, 0
            spent += cost
        blocks.append(self._quote_within(plan.hidden_cut[start:], start, room))
        return blocks

    def _quote_within(self, items: Sequence[Item], first_index: int, room: int) -> list[str]:
        limit = None if all(item.measure.tokens <= room for item in items) else room * 2
        return quote(items, nonce=self._nonce, first_index=first_index, limit=limit)

    async def _ask(self, contents: tuple[Content, ...], suffix: str, task: SummaryTask | None = None) -> str:
        request = ModelRequest(
            model=self._model,
            contents=contents,
            system_instruction=SYSTEM_INSTRUCTION,
            role="utility_compressor",
            prompt_id=self._prompt_id + suffix,
            summary_task=task,
        )
        chunk = await self._retries.run(lambda: self._client.generate(request))
        self.calls += 1
        return visible_text_of(chunk.parts)


async def _off_loop(size: int, work: Callable[[], list[list[str]]]) -> list[list[str]]:
    return await asyncio.to_thread(work) if size >= IN_THREAD_FROM else work()
