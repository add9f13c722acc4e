"""A model that answers at once, so that what is measured is ours alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.models.port import Capabilities, CountedTokens, LocalContext, ModelChunk, ModelRequest

SNAPSHOT: Final = """<state_snapshot>
<overall_goal>Measure.</overall_goal>
<active_constraints>none</active_constraints>
<key_knowledge>none</key_knowledge>
<artifact_trail>none</artifact_trail>
<file_system_state>none</file_system_state>
<recent_actions>none</recent_actions>
<task_state>none</task_state>
</state_snapshot>"""


class InstantModel:
    """Implements `sessions.models.port.ModelProvider`: one snapshot for all, counts by the number of contents, streams of
    `pieces`.
    """

    def __init__(self, pieces: tuple[str, ...] = ("Done.",)) -> None:
        self._pieces = pieces

    @property
    def name(self) -> str:
        return "gemini"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(counts_remotely=True)

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        for piece in self._pieces:
            yield ModelChunk(parts=({"text": piece},))
        yield ModelChunk(
            finish_reason="STOP",
            usage=Usage(prompt_tokens=100 * len(request.contents), output_tokens=len(self._pieces)),
        )

    async def generate(self, request: ModelRequest) -> ModelChunk:
        return ModelChunk(parts=({"text": SNAPSHOT},), finish_reason="STOP")

    async def count_tokens(self, request: ModelRequest) -> CountedTokens:
        return CountedTokens(total=100 * len(request.contents), source="api", covers_system=True)

    async def warm_up(self) -> None:
        pass

    async def close(self) -> None:
        pass
