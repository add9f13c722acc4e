"""`OfflineModelClient`: a model that runs in this process, deterministic, without key and network.

Importing this module is cheap; what answers is loaded at the first request.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import cache
from typing import Final, Literal, TypeVar

import msgspec

from gemini_companion.engine.facts.fact import FactSource, SummaryTask
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.part import visible_text
from gemini_companion.engine.tokens.counters import count_part
from gemini_companion.engine.tokens.limits import OFFLINE_MODEL
from gemini_companion.sessions.ports import ModelChunk, ModelRequest, OpenDocument, TokenCount

TITLE_CHARACTERS: Final = 60

_WORDS_A_CHUNK: Final = 4
_REMEMBERED_PARTS: Final = 200_000
"""Parts whose count is kept; a history of that many is counted anew."""
_SNAPSHOT_SHARE: Final = 5
"""Without a task, a snapshot may take a fifth of what it replaces."""

_T = TypeVar("_T")


class OfflineModelClient:
    """Implements `sessions.ports.ModelClient` by quotation.

    Args:
        count_text: Tokens of a text, for usage and counts.
        pace_seconds: Pause between two chunks of a streamed answer, for demonstrations.
    """

    def __init__(self, *, count_text: Callable[[str], float], pace_seconds: float = 0.0) -> None:
        self._count_text = count_text
        self._counter = _Counter(count_text)
        self._pace = pace_seconds
        self._counted: dict[int, tuple[Part, float]] = {}
        self._written: tuple[SummaryTask, str] | None = None
        """The last snapshot and its task, for the call that verifies it."""

    @property
    def provider(self) -> Literal["gemini", "offline"]:
        """Always `offline`."""
        return "offline"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """The answer in groups of words; the last chunk has the finish reason and the usage. Raises nothing of its own."""
        documents = tuple(request.documents())
        text = await _in_thread(lambda checkpoint: _answer(request.contents, documents, stands_in=request.stands_in))
        text, finish_reason = self._within(text, request.max_output_tokens)
        for group in word_groups(text):
            yield ModelChunk(parts=({"text": group},))
            await asyncio.sleep(self._pace)
        yield ModelChunk(finish_reason=finish_reason, usage=await self._usage(request, text), model_version=OFFLINE_MODEL)

    async def generate(self, request: ModelRequest) -> ModelChunk:
        """A snapshot, a title, or a whole answer, going by the request's role."""
        finish_reason = "STOP"
        if request.role == "utility_compressor":
            text = await _in_thread(lambda checkpoint: self._snapshot(request, checkpoint))
        elif request.role == "utility_title":
            text = title_of(request.contents)
        else:
            documents = tuple(request.documents())
            text = await _in_thread(lambda checkpoint: _answer(request.contents, documents, stands_in=request.stands_in))
            text, finish_reason = self._within(text, request.max_output_tokens)
        return ModelChunk(parts=({"text": text},), finish_reason=finish_reason, usage=await self._usage(request, text), model_version=OFFLINE_MODEL)

    async def count_tokens(self, request: ModelRequest) -> TokenCount:
        """Estimate the whole request, system instruction and tools included."""
        total = await _in_thread(lambda checkpoint: self._count(request, checkpoint))
        return TokenCount(total=round(total), source="estimate", covers_system=True)

    async def warm_up(self) -> None:
        """Load what answers, off the event loop."""
        await asyncio.to_thread(_load)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _snapshot(self, request: ModelRequest, checkpoint: Callable[[], None]) -> str:
        """The snapshot of the request's task; asked for the same task again, the same one: there is nothing to better in it."""
        from gemini_companion.engine.facts.snapshot import carried_tokens, extractive_snapshot

        task = request.summary_task or self._task_of(request.contents)
        written, self._written = self._written, None
        if written is not None and written[0] is task:
            return written[1]
        snapshot = extractive_snapshot(
            [_without_notes(source) for source in task.sources],
            previous=task.previous_snapshot,
            budget_tokens=task.budget_tokens + carried_tokens(task, self._count_text),
            count_text=self._count_text,
            guidance=task.guidance,
            checkpoint=checkpoint,
        )
        answer = f"<scratchpad>Extracted from {len(task.sources):,} contents, without a model.</scratchpad>\n{snapshot}"
        self._written = task, answer
        return answer

    def _task_of(self, contents: Sequence[Content]) -> SummaryTask:
        """The request's own contents as what is to be summarised."""
        tokens = round(sum(self._count_part(part) for content in contents for part in content.parts))
        sources = tuple(FactSource(index, content, index) for index, content in enumerate(contents))
        return SummaryTask(sources=sources, budget_tokens=tokens // _SNAPSHOT_SHARE, hidden_tokens=tokens)

    def _within(self, text: str, limit: int | None) -> tuple[str, str]:
        """The answer cut to a number of tokens, and the finish reason."""
        if limit is None or self._count_text(text) <= limit:
            return text, "STOP"
        kept: list[str] = []
        spent = 0.0
        for group in word_groups(text):
            spent += self._count_text(group)
            if spent > limit:
                break
            kept.append(group)
        return "".join(kept), "MAX_TOKENS"

    async def _usage(self, request: ModelRequest, answer: str) -> Usage:
        prompt = round(await _in_thread(lambda checkpoint: self._count(request, checkpoint)))
        output = round(self._count_text(answer))
        return Usage(prompt_tokens=prompt, output_tokens=output, total_tokens=prompt + output)

    def _count(self, request: ModelRequest, checkpoint: Callable[[], None]) -> float:
        total = self._count_text(request.system_instruction or "")
        total += sum(count_part(tool, self._counter) for tool in request.tools)
        for content in request.contents:
            checkpoint()
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
    """`text` in groups of a few words, each with the blanks after it; joined they are `text`. Japanese is cut by characters."""
    group: list[str] = []
    for match in _word().finditer(text):
        group.append(match.group())
        if len(group) >= _WORDS_A_CHUNK:
            yield "".join(group)
            group.clear()
    if group:
        yield "".join(group)


def title_of(contents: Sequence[Content]) -> str:
    """At most 60 characters of the first thing that the user said; a transcript (`user: …`) may be quoted after an instruction."""
    text = "\n".join(visible_text(content) for content in contents if content.role == "user")
    quoted = _first_request().search(text)
    line = next((line for line in (quoted["said"] if quoted else text).split("\n") if line.strip()), "")
    words = " ".join(line.strip().lstrip("#>*- ").split())
    if len(words) <= TITLE_CHARACTERS:
        return words
    cut = words[: TITLE_CHARACTERS - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[30:] else cut}…"


def _answer(contents: Sequence[Content], documents: Sequence[OpenDocument], *, stands_in: bool = False) -> str:
    from gemini_companion.adapters.offline.answer import compose_answer
    from gemini_companion.adapters.offline.conversation import read_conversation

    return compose_answer(read_conversation(contents), documents, stands_in=stands_in)


def _without_notes(source: FactSource) -> FactSource:
    """An own answer without the note of who answers: that is no knowledge."""
    from gemini_companion.adapters.offline.wording import is_own_answer, without_note

    parts = source.content.parts
    if source.content.role != "model" or not parts or not is_own_answer(str(parts[0].get("text") or "")):
        return source
    content = Content(role="model", parts=({**parts[0], "text": without_note(parts[0]["text"])}, *parts[1:]))
    return msgspec.structs.replace(source, content=content)


def _load() -> None:
    _answer((), ())


class _Counter:
    """A function as the ledger's counter."""

    def __init__(self, count_text: Callable[[str], float]) -> None:
        self._count_text = count_text

    def count_text(self, text: str) -> float:
        """Tokens of a text."""
        return self._count_text(text)


class _Abandoned(Exception):
    """Whoever waited for the work is gone."""


async def _in_thread(work: Callable[[Callable[[], None]], _T]) -> _T:
    """Do work off the event loop. Cancelling returns at once; the work ends at its next checkpoint."""
    abandoned = threading.Event()

    def checkpoint() -> None:
        if abandoned.is_set():
            raise _Abandoned

    def run() -> _T | None:
        try:
            return work(checkpoint)
        except _Abandoned:
            return None

    try:
        result = await asyncio.to_thread(run)
    except asyncio.CancelledError:
        abandoned.set()
        raise
    return result  # pyright: ignore[reportReturnType]


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"\s+|[぀-ヿ㐀-鿿]{1,4}\s*|[^\s぀-ヿ㐀-鿿]{1,40}\s*")


@cache
def _first_request() -> re.Pattern[str]:
    return re.compile(r"^user: (?P<said>[^\n]+)", re.MULTILINE)
