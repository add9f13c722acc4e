"""Getting a snapshot from a model: quote, ask, verify, repair; in blocks if the history is larger than any window."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, TypeVar

from gemini_companion.engine.compression.answer import read_answer, read_snapshot
from gemini_companion.engine.compression.citations import carried_sources, line_sources, read_citations
from gemini_companion.engine.compression.instructions import (
    REPAIR_REQUEST,
    RETENTION_REQUEST,
    SYSTEM_INSTRUCTION,
    VERIFY_REQUEST,
)
from gemini_companion.engine.compression.prompt import (
    follow_up,
    missing_list,
    quoted_texts,
    summary_contents,
)
from gemini_companion.engine.compression.sources import snapshot_from_facts, task_of
from gemini_companion.engine.compression.types import Plan
from gemini_companion.engine.facts.fact import SummaryTask
from gemini_companion.engine.facts.retention import MOST_MISSING, FactCache
from gemini_companion.engine.facts.statements import Unwanted
from gemini_companion.engine.history.content import Content, visible_text_of
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.masks import unmasked
from gemini_companion.engine.history.retention import LineSource, MissingFact
from gemini_companion.engine.tokens.ledger import TokenLedger
from gemini_companion.sessions.compression_events import Phase
from gemini_companion.sessions.models.port import FactSummariser, ModelProvider, ModelRequest, fact_summariser
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.threads import in_thread, off_loop

T = TypeVar("T")

ANSWER_TOKENS: Final = 8_192
"""Tokens reserved for one answer; two are reserved. In a window under 64k, an eighth of it."""

FENCE_TOKENS: Final = 30
"""Approximate tokens of the two lines of a fence."""

LEAST_WORDS: Final = 150
TOKENS_A_WORD: Final = 7
"""A snapshot is to have a word for so many tokens that it hides, in all at most a third of an answer's tokens."""

ReportPhase = Callable[[Phase, int | None, int | None], None]


class _Block(NamedTuple):
    """What one request quotes: some items, the number of the first, and the most characters of one (`None`: all)."""

    items: Sequence[Item]
    first_index: int = 0
    limit: int | None = None


class Written(NamedTuple):
    """A snapshot as it was written."""

    snapshot: str
    """With its tags, without citations."""
    sources: tuple[LineSource, ...]
    """Where its lines come from, as far as it said so."""


class Summariser:
    """Asks the compressor model for one compression's snapshot.

    `window`, in tokens, is the smaller one of the conversation's and the compressor's model.
    """

    def __init__(
        self,
        *,
        provider: ModelProvider,
        model: str,
        window: int,
        ledger: TokenLedger,
        retries: RetryBudget,
        prompt_id: str,
        nonce: str,
        report: ReportPhase,
        asked: Callable[[], object] = lambda: None,
        cache: FactCache | None = None,
        asks_once: bool = False,
        unwanted: Unwanted | None = None,
        in_force: Iterable[str] = (),
        released: Iterable[str] = (),
    ) -> None:
        """`asked` is called with each request of a model, once there is nothing left to do but to wait for it. With
        `asks_once` a first answer without a snapshot is not asked about again.
        """
        self._provider = provider
        self._model = model
        self._ledger = ledger
        self._prompt_id = prompt_id
        self._nonce = nonce
        self._report = report
        self._asked = asked
        self._cache = cache
        self._asks_once = asks_once
        self._unwanted = unwanted
        self._in_force, self._released = tuple(in_force), tuple(released)
        self._retries = retries
        self._seqs: list[int] = []
        """The sequence numbers of the entries that a snapshot may cite."""
        self._last: tuple[tuple[Content, ...], str] | None = None
        """The contents of the request whose answer was taken, and the snapshot in it."""
        self._has_repaired = False
        self._finish: Callable[[str], str] = lambda text: text
        self.calls = 0
        """Generate calls that were answered so far."""
        answer = min(ANSWER_TOKENS, window // 8)
        self._answer_tokens = answer
        self._quote_tokens = max(1_000, window - 2 * answer - round(ledger.count_text(SYSTEM_INSTRUCTION)) - 300)
        """Tokens that the quoted history may have."""

    @property
    def can_repair(self) -> bool:
        """Whether the author of the snapshot can be asked once more: a model, and there was no repair yet."""
        return self._last is not None and not self._has_repaired

    async def summarise(
        self, plan: Plan, guidance: str, *, finish: Callable[[str], str] = lambda text: text
    ) -> Written | None:
        """Write and verify a snapshot of the plan's hidden span; `None` if no answer held one.

        `finish` is the strategy's last word on each snapshot. Raises the `ModelFault` that retries did not cure.
        """
        self._finish = finish
        if not plan.asks_model:
            return await self.from_facts(plan, guidance)
        by_facts = fact_summariser(self._provider)
        if by_facts is not None:
            return await self._extract(by_facts, plan, guidance)
        self._seqs = [item.seq for item in plan.hidden]
        return self._written(await self._from_model(plan, guidance))

    async def from_facts(self, plan: Plan, guidance: str) -> Written:
        """What the built-in summariser writes, without a model; behind `summarise`, in its stead."""
        self._report("summarising", None, None)
        task, count = await self._task(plan, guidance), self._ledger.count_text
        return self._as_written(
            await in_thread(
                lambda poll: snapshot_from_facts(task, count_text=count, poll=poll), units=len(task.sources)
            )
        )

    async def repair(self, missing: Sequence[MissingFact]) -> Written | None:
        """Ask for the last snapshot again with what it left out; `None` if the answer holds none. Once in all."""
        if self._last is None or self._has_repaired:
            return None
        contents, answer = self._last
        request = RETENTION_REQUEST.format(missing=missing_list(missing[:MOST_MISSING]))
        return self._written(await self._repair(contents, answer, request))

    async def _from_model(self, plan: Plan, guidance: str) -> str | None:
        blocks = await off_loop(len(plan.hidden), lambda: self._blocks(plan))
        snapshot = plan.previous_snapshot
        for number, block in enumerate(blocks[:-1], start=1):
            self._report("summarising", number, len(blocks))
            contents = await self._quoted(block, snapshot, guidance)
            answer = await self._ask(contents, f"-block-{number}")
            snapshot = await self._usable(contents, answer)
            if snapshot is None:
                return None
            self._last = None  # of the last block alone
        last = len(blocks) if len(blocks) > 1 else None
        return await self._two_passes(await self._quoted(blocks[-1], snapshot, guidance), last)

    async def _quoted(self, block: _Block, snapshot: str | None, guidance: str) -> tuple[Content, ...]:
        """The contents of a block's first request. Made when they are needed, so that only one block's text is held."""

        def contents() -> tuple[Content, ...]:
            quoted = quoted_texts(block.items, nonce=self._nonce, first_index=block.first_index, limit=block.limit)
            hidden = sum(item.measure.tokens for item in block.items)
            words = min(max(LEAST_WORDS, hidden // TOKENS_A_WORD), max(LEAST_WORDS, self._answer_tokens // 3))
            return summary_contents(
                quoted, previous_snapshot=snapshot, guidance=guidance, nonce=self._nonce, words=words
            )

        return await off_loop(len(block.items), contents)

    async def _two_passes(self, contents: tuple[Content, ...], block: int | None) -> str | None:
        self._report("summarising", block, block)
        first = await self._ask(contents, "")
        if self._asks_once and read_answer(first, nonce=self._nonce).snapshot is None:
            return None
        self._report("verifying", None, None)
        second = await self._ask(follow_up(contents, first, VERIFY_REQUEST), "-verify")
        return await self._usable(contents, second or first, first)

    async def _usable(self, contents: tuple[Content, ...], *answers: str) -> str | None:
        """The first snapshot among these answers that can be used, else that of one repair of the first answer."""
        read = [read_answer(answer, nonce=self._nonce) for answer in answers]
        for answer in read:
            if answer.snapshot is not None:
                self._last = (contents, answer.snapshot)
                return answer.snapshot
        return await self._repair(contents, answers[0], REPAIR_REQUEST.format(lack=read[0].lack))

    async def _repair(self, contents: tuple[Content, ...], answer: str, request: str) -> str | None:
        self._has_repaired = True
        self._report("repairing", None, None)
        repaired = await self._ask(follow_up(contents, answer, request), "-repair")
        return read_answer(repaired, nonce=self._nonce).snapshot

    def _written(self, snapshot: str | None) -> Written | None:
        return None if snapshot is None else self._as_written(snapshot)

    def _as_written(self, snapshot: str) -> Written:
        text, numbers = read_citations(snapshot)
        sources, finished = line_sources(numbers, self._seqs), self._finish(text)
        return Written(finished, sources if finished == text else carried_sources(finished, (), text, sources))

    async def _extract(self, by_facts: FactSummariser, plan: Plan, guidance: str) -> Written | None:
        """The snapshot of a provider that reads the contents themselves: no prompt to parse, no window to keep to."""
        self._report("summarising", None, None)
        task = await self._task(plan, guidance)
        answer = await self._retries.run(lambda: by_facts.summarise(task))
        self.calls += 1
        return self._written(read_snapshot(answer))

    async def _task(self, plan: Plan, guidance: str) -> SummaryTask:
        task = await off_loop(
            len(plan.hidden),
            lambda: task_of(plan, guidance, self._cache, self._unwanted, self._in_force, self._released),
        )
        self._seqs = [source.seq for source in task.sources]
        return task

    def _blocks(self, plan: Plan) -> list[_Block]:
        """The hidden span: the originals if they fit into one request, else with outputs cut, else several blocks.

        Where outputs are masked the originals are tried first: the gate asks for what they say, too.
        """
        previous = round(self._ledger.count_text(plan.previous_snapshot or ""))
        whole = [item.measure.tokens for item in plan.hidden]
        changed = [index for index, item in enumerate(plan.hidden) if item.content is not item.original]
        originals, tokens = list(plan.hidden), list(whole)
        for index in changed:
            originals[index] = unmasked(plan.hidden[index], self._ledger.measure)
            tokens[index] = originals[index].measure.tokens
        if self._fits(tokens, previous):
            return [_Block(originals)]
        if self._fits(whole, previous):
            return [_Block(plan.hidden)]
        tokens = [item.measure.tokens for item in plan.hidden_cut] if plan.trim.cuts else whole
        if self._fits(tokens, previous):
            return [_Block(plan.hidden_cut)]
        budget = max(500, self._quote_tokens - max(previous, self._answer_tokens))
        spent = list(accumulate([FENCE_TOKENS + (cost if cost < budget else budget) for cost in tokens], initial=0))
        blocks: list[_Block] = []
        start = 0
        while start < len(tokens):
            end = max(start + 1, bisect_right(spent, spent[start] + budget) - 1)
            limit = None if max(tokens[start:end]) <= budget else budget * 2
            blocks.append(_Block(plan.hidden_cut[start:end], start, limit))
            start = end
        return blocks

    def _fits(self, tokens: Sequence[int], previous: int) -> bool:
        return sum(tokens) + FENCE_TOKENS * len(tokens) + previous <= self._quote_tokens

    async def _ask(self, contents: tuple[Content, ...], suffix: str) -> str:
        request = ModelRequest(
            model=self._model,
            contents=contents,
            system_instruction=SYSTEM_INSTRUCTION,
            role="utility_compressor",
            prompt_id=self._prompt_id + suffix,
        )
        self._asked()
        chunk = await self._retries.run(lambda: self._provider.generate(request))
        self.calls += 1
        return visible_text_of(chunk.parts)
