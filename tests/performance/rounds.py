"""What a round of calls costs beyond the model and the tool: one turn of a thousand rounds, over the real store."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.spread import median
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import ManualClock, Studio

NAME: Final = "rounds"
TARGET_MS: Final = 3.0
TARGET_GROWTH: Final = 3.0
OUTPUT: Final = "def parse(text):\n    return text.split()\n" * 25
"""A kilobyte, what a small file has."""


class Caller(ScriptedModel):
    """Calls a tool in every answer but the last, at once, and notes when it is asked: real and processor time."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self.left = rounds
        self.asked: list[tuple[float, float]] = []

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        """A call, or the end."""
        self.asked.append((time.perf_counter(), time.thread_time()))
        self.left -= 1
        part: dict[str, Any] = {"functionCall": {"name": "read_file", "args": {"file_path": f"src/{self.left}.py"}}}
        if self.left < 0:
            part = {"text": "Done."}
        yield ModelChunk(parts=(part,), finish_reason="STOP")


def run(options: Options) -> Iterator[Finding]:
    """Milliseconds of a round, the growth of that over the turn, and what is held for each round beside its entries."""
    rounds = 100 if options.quick else 1_000
    real, processor, objects = asyncio.run(_measure(options.scratch, rounds))
    tenth = max(1, len(real) // 10)
    yield Figure(
        bench=NAME,
        name=f"a round beyond model and tool, processor time, one of {rounds:,}",
        value=median(processor),
        unit="ms",
        target=TARGET_MS,
    )
    yield Figure(bench=NAME, name="the same, by the clock, with its write to the disk", value=median(real), unit="ms")
    yield Figure(
        bench=NAME,
        name="the last tenth of the rounds",
        value=median(processor[-tenth:]),
        unit="ms",
        beside="the first tenth",
        beside_value=median(processor[:tenth]),
        target=TARGET_GROWTH,
    )
    yield Figure(
        bench=NAME,
        name="objects that a round leaves behind",
        value=objects,
        unit="",
        note="its two entries, their contents and items among them",
    )


async def _measure(folder: Path, rounds: int) -> tuple[list[float], list[float], float]:
    """Milliseconds from one request to the next, by the clock and of the processor; objects that a round leaves."""
    counted: list[int] = []

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        if model.left in (rounds // 2, rounds // 10):
            gc.collect()
            counted.append(len(gc.get_objects()))
        return ToolOutput(output=OUTPUT, summary="50 lines")

    model = Caller(rounds)
    studio = Studio(
        folder,
        model=model,
        store=open_store(folder / "data", "project", clock=ManualClock()),
        tools=[SampleTool("read_file", "read", work)],
        tooling=allowing(),
        tool_max_rounds=rounds + 1,
    )
    await studio.chat("Go.")
    await studio.app.close()
    real, processor = (
        [(b[n] - a[n]) * 1000 for a, b in zip(model.asked, model.asked[1:], strict=False)] for n in (0, 1)
    )
    return real, processor, (counted[1] - counted[0]) / (rounds // 2 - rounds // 10)
