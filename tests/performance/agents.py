"""What a round of a subagent costs beside a round of the chat itself: turns of equal rounds, in turn, each in a new chat."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.agents.builtin import GENERALIST
from gemini_companion.sessions.agents.service import AgentService
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.delegation.running import AgentsOfSession
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.settings.effective import AgentOverride
from gemini_companion.tools.invoke_agent import InvokeAgent
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.performance.figures import Figure, Finding
from tests.performance.options import Options
from tests.performance.spread import median
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import ManualClock, Studio

NAME: Final = "agents"
TARGET: Final = 1.1
"""No more than a round of the chat, but for what the medians of equal work differ by on a busy machine."""
ROUNDS: Final = 60
"""Of one turn, or of one task."""
PASSES: Final = 7
_OUTPUT: Final = "def parse(text):\n    return text.split()\n" * 25
"""A kilobyte, what a small file has."""
_TASK: Final = {"agent_name": GENERALIST.name, "prompt": "Read it."}


class _Model(ScriptedModel):
    """Hands the work out first, if it is to; whoever works then calls a tool in each answer, so many times."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float] = []
        self.by_agent = 0
        """How many of those requests came from a subagent, which is told of no subagents."""
        self._hands_out = False
        self._left = 0

    def begin(self, rounds: int, *, hands_out: bool) -> None:
        """What the next turn is like."""
        self.asked.clear()
        self.by_agent = 0
        self._hands_out, self._left = hands_out, rounds

    async def stream(self, request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        """A call, or the end. Of requests while there is work the processor time is noted."""
        part: dict[str, Any] = {"text": "Done."}
        if self._hands_out:
            self._hands_out = False
            part = {"functionCall": {"name": "invoke_agent", "args": _TASK}}
        elif self._left:
            self.asked.append(time.process_time())
            self.by_agent += all(tool["name"] != InvokeAgent.name for tool in request.tools)
            self._left -= 1
            part = {"functionCall": {"name": "read_file", "args": {"file_path": f"src/{self._left}.py"}}}
        yield ModelChunk(parts=(part,), finish_reason="STOP")


async def measured(folder: Path, rounds: int, passes: int) -> tuple[float, float]:
    """CPU milliseconds of a round of the chat and of a subagent: medians over passes of the medians of their rounds."""

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        return ToolOutput(output=_OUTPUT, summary="50 lines")

    model, tooling = _Model(), allowing(delegation_of=AgentsOfSession)
    studio = Studio(
        folder,
        model=model,
        store=open_store(folder / "data", "project", clock=ManualClock()),
        tools=[SampleTool("read_file", "read", work), InvokeAgent()],
        tool_max_rounds=rounds + 2,
        agent_overrides={GENERALIST.name: AgentOverride(max_turns=rounds + 2)},
    )
    studio.services.agents = AgentService(settings=lambda: studio.settings, tools=lambda: tuple(studio.services.tools))
    studio.app = Application(studio.services, tooling)
    studio.client, studio.heard = studio.connect()
    taken: dict[bool, list[float]] = {False: [], True: []}
    try:
        for number in range(passes + 1):
            for hands_out, medians in taken.items():
                await studio.app.new_session(studio.client)
                model.begin(rounds, hands_out=hands_out)
                await studio.chat("Go.")
                needed = [(after - before) * 1000 for before, after in zip(model.asked, model.asked[1:], strict=False)]
                if (len(model.asked), model.by_agent) != (rounds, rounds if hands_out else 0):
                    raise RuntimeError(f"{len(model.asked)} rounds were made, {model.by_agent} of them by a subagent")
                if number:  # what is made once is made in the first pass
                    medians.append(median(needed))
    finally:
        await studio.app.close()
    return median(taken[False]), median(taken[True])


def run(options: Options) -> Iterator[Finding]:
    """A round of a subagent over one of the chat."""
    rounds, passes = (5, 1) if options.quick else (ROUNDS, PASSES)
    of_chat, of_agent = asyncio.run(measured(options.scratch, rounds, passes))
    yield Figure(
        bench=NAME,
        name="a round of a subagent, CPU beyond model and tool",
        value=of_agent,
        unit="ms",
        beside="a round of the chat",
        beside_value=of_chat,
        target=TARGET,
    )
