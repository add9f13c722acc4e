"""A scripted model whose snapshots wait until a test lets them be written, while answers go on."""

from __future__ import annotations

import asyncio

from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from tests.support.scripted_model import ScriptedModel


class SlowSummariser(ScriptedModel):
    """`may_summarise` lets every waiting and later call through; `summarising` is set once one has come."""

    def __init__(self) -> None:
        super().__init__()
        self.may_summarise = asyncio.Event()
        self.summarising = asyncio.Event()
        self.asked = 0
        """Calls that were to write or check a snapshot."""
        self.given_up = 0
        """Those of them that were cancelled while they waited."""

    async def generate(self, request: ModelRequest) -> ModelChunk:
        if request.role == "utility_compressor":
            self.asked += 1
            self.summarising.set()
            try:
                await self.may_summarise.wait()
            except asyncio.CancelledError:
                self.given_up += 1
                raise
        return await super().generate(request)
