"""A chat whose making is cancelled or fails before anybody is told of it is not there: it is deleted once it is written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from gemini_companion.engine.agents.builtin import GENERALIST
from gemini_companion.engine.errors import SessionNotFound, StorageFault
from gemini_companion.sessions.agents.service import AgentService
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.context import environment
from gemini_companion.sessions.delegation.running import AgentsOfSession
from gemini_companion.sessions.events import TitleChanged
from gemini_companion.sessions.results import SessionInfo
from gemini_companion.sessions.session import Session
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio

Act: TypeAlias = Callable[[Studio, str, Path], Coroutine[Any, Any, SessionInfo]]


async def new(studio: Studio, source: str, file: Path) -> SessionInfo:
    return await studio.app.new_session(studio.client, title="new")


async def fork(studio: Studio, source: str, file: Path) -> SessionInfo:
    return await studio.app.fork(studio.client, source, None)


async def import_file(studio: Studio, source: str, file: Path) -> SessionInfo:
    return await studio.app.import_session(studio.client, str(file))


class Hold:
    """Stops the first call of a coroutine function of an object before or behind its work, until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, *, behind: bool = False) -> None:
        self.reached, self.release = asyncio.Event(), asyncio.Event()
        self.fault: Exception | None = None
        real: Callable[..., Awaitable[Any]] = getattr(owner, name)

        async def held(*args: Any, **more: Any) -> Any:
            is_first = not self.reached.is_set()
            result = await real(*args, **more) if behind else None
            self.reached.set()
            if is_first:
                await self.release.wait()
                if self.fault is not None:
                    raise self.fault
            return result if behind else await real(*args, **more)

        monkeypatch.setattr(owner, name, held)


def hold_at(moment: str, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> Hold:
    match moment:
        case "before it is written":
            return Hold(monkeypatch, studio.store, "create")
        case "once it is written":
            return Hold(monkeypatch, studio.store, "create", behind=True)
        case "before its environment":
            return Hold(monkeypatch, environment, "refresh_environment")
        case _:
            return Hold(monkeypatch, Session, "update_listing")


MOMENTS = ("before it is written", "once it is written", "before its environment")


async def prepared(studio: Studio, tmp_path: Path) -> tuple[str, Path]:
    """A chat, and its file."""
    source = (await studio.chat("first")).session_id
    file = tmp_path / "chat.json"
    file.write_text("".join(await studio.app.export(studio.client, source, "companion")), "utf-8")
    return source, file


async def there(studio: Studio) -> list[str]:
    """The ids of the chats that are in the store."""
    return [one.session_id for one in (await studio.store.list()).sessions]


async def shown(studio: Studio) -> list[str]:
    """The ids of the chats that a listing shows."""
    return [one.session_id for one in (await studio.app.list_sessions()).sessions]


MAKINGS = pytest.mark.parametrize(
    ("act", "moment"),
    [(act, moment) for act in (new, fork, import_file) for moment in MOMENTS]
    + [(act, "before it is listed") for act in (fork, import_file)],
)

FAILURES = pytest.mark.parametrize(
    ("act", "moment"),
    [
        (act, moment)
        for act in (new, fork, import_file)
        for moment in ("before it is written", "before its environment")
    ],
)
"""A store whose write fails has written nothing, and a listing that fails is an old number in it."""


@MAKINGS
async def test_a_chat_whose_making_is_cancelled_is_shown_to_nobody_and_gone_once_it_is_written(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Act, moment: str
) -> None:
    source, file = await prepared(studio, tmp_path)
    hold = hold_at(moment, studio, monkeypatch)
    making = asyncio.create_task(act(studio, source, file))
    async with asyncio.timeout(PATIENCE):
        await hold.reached.wait()
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
        assert await shown(studio) == [source]
        assert studio.client.current == source
        hold.release.set()
        await studio.app.close()
    assert await there(studio) == [source]


@MAKINGS
@pytest.mark.parametrize("is_cancelled", [False, True], ids=["made", "cancelled"])
async def test_who_asks_for_a_chat_that_is_being_made_is_told_that_it_is_not_there(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Act, moment: str, is_cancelled: bool
) -> None:
    source, file = await prepared(studio, tmp_path)
    hold = hold_at(moment, studio, monkeypatch)
    ids = iter(("made",))
    new_id = studio.services.new_id
    monkeypatch.setattr(studio.services, "new_id", lambda kind: next(ids) if kind == "session" else new_id(kind))
    other, _ = studio.connect("other")
    making = asyncio.create_task(act(studio, source, file))
    async with asyncio.timeout(PATIENCE):
        await hold.reached.wait()
        if is_cancelled:
            making.cancel()
            await asyncio.wait({making})
        for asked in (
            studio.app.open_session(other, "made"),
            studio.app.open_session(other, "made", take_over=True),
            studio.app.subscribe(other, "made", on=True),
            studio.app.rename(other, "made", "mine"),
            studio.app.fork(other, "made", None),
            studio.app.delete("made"),
        ):
            with pytest.raises(SessionNotFound):
                await asked
        with pytest.raises(SessionNotFound):
            studio.app.loaded("made")
        assert (other.current, await shown(studio)) == (None, [source])
        hold.release.set()
        if not is_cancelled:
            assert (await making).session_id == "made"
            assert (await studio.app.open_session(other, "made")).session_id == other.current == "made"
        await studio.app.close()
    assert sorted(await there(studio)) == sorted({source, "made"} if not is_cancelled else {source})


async def test_a_chat_that_was_given_up_and_could_not_be_deleted_is_a_whole_one(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = hold_at("before its environment", studio, monkeypatch)
    failing = Hold(monkeypatch, studio.store, "delete")
    failing.fault = StorageFault("The disk fails.")
    failing.release.set()
    making = asyncio.create_task(studio.app.new_session(studio.client))
    async with asyncio.timeout(PATIENCE):
        await hold.reached.wait()
        making.cancel()
        await asyncio.wait({making})
        hold.release.set()
        await asyncio.wait([task for task in asyncio.all_tasks() if task.get_name().startswith("deleting")])
        (left,) = await shown(studio)
        await studio.app.open_session(studio.client, left)
        assert (await studio.chat("Where is the parser?")).session_id == left
        await studio.heard.wait_for(TitleChanged)
        await studio.app.close()


@FAILURES
async def test_a_chat_whose_making_fails_is_gone_and_the_fault_is_told(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, act: Act, moment: str
) -> None:
    source, file = await prepared(studio, tmp_path)
    hold = hold_at(moment, studio, monkeypatch)
    hold.fault = StorageFault("The disk fails.")
    hold.release.set()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(StorageFault, match=r"The disk fails\."):
            await act(studio, source, file)
        assert await shown(studio) == [source]
        assert studio.client.current == source
        await studio.app.close()
    assert await there(studio) == [source]


async def test_a_defect_of_deleting_does_not_keep_the_store_from_being_closed(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(session_id: str) -> None:
        raise RuntimeError("A defect.")

    source, file = await prepared(studio, tmp_path)
    hold = hold_at("once it is written", studio, monkeypatch)
    monkeypatch.setattr(studio.store, "delete", fail)
    closing = Hold(monkeypatch, studio.store, "close")
    closing.release.set()
    making = asyncio.create_task(new(studio, source, file))
    async with asyncio.timeout(PATIENCE):
        await hold.reached.wait()
        making.cancel()
        await asyncio.wait({making})
        hold.release.set()
        await studio.app.close()
    assert closing.reached.is_set()


async def test_a_subagent_that_is_stopped_while_its_session_is_made_leaves_none(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio.services.agents = AgentService(settings=lambda: studio.settings)
    app = Application(studio.services)
    app.attach(studio.client)
    chat = await app.hold(studio.client, None)
    begun: list[str] = []
    agents = AgentsOfSession(chat, studio.client, "turn", "call", app.tooling)
    hold = hold_at("once it is written", studio, monkeypatch)
    running = asyncio.create_task(agents.run(GENERALIST, "Look around.", begun.append))
    async with asyncio.timeout(PATIENCE):
        await hold.reached.wait()
        assert len((await studio.store.list(with_agents=True)).sessions) == 2
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        hold.release.set()
        await app.close()
    assert [one.session_id for one in (await studio.store.list(with_agents=True)).sessions] == [chat.session_id]
    assert begun == []
