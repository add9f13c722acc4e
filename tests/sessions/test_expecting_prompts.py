"""A chat that is begun or opened has what its first prompt needs loaded while nobody waits; a prompt is never behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.late_turns import LateTurns
from tests.support.conversations import dialogue
from tests.support.patience import until
from tests.support.scripted_model import ScriptedModel
from tests.support.sessions import Studio, registry_of


class Slow(ScriptedModel):
    """Has something to load before its first answer."""

    times_warmed = 0

    async def warm_up(self) -> None:
        self.times_warmed += 1


class Broken(Slow):
    """Fails at it."""

    async def warm_up(self) -> None:
        await super().warm_up()
        raise CompanionError("Nothing is there.")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat needs not be there for a moment before a prompt is expected."""
    monkeypatch.setattr("gemini_companion.sessions.late_turns.EXPECT_AFTER", 0)


async def written(studio: Studio) -> None:
    """An editor asks what it can complete or check of a prompt."""
    studio.app.expect_prompt()


BEGINNINGS: dict[str, Callable[[Studio, str], Awaitable[Any]]] = {
    "new": lambda studio, _: studio.app.new_session(studio.client),
    "open": lambda studio, session_id: studio.app.open_session(studio.client, session_id),
    "fork": lambda studio, session_id: studio.app.fork(studio.client, session_id, None),
    "a prompt that is being written": lambda studio, _: written(studio),
}


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("begin", BEGINNINGS.values(), ids=BEGINNINGS)
async def test_the_built_in_model_is_made_ready_once_a_chat_is_there(
    tmp_path: Path, begin: Callable[[Studio, str], Awaitable[Any]]
) -> None:
    stored = await Studio(tmp_path).load(dialogue(1))
    slow = Slow("offline")
    studio = Studio(tmp_path, store=stored.services.store, offline=slow)
    studio.take_key_away()
    assert slow.times_warmed == 0
    await begin(studio, stored.session_id)
    await until(lambda: slow.times_warmed == 1)
    await studio.app.close()


@pytest.mark.usefixtures("at_once")
async def test_it_is_done_once() -> None:
    turns, slow = LateTurns(), Slow("offline")
    for _ in range(3):
        turns.expect(registry_of(None, slow))
        await until(lambda: slow.times_warmed > 0)
    assert slow.times_warmed == 1


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("first", ["the chat", "the prompt"])
async def test_a_prompt_that_comes_by_then_has_nothing_beside_it(first: str) -> None:
    turns, slow = LateTurns(), Slow("offline")
    acts = [lambda: turns.expect(registry_of(None, slow)), turns.prepare]
    for act in acts if first == "the chat" else reversed(acts):
        act()
    for _ in range(20):
        await asyncio.sleep(0)
    assert slow.times_warmed == 0


@pytest.mark.usefixtures("at_once")
async def test_a_fault_is_logged_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    turns, broken = LateTurns(), Broken("offline")
    turns.expect(registry_of(None, broken))
    await until(lambda: "Nothing is there." in caplog.text)
