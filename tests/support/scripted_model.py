"""A model that answers what the test scripted, through the same port as Gemini."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Literal

from gemini_companion.engine.errors import ModelFault
from gemini_companion.engine.facts.fact import SummaryTask
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.tokens.counters import count_content
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.sessions.models.port import Capabilities, CountedTokens, LocalContext, ModelChunk, ModelRequest

SNAPSHOT = """<state_snapshot>
<overall_goal>Mend the parser.</overall_goal>
<active_constraints>Never touch legacy/.</active_constraints>
<key_knowledge>none</key_knowledge>
<artifact_trail>none</artifact_trail>
<file_system_state>none</file_system_state>
<recent_actions>none</recent_actions>
<task_state>none</task_state>
</state_snapshot>"""


def snapshot_with(goal: str) -> str:
    """A snapshot that can be told from others by its goal."""
    return SNAPSHOT.replace("Mend the parser.", goal)


Answer = str | ModelFault | ModelChunk | Sequence[ModelChunk | ModelFault | asyncio.Event]
"""A fault is raised where it stands, an event waited for."""


class ScriptedModel:
    """Scripts are queues; when one is empty a default answers. `gate` holds every call until it is set."""

    def __init__(self, name: Literal["gemini", "offline"] = "gemini") -> None:
        self.name = name
        is_local = name == "offline"
        self.capabilities = Capabilities(
            counts_remotely=not is_local,
            runs_here=is_local,
            reads_documents=is_local,
            summarises_from_facts=is_local,
            calls_tools=not is_local,
        )
        self.locals: list[LocalContext | None] = []
        self.tasks: list[SummaryTask] = []
        self.requests: list[ModelRequest] = []
        self.streams: list[Answer] = []
        self.answers: list[Answer] = []
        self.counts: list[int | ModelFault] = []
        self.default_stream: Answer = "Done."
        self.default_answer: Answer = SNAPSHOT
        self.title = "A title"
        self.count: Callable[[ModelRequest], int] = count_request
        self.answer_usage: Callable[[ModelRequest, str], Usage] = self._usage
        self.gate = asyncio.Event()
        self.gate.set()
        self.called = asyncio.Event()
        self.cancelled = 0

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        self._note(request)
        self.locals.append(local)
        answer = self.streams.pop(0) if self.streams else self.default_stream
        await self._wait()
        if isinstance(answer, ModelFault):
            raise answer
        if isinstance(answer, ModelChunk):
            answer = [answer]
        if not isinstance(answer, str):
            for piece in answer:
                if isinstance(piece, ModelFault):
                    raise piece
                if isinstance(piece, asyncio.Event):
                    await piece.wait()
                else:
                    yield piece
            return
        for word in answer.split(" "):
            yield ModelChunk(parts=({"text": word + " "},))
            await asyncio.sleep(0)
        yield ModelChunk(finish_reason="STOP", usage=self.answer_usage(request, answer))

    async def generate(self, request: ModelRequest) -> ModelChunk:
        self._note(request)
        if request.role == "utility_title":
            return ModelChunk(parts=({"text": self.title},), finish_reason="STOP")
        answer = self.answers.pop(0) if self.answers else self.default_answer
        await self._wait()
        if isinstance(answer, ModelFault):
            raise answer
        if isinstance(answer, ModelChunk):
            return answer
        assert isinstance(answer, str)
        return ModelChunk(parts=({"text": answer},) if answer else (), finish_reason="STOP")

    async def summarise(self, task: SummaryTask) -> str:
        self.tasks.append(task)
        answer = self.answers.pop(0) if self.answers else self.default_answer
        self.called.set()
        await self._wait()
        if isinstance(answer, ModelFault):
            raise answer
        assert isinstance(answer, str)
        return answer

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        answer = self.counts.pop(0) if self.counts else self.count(request)
        if isinstance(answer, ModelFault):
            raise answer
        return CountedTokens(total=answer, source="api", covers_system=True)

    async def warm_up(self) -> None:
        return None

    async def close(self) -> None:
        return None

    def kinds(self) -> list[str]:
        """The roles of the requests so far, titles aside."""
        return [request.role for request in self.requests if request.role != "utility_title"]

    def main(self) -> list[ModelRequest]:
        """The requests of turns."""
        return [request for request in self.requests if request.role == "main"]

    def _usage(self, request: ModelRequest, answer: str) -> Usage:
        prompt, output = self.count(request), len(answer) // 4
        return Usage(prompt_tokens=prompt, output_tokens=output, total_tokens=prompt + output)

    def _note(self, request: ModelRequest) -> None:
        self.requests.append(request)
        if request.role != "utility_title":
            self.called.set()

    async def _wait(self) -> None:
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def count_request(request: ModelRequest) -> int:
    """A count that plays the API's: the lexical counter's, plus five percent."""
    counter = LexicalTokenCounter()
    total = counter.count_text(request.system_instruction or "") + sum(
        count_content(content.parts, counter) for content in request.contents
    )
    return round(total * 1.05)


def chunks(texts: Iterable[str], finish_reason: str | None = "STOP") -> list[ModelChunk]:
    """Text chunks, the last with a finish reason."""
    parts = [ModelChunk(parts=({"text": text},)) for text in texts]
    return [*parts, ModelChunk(finish_reason=finish_reason)]


def calls(*made: tuple[str, dict[str, Any]], ids: bool = True, text: str = "") -> list[ModelChunk]:
    """An answer that calls tools: names with arguments; with ids of the model's own, or without."""
    parts: list[Part] = [{"text": text}] if text else []
    for number, (name, args) in enumerate(made):
        call: dict[str, Any] = {"name": name, "args": args}
        parts.append({"functionCall": {"id": f"wire-{number}", **call} if ids else call})
    if made:
        first = next(index for index, part in enumerate(parts) if "functionCall" in part)
        parts[first] = {**parts[first], "thoughtSignature": "c2lnbmVk"}
    return [ModelChunk(parts=tuple(parts), finish_reason="STOP")]
