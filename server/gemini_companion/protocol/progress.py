"""Work-done progress: a bar in the editor, under a token that the client gave with its request."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from gemini_companion.protocol.connection import Connection


class WorkDone:
    """One progress bar between its begin and its end; outside of that, and without a token, nothing is sent."""

    def __init__(self, connection: Connection, token: int | str | None) -> None:
        self._connection = connection
        self._token = token
        self._shown = False

    def begin(
        self, title: str, *, message: str | None = None, percentage: int | None = None, cancellable: bool = True
    ) -> None:
        """Show the bar. Without a percentage (0 to 100) here it stays one without end."""
        if self._token is not None and not self._shown:
            self._shown = True
            self._send("begin", title=title, message=message, percentage=percentage, cancellable=cancellable)

    def report(self, message: str | None = None, percentage: int | None = None) -> None:
        """Show how far it is: a phase in words, a percentage from 0 to 100."""
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
