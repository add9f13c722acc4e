"""Sessions that nobody uses are let go: out of memory, free for other processes, and as they were when they come back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import pytest

from gemini_companion.engine.errors import Cancelled, ModelUnavailable, SessionBusy, StorageFault
from gemini_companion.engine.history.log import Entry, ResumeEntry, TurnEndEntry
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import Todo, TodosEntry
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.events import PromptQueued, TurnCancelled
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.registry import IDLE_SECONDS, KEPT_IDLE
from gemini_companion.sessions.session import Session
from tests.sessions.conftest import Opener
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

T = TypeVar("T")


async def request(work: Awaitable[T]) -> T:
    """Do it as a client's request: in a task that ends."""

    async def run() -> T:
        return await work

    async with asyncio.timeout(PATIENCE):
        return await asyncio.create_task(run())


async def new(studio: Studio) -> str:
    return (await request(studio.app.new_session(studio.client))).session_id


async def grow_old(studio: Studio) -> None:
    studio.clock.time += round(IDLE_SECONDS * 1000)
    await request(studio.app.let_go_idle())


async def held(studio: Studio, session_ids: list[str]) -> list[str]:
    return [session_id for session_id in session_ids if studio.store.holds(session_id)]


async def test_of_many_that_were_looked_at_the_last_few_stay_and_the_others_are_free(opened: Opener) -> None:
    here, there = opened(), opened()
    session_ids = [await new(here) for _ in range(10)]
    await request(here.app.let_go_idle())
    assert await held(here, session_ids) == session_ids[-KEPT_IDLE - 1 :]
    info = await request(there.app.open_session(there.client, session_ids[0]))
    assert info.held_by is None
    assert there.store.holds(session_ids[0])


async def test_the_others_go_in_time_and_the_current_one_of_any_client_stays(opened: Opener) -> None:
    here, there = opened(), opened()
    other, _ = here.connect("other window")
    theirs = (await request(here.app.new_session(other))).session_id
    session_ids = [await new(here) for _ in range(3)]
    await request(here.app.let_go_idle())
    assert await held(here, [theirs, *session_ids]) == [theirs, *session_ids]
    await grow_old(here)
    assert await held(here, [theirs, *session_ids]) == [theirs, session_ids[-1]]
    with pytest.raises(SessionBusy):
        await request(there.app.hold(there.client, theirs))
    here.app.detach(other)
    await request(here.app.let_go_idle())
    await request(there.app.hold(there.client, theirs))


def said(session: Session) -> list[Entry]:
    """The log without the calls of models: that for the title may come at any time."""
    return [entry for entry in session.history.entries if not isinstance(entry, ModelCallEntry)]


async def test_a_session_comes_back_as_it_was_left(opened: Opener) -> None:
    studio = opened()
    first = await new(studio)
    await request(studio.chat("remember the port 8123"))
    before = await request(studio.app.load(studio.client, first))
    count, epoch, entries = before.token_count(before.choice()), before.history.epoch, said(before)
    assert count.source == "api"
    await new(studio)
    await grow_old(studio)
    assert not studio.store.holds(first)
    await request(studio.app.open_session(studio.client, first))
    after = await request(studio.app.load(studio.client, first))
    assert after is not before
    assert said(after) == entries, "nothing is written for it"
    assert (after.token_count(after.choice()).source, after.history.epoch) == ("api", epoch)
    assert (await request(studio.chat("which port?"))).session_id == first
    numbers = [seq for session_id, seq, _, _ in studio.heard.sent if session_id == first]
    assert numbers == sorted(set(numbers))


async def test_one_that_another_process_wrote_meanwhile_is_resumed(opened: Opener) -> None:
    here, there = opened(), opened()
    first = await new(here)
    await request(here.chat("one"))
    await new(here)
    await grow_old(here)
    await request(there.app.open_session(there.client, first))
    await request(there.chat("two"))
    await request(there.app.new_session(there.client))
    await grow_old(there)
    await request(here.app.open_session(here.client, first))
    session = await request(here.app.load(here.client, first))
    assert [item.content.parts[0]["text"] for item in session.history.items if item.kind == "prompt"] == ["one", "two"]
    assert isinstance(session.history.entries[-1], ResumeEntry)


async def test_what_runs_waits_or_is_previewed_keeps_its_session(opened: Opener) -> None:
    studio = opened()
    busy: list[tuple[str, asyncio.Task[Any]]] = []
    kinds: list[Callable[[Session], Coroutine[Any, Any, Any]]] = [
        lambda session: studio.app.chat(studio.client, ({"text": "go"},), session_id=session.session_id),
        lambda session: studio.app.compress(studio.client, session.session_id, preview=True),
        lambda session: studio.app.compress(studio.client, session.session_id),
    ]
    studio.model.gate.clear()
    for kind in kinds:
        session = await request(studio.load(dialogue()))
        studio.model.called.clear()
        busy.append((session.session_id, asyncio.create_task(kind(session))))
        async with asyncio.timeout(PATIENCE):
            await studio.model.called.wait()
    waiting = asyncio.create_task(studio.app.chat(studio.client, ({"text": "then"},), session_id=busy[0][0]))
    await studio.heard.wait_for(PromptQueued)
    await new(studio)
    await grow_old(studio)
    assert await held(studio, [session_id for session_id, _ in busy]) == [session_id for session_id, _ in busy]
    studio.model.gate.set()
    async with asyncio.timeout(PATIENCE):
        results = [await task for _, task in busy]
    assert (await waiting).session_id == busy[0][0]
    assert [getattr(result, "status", "answered") for result in results] == ["answered", "PREVIEW", "COMPRESSED"]
    preview_id = results[1].compression_id
    await asyncio.gather(*(task for _, task in busy), waiting)
    await grow_old(studio)
    assert await held(studio, [session_id for session_id, _ in busy]) == []
    session = await request(studio.app.hold(studio.client, busy[1][0]))
    applied = await request(apply_preview(session, client="c", compression_id=preview_id))
    assert applied.status == "COMPRESSED"


async def test_an_end_that_could_not_be_written_keeps_its_session_until_it_is(opened: Opener) -> None:
    here, there = opened(), opened()
    session_id = await new(here)
    here.model.streams = [ModelUnavailable("Gone.", retryable=False)]
    append = here.store.append

    async def full(session_id: str, entries: Any) -> None:
        if any(isinstance(entry, TurnEndEntry) for entry in entries):
            raise StorageFault("full")
        await append(session_id, entries)

    here.store.append = full  # type: ignore[method-assign]
    with pytest.raises(ModelUnavailable):
        await request(here.chat("Go.", session_id=session_id))
    await new(here)
    await grow_old(here)
    assert here.store.holds(session_id)
    here.store.append = append  # type: ignore[method-assign]
    await grow_old(here)
    assert not here.store.holds(session_id)
    session = await request(there.app.hold(there.client, session_id))
    ends = [entry.outcome for entry in session.history.entries if isinstance(entry, TurnEndEntry)]
    assert ends == ["failed"], "not interrupted: the end was written"


async def test_what_is_queued_while_something_is_written_is_written_next(opened: Opener) -> None:
    studio = opened()
    session = await studio.session()
    writing, go_on, append = asyncio.Event(), asyncio.Event(), studio.store.append

    async def slow(session_id: str, entries: Any) -> None:
        writing.set()
        await go_on.wait()
        await append(session_id, entries)

    def todos(text: str) -> Draft:
        stamp, todo = session.stamp(), Todo(description=text, status="pending")
        return lambda seq: TodosEntry(**stamp, seq=seq, turn_id="t", todos=(todo,))

    studio.store.append = slow  # type: ignore[method-assign]
    first = asyncio.create_task(session.append(todos("first")))
    await writing.wait()
    session.write_later(todos("second"))
    go_on.set()
    await first
    await session.append(todos("third"))
    written = [entry for entry in session.history.entries if isinstance(entry, TodosEntry)]
    assert [entry.todos[0].description for entry in written] == ["first", "second", "third"]


async def test_an_open_that_is_cancelled_while_it_recovers_tells_what_was_interrupted(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = opened()
    session_id = await new(killed)
    killed.model.gate.clear()
    chatting = asyncio.create_task(killed.chat("cut off"))
    async with asyncio.timeout(PATIENCE):
        await killed.model.called.wait()
    await killed.store.events(session_id, 0)  # what was told is stored by now
    again = opened()
    reached, release = asyncio.Event(), asyncio.Event()
    real = again.store.events

    async def events(*arguments: Any, **options: Any) -> Any:
        reached.set()
        await release.wait()
        return await real(*arguments, **options)

    monkeypatch.setattr(again.store, "events", events)
    opening = asyncio.create_task(again.app.open_session(again.client, session_id, take_over=True))
    async with asyncio.timeout(PATIENCE):
        await reached.wait()
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        release.set()
        await again.heard.wait_for(TurnCancelled)
        session = await again.app.hold(again.client, session_id)
    assert [event.by for event in again.heard.of(TurnCancelled)] == ["interrupted"]
    assert session.history.contents() == []
    killed.model.gate.set()
    await asyncio.gather(chatting, return_exceptions=True)


async def test_a_cancelled_prompt_in_the_queue_keeps_its_session_until_its_end_is_written(opened: Opener) -> None:
    studio = opened()
    session_id = await new(studio)
    studio.model.gate.clear()
    first = asyncio.create_task(studio.chat("one"))
    second = asyncio.create_task(studio.chat("two"))
    await studio.heard.wait_for(PromptQueued)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    await request(studio.app.cancel(studio.client, None))
    with pytest.raises(Cancelled):
        await first
    await new(studio)
    await grow_old(studio)
    session = await request(studio.app.hold(studio.client, session_id))
    ends = [
        entry for entry in session.history.entries if isinstance(entry, TurnEndEntry) and entry.outcome == "cancelled"
    ]
    assert len(ends) == 2
