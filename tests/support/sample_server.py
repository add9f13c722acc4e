"""A small server of every kind of method: what the protocol's tests speak to, in memory or, run as a script, over
stdio.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from gemini_companion.engine.errors import Cancelled, ModelUnavailable, SessionNotFound
from gemini_companion.protocol import lsp
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.methods import Empty, Notification, Request, ServerNotification, ServerRequest
from gemini_companion.protocol.server import CompanionServer


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One piece of a prompt."""

    text: str
    weight: float = 1.0
    """How much it counts."""


class EchoParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What to send back."""

    session_id: str
    """Which session is meant."""
    parts: tuple[Part, ...] = ()
    max_tokens: int | None = None
    view: Literal["model", "transcript"] = "model"
    anything: Any = None
    work_done_token: int | str | None = None


class EchoResult(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What came."""

    session_id: str
    texts: tuple[str, ...]
    notices: int = 0
    """How many notices were taken before."""


class Step(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A handler that does as it is told."""

    name: str = ""
    work_done_token: int | str | None = None


class Notice(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that the client tells."""

    number: int


class Question(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that the client is asked."""

    text: str


class Reply(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What it answers."""

    outcome: Literal["yes", "no"]


class SampleApp:
    """What the handlers work on; tests read and drive it."""

    def __init__(self) -> None:
        self.notices: list[int] = []
        self.documents: list[tuple[str, Any]] = []
        self.trace: list[str] = []
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.closed = 0
        self.connection: Connection

    async def echo(self, _connection: Connection, params: EchoParams) -> EchoResult:
        return EchoResult(
            session_id=params.session_id, texts=tuple(part.text for part in params.parts), notices=len(self.notices)
        )

    async def nothing(self, _connection: Connection, _params: Empty) -> None:
        return None

    async def wait(self, _connection: Connection, params: Step) -> str:
        self.trace.append(f"start {params.name}")
        self.started.set()
        try:
            await self.release.wait()
        finally:
            self.trace.append(f"end {params.name}")
        return params.name

    async def commit(self, _connection: Connection, _params: Step) -> str:
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            return "committed"
        return "done"

    async def shielded(self, _connection: Connection, _params: Step) -> str:
        self.started.set()
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.trace.append("cancel ignored")
        return "at last"

    async def fail(self, _connection: Connection, params: Step) -> None:
        match params.name:
            case "fault":
                raise SessionNotFound("There is no session s9.", hint="List the sessions.")
            case "model":
                raise ModelUnavailable("Gemini does not answer.", retry_after_ms=1500)
            case "cancelled":
                raise Cancelled("A person stopped it.")
            case _:
                raise ValueError("the user's secret prompt")

    async def unencodable(self, _connection: Connection, _params: Empty) -> Any:
        return object()

    async def surrogate(self, _connection: Connection, _params: Empty) -> str:
        return "half \ud83d an emoji"

    async def stray(self, _connection: Connection, params: Step) -> str:
        print("a careless library prints", flush=True)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "import sys; print('child'); sys.exit(len(sys.stdin.read()))"
        )
        return f"{params.name} {await process.wait()}"

    async def flood(self, connection: Connection, params: Step) -> None:
        for _ in range(int(params.name)):
            connection.send_notification("sample/delta", {"text": "x" * 10_000})
            await asyncio.sleep(0)

    def notice(self, _connection: Connection, params: Notice) -> None:
        if params.number < 0:
            raise ValueError("the user's secret notice")
        self.notices.append(params.number)


def _handler(name: str) -> Callable[[Any, Any], Any]:
    return lambda app, params: getattr(app, name)(app.connection, params)


SAMPLE_METHODS: tuple[
    Request[Any, Any] | Notification[Any] | ServerNotification[Any] | ServerRequest[Any, Any], ...
] = (
    Request(
        "gemini/echo",
        EchoParams,
        EchoResult,
        _handler("echo"),
        doc="Sends back what it got.",
        errors=(SessionNotFound,),
    ),
    Request("gemini/nothing", Empty, None, _handler("nothing"), doc="Does nothing."),
    Request("sample/wait", Step, str, _handler("wait"), doc="Waits until it is released."),
    Request("sample/commit", Step, str, _handler("commit"), doc="Answers a cancel with a result."),
    Request("sample/shielded", Step, str, _handler("shielded"), doc="Does not hear a cancel."),
    Request(
        "sample/fail", Step, None, _handler("fail"), doc="Fails as told.", errors=(SessionNotFound, ModelUnavailable)
    ),
    Request("sample/unencodable", Empty, None, _handler("unencodable"), doc="Returns what is no JSON."),
    Request("sample/surrogate", Empty, str, _handler("surrogate"), doc="Returns what is no Unicode."),
    Request("sample/stray", Step, str, _handler("stray"), doc="Prints to standard output."),
    Request("sample/flood", Step, None, _handler("flood"), doc="Sends many deltas."),
    Notification("gemini/notice", Notice, _handler("notice"), doc="Takes notice."),
    ServerNotification("sample/delta", Question, doc="A piece of text."),
    ServerRequest("sample/ask", Question, Reply, doc="Asks the client."),
)
SAMPLE_COMMANDS = {"sample.echo": "gemini/echo", "sample.wait": "sample/wait"}


def create_sample_server(app: SampleApp | None = None, lifecycle: Lifecycle | None = None) -> CompanionServer:
    """Bind every method of the table to `app`."""
    target = app or SampleApp()

    async def on_close(_connection: Connection) -> None:
        target.closed += 1

    description = ServerDescription(name="sample", version="1.2.3", events=("turnStarted",))
    server = CompanionServer(description, lifecycle or Lifecycle(on_close=on_close))
    target.connection = server.connection
    by_name: dict[str, Request[Any, Any]] = {}
    for method in SAMPLE_METHODS:
        if isinstance(method, Request):
            by_name[method.name] = method
            server.routes.bind(method, _bound(method.handler, target))
        elif isinstance(method, Notification):
            server.routes.bind_notification(method, _bound(method.handler, target))
    for command, name in SAMPLE_COMMANDS.items():
        server.routes.bind_command(command, by_name[name], _bound(by_name[name].handler, target))
    for name, params in lsp.DOCUMENT_NOTIFICATIONS.items():
        server.routes.bind_notification(
            Notification(name, params, _handler("document"), doc="A document."), _document(name, target)
        )
    return server


def _bound(handler: Callable[..., Any], app: SampleApp) -> Callable[[Any], Any]:
    return lambda params: handler(app, params)


def _document(name: str, app: SampleApp) -> Callable[[Any], None]:
    return lambda params: app.documents.append((name, params))


def main() -> int:
    """Serve over stdio. With a path as argument, writes there how it ended."""
    from gemini_companion.protocol.transport import run_stdio

    def create() -> CompanionServer:
        async def on_close(_connection: Connection) -> None:
            if len(sys.argv) > 1:
                Path(sys.argv[1]).write_text("closed", encoding="utf-8")

        return create_sample_server(lifecycle=Lifecycle(on_close=on_close))

    return run_stdio(lambda: create().dispatcher)


if __name__ == "__main__":
    sys.exit(main())
