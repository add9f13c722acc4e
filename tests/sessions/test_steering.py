"""Prompts that are sent to a turn under way."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.history.tool_entries import SteerEntry
from gemini_companion.sessions.events import PromptQueued
from gemini_companion.sessions.interchange.importing import copied
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.tool_events import PromptSteered
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.patience import PATIENCE
from tests.support.sample_tools import SampleArgs, SampleTool
from tests.support.scripted_model import calls
from tests.support.sessions import Studio


class Held:
    """A studio whose turn is inside a call until it is released."""

    def __init__(self, tmp_path: Path, **settings: Any) -> None:
        self.free = asyncio.Event()
        self.tool = SampleTool("look", "read", self._work)
        self.studio = Studio(tmp_path, tools=[self.tool], **settings)
        self.studio.model.streams = [calls(("look", {}))]

    async def _work(self, args: SampleArgs, context: ToolContext) -> ToolOutput:
        await self.free.wait()
        return ToolOutput(output="seen")

    async def begin(self) -> asyncio.Task[ChatResult]:
        """Send a prompt; the turn waits in its call."""
        task = asyncio.create_task(self.studio.chat("Go."))
        await self.tool.started.wait()
        return task

    async def steer(self, text: str) -> asyncio.Task[ChatResult]:
        """Send a prompt along; it is accepted, or waits."""
        before = len(self.studio.heard.of(PromptSteered)) + len(self.studio.heard.of(PromptQueued))
        task = asyncio.create_task(self.studio.chat(text, steer=True))
        async with asyncio.timeout(PATIENCE):
            while len(self.studio.heard.of(PromptSteered)) + len(self.studio.heard.of(PromptQueued)) == before:
                await asyncio.sleep(0)
        return task


async def test_a_steering_prompt_goes_along_behind_the_results_of_the_round_and_one_answer_is_for_both(
    tmp_path: Path,
) -> None:
    held = Held(tmp_path)
    first = await held.begin()
    second = await held.steer("Only the tests.")
    held.free.set()
    results = await asyncio.gather(first, second)

    assert results[0] == results[1]
    parts = held.studio.model.main()[1].contents[-1].parts
    assert [next(iter(part)) for part in parts] == ["functionResponse", "text"]
    assert parts[1] == {"text": "Only the tests."}
    assert [event.prompt for event in held.studio.heard.of(PromptSteered)] == [({"text": "Only the tests."},)]
    session = await held.studio.session()
    assert [item.kind for item in session.history.items] == ["prompt", "reply", "toolResult", "steer", "reply"]
    assert session.turns == 1
    page = await history_page(session, "transcript", cursor=None, limit=None)
    assert [item.kind for item in page.contents] == ["prompt", "reply", "toolResult", "steer", "reply"]


async def test_a_prompt_that_comes_while_the_last_answer_streams_gets_an_answer_in_the_same_turn(
    tmp_path: Path,
) -> None:
    studio = Studio(tmp_path)
    studio.model.gate.clear()
    first = asyncio.create_task(studio.chat("Go."))
    await studio.model.called.wait()
    second = asyncio.create_task(studio.chat("And this.", steer=True))
    await studio.heard.wait_for(PromptSteered)
    studio.model.gate.set()
    assert (await first).turn_id == (await second).turn_id
    session = await studio.session()
    assert [item.kind for item in session.history.items] == ["prompt", "reply", "steer", "reply"]


async def test_without_a_turn_under_way_a_steering_prompt_is_a_turn_of_its_own(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    await studio.chat("Hi", steer=True)
    session = await studio.session()
    assert [type(entry) for entry in session.history.entries if isinstance(entry, PromptEntry | SteerEntry)] == [
        PromptEntry
    ]


async def test_without_steer_a_prompt_waits_for_its_own_turn(tmp_path: Path) -> None:
    held = Held(tmp_path)
    first = await held.begin()
    second = asyncio.create_task(held.studio.chat("Next."))
    await held.studio.heard.wait_for(PromptQueued)
    held.free.set()
    assert (await first).turn_id != (await second).turn_id


async def test_a_turn_that_is_stopped_takes_its_steering_prompts_with_it(tmp_path: Path) -> None:
    held = Held(tmp_path)
    tasks = [await held.begin(), await held.steer("Only the tests.")]
    await held.studio.app.cancel(held.studio.client, None)
    for task in tasks:
        with pytest.raises(Cancelled):
            await task
    held.studio.model.streams = ["Fine."]
    await held.studio.chat("Hi")
    assert "Only the tests." not in str(held.studio.model.main()[-1].contents)


async def test_a_prompt_that_a_turn_at_its_limit_had_no_room_for_stands_where_it_goes_on(tmp_path: Path) -> None:
    held = Held(tmp_path, tool_max_rounds=1)
    first = await held.begin()
    second = await held.steer("Only the tests.")
    held.free.set()
    assert (await first).stopped == (await second).stopped == "maxToolRounds"
    await held.studio.app.resume(held.studio.client)
    assert held.studio.model.main()[-1].contents[-1].parts[-1] == {"text": "Only the tests."}


async def test_giving_up_a_steering_request_leaves_the_turn_to_the_one_who_began_it(tmp_path: Path) -> None:
    held = Held(tmp_path)
    first = await held.begin()
    second = await held.steer("Only the tests.")
    second.cancel()
    await asyncio.wait({second})
    held.free.set()
    assert (await first).stopped is None


async def test_a_rule_in_a_steering_prompt_is_the_persons(tmp_path: Path) -> None:
    held = Held(tmp_path, compression_constraints="auto")
    first = await held.begin()
    session = await held.studio.session()
    epoch = session.history.epoch
    second = await held.steer("Never touch the folder legacy/.")
    held.free.set()
    await asyncio.gather(first, second)
    (rule,) = session.history.constraints.all()
    assert (rule.text, rule.state, rule.source) == ("Never touch the folder legacy/.", "inForce", "prompt")
    assert session.history.epoch == epoch, "it stands in the view, so nothing has to be pinned"
    await held.studio.compress()
    await held.studio.chat("Hi")
    assert "Never touch the folder legacy/." in str(held.studio.model.main()[-1].contents)


async def test_a_rule_that_two_steering_prompts_lay_down_is_one(tmp_path: Path) -> None:
    held = Held(tmp_path, compression_constraints="auto")
    tasks = [await held.begin(), *[await held.steer("Never touch the folder legacy/.") for _ in range(2)]]
    held.free.set()
    await asyncio.gather(*tasks)
    session = await held.studio.session()
    assert [rule.text for rule in session.history.constraints.all()] == ["Never touch the folder legacy/."]


async def test_a_fork_has_the_steering_prompts_and_the_finished_rounds_of_a_turn_under_way(tmp_path: Path) -> None:
    held = Held(tmp_path)
    tasks = [await held.begin(), await held.steer("Only the tests.")]
    held.studio.model.gate.clear()
    held.studio.model.called.clear()
    held.free.set()
    await held.studio.model.called.wait()
    session = await held.studio.session()
    entries = copied(list(session.history.entries), held.studio.services, "fork")
    fork = await held.studio.app.create(held.studio.client, entries=entries)
    assert [item.kind for item in fork.history.items] == ["prompt", "reply", "toolResult", "steer"]
    held.studio.model.gate.set()
    await asyncio.gather(*tasks)
