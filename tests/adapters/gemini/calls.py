"""What the tests of the adapter ask, and how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.adapters.gemini.encoding import Bodies
from gemini_companion.engine.history.content import Content, user_text
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


def generate_body(request: ModelRequest, options: GeminiOptions) -> dict[str, Any]:
    """What is sent to have it answered."""
    return asyncio.run(Bodies(options).generate(request)).json()


def count_body(request: ModelRequest, options: GeminiOptions) -> dict[str, Any]:
    """What is sent to have it counted."""
    return asyncio.run(Bodies(options).count(request)).json()


def wire_contents(contents: Sequence[Content], *, vertex: bool = False) -> list[dict[str, Any]]:
    """What is sent of some contents."""
    request = ModelRequest(model="gemini-2.5-pro", contents=tuple(contents))
    return generate_body(request, GeminiOptions(api_key="k", vertex=vertex))["contents"]
