"""The provider as the tests speak to it, and what is seen of its processes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from gemini_companion.adapters.local.file import LocalFile, LocalOptions
from gemini_companion.adapters.local.provider import LocalProvider
from gemini_companion.engine.history.content import Content, user_text, visible_text_of
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from tests.support.patience import PATIENCE


class Desk:
    """Providers with options that a test changes while they run."""

    def __init__(self) -> None:
        self.options = LocalOptions()
        self._made: list[LocalProvider] = []

    def provider(self, path: Path, **more: Any) -> LocalProvider:
        self.options = LocalOptions(str(path))
        self._made.append(LocalProvider(LocalFile(lambda: self.options), dict(os.environ), **more))
        return self._made[-1]

    async def close(self) -> None:
        for provider in self._made:
            await provider.close()


def ask(text: str = "Tell me about the river.", *, answer_tokens: int = 12, **more: Any) -> ModelRequest:
    return ModelRequest(model="local", contents=(user_text(text),), max_output_tokens=answer_tokens, **more)


def talk(*texts: str) -> tuple[Content, ...]:
    """User and model in turn."""
    roles = ("user", "model")
    return tuple(Content(role=roles[at % 2], parts=({"text": text},)) for at, text in enumerate(texts))


async def collect(provider: LocalProvider, request: ModelRequest) -> list[ModelChunk]:
    async with asyncio.timeout(PATIENCE):
        return [chunk async for chunk in provider.stream(request)]


async def until_text(stream: AsyncGenerator[ModelChunk]) -> str:
    """The first text of an answer."""
    async with asyncio.timeout(PATIENCE):
        async for chunk in stream:
            if text := visible_text_of(chunk.parts):
                return text
    raise AssertionError("The answer had no text.")


async def until_end(stream: AsyncGenerator[ModelChunk]) -> None:
    async with asyncio.timeout(PATIENCE):
        async for _ in stream:
            pass


def text_of(chunks: list[ModelChunk]) -> str:
    return "".join(visible_text_of(chunk.parts) for chunk in chunks)


def processor_ticks(pid: int) -> int:
    """How long a process has computed so far, in clock ticks of the system (usually 10 ms)."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as status:
        fields = status.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
