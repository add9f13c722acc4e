"""Handlers are loaded when their methods are first called, and one that cannot be loaded costs its own method alone."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from gemini_companion.protocol import handlers, lsp
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.commands import COMMANDS
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.dispatch import Dispatcher
from gemini_companion.protocol.late_workspace import LateWorkspace
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.methods import Empty, notification, request
from gemini_companion.protocol.routes import Routes
from gemini_companion.protocol.table import LSP_NOTIFICATIONS, LSP_REQUESTS, NOTIFICATIONS, REQUESTS
from tests.support.patience import PATIENCE


@pytest.mark.parametrize(
    "row", [*REQUESTS, *LSP_REQUESTS, *COMMANDS.values(), *NOTIFICATIONS, *LSP_NOTIFICATIONS], ids=lambda row: row.name
)
def test_the_handler_of_every_method_and_command_can_be_loaded(row: Any) -> None:
    assert callable(row.handler)
    assert issubclass(row.params, msgspec.Struct)


def test_what_the_workspace_takes_is_what_handlers_of_documents_take() -> None:
    taken = {row.name: row.params for row in LSP_NOTIFICATIONS if row.name in lsp.DOCUMENT_NOTIFICATIONS}
    assert taken == {name: lsp.DOCUMENT_NOTIFICATIONS[name] for name in taken}
    assert len(taken) >= 5


def test_every_module_of_handlers_can_be_named_and_no_other() -> None:
    assert {module.name for module in pkgutil.iter_modules(handlers.__path__)} == handlers.NAMES
    with pytest.raises(AttributeError):
        _ = handlers.sessionz


@pytest.mark.process
def test_the_table_is_loaded_without_a_handler_and_without_the_application() -> None:
    program = (
        "import sys, gemini_companion.protocol.binding\n"
        "late = ('gemini_companion.protocol.handlers.', 'gemini_companion.protocol.types.', 'gemini_companion.sessions.')\n"
        "assert 'gemini_companion.protocol.table' in sys.modules\n"
        "print([name for name in sys.modules if (name + '.').startswith(late) and name not in late[0]])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout.strip() == "[]", run.stdout + run.stderr


class Client:
    """A client of a server with one handler that cannot be loaded, one that can, and a broken notification."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self.is_broken = True
        self.dispatcher = Dispatcher(
            ServerDescription(name="late", version="1"),
            open_workspace=LateWorkspace,
            lifecycle=Lifecycle(bind=self._bind),
        )
        self.dispatcher.set_writer(self, include_headers=False)
        self.say("initialize", {"capabilities": {}})

    def write(self, data: bytes, /) -> None:
        self.answers.append(json.loads(data))

    def say(self, method: str, params: object, number: int | None = 1) -> None:
        said = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
        self.dispatcher.receive(json.dumps(said).encode())

    def _find(self) -> Any:
        if self.is_broken:
            importlib.import_module("gemini_companion.protocol.handlers.absent")
        return _answer

    def _bind(self, _connection: Connection, routes: Routes) -> None:
        for name, find in (("gemini/broken", self._find), ("gemini/whole", lambda: _answer)):
            row = request(name, find, doc="Answers.")
            routes.bind(row, lambda params, row=row: row.handler(None, params))
        routes.bind_notification(notification("gemini/told", self._find, doc="Told."), lambda _params: None)


async def _answer(_host: object, params: Empty) -> str:
    return "here"


async def test_a_handler_that_cannot_be_loaded_is_an_error_of_its_own_method_with_what_to_do() -> None:
    client = Client()
    client.say("gemini/broken", {}, number=2)
    client.say("gemini/told", {}, number=None)
    _initialized, answer = client.answers  # and nothing for the notification
    assert (answer["id"], answer["error"]["code"], answer["error"]["data"]["kind"]) == (2, -32603, "defect")
    assert "gemini/broken" in answer["error"]["message"]
    assert "Install" in answer["error"]["data"]["hint"]
    assert "absent" not in json.dumps(answer)
    assert await client.dispatcher.routes.request("gemini/whole", {}).run() == "here"


async def test_a_handler_that_can_be_loaded_again_answers_again() -> None:
    client = Client()
    client.say("gemini/broken", {}, number=2)
    assert "error" in client.answers[-1]
    client.is_broken = False
    assert await client.dispatcher.routes.request("gemini/broken", {}).run() == "here"
