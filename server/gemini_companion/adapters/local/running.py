"""A loaded model: its process, the connection to it, and what its template can do. Loaded with the first model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from gemini_companion.adapters.local.connection import WorkerConnection, WorkerGone
from gemini_companion.adapters.local.file import LocalModel
from gemini_companion.adapters.local.gguf import NotGguf, read_control_tokens
from gemini_companion.adapters.local.process import Worker, start_worker
from gemini_companion.adapters.local.request import Abilities, chat_body, defusing, prompt_body
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest


async def start(model: LocalModel, env: Mapping[str, str]) -> Running:
    """Load a model. Raises `ModelUnavailable` with what to do."""
    try:
        tokens = await asyncio.to_thread(read_control_tokens, model.path)
    except (NotGguf, OSError):
        tokens = ()  # loading says what is wrong
    worker = await start_worker(model, env)
    connection = WorkerConnection(worker)
    try:
        abilities = await connection.abilities()
    except WorkerGone as gone:
        await connection.close()
        raise await worker.fault(gone.silent_seconds) from None
    except BaseException:
        await asyncio.shield(worker.end())
        raise
    return Running(worker, connection, abilities, defusing(tokens))


class Running:
    """Requests to a loaded model. Raises `ModelFault`s; one for a process that ended says how."""

    def __init__(
        self, worker: Worker, connection: WorkerConnection, abilities: Abilities, defuse: Callable[[str], str]
    ) -> None:
        self.worker = worker
        self.abilities = abilities
        self._connection = connection
        self._defuse = defuse

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """The chunks of an answer."""
        body = await asyncio.to_thread(chat_body, request, self.abilities, self._defuse, self.worker.model.window)
        try:
            async with aclosing(self._connection.stream(body)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except WorkerGone as gone:
            raise await self.worker.fault(gone.silent_seconds) from None

    async def count(self, request: ModelRequest) -> int:
        """Tokens of a request."""
        body = await asyncio.to_thread(prompt_body, request, self.abilities, self._defuse)
        try:
            return await self._connection.count(body)
        except WorkerGone as gone:
            raise await self.worker.fault(gone.silent_seconds) from None

    async def end(self) -> None:
        """End the process."""
        await self._connection.close()
        await self.worker.end()
