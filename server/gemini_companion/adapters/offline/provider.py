"""`OfflineProvider`: a model that runs in this process, deterministic, without key and network.

Importing this module is cheap; what answers is loaded at the first request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import accumulate, compress, islice
from typing import Final

from gemini_companion.engine.facts.fact import FactSource, SummaryTask
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.tokens.counters import count_part
from gemini_companion.engine.tokens.limits import OFFLINE_MODEL
from gemini_companion.sessions.models.port import (
    Capabilities,
    CountedTokens,
    LocalContext,
    ModelChunk,
    ModelRequest,
    OpenDocument,
)
from gemini_companion.sessions.threads import in_thread

TITLE_CHARACTERS: Final = 60

_WORDS_A_CHUNK: Final = 4
_REMEMBERED_PARTS: Final = 200_000
"""Parts whose count is kept; a history of that many is counted anew."""
_SNAPSHOT_SHARE: Final = 5
"""Without a task, a snapshot may take a fifth of what it replaces."""

_CAPABILITIES: Final = Capabilities(runs_here=True, reads_documents=True, summarises_from_facts=True, calls_tools=True)

_WORD: Final = lazy(r"\s+|[぀-ヿ㐀-鿿]{1,4}\s*|[^\s぀-ヿ㐀-鿿]{1,40}\s*")
_FIRST_REQUEST: Final = lazy(r"(?m)^user: (?P<said>[^\n]+)")


class OfflineProvider:
    """Implements `sessions.models.port.ModelProvider` by quotation.

    Args:
        count_text: Tokens of a text, for usage and counts.
        pace_seconds: Pause between two chunks of a streamed answer, for demonstrations.
    """

    def __init__(self, *, count_text: Callable[[str], float], pace_seconds: float = 0.0) -> None:
        self._count_text = count_text
        self._counter = _Counter(count_text)
        self._pace = pace_seconds
        self._counted: dict[int, tuple[Part, float]] = {}

    @property
    def name(self) -> str:
        """What people call it."""
        return OFFLINE_MODEL

    @property
    def capabilities(self) -> Capabilities:
        """It runs here: it may read the open files, needs no prompt to summarise, and calls tools for plain wishes."""
        return _CAPABILITIES

    async def stream(
        self, request: ModelRequest, local: LocalContext | None = None
    ) -> AsyncGenerator[ModelChunk, None]:
        """The answer in groups of words; the last chunk has the finish reason and the usage. Raises nothing of its
        own.
        """
        call, text, finish_reason = await self._next(request, local or LocalContext())
        if call:
            yield ModelChunk(parts=call)
        for group in word_groups(text):
            yield ModelChunk(parts=({"text": group},))
            await asyncio.sleep(self._pace)
        yield ModelChunk(
            finish_reason=finish_reason, usage=await self._usage(request, text), model_version=OFFLINE_MODEL
        )

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """A snapshot, a title, or a whole answer, going by the request's role."""
        finish_reason = "STOP"
        if request.role == "utility_compressor":
            text = await self.summarise(self._task_of(request.contents))
        elif request.role == "utility_title":
            text = title_of(request.contents)
        else:
            text, finish_reason = await self._answer(request, LocalContext())
        return ModelChunk(
            parts=({"text": text},),
            finish_reason=finish_reason,
            usage=await self._usage(request, text),
            model_version=OFFLINE_MODEL,
        )

    async def summarise(self, task: SummaryTask) -> str:
        """The snapshot of the task's contents."""
        return await in_thread(lambda poll: self._snapshot(task, poll), units=len(task.sources))

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        """Estimate the whole request, system instruction and tools included."""
        total = await in_thread(lambda poll: self._count(request, poll), units=len(request.contents))
        return CountedTokens(total=round(total), source="estimate", covers_system=True)

    async def warm_up(self) -> None:
        """Load what answers, off the event loop, and have it answer something."""
        await asyncio.to_thread(_rehearse)

    async def close(self) -> None:
        """Nothing to let go of."""

    async def _next(self, request: ModelRequest, local: LocalContext) -> tuple[tuple[Part, ...], str, str]:
        """A call, or an answer and its finish reason."""
        if request.tools:
            documents = tuple(local.documents())
            names = frozenset(str(tool.get("name")) for tool in request.tools)
            step = await asyncio.to_thread(_next_step, request.contents, documents, names)
            if isinstance(step, tuple):
                return step, "", "STOP"
            if step:
                return (), *self._within(step, request.max_output_tokens)
        return (), *(await self._answer(request, local))

    async def _answer(self, request: ModelRequest, local: LocalContext) -> tuple[str, str]:
        """The answer and its finish reason."""
        documents = tuple(local.documents())
        text = await in_thread(
            lambda poll: _answer(
                request.contents, documents, is_fallback=local.is_fallback, folders=local.folders, poll=poll
            ),
            units=len(request.contents),
        )
        return self._within(text, request.max_output_tokens)

    def _snapshot(self, task: SummaryTask, poll: Callable[[], None]) -> str:
        from gemini_companion.engine.constraints.contradiction import left_standing
        from gemini_companion.engine.constraints.detect import rules_in
        from gemini_companion.engine.facts.snapshot import carried_tokens, extractive_snapshot

        return extractive_snapshot(
            [_without_notes(source) for source in task.sources],
            previous=task.previous_snapshot,
            budget_tokens=task.budget_tokens + carried_tokens(task, self._count_text),
            count_text=self._count_text,
            guidance=task.guidance,
            cite=task.cite,
            later=task.later,
            beside_record=task.beside_record,
            reader=task.reader,
            rules_in=rules_in,
            left_standing=left_standing,
            in_force=task.in_force,
            released=task.released,
            poll=poll,
        )

    def _task_of(self, contents: Sequence[Content]) -> SummaryTask:
        """The request's own contents as what is to be summarised."""
        tokens = round(sum(self._count_part(part) for content in contents for part in content.parts))
        sources = tuple(FactSource(index, content, index) for index, content in enumerate(contents))
        return SummaryTask(sources=sources, budget_tokens=tokens // _SNAPSHOT_SHARE, hidden_tokens=tokens)

    def _within(self, text: str, limit: int | None) -> tuple[str, str]:
        """The answer cut to a number of tokens, and the finish reason."""
        if limit is None or self._count_text(text) <= limit:
            return text, "STOP"
        groups = list(word_groups(text))
        spent = accumulate(map(self._count_text, groups))
        return "".join(compress(groups, (tokens <= limit for tokens in spent))), "MAX_TOKENS"

    async def _usage(self, request: ModelRequest, answer: str) -> Usage:
        prompt = round(await in_thread(lambda poll: self._count(request, poll), units=len(request.contents)))
        output = round(self._count_text(answer))
        return Usage(prompt_tokens=prompt, output_tokens=output, total_tokens=prompt + output)

    def _count(self, request: ModelRequest, poll: Callable[[], None]) -> float:
        total = self._count_text(request.system_instruction or "")
        total += sum(count_part(tool, self._counter) for tool in request.tools)
        for content in request.contents:
            poll()
            total += sum(map(self._count_part, content.parts))
        return total

    def _count_part(self, part: Part) -> float:
        """Tokens of a part, counted once: a history's parts are the same objects from request to request."""
        known = self._counted.get(id(part))
        if known is not None and known[0] is part:
            return known[1]
        count = count_part(part, self._counter)
        if len(self._counted) >= _REMEMBERED_PARTS:
            self._counted.clear()
        self._counted[id(part)] = (part, count)
        return count


def word_groups(text: str) -> Iterator[str]:
    """`text` in groups of a few words, each with the blanks after it; joined they are `text`. Japanese is cut by
    characters.
    """
    words = (match.group() for match in _WORD().finditer(text))
    while group := "".join(islice(words, _WORDS_A_CHUNK)):
        yield group


def title_of(contents: Sequence[Content]) -> str:
    """At most 60 characters of the first thing that the user said; a transcript (`user: …`) may be quoted after an
    instruction.
    """
    text = "\n".join(visible_text(content) for content in contents if content.role == "user")
    quoted = _FIRST_REQUEST().search(text)
    line = next((line for line in (quoted["said"] if quoted else text).split("\n") if line.strip()), "")
    words = " ".join(line.strip().lstrip("#>*- ").split())
    if len(words) <= TITLE_CHARACTERS:
        return words
    cut = words[: TITLE_CHARACTERS - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[30:] else cut}…"


def _answer(
    contents: Sequence[Content],
    documents: Sequence[OpenDocument],
    *,
    is_fallback: bool = False,
    folders: Sequence[str] = (),
    poll: Callable[[], None] = lambda: None,
) -> str:
    from gemini_companion.adapters.offline.answer import compose_answer
    from gemini_companion.adapters.offline.conversation import read_conversation

    return compose_answer(read_conversation(contents), documents, is_fallback=is_fallback, folders=folders, poll=poll)


def _rehearse() -> None:
    prompt = Content(role="user", parts=({"text": "What does parse do?"},))
    _next_step((prompt,), (), frozenset())
    list(word_groups(_answer((prompt,), ())))


def _next_step(
    contents: Sequence[Content], documents: Sequence[OpenDocument], tools: frozenset[str]
) -> tuple[Part, ...] | str | None:
    from gemini_companion.adapters.offline.acting import next_step

    return next_step(contents, documents, tools)


def _without_notes(source: FactSource) -> FactSource:
    """An own answer without the note of who answers: that is no knowledge."""
    from gemini_companion.adapters.offline.wording import is_own_answer, without_note

    parts = source.content.parts
    if source.content.role != "model" or not parts or not is_own_answer(str(parts[0].get("text") or "")):
        return source
    content = Content(role="model", parts=({**parts[0], "text": without_note(parts[0]["text"])}, *parts[1:]))
    return FactSource(source.index, content, source.seq, source.ide_context)


class _Counter:
    """A function as the ledger's counter."""

    def __init__(self, count_text: Callable[[str], float]) -> None:
        self._count_text = count_text

    def count_text(self, text: str) -> float:
        """Tokens of a text."""
        return self._count_text(text)
