"""Getting a snapshot out of a model: quote, ask, verify, repair, in blocks where the history is larger than any window."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeVar

from gemini_companion.engine.compression.answer import read_snapshot
from gemini_companion.engine.compression.plan import Plan
from gemini_companion.engine.compression.prompt import (
    REPAIR_REQUEST,
    SYSTEM_INSTRUCTION,
    VERIFY_REQUEST,
    follow_up,
    quoted_texts,
    summary_contents,
)
from gemini_companion.engine.facts.fact import FactSource, SummaryTask
from gemini_companion.engine.history.content import Content, user_text, visible_text_of
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.prompts.attachments import as_read
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.events import Phase
from gemini_companion.sessions.ports import Clock, ModelClient, ModelRequest
from gemini_companion.sessions.retry import RetryBudget

T = TypeVar("T")

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


class _Block(NamedTuple):
    """What one request quotes: some items, the number of the first, and the characters that one may take."""

    items: Sequence[Item]
    first_index: int = 0
    limit: int | None = None


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
        blocks = await off_loop(len(plan.hidden), lambda: self._blocks(plan))
        snapshot = plan.previous_snapshot
        for number, block in enumerate(blocks[:-1], start=1):
            self._report("summarising", number, len(blocks))
            contents = await self._quoted(block, snapshot, guidance)
            answer = await self._ask(contents, f"-block-{number}")
            snapshot = read_snapshot(answer) or await self._repair(contents, answer)
            if snapshot is None:
                return Summary(None, self.calls)
        last = len(blocks) if len(blocks) > 1 else None
        return await self._two_passes(await self._quoted(blocks[-1], snapshot, guidance), last)

    async def _quoted(self, block: _Block, snapshot: str | None, guidance: str) -> tuple[Content, ...]:
        """The contents of a block's first request. Quoted when it is its turn, so that no more than one block's text is held at a time."""

        def contents() -> tuple[Content, ...]:
            quoted = quoted_texts(block.items, nonce=self._nonce, first_index=block.first_index, limit=block.limit)
            return summary_contents(quoted, previous_snapshot=snapshot, guidance=guidance, nonce=self._nonce)

        return await off_loop(len(block.items), contents)

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
            sources=_sources(plan.hidden),
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

    def _blocks(self, plan: Plan) -> list[_Block]:
        """The hidden span: the originals if they fit in one request, else with outputs cut, else in as many blocks as it takes."""
        previous = round(self._ledger.count_text(plan.previous_snapshot or ""))
        whole = [item.measure.tokens for item in plan.hidden]
        if self._fits(whole, previous):
            return [_Block(plan.hidden)]
        tokens = [item.measure.tokens for item in plan.hidden_cut] if plan.trim.cuts else whole
        if self._fits(tokens, previous):
            return [_Block(plan.hidden_cut)]
        room = max(500, self._room - max(previous, self._answer_tokens))
        spent = list(accumulate([FENCE_TOKENS + (cost if cost < room else room) for cost in tokens], initial=0))
        blocks: list[_Block] = []
        start = 0
        while start < len(tokens):
            end = max(start + 1, bisect_right(spent, spent[start] + room) - 1)
            limit = None if max(tokens[start:end]) <= room else room * 2
            blocks.append(_Block(plan.hidden_cut[start:end], start, limit))
            start = end
        return blocks

    def _fits(self, tokens: Sequence[int], previous: int) -> bool:
        return sum(tokens) + FENCE_TOKENS * len(tokens) + previous <= self._room

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


def _sources(items: Sequence[Item]) -> tuple[FactSource, ...]:
    """The contents in order, attached files apart from the words that they went along with."""
    told = [(item, content) for item in items for content in as_read(item.content)]
    return tuple(FactSource(index=index, content=content, seq=item.seq, ide_context=item.kind == "ide") for index, (item, content) in enumerate(told))


async def off_loop(size: int, work: Callable[[], T]) -> T:
    """Run pure work over `size` contents, in a thread where they are many, so that the event loop answers meanwhile."""
    return await asyncio.to_thread(work) if size >= IN_THREAD_FROM else work()
