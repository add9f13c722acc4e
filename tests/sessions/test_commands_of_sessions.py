from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gemini_companion.protocol.handlers import commands as handlers
from gemini_companion.protocol.tool_types import StopCommandParams
from gemini_companion.protocol.types import SessionParams
from gemini_companion.sessions.tools.background import MOST_ENDED, MOST_OF_ALL, MOST_RUNNING, Commands
from tests.support.commands import SlowCommand
from tests.support.patience import PATIENCE


class Told:
    """A session that only remembers what it is told."""

    def __init__(self) -> None:
        self.session_id = "s"
        self.events: list[Any] = []
        self.users: list[asyncio.Task[Any]] = []
        self.services = SimpleNamespace(clock=SimpleNamespace(now=lambda: 5, monotonic=lambda: 1.0), ports=None)

    def emit(self, event: Any) -> None:
        self.events.append(event)

    def use(self, task: asyncio.Task[Any], now: float) -> None:
        self.users.append(task)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def book(told: Told) -> Commands:
    book = Commands()
    book.use(lambda session_id: cast("Any", told) if session_id == "s" else None)
    return book


async def until_ended(told: Told) -> None:
    await asyncio.wait_for(asyncio.gather(*told.users), PATIENCE)


async def test_a_background_command_is_told_of_when_it_begins_and_ends(book: Commands, told: Told) -> None:
    command = SlowCommand()
    book.began("s", "c1", "serve", "/w", command, is_background=True)
    command.let_end(exit_code=4)
    await until_ended(told)
    begun, ended = (event.commands for event in told.events)
    assert [(one.tool_call_id, one.command, one.state, one.started_at) for one in begun] == [
        ("c1", "serve", "running", 5)
    ]
    assert [(one.state, one.exit_code) for one in ended] == [("exited", 4)]


async def test_a_session_with_a_background_command_stays_in_use(book: Commands, told: Told) -> None:
    command = SlowCommand()
    book.began("s", "c1", "serve", "/w", command, is_background=True)
    assert not told.users[0].done()
    command.let_end()
    await until_ended(told)


async def test_commands_of_the_foreground_are_listed_while_they_run(book: Commands, told: Told) -> None:
    book.began("s", "c1", "make", "/w", SlowCommand(), is_background=False)
    assert [one.command for one in book.list("s")] == ["make"]
    assert book.background("s") == []
    assert book.ended("s", "c1") is False
    assert book.list("s") == ()
    assert told.events == []


async def test_stopping_over_the_wire_ends_a_command_once(book: Commands, told: Told) -> None:
    command = SlowCommand()
    book.began("s", "c1", "serve", "/w", command, is_background=True)

    async def load(session_id: str | None) -> Any:
        return told

    host = cast("Any", SimpleNamespace(load=load, app=SimpleNamespace(tooling=SimpleNamespace(commands=book))))
    params = StopCommandParams(session_id="s", tool_call_id="c1")
    assert (await handlers.stop(host, params)).stopped
    assert command.stopped
    assert not (await handlers.stop(host, params)).stopped
    (shown,) = (await handlers.list_(host, SessionParams(session_id="s"))).commands
    assert shown.state == "stopped"
    await until_ended(told)
    assert [event.commands[0].state for event in told.events] == ["running", "stopped"]


async def test_nothing_is_stopped_in_another_session(book: Commands) -> None:
    command = SlowCommand()
    book.began("s", "c1", "make", "/w", command, is_background=False)
    assert not await book.stop("other", "c1")
    assert not command.stopped


async def test_all_commands_end_with_the_daemon(book: Commands, told: Told) -> None:
    commands = [SlowCommand(), SlowCommand()]
    book.began("s", "c1", "serve", "/w", commands[0], is_background=True)
    book.began("t", "c2", "make", "/w", commands[1], is_background=False)
    await asyncio.wait_for(book.close(), PATIENCE)
    assert [command.stopped for command in commands] == [True, True]
    await until_ended(told)


async def test_only_so_many_that_ended_are_remembered(book: Commands, told: Told) -> None:
    for number in range(MOST_ENDED + 5):
        command = SlowCommand()
        book.began("s", f"c{number}", "serve", "/w", command, is_background=True)
        command.let_end()
        await until_ended(told)
    assert [one.tool_call_id for one in book.list("s")] == [f"c{number}" for number in range(5, MOST_ENDED + 5)]


async def test_commands_that_a_person_stops_are_forgotten_too(book: Commands, told: Told) -> None:
    for number in range(MOST_ENDED + 5):
        book.began("s", f"c{number}", "serve", "/w", SlowCommand(), is_background=True)
        assert await book.stop("s", f"c{number}")
    assert [one.tool_call_id for one in book.list("s")] == [f"c{number}" for number in range(5, MOST_ENDED + 5)]
    await until_ended(told)


async def test_so_many_commands_run_in_the_background_of_a_session_and_of_all(book: Commands) -> None:
    commands = [SlowCommand() for _ in range(MOST_OF_ALL)]
    for number, command in enumerate(commands):
        session = f"s{number // MOST_RUNNING}"
        assert book.refusal(session) == ""
        book.began(session, f"c{number}", "serve", "/w", command, is_background=True)
    assert "of this chat" in book.refusal("s0")
    assert "of all chats" in book.refusal("another")
    assert await book.stop("s0", "c0")
    assert (book.refusal("s0"), book.refusal("another")) == ("", "")
    await book.close()


async def test_commands_of_the_foreground_do_not_count_as_background_ones(book: Commands) -> None:
    for number in range(MOST_RUNNING):
        book.began("s", f"c{number}", "make", "/w", SlowCommand(), is_background=False)
    assert book.refusal("s") == ""
