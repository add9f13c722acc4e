"""From `initialize` to `exit`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from gemini_companion.engine.errors import UntrustedWorkspace
from gemini_companion.protocol import dispatch as dispatch_module
from gemini_companion.protocol.connection import Connection
from gemini_companion.protocol.lifecycle import Lifecycle
from gemini_companion.protocol.lsp import InitializeParams
from tests.support.sample_server import SampleApp, create_sample_server
from tests.support.wire import InMemoryClient


def client_of(lifecycle: Lifecycle) -> InMemoryClient:
    return InMemoryClient(create_sample_server(lifecycle=lifecycle))


async def test_initialize_answers_what_the_server_can_do(raw_client: InMemoryClient):
    result = await raw_client.initialize()
    assert result["serverInfo"] == {"name": "sample", "version": "1.2.3"}
    capabilities = result["capabilities"]
    assert capabilities["textDocumentSync"] == {"openClose": True, "change": 2, "save": {"includeText": False}}
    assert capabilities["positionEncoding"] == "utf-16"
    assert capabilities["executeCommandProvider"] == {
        "commands": ["sample.echo", "sample.wait"],
        "workDoneProgress": True,
    }
    assert capabilities["experimental"]["geminiCompanion"] == {
        "protocolVersion": "2",
        "methods": ["gemini/echo", "gemini/nothing", "gemini/notice"],
        "events": ["turnStarted"],
    }


async def test_the_application_adds_capabilities_and_reads_what_the_client_sent():
    seen: list[tuple[Connection, InitializeParams]] = []

    def on_initialize(connection: Connection, params: InitializeParams) -> Mapping[str, Any]:
        seen.append((connection, params))
        assert list(connection.documents.folders) == ["file:///w"]
        return {
            "codeActionProvider": True,
            "experimental": {"geminiCompanion": {"offline": True}},
            "workspace": {"workspaceFolders": None},
        }

    client = client_of(Lifecycle(on_initialize=on_initialize))
    result = await client.initialize(
        clientInfo={"name": "Neovim", "version": "0.11"},
        capabilities={"window": {"workDoneProgress": True, "showDocument": {"support": True}}},
        workspaceFolders=[{"uri": "file:///w", "name": "w"}],
        initializationOptions={"trusted": True},
    )
    assert result["capabilities"]["codeActionProvider"] is True
    assert result["capabilities"]["experimental"]["geminiCompanion"].keys() == {
        "protocolVersion",
        "methods",
        "events",
        "offline",
    }
    assert result["capabilities"]["workspace"] == {"workspaceFolders": None}
    ((connection, params),) = seen
    assert connection.name == "Neovim"
    assert params.initialization_options == {"trusted": True}
    assert connection.supports("window.workDoneProgress")
    assert connection.supports("window.showDocument")
    for other in ("window.showMessage", "window.workDoneProgress.deeper", "general"):
        assert not connection.supports(other)


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"capabilities": 5}, "$.capabilities"),
        ({"capabilities": {}, "rootUri": ["x"]}, "$.rootUri"),
        ({"capabilities": {}, "rootUri": "file://["}, "$.rootUri"),
        ({"capabilities": {}, "workspaceFolders": [{"name": "w"}]}, "$.workspaceFolders[0].uri"),
        ([1], "$"),
    ],
)
async def test_an_initialize_that_does_not_fit_is_refused_and_may_be_sent_again(
    raw_client: InMemoryClient, params: object, path: str
):
    fault = await raw_client.fails("initialize", params)
    assert (fault.code, fault.data["path"]) == (-32602, path)
    assert (await raw_client.fails("gemini/nothing")).code == -32002
    assert "capabilities" in await raw_client.initialize()


@pytest.mark.parametrize(
    "capabilities",
    [
        {"textDocument": {"completion": {"completionItemKind": {"valueSet": [1, 99, "new"]}}}},
        {"general": 5, "window": None, "workspace": ["odd"]},
        {"general": {"positionEncodings": ["klingon", 7]}},
        {"general": {"positionEncodings": {}}},
    ],
)
async def test_odd_capabilities_keep_no_client_out(raw_client: InMemoryClient, capabilities: dict[str, Any]):
    assert (await raw_client.initialize(capabilities=capabilities))["capabilities"]["positionEncoding"] == "utf-16"


@pytest.mark.parametrize(
    ("offered", "chosen"), [(["utf-8", "utf-16"], "utf-8"), (["klingon", "utf-32"], "utf-32"), ([], "utf-16")]
)
async def test_the_client_s_first_known_position_encoding_is_taken(
    raw_client: InMemoryClient, offered: list[str], chosen: str
):
    result = await raw_client.initialize(capabilities={"general": {"positionEncodings": offered}})
    assert result["capabilities"]["positionEncoding"] == chosen


@pytest.mark.parametrize(
    ("params", "folders"),
    [
        (
            {"rootUri": "file:///r", "workspaceFolders": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}]},
            ["file:///a", "file:///b"],
        ),
        ({"rootUri": "file:///r", "workspaceFolders": []}, []),
        ({"rootUri": "file:///r", "workspaceFolders": None}, ["file:///r"]),
        ({"rootPath": "/r"}, ["file:///r"]),
        ({}, []),
    ],
)
async def test_the_folders_are_those_of_the_workspace_or_else_its_root(
    raw_client: InMemoryClient, params: dict[str, Any], folders: list[str]
):
    await raw_client.initialize(**params)
    assert list(raw_client.server.connection.documents.folders) == folders


async def test_folders_come_and_go(client: InMemoryClient, app: SampleApp):
    documents = client.server.connection.documents
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        {"event": {"added": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b", "name": "b"}]}},
    )
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        {"event": {"added": [], "removed": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///zz"}]}},
    )
    assert list(documents.folders) == ["file:///b"]
    assert len(app.documents) == 2


async def test_a_second_initialize_is_refused(client: InMemoryClient):
    assert (await client.fails("initialize", {"capabilities": {}})).code == -32600


async def test_a_fault_of_the_application_refuses_the_client():
    def on_initialize(_connection: Connection, _params: InitializeParams) -> Mapping[str, Any]:
        raise UntrustedWorkspace("Not here.", hint="Trust it.")

    client = client_of(Lifecycle(on_initialize=on_initialize))
    assert (await client.fails("initialize", {"capabilities": {}})).code == 1007
    assert (await client.fails("gemini/nothing")).code == -32002


async def test_initialized_is_taken_once_and_its_failure_stops_nothing():
    calls: list[Connection] = []

    def on_initialized(connection: Connection) -> None:
        calls.append(connection)
        raise ValueError

    client = client_of(Lifecycle(on_initialized=on_initialized))
    client.notify("initialized", {})
    await client.initialize()
    client.notify("initialized")
    assert len(calls) == 1
    assert await client.request("gemini/nothing") is None


async def test_shutdown_cancels_what_is_in_flight_and_is_answered_last(client: InMemoryClient, app: SampleApp):
    client.send("sample/wait", {"name": "w"}, "waiting")
    client.send("sample/shielded", {}, "shielded")
    await app.started.wait()
    client.send("shutdown", ..., "shutdown")
    await client.answer_to("shutdown")
    assert [message["id"] for message in client.responses()] == ["waiting", "shielded", "shutdown"]
    assert [message["error"]["code"] for message in client.responses()[:2]] == [-32800, -32800]
    assert client.responses()[2]["result"] is None


@pytest.mark.parametrize(("sent", "code"), [((), 0), (("shutdown",), 0), (("shutdown", "exit"), 0), (("exit",), 1)])
async def test_the_exit_code_is_lsp_s(client: InMemoryClient, sent: tuple[str, ...], code: int):
    if "shutdown" in sent:
        await client.request("shutdown")
    if "exit" in sent:
        client.notify("exit")
    assert client.server.dispatcher.exit_code == code


async def test_leaving_ends_the_requests_before_the_application_is_closed(client: InMemoryClient, app: SampleApp):
    client.send("sample/wait", {"name": "w"})
    await app.started.wait()
    connection = client.server.connection
    assert connection.is_open
    await client.server.dispatcher.close()
    await client.server.dispatcher.close()
    assert app.trace == ["start w", "end w"]
    assert (app.closed, connection.is_open) == (1, False)


async def test_an_application_that_fails_or_hangs_on_closing_is_let_go(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async def fails(_connection: Connection) -> None:
        raise ValueError

    async def hangs(_connection: Connection) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(dispatch_module, "CLOSE_TIMEOUT", 0.01)
    with caplog.at_level(logging.ERROR):
        for on_close in (fails, hangs):
            await client_of(Lifecycle(on_close=on_close)).server.dispatcher.close()
    assert len(caplog.records) == 2


async def test_a_command_takes_the_params_of_its_request_as_one_object(client: InMemoryClient):
    echo = {"command": "sample.echo", "arguments": [{"sessionId": "s", "parts": [{"text": "hi"}]}]}
    assert (await client.request("workspace/executeCommand", echo))["texts"] == ["hi"]
    assert (await client.request("workspace/executeCommand", echo | {"arguments": echo["arguments"][0]}))["texts"] == [
        "hi"
    ]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"arguments": None}, {"arguments": []}, {"arguments": {}}, {"arguments": [None]}, {"arguments": [[]]}],
)
async def test_a_command_may_come_without_arguments(client: InMemoryClient, app: SampleApp, arguments: dict[str, Any]):
    app.release.set()
    assert await client.request("workspace/executeCommand", {"command": "sample.wait"} | arguments) == ""


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"command": "no.such"}, "$.command"),
        ({}, "$.command"),
        ({"command": "sample.echo", "arguments": [{}, {}]}, "$.arguments"),
        ({"command": "sample.echo", "arguments": "abc"}, "$.arguments"),
        ({"command": "sample.echo", "arguments": ["abc"]}, "$.arguments[0]"),
        ({"command": "sample.echo", "arguments": [{"sessionId": 5}]}, "$.arguments[0].sessionId"),
    ],
)
async def test_a_command_that_does_not_fit_is_refused_with_the_path(client: InMemoryClient, params: object, path: str):
    fault = await client.fails("workspace/executeCommand", params)
    assert (fault.code, fault.data["path"]) == (-32602, path)
