"""The editors that are connected: one `Client` per connection, with its subscriptions and what its editor shows."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from gemini_companion.engine.errors import SessionNotFound
from gemini_companion.sessions.asking import Asker
from gemini_companion.sessions.editor import Editor
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.results import CompressionStatusReport

_S = TypeVar("_S")


class ClientSink(Protocol):
    """Where messages to a client go. Its methods return at once; the connection handles a client that reads slowly."""

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Send an event; `seq` is its number, `time` is ms since 1970."""
        ...

    def status(self, report: CompressionStatusReport) -> None:
        """Send the status of compression."""
        ...

    def taken(self, session_id: str) -> None:
        """Say that another process took a session."""
        ...


class Switch:
    """A request, under way, that gives a client another current session. Made by `Client.switch`.

    A context manager: if the block ends without `to`, the current session stays.
    """

    def __init__(self, client: Client, number: int) -> None:
        self.number = number
        self.session_id: str | None = None
        """Where it led; `None` until it has, and if it failed."""
        self.ended = asyncio.Event()
        self._client = client

    def to(self, session_id: str) -> None:
        """Make this the current session, unless a switch that was asked for later was faster."""
        self.session_id = session_id
        self._client.take(self)

    def __enter__(self) -> Switch:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.end(self)
        self.ended.set()


class Client:
    """One connection of an editor.

    It is subscribed to its current session, to those it named in a request, and to those it asked for.
    """

    def __init__(
        self,
        client_id: str,
        sink: ClientSink,
        *,
        name: str = "",
        opt_out: frozenset[str] = frozenset(),
        trusted: bool | None = None,
    ) -> None:
        self.client_id = client_id
        self.name = name
        self.sink = sink
        self.opt_out = opt_out
        """Event types that it does not want; see `wants`."""
        self.trusted = trusted
        """Whether it trusts the workspace, `None` if it has not reported that."""
        self.is_leaving: Callable[[], bool] = lambda: False
        """Whether its window is closing: what is cancelled then, no person cancelled."""
        self.folders: tuple[str, ...] = ()
        """Absolute paths of its workspace folders."""
        self.current: str | None = None
        """Id of its current session."""
        self.making_session = asyncio.Lock()
        """Held while a session is made for a client that has none."""
        self._switches: list[Switch] = []
        """Those under way, in the order in which they were asked for."""
        self._asked = 0
        self._taken = 0
        """The number of the switch that led to the current session."""
        self.editor = Editor(client_id)
        self.asker: Asker | None = None
        """Its person and its editor, where they can be asked."""
        self._named: set[str] = set()
        self._followed: Counter[str] = Counter()

    def switch(self) -> Switch:
        """Begin a change of the current session. What is asked from here on and needs that session waits for its
        end, see `next_current`.
        """
        self._asked += 1
        switch = Switch(self, self._asked)
        self._switches.append(switch)
        return switch

    def take(self, switch: Switch) -> None:
        """A switch knows its session."""
        if switch.session_id is not None and switch.number > self._taken:
            self._taken, self.current = switch.number, switch.session_id

    def end(self, switch: Switch) -> None:
        """A switch has ended."""
        if switch in self._switches:
            self._switches.remove(switch)

    async def next_current(self) -> str | None:
        """Id of the session that is current once every switch asked for so far has ended."""
        for switch in reversed(list(self._switches)):
            if switch.number < self._taken:
                break  # a later one was faster
            await switch.ended.wait()
            if switch.session_id is not None:
                return switch.session_id
        return self.current

    def name_session(self, session_id: str) -> None:
        """Subscribe it to a session that it named in a request."""
        self._named.add(session_id)

    @contextmanager
    def following(self, session_id: str) -> Generator[None]:
        """Subscribe it to a session while a request of its own runs there, even if its current session changes."""
        self._followed[session_id] += 1
        try:
            yield
        finally:
            self._followed[session_id] -= 1
            self._followed += Counter()  # drops what is at zero

    def subscribe(self, session_id: str, *, on: bool) -> None:
        """Subscribe it to a session, or end that; it always gets the events of its current session."""
        if on:
            self._named.add(session_id)
        else:
            self._named.discard(session_id)

    def forget(self, session_id: str) -> None:
        """Remove a deleted session from its subscriptions."""
        self._named.discard(session_id)
        if self.current == session_id:
            self.current = None

    def wants(self, event_type: str) -> bool:
        """False for an event that it opted out of; `*` means all, and the status of compression too."""
        return event_type not in self.opt_out and "*" not in self.opt_out

    def is_subscribed_to(self, session_id: str) -> bool:
        """True if events of this session go to it."""
        return session_id == self.current or session_id in self._named or session_id in self._followed


async def found(client: Client, session_id: str, session: Awaitable[_S], *, is_named: bool = True) -> _S:
    """What `session` gives, awaited. A client that names it is subscribed first, as opening it may emit events."""
    if is_named:
        client.name_session(session_id)
    try:
        return await session
    except SessionNotFound:
        client.forget(session_id)
        raise
