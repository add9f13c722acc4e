"""Between the answer to `initialize` and the next message: methods are bound, and loading disturbs nobody."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from gemini_companion.engine.errors import InvalidInput
from gemini_companion.protocol import lsp
from gemini_companion.protocol.capabilities import ServerDescription
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.described import described
from gemini_companion.protocol.dispatch import MAX_IN_FLIGHT, Dispatcher
from gemini_companion.protocol.documents import open_workspace
from gemini_companion.protocol.late_workspace import LateWorkspace
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.loading import loading
from gemini_companion.protocol.routes import Routes
from tests.support.patience import PATIENCE, until

INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
ASK = b'{"jsonrpc":"2.0","id":2,"method":"gemini/late"}'


class Client:
    """A client that says `initialize` and waits; binding is noted, and fails if it should."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.bound = asyncio.Event()
        self.times = 0
        self.answers: list[dict[str, Any]] = []
        self.dispatcher = Dispatcher(
            ServerDescription(name="early", version="1", methods=("gemini/late",)),
            open_workspace=LateWorkspace,
            lifecycle=Lifecycle(bind=self._bind),
        )
        self.dispatcher.set_writer(self, include_headers=False)
        self.dispatcher.receive(INITIALIZE)

    def write(self, data: bytes, /) -> None:
        self.answers.append(json.loads(data))

    def _bind(self, _connection: Connection, _routes: Routes) -> None:
        self.times += 1
        self.bound.set()
        if self.fault is not None:
            raise self.fault


async def test_methods_are_bound_once_though_no_message_follows() -> None:
    client = Client()
    assert (client.times, len(client.answers)) == (0, 1)
    async with asyncio.timeout(PATIENCE):
        await client.bound.wait()
    client.dispatcher.receive(ASK)
    assert client.times == 1


async def test_a_fault_in_binding_early_answers_every_request_and_the_end_is_heard() -> None:
    client = Client(fault=ValueError("broken"))
    async with asyncio.timeout(PATIENCE):
        await client.bound.wait()
    assert len(client.answers) == 1
    client.dispatcher.receive(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}')
    for number in (b"2,", b"3,"):
        client.dispatcher.receive(ASK.replace(b"2,", number))
    assert [one["error"]["code"] for one in client.answers[1:]] == [-32603, -32603]
    assert client.times == 1
    client.dispatcher.receive(b'{"jsonrpc": "2.0", "id": 4, "method": "shutdown"}')
    client.dispatcher.receive(b'{"jsonrpc": "2.0", "method": "exit"}')
    assert client.dispatcher.has_exited


async def test_nothing_is_bound_for_a_client_that_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    await client.dispatcher.close()
    loop = asyncio.get_running_loop()
    later: asyncio.Future[None] = loop.create_future()
    loop.call_later(0.01, later.set_result, None)  # behind the binding, which would be due
    await later
    assert client.times == 0


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"rootUri": "file:///work"},
        {"rootPath": "/work"},
        {"rootUri": "file:///a", "workspaceFolders": [{"uri": "file:///b", "name": "b"}, {"uri": "untitled:c"}]},
        {"rootUri": "file:///a", "workspaceFolders": []},
        {"workspaceFolders": [{"uri": "file:///%61", "name": "a"}, {"uri": "file:///a", "name": "again"}]},
        {"capabilities": {"general": {"positionEncodings": ["x", 3, "utf-8", "utf-16"]}}},
        {"capabilities": {"general": {"positionEncodings": "utf-8"}}},
    ],
)
def test_a_late_workspace_is_that_of_pygls(said: dict[str, Any]) -> None:
    params = lsp.InitializeParams(
        root_uri=said.get("rootUri"),
        root_path=said.get("rootPath"),
        capabilities=said.get("capabilities", {}),
        workspace_folders=tuple(lsp.WorkspaceFolder(**one) for one in said["workspaceFolders"])
        if "workspaceFolders" in said
        else None,
    )
    late, at_once = LateWorkspace(params), open_workspace(params)
    folders = {uri: folder.uri for uri, folder in at_once.folders.items()}
    assert late.encoding == at_once.encoding
    assert {uri: folder.uri for uri, folder in late.folders.items()} == folders
    assert late.opened("file:///b/a.py") is None
    item = lsp.TextDocumentItem(uri="file:///b/a.py", language_id="python", version=1, text="é\n")
    late.apply(lsp.DID_OPEN, lsp.DidOpenParams(text_document=item))
    opened = late.opened("file:///b/a.py")
    assert opened is not None
    assert opened.source == "é\n"
    assert {uri: folder.uri for uri, folder in late.folders.items()} == folders


def test_a_root_that_is_no_uri_is_refused_before_the_workspace_is_made() -> None:
    with pytest.raises(InvalidInput, match="this is no URI"):
        described(lsp.InitializeParams(root_uri="file://["))


@pytest.fixture
def collector() -> Generator[None]:
    """As it is in a new process, and afterwards as it was."""
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("collector")
def test_the_collector_rests_while_modules_are_loaded_and_leaves_them_out_afterwards() -> None:
    with loading():
        with loading(is_last=True):
            assert not gc.isenabled()
        assert not gc.isenabled()
        kept = gc.get_freeze_count()
        assert kept > 0
    assert gc.isenabled()
    more = [[] for _ in range(1000)]
    with pytest.raises(KeyError), loading(is_last=True):
        raise KeyError(more)
    assert gc.isenabled()
    assert gc.get_freeze_count() <= kept  # what came later is not left out


@pytest.mark.usefixtures("collector")
def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    with loading():
        pass
    assert not gc.isenabled()


class Steps:
    """A client that says `initialize` to a server that loads in three steps."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault
        self.did: list[str] = []
        self.answers: list[dict[str, Any]] = []
        self.dispatcher = Dispatcher(
            ServerDescription(name="steps", version="1", methods=()),
            open_workspace=LateWorkspace,
            lifecycle=Lifecycle(
                load=self._load,
                bind=lambda _connection, _routes: self.did.append("bind"),
                on_initialized=lambda _connection: self.did.append("initialized"),
            ),
        )
        self.dispatcher.set_writer(self, include_headers=False)
        self.dispatcher.receive(INITIALIZE)

    def write(self, data: bytes, /) -> None:
        self.answers.append(json.loads(data))

    def say(self, method: str, **more: Any) -> None:
        self.dispatcher.receive(json.dumps({"jsonrpc": "2.0", "method": method, **more}).encode())

    def _load(self) -> Iterator[None]:
        for number in range(3):
            self.did.append(f"step {number}")
            if number == 1 and self.fault is not None:
                raise self.fault
            yield


LOADED = ["step 0", "step 1", "step 2", "bind"]


async def test_the_event_loop_has_its_turn_between_the_steps_of_loading() -> None:
    client = Steps()
    await until(lambda: "step 0" in client.did)
    while "bind" not in client.did:
        client.did.append("turn")
        await asyncio.sleep(0)
    assert [one for one in client.did if one != "turn"] == LOADED
    assert all(client.did[client.did.index(one) - 1] == "turn" for one in LOADED[1:])


async def test_messages_wait_for_the_steps_and_are_looked_at_in_their_order() -> None:
    client = Steps()
    client.say("initialized", params={})
    client.dispatcher.receive(ASK)
    client.dispatcher.receive(ASK.replace(b"2,", b"3,"))
    assert client.did == ["step 0"]
    assert len(client.answers) == 1
    await until(lambda: len(client.answers) == 3)
    assert client.did == [*LOADED, "initialized"]
    assert [one["id"] for one in client.answers[1:]] == [2, 3]


@pytest.mark.parametrize("ends", ["exit", "shutdown", "close"])
async def test_a_client_that_leaves_meanwhile_is_heard_at_once_and_behind_what_it_said(ends: str) -> None:
    client = Steps()
    client.say("initialized", params={})
    client.dispatcher.receive(ASK)
    if ends == "close":
        await client.dispatcher.close()
    else:
        client.say(ends, **({"id": 9} if ends == "shutdown" else {}))
        assert client.dispatcher.has_exited == (ends == "exit")
    assert client.did == ["step 0", "bind", "initialized"]
    assert client.answers[1]["id"] == 2


async def test_a_step_that_fails_is_the_last_and_binding_meets_the_fault_or_does_not() -> None:
    client = Steps(fault=ImportError("no such module"))
    client.dispatcher.receive(ASK)
    await until(lambda: len(client.answers) == 2)
    assert client.did == ["step 0", "step 1", "bind"]


async def test_only_so_many_messages_wait() -> None:
    client = Steps()
    for _ in range(MAX_IN_FLIGHT + 1):
        client.say("initialized", params={})
    assert client.did == ["step 0", "bind", "initialized"]
