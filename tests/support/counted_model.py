"""A scripted model whose requests a test lets end one by one, and that counts how many are out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import msgspec

from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from tests.support.patience import PATIENCE
from tests.support.scripted_model import ScriptedModel


class CountedModel(ScriptedModel):
    """Each request waits until it is let go. `out` are those under way: the role, and the newest prompt."""

    def __init__(self, *, one_by_one: bool = False) -> None:
        super().__init__()
        self.capabilities = msgspec.structs.replace(self.capabilities, answers_one_by_one=one_by_one)
        self.out: list[tuple[str, str]] = []
        self.began: list[tuple[str, str]] = []
        self.most_out = 0
        self._changed = asyncio.Event()
        self._go: asyncio.Queue[None] = asyncio.Queue()
        self._is_open = False

    def let_go(self, count: int = 1) -> None:
        """Let so many requests end, those first that came first."""
        for _ in range(count):
            self._go.put_nowait(None)

    def open(self) -> None:
        """Let all of them end from now on."""
        self._is_open = True
        self.let_go(100)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of what was asked; looked at after every change."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._changed.clear()
                await self._changed.wait()

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncGenerator[ModelChunk]:
        async with self._counted(request):
            async for chunk in super().stream(request, local):
                yield chunk

    async def generate(self, request: ModelRequest) -> ModelChunk:
        async with self._counted(request):
            return await super().generate(request)

    @asynccontextmanager
    async def _counted(self, request: ModelRequest) -> AsyncGenerator[None]:
        said = visible_text_of(request.contents[-1].parts)
        one = (request.role, said.rpartition("</session_context>")[2].strip())
        self.out.append(one)
        self.began.append(one)
        self.most_out = max(self.most_out, len(self.out))
        self._changed.set()
        try:
            if not self._is_open:
                await self._go.get()
            yield
        finally:
            self.out.remove(one)
            self._changed.set()
