"""What a process that was killed in mid-answer had shown stays for reading, as far as it was stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.history.log import TurnEndEntry
from gemini_companion.engine.history.shown import Shown
from gemini_companion.sessions.channel import KEPT_EVERY_MS
from gemini_companion.sessions.events import MessageDelta, ThoughtDelta, ToolCallStarted, TurnCancelled, TurnStarted
from gemini_companion.sessions.models.port import LocalContext, ModelChunk, ModelRequest
from gemini_companion.sessions.ports import StoredEvent
from gemini_companion.sessions.transcript.inspection import event_page
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.tools.tool import Tool, ToolContext, ToolOutput
from tests.support.mortal_store import MortalStore
from tests.support.patience import PATIENCE, until
from tests.support.sample_tools import SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import ManualClock, Studio

LATER = "later"
"""In a stream: so much time passes that what was shown is stored with the next delta."""


class Processes:
    """Processes over one store, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.studios: list[Studio] = []

    def start(self, tools: Iterable[Tool[Any]] = ()) -> Studio:
        clock = ManualClock()
        clock.time += len(self.studios) * 10_000_000
        store: Any = MortalStore(open_store(self.folder / "data", "project", clock=clock))
        studio = Studio(self.folder, store=store, tools=tools, tooling=allowing())
        studio.clock = studio.services.clock = clock
        number, inner = len(self.studios), studio.services.new_id
        studio.services.new_id = lambda kind: f"{inner(kind)}-{number}"
        self.studios.append(studio)
        return studio

    async def after_a_kill(self) -> Studio:
        """The next process, in the chat that the last one had."""
        killed = self.studios[-1]
        session_id = killed.client.current
        assert session_id is not None
        store: Any = killed.store
        await store.kill()
        studio = self.start()
        await studio.app.open_session(studio.client, session_id, take_over=True)
        return studio


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    processes = Processes(tmp_path)
    yield processes
    for studio in processes.studios:
        await studio.app.close()


def streaming(studio: Studio, *script: str) -> Callable[..., AsyncIterator[ModelChunk]]:
    """A stream of these pieces, thoughts in parentheses, which goes on for ever behind the last."""

    async def stream(request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        for text in script:
            if text == LATER:
                studio.clock.time += KEPT_EVERY_MS
            else:
                yield ModelChunk(parts=({"text": text, **({"thought": True} if text.startswith("(") else {})},))
        await asyncio.Event().wait()

    return stream


async def chat_until(studio: Studio, *script: str) -> None:
    """Send a prompt whose answer streams this, and wait until all of it was shown."""
    stream = studio.model.stream
    studio.model.stream = streaming(studio, *script)  # type: ignore[method-assign]
    chatting = asyncio.create_task(studio.chat("Go."))
    said = "".join(text for text in script if text != LATER)
    await until(lambda: told(studio).endswith(said))
    studio.model.stream = stream  # type: ignore[method-assign]
    chatting.add_done_callback(lambda task: task.cancelled() or task.exception())


def told(studio: Studio) -> str:
    return "".join(event.text for event in studio.heard.events if isinstance(event, MessageDelta | ThoughtDelta))


async def shown(studio: Studio) -> list[tuple[str, str | None, Shown]]:
    """Behind which kinds of contents something was shown, how that ended, and what it was."""
    page = await history_page(await studio.session(), "transcript", cursor=None, limit=None)
    return [(item.kind, item.outcome, item.shown) for item in page.contents if item.shown is not None]


async def test_what_was_said_before_a_kill_can_be_read_after_it(processes: Processes) -> None:
    await chat_until(processes.start(), "(Hm.)", "Half ", LATER, "an ", LATER, "answer", " and what is lost")
    after = await processes.after_a_kill()
    assert await shown(after) == [("prompt", "interrupted", Shown(text="Half an answer", thoughts="(Hm.)"))]
    assert "Half" not in str((await after.session()).history.contents())


async def test_it_is_as_it_was_for_every_further_process(processes: Processes) -> None:
    await chat_until(processes.start(), "Half ", LATER, "an ")
    once = await shown(await processes.after_a_kill())
    assert [one.text for _, _, one in once] == ["Half an "]
    assert await shown(await processes.after_a_kill()) == once


async def test_of_an_answer_that_goes_on_for_less_nothing_is_stored_until_something_else_happens(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = processes.start()
    await studio.session()
    stored: list[StoredEvent] = []
    monkeypatch.setattr(studio.store, "save_events", stored.extend)
    await chat_until(studio, *"abcdefgh")
    assert [event for event in stored if event.event["type"] == "messageDelta"] == []
    (await studio.session()).notify_usage()
    assert [event.event["text"] for event in stored if event.event["type"] == "messageDelta"] == ["abcdefgh"]


async def test_behind_finished_rounds_only_the_answer_that_was_cut_short_is_shown(processes: Processes) -> None:
    studio = processes.start([SampleTool("read_file", "read")])
    studio.model.streams = [calls(("read_file", {}), text="I look.")]
    scripted, cut_short = studio.model.stream, streaming(studio, "I ", LATER, "see ")

    async def stream(request: ModelRequest, local: LocalContext | None = None) -> AsyncIterator[ModelChunk]:
        async for chunk in scripted(request, local) if studio.model.streams else cut_short(request, local):
            yield chunk

    studio.model.stream = stream  # type: ignore[method-assign]
    chatting = asyncio.create_task(studio.chat("Go."))
    await until(lambda: told(studio).endswith("I see "))
    after = await processes.after_a_kill()
    assert await shown(after) == [("toolResult", "interrupted", Shown(text="I see "))]
    chatting.cancel()


async def test_what_finished_rounds_left_counts_in_lists_from_the_opening_on(processes: Processes) -> None:
    studio = processes.start([SampleTool("read_file", "read")])
    await studio.chat("Before.")
    studio.model.streams = [calls(("read_file", {}), text="I look. " * 200), [asyncio.Event()]]  # type: ignore[list-item]
    chatting = asyncio.create_task(studio.chat("Go."))
    await until(lambda: not studio.model.streams)
    after = await processes.after_a_kill()
    session = await after.session()
    told = session.token_count(session.choice()).tokens
    changed_at = session.meta.updated_at
    await after.app.close()
    (listed,) = (await processes.start().app.list_sessions()).sessions
    assert (listed.token_count, listed.updated_at) == (told, changed_at)
    chatting.cancel()


@pytest.mark.parametrize("before", [None, "I run it.", ""])
async def test_an_answer_that_was_written_is_not_shown_twice(processes: Processes, before: str | None) -> None:
    """`before`: the text of a round ahead of it, which may be the same."""

    async def for_ever(args: SampleArgs, context: ToolContext) -> ToolOutput:
        await asyncio.Event().wait()
        return ToolOutput()

    tool = SampleTool("run", "command", for_ever)
    studio = processes.start([SampleTool("read_file", "read"), tool])
    rounds = [] if before is None else [calls(("read_file", {}), text=before)]
    studio.model.streams = [*rounds, calls(("run", {}), text=before or "I run it.")]
    chatting = asyncio.create_task(studio.chat("Go."))
    async with asyncio.timeout(PATIENCE):
        await tool.started.wait()
    assert studio.heard.of(ToolCallStarted)
    after = await processes.after_a_kill()
    assert await shown(after) == []
    chatting.cancel()


async def test_what_was_said_before_a_kill_is_no_part_of_what_is_said_after_it(processes: Processes) -> None:
    await chat_until(processes.start(), "before ", LATER, "it ")
    studio = await processes.after_a_kill()
    session = await studio.session()
    (turn_id,) = {entry.turn_id for entry in session.history.entries.of(TurnEndEntry)}
    session.emit(TurnStarted(prompt=({"text": "Go."},), model="m"), turn_id)
    session.emit(MessageDelta(text="after ", attempt=1), turn_id)
    session.emit(MessageDelta(text="it", attempt=1), turn_id)
    session.emit(TurnCancelled(by="c1"), turn_id)
    page = await event_page(session, 0)
    deltas = [event["event"]["text"] for event in page.events if event["event"]["type"] == "messageDelta"]
    assert deltas == ["before it ", "after it"]


async def test_who_comes_back_in_mid_answer_gets_what_was_missed_of_it_and_nothing_twice(processes: Processes) -> None:
    studio = processes.start()
    await chat_until(studio, "one ", "two ", LATER, "three ", "four ", LATER, "five ", "six")
    session = await studio.session()
    numbers = [seq for _, seq, _, event in studio.heard.sent if isinstance(event, MessageDelta)]
    for missed, after_seq in enumerate((numbers[0] - 1, *numbers)):
        page = await event_page(session, after_seq)
        assert [event["seq"] for event in page.events] == numbers[missed:]
        assert "".join(event["event"]["text"] for event in page.events) == "".join(
            ("one ", "two ", "three ", "four ", "five ", "six")[missed:]
        )


@pytest.mark.parametrize("attempt", ["x", None, [1], {}])
async def test_a_damaged_event_of_an_answer_keeps_nobody_from_its_chat(processes: Processes, attempt: Any) -> None:
    """As it is where events are stored as they are, and a bit of one was flipped."""
    studio = processes.start()
    await chat_until(studio, "Half ", LATER, "an ")
    session = await studio.session()
    (turn_id,) = session.open_turns
    event = {"type": "messageDelta", "text": "answer", "attempt": attempt}
    number = studio.heard.sent[-1][1] + 1
    studio.store.save_events(
        [StoredEvent(session_id=session.session_id, seq=number, time=1, event=event, turn_id=turn_id)]
    )
    after = await processes.after_a_kill()
    assert await shown(after) == [("prompt", "interrupted", Shown(text="Half an answer"))]
    assert (await event_page(await after.session(), 0)).events
