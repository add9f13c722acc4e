"""Work-done progress: a bar in the editor, under a token that the client gave with its request or that we ask it to make."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

from gemini_companion.protocol.connection import ClientFault, Connection

CREATE_TIMEOUT: Final = 5.0
"""Seconds that a client has to make a progress bar; without one the work goes on all the same."""


class WorkDone:
    """One progress bar between its begin and its end; outside of that, and without a token, nothing is sent."""

    def __init__(self, connection: Connection, token: int | str | None) -> None:
        self._connection = connection
        self._token = token
        self._shown = False

    def begin(self, title: str, *, message: str | None = None, percentage: int | None = None, cancellable: bool = True) -> None:
        """Show the bar. Without a percentage (0 to 100) here it stays one without end."""
        if self._token is not None and not self._shown:
            self._shown = True
            self._send("begin", title=title, message=message, percentage=percentage, cancellable=cancellable)

    def report(self, message: str | None = None, percentage: int | None = None) -> None:
        """Say how far it is."""
        if self._shown:
            self._send("report", message=message, percentage=percentage)

    def end(self, message: str | None = None) -> None:
        """Take the bar away, once."""
        if self._shown:
            self._shown = False
            self._send("end", message=message)
            self._token = None

    def _send(self, kind: str, **fields: Any) -> None:
        value = {"kind": kind} | {name: value for name, value in fields.items() if value is not None}
        self._connection.send_notification("$/progress", {"token": self._token, "value": value})


@contextmanager
def client_progress(connection: Connection, token: int | str | None, title: str) -> Generator[WorkDone]:
    """The bar of a request's `workDoneToken`, shown while the block runs; silent for a request without one.

    The protocol itself cancels the request when the person cancels the bar.
    """
    work = WorkDone(connection, token)
    work.begin(title)
    try:
        yield work
    finally:
        work.end()


@asynccontextmanager
async def server_progress(connection: Connection, title: str, *, cancel: Callable[[], None] | None = None) -> AsyncGenerator[WorkDone]:
    """A bar for work that no request asked for; `cancel` is called when the person cancels it.

    Silent if the client cannot show one, refuses, or takes longer than `CREATE_TIMEOUT` to answer.
    """
    token = await _create_token(connection)
    work = WorkDone(connection, token)
    if token is not None:
        connection.on_progress_cancel(token, cancel)
    work.begin(title, cancellable=cancel is not None)
    try:
        yield work
    finally:
        if token is not None:
            connection.on_progress_cancel(token, None)
        work.end()


async def _create_token(connection: Connection) -> str | None:
    if not connection.supports("window.workDoneProgress"):
        return None
    token = str(uuid.uuid4())
    try:
        await connection.send_request("window/workDoneProgress/create", {"token": token}, timeout=CREATE_TIMEOUT)
    except (TimeoutError, ClientFault):
        return None
    return token
