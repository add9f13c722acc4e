"""The model of a turn: named, chosen for the prompt, or what answers while the one that is meant cannot."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.errors import ModelFault, ModelUnavailable
from gemini_companion.engine.history.log import ModelChangeEntry, ReplyEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.events import MessageDiscarded, ModelChanged
from gemini_companion.sessions.models.availability import LONGEST_SECONDS, SHORTEST_SECONDS, Availability
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from gemini_companion.sessions.routing import router
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import Answer, calls, chunks
from tests.support.sessions import Studio

MEANT, NEXT = "gemini-2.5-pro", "gemini-2.5-flash"


def quota(seconds: float | None = None) -> ModelUnavailable:
    wait = None if seconds is None else round(seconds * 1000)
    return ModelUnavailable("The quota is used up.", retryable=False, retry_after_ms=wait, of_model=True)


def script(*answers: Answer) -> list[Answer]:
    return list(answers)


def models_of(studio: Studio) -> list[str]:
    return [request.model for request in studio.model.main()]


def changes_in(studio: Studio) -> list[tuple[str, str]]:
    return [(event.from_, event.to) for event in studio.heard.of(ModelChanged)]


async def test_the_next_model_answers_while_the_quota_of_the_first_is_used_up_and_says_so(studio: Studio) -> None:
    studio.model.streams = script(quota(600), "Hello.", "Again.")
    result = await studio.chat("Hi")
    assert (result.text.strip(), result.model) == ("Hello.", NEXT)
    await studio.chat("And now?")
    assert models_of(studio) == [MEANT, NEXT, NEXT]
    assert changes_in(studio) == [(MEANT, NEXT)]
    assert "asked again in about 10 min" in studio.heard.of(ModelChanged)[0].reason
    session = await studio.session()
    assert not any(isinstance(entry, ModelChangeEntry) for entry in session.history.entries), "the chat's model stays"
    assert [entry.model for entry in session.history.entries if isinstance(entry, ReplyEntry)] == [NEXT, NEXT]


async def test_the_first_model_is_asked_again_with_the_first_prompt_after_its_time(studio: Studio) -> None:
    studio.model.streams = script(quota(600), "Hello.", "Back.")
    await studio.chat("Hi")
    studio.clock.time += 601_000
    result = await studio.chat("And now?")
    assert (result.text.strip(), result.model) == ("Back.", MEANT)
    assert changes_in(studio) == [(MEANT, NEXT), (NEXT, MEANT)]
    assert models_of(studio) == [MEANT, NEXT, MEANT], "nothing is sent to find out"


async def test_a_turn_keeps_the_model_that_answers_though_the_first_is_back_before_its_end(tmp_path: Path) -> None:
    async def late(args: SampleArgs, context: ToolContext) -> ToolOutput:
        studio.clock.time += 60_000
        return ToolOutput(output="late")

    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read", late)], tooling=allowing())
    studio.model.streams = script(quota(1), calls(("read_file", {})), "Done.")
    await studio.chat("Go.")
    assert models_of(studio) == [MEANT, NEXT, NEXT]


async def test_a_model_whose_quota_ends_in_the_middle_of_a_turn_loses_no_round(tmp_path: Path) -> None:
    tool = SampleTool("read_file", "read")
    studio = Studio(tmp_path, tools=[tool], tooling=allowing())
    studio.model.streams = script(calls(("read_file", {"file_path": "a"})), quota(), "Done.")
    assert (await studio.chat("Go.")).text.strip() == "Done."
    assert models_of(studio) == [MEANT, MEANT, NEXT]
    assert len(tool.called) == 1
    assert studio.model.main()[1].contents == studio.model.main()[2].contents


async def test_where_no_model_answers_the_fault_is_told_and_the_prompt_can_be_sent_again(studio: Studio) -> None:
    studio.model.streams = script(quota(60), quota(60), quota(60))
    with pytest.raises(ModelUnavailable):
        await studio.chat("Hi")
    assert models_of(studio) == [MEANT, NEXT, "gemini-2.5-flash-lite"]
    studio.model.streams = script("Hello.")
    studio.clock.time += 61_000
    assert (await studio.chat("Hi")).model == MEANT


async def test_a_stream_that_broke_off_is_discarded_aloud_and_each_request_is_counted_once(studio: Studio) -> None:
    broken = chunks(["Half of an ans"], None)
    studio.model.streams = script(broken, quota(60), "Whole.")
    result = await studio.chat("Hi")
    assert result.text.strip() == "Whole."
    assert len(studio.heard.of(MessageDiscarded)) == 1
    session = await studio.session()
    made = [entry for entry in session.history.entries if isinstance(entry, ModelCallEntry)]
    assert [entry.model for entry in made if entry.purpose == "answer"] == [MEANT, MEANT, NEXT]
    rows = (await studio.app.statistics.of_session(session)).models
    assert sum(row.calls for row in rows if row.purpose == "answer") == 3


@pytest.mark.parametrize("fault", [ModelUnavailable("No network.", retryable=False), ModelFault("Odd.")])
async def test_a_fault_that_is_not_the_models_own_sends_nothing_elsewhere(studio: Studio, fault: ModelFault) -> None:
    studio.model.streams = script(fault)
    with pytest.raises(ModelFault):
        await studio.chat("Hi")
    assert models_of(studio) == [MEANT]


async def test_a_setting_keeps_to_the_model_that_was_named(tmp_path: Path) -> None:
    studio = Studio(tmp_path, model_fallback=False)
    studio.model.streams = script(quota(60))
    with pytest.raises(ModelUnavailable):
        await studio.chat("Hi")
    assert models_of(studio) == [MEANT]


def test_without_a_time_a_model_is_left_alone_twice_as_long_after_each_fault() -> None:
    now = 0.0
    availability = Availability(lambda: now)
    waits: list[float] = []
    for _ in range(9):
        availability.failed("m", None)
        availability.failed("m", None)  # of another session, meanwhile
        waits.append(availability.seconds_left("m"))
        now += waits[-1]
        assert availability.is_available("m")
    assert waits[:3] == [SHORTEST_SECONDS, 2 * SHORTEST_SECONDS, 4 * SHORTEST_SECONDS]
    assert waits[-1] == LONGEST_SECONDS
    availability.answered("m")
    availability.failed("m", None)
    assert availability.seconds_left("m") == SHORTEST_SECONDS


# --- auto


def auto_studio(tmp_path: Path, answer: Answer) -> Studio:
    studio = Studio(tmp_path, tools=[SampleTool("read_file", "read")], tooling=allowing())
    studio.settings = msgspec.structs.replace(studio.settings, model_name="auto-gemini-2.5")
    studio.model.default_answer = answer
    return studio


@pytest.mark.parametrize(
    ("answer", "model"), [('{"model": "quick", "reason": "one step"}', NEXT), ('{"model": "large"}', MEANT)]
)
async def test_auto_lets_a_small_model_choose_and_the_turn_keeps_to_it(tmp_path: Path, answer: str, model: str) -> None:
    studio = auto_studio(tmp_path, answer)
    studio.model.streams = script(calls(("read_file", {})), "Done.")
    result = await studio.chat("Rename it.")
    assert result.model == model
    assert models_of(studio) == [model, model]
    (asked,) = [request for request in studio.model.requests if request.role == "utility_router"]
    assert "Rename it." in str(asked.contents)
    rows = (await studio.app.statistics.of_session(await studio.session())).models
    assert sum(row.calls for row in rows if row.purpose == "routing") == 1


@pytest.mark.parametrize("answer", ["what?", "", '{"model": "x"}', ModelUnavailable("down", retryable=False)])
async def test_auto_has_the_large_model_where_nothing_can_be_found_out(tmp_path: Path, answer: Answer) -> None:
    studio = auto_studio(tmp_path, answer)
    assert (await studio.chat("Hi")).model == MEANT


async def test_auto_does_not_wait_for_a_choice_that_does_not_come(tmp_path: Path, monkeypatch: Any) -> None:
    studio = auto_studio(tmp_path, "")
    monkeypatch.setattr(router, "SECONDS", 0.01)
    inner = studio.model.generate

    async def hanging(request: ModelRequest) -> ModelChunk:
        if request.role == "utility_router":
            await asyncio.Event().wait()
        return await inner(request)

    monkeypatch.setattr(studio.model, "generate", hanging)
    assert (await studio.chat("Hi")).model == MEANT


async def test_a_model_that_is_named_is_not_chosen_for(studio: Studio) -> None:
    assert (await studio.chat("Hi", model="gemini-2.5-flash")).model == NEXT
    assert not [request for request in studio.model.requests if request.role == "utility_router"]


async def test_another_choice_than_before_is_told_with_its_reason(tmp_path: Path) -> None:
    studio = auto_studio(tmp_path, '{"model": "quick", "reason": "one step"}')
    await studio.chat("Rename it.")
    studio.model.default_answer = '{"model": "large", "reason": "many files"}'
    await studio.chat("Now all of it.")
    assert changes_in(studio) == [(NEXT, MEANT)]
    assert "many files" in studio.heard.of(ModelChanged)[0].reason


async def test_going_on_with_a_turn_keeps_the_model_that_it_had(tmp_path: Path) -> None:
    studio = auto_studio(tmp_path, '{"model": "quick"}')
    studio.model.streams = script(calls(("read_file", {})), ModelUnavailable("gone", retryable=False))
    with pytest.raises(ModelUnavailable):
        await studio.chat("Go.")
    studio.model.default_answer = '{"model": "large"}'
    studio.model.streams = script("Done.")
    assert (await studio.app.resume(studio.client, None)).model == NEXT


async def test_a_choice_that_cannot_answer_falls_back_as_any_other(tmp_path: Path) -> None:
    studio = auto_studio(tmp_path, '{"model": "large"}')
    studio.model.streams = script(quota(600), "Hello.", "Again.")
    assert (await studio.chat("Hi")).model == NEXT
    assert (await studio.chat("Hi")).model == NEXT
    assert models_of(studio) == [MEANT, NEXT, NEXT]
