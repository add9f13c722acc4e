"""A process whose chat another one had meanwhile writes nothing over what that one wrote of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gemini_companion.engine.errors import CompanionError
from gemini_companion.sessions.registry import IDLE_SECONDS
from gemini_companion.sessions.taken import end_taken
from tests.support.patience import PATIENCE, until
from tests.support.sessions import Studio


async def taken_in_mid_answer(opened: Callable[..., Studio]) -> tuple[Studio, asyncio.Task[object], str]:
    """A process, its turn under way, and its chat, which another process took, renamed, had kept for good and left."""
    first, second = opened(), opened()
    session_id = (await asyncio.create_task(first.chat("Before."))).session_id  # whose task ends: this one uses no chat
    session = first.app.loaded(session_id)
    assert session is not None
    await until(lambda: session.meta.title == first.model.title)
    first.model.gate.clear()
    first.model.called.clear()
    chatting = asyncio.create_task(first.chat("go on"))
    async with asyncio.timeout(PATIENCE):
        await first.model.called.wait()
    await second.app.open_session(second.client, session_id, take_over=True)
    await second.app.rename(second.client, session_id, "Renamed there")
    await second.app.keep(second.client, session_id, on=True)
    await second.app.close()
    return first, chatting, session_id


async def notice(studio: Studio, session_id: str) -> None:
    """As it is noticed with a heartbeat."""
    await studio.store.beat()  # type: ignore[attr-defined]
    end_taken(studio.app, session_id)


async def take_back(studio: Studio, session_id: str) -> None:
    """As it is noticed, and the chat opened here again at once."""
    await studio.store.beat()  # type: ignore[attr-defined]
    await studio.app.open_session(studio.client, session_id)


@pytest.mark.parametrize("go_on", [notice, take_back])
async def test_a_turn_that_ends_since_its_chat_was_taken_leaves_title_and_keeping_as_they_are(
    opened: Callable[..., Studio], go_on: Callable[[Studio, str], Awaitable[None]]
) -> None:
    first, chatting, session_id = await taken_in_mid_answer(opened)
    await go_on(first, session_id)
    with pytest.raises(CompanionError):
        await chatting
    meta = await first.store.meta(session_id)
    assert (meta.title, meta.is_kept) == ("Renamed there", True)
    (listed,) = (await first.app.list_sessions()).sessions
    assert (listed.title, listed.is_kept) == ("Renamed there", True)


@pytest.mark.parametrize("is_noticed_by_itself", [True, False], ids=["by a heartbeat", "by a write"])
async def test_a_chat_whose_turn_could_not_be_written_to_its_end_is_let_go_as_any_other(
    opened: Callable[..., Studio], *, is_noticed_by_itself: bool
) -> None:
    first, chatting, session_id = await taken_in_mid_answer(opened)
    if is_noticed_by_itself:
        await notice(first, session_id)
    else:
        first.model.gate.set()
    with pytest.raises(CompanionError):
        await chatting
    await first.app.new_session(first.client)
    first.clock.time += round(1_000 * IDLE_SECONDS)
    await first.app.let_go_idle()
    assert first.app.loaded(session_id) is None
