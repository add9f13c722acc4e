"""A thousand rounds in one turn: it ends, and what is held beside the log does not grow."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path

from gemini_companion.sessions.tools.called import Called, Ended
from gemini_companion.sessions.tools.calls import CallRun
from gemini_companion.sessions.tools.rounds import Round
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import ScriptedModel, calls
from tests.support.sessions import Studio

ROUNDS = 1_000
_WATCHED = (Round, CallRun, Called, Ended)


def living() -> Counter[str]:
    gc.collect()
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, _WATCHED))


async def test_a_turn_of_a_thousand_rounds_ends_and_holds_only_its_log(tmp_path: Path) -> None:
    held: list[Counter[str]] = []
    before = living()  # what other tests left behind

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        if len(tool.called) in (100, ROUNDS - 100):
            held.append(living() - before)
        tool.contexts.clear()
        return ToolOutput(output="done")

    tool = SampleTool("run", "command", work)
    model = ScriptedModel()
    studio = Studio(tmp_path, model=model, tools=[tool], tooling=allowing(), tool_max_rounds=ROUNDS + 1)
    model.streams = [calls(("run", {"content": str(n)}), ids=False) for n in range(ROUNDS)]
    result = await studio.chat("Go.")

    assert (result.stopped, len(tool.called)) == (None, ROUNDS)
    assert all(count <= 3 for counts in held for count in counts.values()), held
    session = await studio.session()
    assert session.tools_state.open_calls == {}
    assert session.lane.is_idle
