"""A conversation replayed through the application over a real store, with tools and compressions, for its reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from gemini_companion.adapters.clock import SystemClock
from gemini_companion.adapters.storage.project import project_key
from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import SNAPSHOT, ScriptedModel, count_request
from tests.support.sessions import Studio

OUTPUT = "def parse(line: str) -> Token:\n    return Token(line.strip())\n"


class Counted(ScriptedModel):
    """Counts every request, and finds most of it in its cache from the second on."""

    async def generate(self, request: ModelRequest) -> ModelChunk:
        chunk = await super().generate(request)
        return ModelChunk(parts=chunk.parts, finish_reason="STOP", usage=usage_of(request))

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        async for chunk in super().stream(request, local):
            if chunk.finish_reason is None:
                yield chunk
        yield ModelChunk(finish_reason="STOP", usage=usage_of(request))


def usage_of(request: ModelRequest, *, cached_share: float = 0.7) -> Usage:
    """What a service would count."""
    prompt = count_request(request)
    cached = round(prompt * cached_share) if len(request.contents) > 2 else 0
    return Usage(
        prompt_tokens=prompt, cached_tokens=cached, output_tokens=40, thought_tokens=8, total_tokens=prompt + 48
    )


def answering(name: str = "", args: dict[str, Any] | None = None) -> list[ModelChunk]:
    """An answer in words, or one that calls a tool; the usage follows from the request."""
    part: dict[str, Any] = {"functionCall": {"name": name, "args": args or {}}} if name else {"text": "I looked."}
    return [ModelChunk(parts=(part,))]


async def replay(tmp_path: Path, prompts: Sequence[str], *, title: str, tool: str = "read_file") -> str:
    """The id of a session in the store below `tmp_path/data`, of the project of the current folder."""

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await asyncio.sleep(0)
        return ToolOutput(output=OUTPUT * 40, summary="40 lines")

    folder = str(Path.cwd())
    store = open_store(str(tmp_path / "data"), project_key([folder]), clock=SystemClock(), notify=lambda message: None)
    studio = Studio(tmp_path, model=Counted(), store=store, tools=[SampleTool(tool, "read", work)], tooling=allowing())
    studio.client.folders = (folder,)
    studio.model.default_answer = SNAPSHOT
    for number, prompt in enumerate(prompts):
        calls = [answering(tool, {"file_path": f"src/{number}.py"}) for _ in range(number % 3)]
        studio.model.streams.extend([*calls, answering()])
        await studio.chat(prompt)
        if number in (len(prompts) // 2, len(prompts) - 2):
            await studio.compress()
    session = await studio.session()
    async with asyncio.timeout(PATIENCE):
        while not any(isinstance(e, ModelCallEntry) and e.purpose == "title" for e in session.history.entries):
            await asyncio.sleep(0)
    await studio.app.rename(studio.client, session.session_id, title)
    await studio.app.close()
    return session.session_id
