"""Who talks to the daemon: one `Client` per connection, with what it hears and what its editor shows."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from gemini_companion.sessions.editor import Editor
from gemini_companion.sessions.events import Event
from gemini_companion.sessions.results import CompressionStatusReport


class ClientSink(Protocol):
    """The way back to a client. Both return at once; what a slow client does not read is its connection's concern."""

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: Event) -> None:
        """Tell what happened."""
        ...

    def status(self, report: CompressionStatusReport) -> None:
        """Tell where compression stands."""
        ...


class Client:
    """One connection. It hears its current session, those it named in a request, and those it subscribed to."""

    def __init__(
        self, client_id: str, sink: ClientSink, *, name: str = "", opt_out: frozenset[str] = frozenset(), trusted: bool | None = None
    ) -> None:
        self.client_id = client_id
        self.name = name
        self.sink = sink
        self.opt_out = opt_out
        """Event types that it does not want."""
        self.trusted = trusted
        self.folders: tuple[str, ...] = ()
        """Absolute paths of its workspace folders."""
        self.current: str | None = None
        """Its current session."""
        self.making_session = asyncio.Lock()
        self.editor = Editor(client_id)
        self._named: set[str] = set()
        self._followed: Counter[str] = Counter()

    def name_session(self, session_id: str) -> None:
        """It named this session in a request."""
        self._named.add(session_id)

    @contextmanager
    def following(self, session_id: str) -> Generator[None]:
        """While a request of its own runs in a session it hears that session, even if another one is its current one meanwhile."""
        self._followed[session_id] += 1
        try:
            yield
        finally:
            self._followed[session_id] -= 1
            self._followed += Counter()  # drops what is at zero

    def subscribe(self, session_id: str, *, on: bool) -> None:
        """Hear a session from now on, or no more unless it is the current one."""
        if on:
            self._named.add(session_id)
        else:
            self._named.discard(session_id)

    def forget(self, session_id: str) -> None:
        """The session is gone."""
        self._named.discard(session_id)
        if self.current == session_id:
            self.current = None

    def wants(self, event_type: str) -> bool:
        """False for an event that it opted out of; `*` stands for all, reports of the status included."""
        return event_type not in self.opt_out and "*" not in self.opt_out

    def hears(self, session_id: str) -> bool:
        """True if events of this session go to it."""
        return session_id == self.current or session_id in self._named or session_id in self._followed
