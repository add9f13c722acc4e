"""What the tests of the adapter ask, and how."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.engine.history.content import user_text
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest

HI = ModelRequest(model="gemini-2.5-pro", contents=(user_text("Hi"),))


@asynccontextmanager
async def connected(**options: Any) -> AsyncGenerator[GeminiProvider]:
    fields: dict[str, Any] = {"api_key": "k", **options}
    client = GeminiProvider(GeminiOptions(**fields))
    try:
        yield client
    finally:
        await client.close()


async def collect(client: GeminiProvider, request: ModelRequest = HI) -> list[ModelChunk]:
    return [chunk async for chunk in client.stream(request)]
