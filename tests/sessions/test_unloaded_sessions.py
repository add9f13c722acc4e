"""Nobody sees whether a session was let go between two requests: the same answers, events, numbers and log."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from gemini_companion.adapters.storage.store import open_store
from gemini_companion.engine.errors import CompanionError, ModelUnavailable
from gemini_companion.engine.history.log import Usage
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry, FileChange
from gemini_companion.sessions.compression.preview import apply_preview
from gemini_companion.sessions.compression.undo import undo
from gemini_companion.sessions.constraints.setting import set_constraint
from gemini_companion.sessions.events import BudgetUsed
from gemini_companion.sessions.pins import pin
from gemini_companion.sessions.registry import IDLE_SECONDS
from gemini_companion.sessions.tools.modes import set_mode
from gemini_companion.sessions.transcript.inspection import compression_list, context_report, event_page, pin_list
from gemini_companion.sessions.transcript.pages import history_page
from gemini_companion.settings.spending import BudgetSettings
from tests.support.conversations import dialogue
from tests.support.patience import PATIENCE
from tests.support.sessions import ManualClock, Studio

Step = Callable[[Studio, str], Awaitable[Any]]


async def say(studio: Studio, session_id: str) -> Any:
    return await studio.chat("Why is the port 8123, and who said so?", session_id=session_id)


async def fail(studio: Studio, session_id: str) -> Any:
    studio.model.streams = [ModelUnavailable("Gone.", retryable=False)]
    return await studio.chat("Say it again.", session_id=session_id)


async def compress(studio: Studio, session_id: str) -> Any:
    return await studio.compress(session_id=session_id)


async def preview(studio: Studio, session_id: str) -> Any:
    return await studio.compress(session_id=session_id, preview=True)


async def apply(studio: Studio, session_id: str) -> Any:
    session = await studio.app.hold(studio.client, session_id)
    shown = session.history.preview
    compression_id = shown.compression.compression_id if shown is not None else "none"
    return await apply_preview(session, client="c", compression_id=compression_id)


async def take_back(studio: Studio, session_id: str) -> Any:
    return await undo(await studio.app.hold(studio.client, session_id), client="c")


async def pin_text(studio: Studio, session_id: str) -> Any:
    return await pin(await studio.app.hold(studio.client, session_id), text="The port is 8123.")


async def rule(studio: Studio, session_id: str) -> Any:
    session = await studio.app.hold(studio.client, session_id)
    return await set_constraint(session, state="inForce", text=f"Never touch file{len(session.history.entries)}.py.")


async def plan(studio: Studio, session_id: str) -> Any:
    await set_mode(await studio.app.hold(studio.client, session_id), "plan")


async def look(studio: Studio, session_id: str) -> Any:
    session = await studio.app.load(studio.client, session_id)
    page = await history_page(session, "transcript", cursor=None, limit=5)
    return [page, session.status(studio.client), context_report(session), compression_list(session), pin_list(session)]


STEPS: Final[tuple[Step, ...]] = (
    say, say, say, fail, compress, compress, preview, apply, take_back, pin_text, rule, plan, look,
)  # fmt: skip


async def answered(step: Step, studio: Studio, session_id: str) -> Any:
    """What a client gets for a request, which is a task that ends."""

    async def run() -> Any:
        try:
            return msgspec.to_builtins(await step(studio, session_id))
        except CompanionError as fault:
            return type(fault).__name__, fault.message

    async with asyncio.timeout(PATIENCE):
        return await asyncio.create_task(run())


async def pass_time(studio: Studio, session_id: str, *, unload: bool) -> None:
    studio.clock.time += round(IDLE_SECONDS * 1000) + 1
    if unload:
        async with asyncio.timeout(PATIENCE):
            await asyncio.create_task(studio.app.let_go_idle())
        assert not studio.store.holds(session_id)


async def begun(studio: Studio) -> str:
    """A session with a past and a person's title, which is not the client's current one."""

    async def begin() -> str:
        session = await studio.load(dialogue())
        await studio.app.rename(studio.client, session.session_id, "Ports")
        await studio.app.new_session(studio.client)
        return session.session_id

    return await asyncio.create_task(begin())


def told(studio: Studio, session_id: str) -> list[Any]:
    """The events of a session as the client got them; their numbers must rise."""
    sent = [one for one in studio.heard.sent if one[0] == session_id]
    numbers = [number for _, number, _, _ in sent]
    assert numbers == sorted(set(numbers))
    return [(turn_id, msgspec.to_builtins(event)) for _, _, turn_id, event in sent]


async def replayed(studio: Studio, session_id: str) -> list[Any]:
    """The events of a session as one gets them who was away, without their numbers."""
    page = await event_page(await studio.app.load(studio.client, session_id), 0)
    assert not page.truncated
    return [{**event, "seq": 0} for event in page.events]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Callable[[str], Studio]]:
    """Makes studios that know nothing of each other, and number alike."""
    studios: list[Studio] = []

    def make(name: str) -> Studio:
        store = open_store(tmp_path / name, "project", clock=ManualClock())
        studios.append(Studio(tmp_path, store=store))
        return studios[-1]

    yield make
    for studio in studios:
        await studio.app.close()


@pytest.mark.parametrize("seed", range(6))
async def test_no_client_sees_whether_a_session_was_let_go_between_two_requests(
    seed: int, desk: Callable[[str], Studio]
) -> None:
    drawn = random.Random(seed)
    steps = [(drawn.choice(STEPS), drawn.random() < 0.7) for _ in range(12)]
    stays, goes = desk("stays"), desk("goes")
    session_id = await begun(stays)
    assert await begun(goes) == session_id
    loaded = stays.app.loaded(session_id)
    for place, (step, unload) in enumerate(steps):
        what = f"{step.__name__}, number {place} of {[step.__name__ for step, _ in steps]}"
        assert await answered(step, goes, session_id) == await answered(step, stays, session_id), what
        assert told(goes, session_id) == told(stays, session_id), what
        await pass_time(goes, session_id, unload=unload)
        await pass_time(stays, session_id, unload=False)
    assert await answered(replayed, goes, session_id) == await answered(replayed, stays, session_id)
    ours, theirs = [await studio.app.load(studio.client, session_id) for studio in (goes, stays)]
    assert msgspec.to_builtins(list(ours.history.entries)) == msgspec.to_builtins(list(theirs.history.entries))
    assert theirs is loaded, "the other was never let go"
    assert goes.heard.reports == stays.heard.reports


async def test_a_warning_of_the_budget_is_told_once_though_its_session_was_let_go(
    desk: Callable[[str], Studio],
) -> None:
    studio = desk("one")
    studio.set(budget=BudgetSettings(session_tokens=5_000))
    studio.model.answer_usage = lambda request, answer: Usage(prompt_tokens=900, output_tokens=100, total_tokens=1_000)
    session_id = await begun(studio)
    for _ in range(5):
        await answered(say, studio, session_id)
        await pass_time(studio, session_id, unload=True)
    warnings = [event for event in studio.heard.of(BudgetUsed) if event.outcome == "warned"]
    assert len(warnings) == 1


async def test_what_subagents_spent_and_wrote_is_known_of_a_chat_that_was_let_go(desk: Callable[[str], Studio]) -> None:
    studio = desk("one")
    studio.set(budget=BudgetSettings(session_tokens=5_000))
    session_id = await begun(studio)

    async def work(studio: Studio, session_id: str) -> None:
        chat = await studio.app.hold(studio.client, session_id)
        stamp: dict[str, Any] = {"id": "x", "seq": 1, "time": 0}
        usage = Usage(prompt_tokens=5_000, output_tokens=1, total_tokens=5_001)
        chat.unlogged.hear_agent(
            ModelCallEntry(
                **stamp, purpose="answer", subject="t", model="gemini-2.5-pro", outcome="ok", duration_ms=1, usage=usage
            )
        )
        change = FileChange(path="/project/run.sh", kind="created")
        chat.unlogged.hear_agent(ChangeEntry(**stamp, turn_id="t", change_id="c", changes=(change,)))

    await answered(work, studio, session_id)
    await pass_time(studio, session_id, unload=True)
    refused = await answered(say, studio, session_id)
    assert refused["stopped"] == "budget"
    chat = await studio.app.load(studio.client, session_id)
    assert chat.unlogged.changed_by_agents == {"/project/run.sh"}, "it is not run unasked"
