"""What a turn cost: the last request and the turn's sums, told apart, and alike in the event, the result and the stats."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.events import TurnCompleted
from gemini_companion.sessions.models.port import ModelChunk
from gemini_companion.sessions.transcript.pages import history_page
from tests.support.sample_tools import SampleTool
from tests.support.sessions import Studio


def costing(prompt: int, output: int, *, calling: bool) -> list[ModelChunk]:
    """An answer with this usage."""
    part = {"functionCall": {"name": "read_file", "args": {}}} if calling else {"text": "Done."}
    usage = Usage(prompt_tokens=prompt, cached_tokens=prompt // 2, output_tokens=output, total_tokens=prompt + output)
    return [ModelChunk(parts=(part,), finish_reason="STOP", usage=usage)]


async def test_a_turn_tells_its_sums_and_its_last_request_apart_and_the_stats_say_the_same(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")])
    studio.model.streams = [
        costing(100, 10, calling=True),
        costing(140, 20, calling=True),
        costing(180, 5, calling=False),
    ]
    result = await studio.chat("Go.")
    (completed,) = studio.heard.of(TurnCompleted)
    assert (
        completed.usage == result.usage == Usage(prompt_tokens=180, cached_tokens=90, output_tokens=5, total_tokens=185)
    )
    assert (
        completed.turn_usage
        == result.turn_usage
        == Usage(prompt_tokens=420, cached_tokens=210, output_tokens=35, total_tokens=455)
    )
    session = await studio.session()
    total = await studio.app.statistics.of_session(session)
    assert (total.prompt_tokens, total.cached_tokens, total.output_tokens) == (420, 210, 35)
    page = await history_page(session, "transcript", cursor=None, limit=None)
    told = [item.usage for item in page.contents if item.usage is not None]
    assert sum(one.output_tokens for one in told) == 35


async def test_a_turn_that_is_stopped_and_goes_on_counts_all_of_it(tmp_path: Path) -> None:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tool_max_rounds=1)
    studio.model.streams = [
        costing(100, 10, calling=True),
        costing(140, 20, calling=False),
        costing(7, 1, calling=False),
    ]
    stopped = await studio.chat("Go.")
    assert stopped.usage == stopped.turn_usage
    assert stopped.usage.output_tokens == 10
    resumed = await studio.app.resume(studio.client)
    assert (resumed.usage.output_tokens, resumed.turn_usage.output_tokens) == (20, 30)
    next_turn = await studio.chat("More.")
    assert next_turn.turn_usage == next_turn.usage
    assert msgspec.structs.asdict(next_turn.usage)["output_tokens"] == 1
