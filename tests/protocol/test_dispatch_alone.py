"""The dispatcher without a framework: bodies in, bodies out."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.engine.ide_context.positions import PositionEncoding
from gemini_companion.protocol import lsp
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.dispatch import Dispatcher
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.methods import Empty, Notification, Request
from gemini_companion.protocol.routes import Routes
from gemini_companion.protocol.workspace import Folder, TextDocument
from tests.support.wire import PATIENCE, ROOT


class Desk:
    """A workspace that remembers what was applied to it."""

    encoding: PositionEncoding = "utf-16"

    def __init__(self) -> None:
        self.folders: dict[str, Folder] = {}
        self.applied: list[str] = []

    def opened(self, uri: str) -> TextDocument | None:
        return None

    def apply(self, method: str, params: msgspec.Struct) -> None:
        self.applied.append(method)


class Answers:
    """A writer that takes bodies and can wait for one."""

    def __init__(self) -> None:
        self.bodies: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    def write(self, data: bytes) -> None:
        self.bodies.put_nowait(json.loads(data))

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            return await self.bodies.get()


class Client:
    """Sends requests to a dispatcher of its own."""

    def __init__(self, lifecycle: Lifecycle | None = None, **extra: Any) -> None:
        self.desk = Desk()
        self.answers = Answers()
        description = ServerDescription(name="alone", version="1", methods=("gemini/late",))
        self.dispatcher = Dispatcher(description, open_workspace=lambda params: self.desk, lifecycle=lifecycle, **extra)
        self.dispatcher.set_writer(self.answers, include_headers=False)

    def notify(self, method: str, params: object = None) -> None:
        self.dispatcher.receive(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    async def request(self, method: str, params: object = None) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.dispatcher.receive(json.dumps(message).encode())
        return await self.answers.next()


@pytest.mark.process
def test_dispatch_is_loaded_without_pygls_and_without_the_application():
    program = "import sys, gemini_companion.protocol.dispatch; print(sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT / "server")
    loaded = {name.split("'")[1] for name in run.stdout.split(", ")}
    assert "gemini_companion.protocol.dispatch" in loaded
    assert not [name for name in loaded if name.startswith(("pygls", "lsprotocol", "gemini_companion.sessions"))]


async def test_methods_that_are_only_named_are_bound_once_with_the_first_message_after_initialize():
    bound: list[Connection] = []

    async def late(_params: Empty) -> str:
        return "here"

    def bind(connection: Connection, routes: Routes) -> None:
        bound.append(connection)
        routes.bind(Request("gemini/late", Empty, str, lambda _host, params: late(params), doc="Late."), late)

    client = Client(Lifecycle(bind=bind))
    assert (await client.request("gemini/late"))["error"]["code"] == -32002
    answer = await client.request("initialize", {"capabilities": {}})
    assert answer["result"]["capabilities"]["experimental"]["geminiCompanion"]["methods"] == ["gemini/late"]
    assert bound == []
    assert (await client.request("gemini/late"))["result"] == "here"
    assert (await client.request("gemini/late"))["result"] == "here"
    assert bound == [client.dispatcher.connection]


async def test_a_fault_in_binding_answers_every_request():
    def bind(_connection: Connection, _routes: Routes) -> None:
        raise ValueError

    client = Client(Lifecycle(bind=bind))
    await client.request("initialize", {"capabilities": {}})
    for _ in range(2):
        assert (await client.request("gemini/late"))["error"]["code"] == -32603


async def test_the_workspace_has_changed_before_the_handler_of_a_document_notification_is_called():
    client = Client()
    seen: list[list[str]] = []
    client.dispatcher.routes.bind_notification(
        Notification(lsp.DID_CLOSE, lsp.DocumentParams, lambda _host, _params: None, doc="Closed."),
        lambda _params: seen.append(list(client.desk.applied)),
    )
    await client.request("initialize", {"capabilities": {}})
    client.notify(lsp.DID_CLOSE, {"textDocument": {"uri": "file:///a"}})
    client.notify(lsp.DID_SAVE, {"textDocument": {"uri": "file:///a"}})
    assert seen == [[lsp.DID_CLOSE]]
    assert client.desk.applied == [lsp.DID_CLOSE, lsp.DID_SAVE]


async def test_a_workspace_that_cannot_be_opened_refuses_the_client():
    client = Client()

    def refuse(_params: lsp.InitializeParams) -> Desk:
        raise InvalidInput("$.rootUri: no.", path="$.rootUri")

    client.dispatcher = Dispatcher(ServerDescription(name="alone", version="1"), open_workspace=refuse)
    client.dispatcher.set_writer(client.answers, include_headers=False)
    assert (await client.request("initialize", {"capabilities": {}}))["error"]["code"] == -32602
    with pytest.raises(RuntimeError):
        _ = client.dispatcher.documents


async def test_answers_to_requests_of_somebody_else_are_handed_on():
    others: list[object] = []
    client = Client(on_other_answer=lambda call_id, message: others.append((call_id, message["result"])))
    asked = asyncio.create_task(client.dispatcher.connection.send_request("sample/ask", None))
    request = await client.answers.next()
    for call_id, result in ((request["id"], "ours"), ("theirs", 1), (None, 2)):
        client.dispatcher.receive(json.dumps({"jsonrpc": "2.0", "id": call_id, "result": result}).encode())
    assert await asked == "ours"
    assert others == [("theirs", 1)]


def test_document_notifications_are_taken_with_their_own_params_only():
    routes = Routes()
    routes.bind_notification(
        Notification(lsp.DID_OPEN, Empty, lambda _host, _params: None, doc="Opened."), lambda _params: None
    )
    with pytest.raises(TypeError):
        routes.notification(lsp.DID_OPEN, {})
