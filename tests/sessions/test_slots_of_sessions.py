"""How much goes on at once over all sessions: requests to models and processes, in turn, and nobody kept from others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import Cancelled, ModelUnavailable
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.delegation.activity import Activity
from gemini_companion.sessions.events import TitleChanged, WaitingForSlot
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.turn import titles
from gemini_companion.sessions.turn.watching import FIRST_CHARACTERS
from gemini_companion.tools.tool import ToolContext, ToolOutput
from tests.support.counted_model import CountedModel
from tests.support.patience import PATIENCE, until
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_hooks import hook, use
from tests.support.scripted_model import ScriptedModel, calls
from tests.support.sessions import RecordingSink, Studio

Open = Callable[..., Studio]


@pytest.fixture
async def open_studio(tmp_path: Path) -> AsyncIterator[Open]:
    """Makes studios that are closed at the end."""
    studios: list[Studio] = []

    def make(model: ScriptedModel, **more: Any) -> Studio:
        studios.append(Studio(tmp_path, model=model, **more))
        return studios[-1]

    yield make
    for studio in studios:
        await studio.app.close()


class Chat:
    """A session of its own, with its own client."""

    def __init__(self, studio: Studio, name: str) -> None:
        self.studio, self.name = studio, name
        self.client: Client
        self.heard: RecordingSink
        self.client, self.heard = studio.connect(name)
        self.tasks: list[asyncio.Task[Any]] = []

    def ask(self, prompt: str = "") -> asyncio.Task[Any]:
        """Send a prompt, without waiting for its answer."""
        self.tasks.append(asyncio.create_task(self.studio.chat(prompt or self.name, self.client)))
        return self.tasks[-1]

    async def session(self) -> Session:
        return await self.studio.app.hold(self.client, None)


def waiting(studio: Studio) -> int:
    """Requests to models that wait for a slot."""
    return studio.services.slots.model_calls.fair.waiting


def turns_of(model: CountedModel) -> list[str]:
    """The prompts whose answers were asked for, in order."""
    return [prompt for role, prompt in model.began if role == "main"]


async def test_no_more_requests_are_out_at_once_than_the_settings_say_whatever_they_are_for(open_studio: Open) -> None:
    model = CountedModel()
    studio = open_studio(model, most_model_calls=3)
    chats = [Chat(studio, f"chat {number}") for number in range(8)]
    tasks = [chat.ask() for chat in chats]
    await model.until(lambda: len(model.out) == 3)
    await until(lambda: waiting(studio) == 5)
    model.open()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*tasks)
        sessions = [await chat.session() for chat in chats[:2]]
        await asyncio.gather(*(studio.compress(session_id=session.session_id) for session in sessions))
    assert {role for role, _ in model.began} == {"main", "utility_title", "utility_compressor"}
    assert model.most_out == 3
    await until(lambda: studio.services.slots.model_calls.fair.held == 0)


async def test_sessions_take_turns_and_what_nobody_waits_for_goes_last(open_studio: Open) -> None:
    model = CountedModel()
    studio = open_studio(model, most_model_calls=1)
    first, second, third = (Chat(studio, name) for name in ("first", "second", "third"))
    first.ask()
    await model.until(lambda: len(model.out) == 1)
    second.ask()
    await until(lambda: waiting(studio) == 1)
    third.ask()
    await until(lambda: waiting(studio) == 2)
    model.let_go()
    await model.until(lambda: turns_of(model) == ["first", "second"])
    await until(lambda: waiting(studio) == 2)  # the third chat, and the title of the first one
    first.ask("first again")
    await until(lambda: waiting(studio) == 3)
    model.open()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*first.tasks, *second.tasks, *third.tasks)
    assert turns_of(model) == ["first", "second", "third", "first again"]
    assert [role for role, _ in model.began[:4]] == ["main"] * 4, "titles let answers go first"


async def test_a_cancel_while_waiting_answers_and_leaves_neither_request_nor_slot_behind(open_studio: Open) -> None:
    model = CountedModel()
    studio = open_studio(model, most_model_calls=1)
    first, second, third = (Chat(studio, name) for name in ("first", "second", "third"))
    first.ask()
    await model.until(lambda: len(model.out) == 1)
    doomed = second.ask()
    await until(lambda: waiting(studio) == 1)
    assert (await studio.app.cancel(second.client, None)).cancelled
    with pytest.raises(Cancelled):
        await doomed
    assert (waiting(studio), len(model.began)) == (0, 1), "answered while the first one is still out"
    session = await second.session()
    assert not [entry for entry in session.history.entries if isinstance(entry, ModelCallEntry)]
    after = third.ask()
    model.open()
    async with asyncio.timeout(PATIENCE):
        assert (await after).text
    assert turns_of(model) == ["first", "third"]


async def test_no_slot_is_held_while_a_retry_is_waited_for(open_studio: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel()
    model.streams = [ModelUnavailable("Not now."), "Of the second.", "Of the first."]
    studio = open_studio(model, most_model_calls=1)
    first, second = Chat(studio, "first"), Chat(studio, "second")
    sleeping, wake = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        sleeping.set()
        await wake.wait()

    monkeypatch.setattr(studio.clock, "sleep", sleep)
    task = first.ask()
    async with asyncio.timeout(PATIENCE):
        await sleeping.wait()
        assert (await second.ask()).text.strip() == "Of the second."
        wake.set()
        assert (await task).text.strip() == "Of the first."


async def test_no_slot_is_held_while_a_tool_runs(open_studio: Open) -> None:
    done = asyncio.Event()

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await done.wait()
        return ToolOutput(output="read")

    model, tool = ScriptedModel(), SampleTool("read_file", "read", work)
    model.streams = [calls(("read_file", {})), "Of the second.", "Of the first."]
    studio = open_studio(model, most_model_calls=1, tools=[tool], tooling=allowing())
    first, second = Chat(studio, "first"), Chat(studio, "second")
    task = first.ask()
    async with asyncio.timeout(PATIENCE):
        await tool.started.wait()
        assert (await second.ask()).text.strip() == "Of the second."
        done.set()
        assert (await task).text.strip() == "Of the first."


async def test_a_hook_that_looks_at_an_answer_while_it_streams_needs_no_slot_that_waits_for_it(
    open_studio: Open,
) -> None:
    long = "word " * FIRST_CHARACTERS
    tool = SampleTool("run_shell_command", "command")
    model = ScriptedModel()
    model.streams = [calls(("run_shell_command", {}), text=long), long] * 3
    studio = open_studio(model, most_model_calls=1, most_processes=1, tools=[tool], tooling=allowing())
    runner = use(studio, hook("AfterModel"), hook("AfterTool"), hook("BeforeTool"), hook("BeforeModel"))
    chats = [Chat(studio, f"chat {number}") for number in range(3)]
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(chat.ask() for chat in chats))
    assert len(tool.called) == 3
    assert {told["hook_event_name"] for told in runner.told} == {"AfterModel", "AfterTool", "BeforeTool", "BeforeModel"}
    processes = studio.services.slots.processes.fair
    assert (processes.held, processes.waiting) == (0, 0)


async def test_commands_of_all_sessions_keep_to_the_limit_and_hooks_need_not_wait_for_them(open_studio: Open) -> None:
    done = asyncio.Event()

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await done.wait()
        return ToolOutput(output="ran")

    tool, model = SampleTool("run_shell_command", "command", work), ScriptedModel()
    model.default_stream = "Done."
    model.streams = [calls(("run_shell_command", {})) for _ in range(4)]
    studio = open_studio(model, most_processes=3, tools=[tool], tooling=allowing())
    chats = [Chat(studio, f"chat {number}") for number in range(4)]
    tasks = [chat.ask() for chat in chats]
    processes = studio.services.slots.processes.fair
    await until(lambda: processes.waiting == 2)
    runner = use(studio, hook("BeforeAgent"))
    async with asyncio.timeout(PATIENCE):
        assert (await Chat(studio, "quick").ask()).text.strip() == "Done."
        assert len(runner.told) == 1, "the hook had the slot that no command gets"
        done.set()
        await asyncio.gather(*tasks)
    assert (len(tool.called), tool.most_running) == (4, 2)


async def test_a_command_that_is_cancelled_while_it_waits_has_not_begun(open_studio: Open) -> None:
    done = asyncio.Event()

    async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await done.wait()
        return ToolOutput(output="ran")

    tool, model = SampleTool("run_shell_command", "command", work), ScriptedModel()
    model.streams = [calls(("run_shell_command", {})) for _ in range(2)]
    studio = open_studio(model, most_processes=1, tools=[tool], tooling=allowing())
    first, second = Chat(studio, "first"), Chat(studio, "second")
    processes = studio.services.slots.processes.fair
    task = first.ask()
    await until(lambda: processes.held == 1)
    doomed = second.ask()
    await until(lambda: processes.waiting == 1)
    assert (await studio.app.cancel(second.client, None)).cancelled
    with pytest.raises(Cancelled):
        await doomed
    assert (len(tool.called), processes.waiting) == (1, 0)
    done.set()
    async with asyncio.timeout(PATIENCE):
        await task
    assert processes.held == 0


async def test_a_turn_that_waits_says_so_once_and_that_it_goes_on(open_studio: Open) -> None:
    model = CountedModel()
    studio = open_studio(model, most_model_calls=1)
    first, second = Chat(studio, "first"), Chat(studio, "second")
    first.ask()
    await model.until(lambda: len(model.out) == 1)
    second.ask()
    await second.heard.wait_for(WaitingForSlot)
    assert second.heard.of(WaitingForSlot) == [WaitingForSlot(kind="model")]
    model.open()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*first.tasks, *second.tasks)
    told = [(turn, event) for _, _, turn, event in second.heard.sent if isinstance(event, WaitingForSlot)]
    assert [event.is_over for _, event in told] == [False, True]
    assert {turn for turn, _ in told} == {(await second.tasks[0]).turn_id}
    assert not first.heard.of(WaitingForSlot), "it never waited"


async def test_a_limit_that_is_raised_lets_those_that_wait_go_on(open_studio: Open) -> None:
    model = CountedModel()
    studio = open_studio(model, most_model_calls=1)
    chats = [Chat(studio, f"chat {number}") for number in range(4)]
    tasks = [chat.ask() for chat in chats]
    await until(lambda: waiting(studio) == 3)
    studio.set(most_model_calls=3)
    studio.services.slots.set_limits(studio.settings)
    await model.until(lambda: len(model.out) == 3)
    model.open()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*tasks)
    assert model.most_out == 3


async def test_a_model_that_answers_one_by_one_gets_one_request_at_a_time(open_studio: Open) -> None:
    model = CountedModel(one_by_one=True)
    studio = open_studio(model, most_model_calls=10)
    tasks = [Chat(studio, f"chat {number}").ask() for number in range(3)]
    await model.until(lambda: len(model.out) == 1)
    model.open()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*tasks)
    assert model.most_out == 1


async def test_the_wait_for_a_slot_is_no_part_of_what_a_title_may_take(
    open_studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titles, "TITLE_SECONDS", 0.0)
    model = CountedModel()
    studio = open_studio(model, most_model_calls=1)
    chat, other = Chat(studio, "chat"), Chat(studio, "other")
    chat.ask()
    await model.until(lambda: len(model.out) == 1)
    other.ask()
    await until(lambda: waiting(studio) == 1)
    model.let_go()
    await model.until(lambda: turns_of(model) == ["chat", "other"])
    await until(lambda: waiting(studio) == 1)  # the title, whose time has not begun
    monkeypatch.setattr(titles, "TITLE_SECONDS", PATIENCE)
    model.open()
    await chat.heard.wait_for(TitleChanged)


async def test_a_subagents_wait_is_told_once_in_its_chat_and_is_no_part_of_its_time(open_studio: Open) -> None:
    studio = open_studio(ScriptedModel())
    chat = Chat(studio, "chat")
    await chat.ask()
    session = await chat.session()
    agents = [await Chat(studio, f"agent {number}").session() for number in range(2)]
    paused: list[bool] = []
    activities = [Activity(session, "t1", f"call-{number}", agent, "Finder") for number, agent in enumerate(agents)]
    for activity, agent in zip(activities, agents, strict=True):
        activity.waits = paused.append
        agent.channel.listener = activity.hear
        agent.emit(WaitingForSlot(kind="model"))
    assert paused == [True, True]
    agents[0].emit(WaitingForSlot(kind="model", is_over=True))
    assert chat.heard.of(WaitingForSlot) == [WaitingForSlot(kind="model")], "the other one still waits"
    assert paused == [True, True, False]
    activities[1].leave_slots()  # it was stopped, and says nothing more
    assert chat.heard.of(WaitingForSlot)[-1] == WaitingForSlot(kind="model", is_over=True)
