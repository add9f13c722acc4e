"""Every request gets exactly one answer, whatever was sent. One test per trap of pygls, and then some."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from lsprotocol import types

from gemini_companion.protocol import dispatch as dispatch_module
from tests.support.patience import PATIENCE
from tests.support.sample_server import SAMPLE_METHODS, SampleApp, create_sample_server
from tests.support.wire import InMemoryClient

ECHO: dict[str, Any] = {"sessionId": "s", "parts": [{"text": "hi"}]}


async def test_a_request_is_answered_with_its_result(client: InMemoryClient):
    assert await client.request("gemini/echo", ECHO) == {"sessionId": "s", "texts": ["hi"], "notices": 0}


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({}, "$.sessionId"),
        ({"sessionId": {}}, "$.sessionId"),
        ({"sessionId": "s", "parts": "abc"}, "$.parts"),
        ({"sessionId": "s", "parts": [{"text": 5}]}, "$.parts[0].text"),
        ({"sessionId": "s", "maxTokens": True}, "$.maxTokens"),
        ({"session_id": "s"}, "$.sessionId"),
        ([1], "$"),
        ("text", "$"),
        (None, "$.sessionId"),
        (..., "$.sessionId"),
    ],
)
async def test_params_that_do_not_fit_are_refused_with_the_path_and_the_request_does_not_hang(
    client: InMemoryClient, params: object, path: str
):
    fault = await client.fails("gemini/echo", params)
    assert (fault.code, fault.data["kind"], fault.data["path"]) == (-32602, "invalidParams", path)


@pytest.mark.parametrize("params", [..., None, {}, []])
async def test_a_method_that_needs_no_params_takes_none(client: InMemoryClient, params: object):
    assert await client.request("gemini/nothing", params) is None


async def test_unknown_fields_of_params_and_of_the_envelope_are_ignored(client: InMemoryClient):
    client.feed({"jsonrpc": "2.0", "id": 7, "method": "gemini/echo", "params": {**ECHO, "later": 1}, "trace": {}})
    assert "result" in await client.answer_to(7)


async def test_an_object_in_params_that_looks_like_a_message_is_just_an_object(client: InMemoryClient):
    for nested in (
        {"jsonrpc": "2.0", "method": "exit"},
        {"jsonrpc": "1.0", "id": 9, "method": "gemini/echo"},
        {"jsonrpc": 2, "type_name": "Evil"},
    ):
        assert (await client.request("gemini/echo", {**ECHO, "anything": [nested]}))["texts"] == ["hi"]
    assert not client.server.dispatcher.has_exited


async def test_ids_come_back_as_they_were_sent(client: InMemoryClient):
    for request_id in (0, -1, 10**30, "", "1", 1, "ü"):
        client.send("gemini/nothing", {}, request_id)
        answer = await client.answer_to(request_id)
        assert type(answer["id"]) is type(request_id)
        client.received.clear()


async def test_before_initialize_requests_are_refused_and_notifications_ignored(
    raw_client: InMemoryClient, app: SampleApp
):
    assert (await raw_client.fails("gemini/echo", ECHO)).code == -32002
    assert (await raw_client.fails("no/such", {})).code == -32002
    raw_client.notify("gemini/notice", {"number": 1})
    await raw_client.initialize()
    assert app.notices == []


async def test_after_shutdown_requests_are_refused_and_notifications_ignored(client: InMemoryClient, app: SampleApp):
    assert await client.request("shutdown") is None
    assert (await client.fails("gemini/echo", ECHO)).code == -32600
    assert (await client.fails("initialize", {"capabilities": {}})).code == -32600
    assert (await client.fails("shutdown")).code == -32600
    client.notify("gemini/notice", {"number": 1})
    assert app.notices == []


async def test_an_unknown_method_is_not_found(client: InMemoryClient):
    for method in ("no/such", "$/noSuch", "textDocument/hover", "exit", "x" * 100_000):
        fault = await client.fails(method, {})
        assert fault.code == -32601
        assert len(fault.message) < 200


@pytest.mark.parametrize(
    "method", ["no/such", "$/setTrace", "$/progress", "textDocument/willSave", "workspace/didChangeWatchedFiles"]
)
async def test_unknown_notifications_are_ignored(client: InMemoryClient, method: str):
    client.notify(method, {"value": 1})
    assert await client.request("gemini/nothing") is None
    assert len(client.received) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"id": 99, "result": None},
        {"id": "99", "error": {"code": 1, "message": "no"}},
        {"id": None, "error": {"code": -32700, "message": "parse error"}},
        {"id": [], "result": 1},
        {"error": 5},
        {"id": 99, "result": 1, "error": 2, "jsonrpc": "1.0"},
    ],
)
async def test_an_answer_that_nobody_waits_for_is_ignored(client: InMemoryClient, answer: dict[str, object]):
    client.feed({"jsonrpc": "2.0"} | answer)
    assert await client.request("gemini/nothing") is None
    assert len(client.received) == 1


async def test_a_chat_sees_every_notice_sent_before_it(client: InMemoryClient):
    for number in range(50):
        client.notify("gemini/notice", {"number": number})
    assert (await client.request("gemini/echo", ECHO))["notices"] == 50


@pytest.mark.parametrize("params", [{}, {"number": "one"}, [1], None, {"number": -1}])
async def test_a_notification_that_does_not_fit_or_fails_is_dropped_and_logged_without_its_words(
    client: InMemoryClient, app: SampleApp, params: object, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.WARNING):
        client.notify("gemini/notice", params)
    assert app.notices == []
    assert client.received == []
    assert "gemini/notice" in caplog.text


@pytest.mark.parametrize(
    ("name", "code", "kind"),
    [
        ("fault", 1001, "sessionNotFound"),
        ("model", 1003, "modelUnavailable"),
        ("cancelled", -32800, "cancelled"),
        ("defect", -32603, "defect"),
    ],
)
async def test_what_a_handler_raises_is_sent_as_the_table_has_it(
    client: InMemoryClient, name: str, code: int, kind: str
):
    fault = await client.fails("sample/fail", {"name": name})
    assert (fault.code, fault.data["kind"]) == (code, kind)
    assert "secret" not in json.dumps(fault.data) + fault.message
    assert "traceback" not in json.dumps(fault.data).lower()


async def test_a_result_that_is_no_json_is_a_defect_and_is_answered(client: InMemoryClient):
    assert (await client.fails("sample/unencodable", {})).code == -32603


async def test_errors_pop_nothing_up_in_the_editor(client: InMemoryClient):
    client.feed(b"{nope")
    client.feed([])
    client.notify("textDocument/didOpen", {"garbage": 1})
    await client.fails("sample/fail", {"name": "defect"})
    assert client.notifications("window/showMessage") == []


async def test_no_body_reaches_the_log(raw_client: InMemoryClient, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO):
        await raw_client.initialize(clientInfo={"name": "the secret client"})
        await raw_client.request("gemini/echo", {"sessionId": "the secret id", "parts": [{"text": "the secret text"}]})
        await raw_client.fails("gemini/echo", {"sessionId": "s", "view": "the secret view"})
        raw_client.notify("gemini/notice", {"number": "the secret number"})
        raw_client.notify("textDocument/didOpen", {"textDocument": {"uri": "file:///a", "text": ["the secret text"]}})
        await raw_client.fails("sample/fail", {"name": "defect"})
        raw_client.feed(b'{"the secret": nope')
        raw_client.feed({"jsonrpc": "2.0", "id": 55, "result": "the secret answer"})
    assert "the secret" not in caplog.text
    assert logging.getLogger("pygls").level == logging.WARNING


async def test_more_requests_than_can_be_kept_are_refused_as_overloaded(
    client: InMemoryClient, app: SampleApp, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dispatch_module, "MAX_IN_FLIGHT", 3)
    waiting = [client.send("sample/wait", {"name": str(number)}) for number in range(3)]
    fault = await client.fails("gemini/nothing")
    assert (fault.code, fault.data["retryable"]) == (1011, True)
    app.release.set()
    for number, request_id in enumerate(waiting):
        assert (await client.answer_to(request_id))["result"] == str(number)
    assert await client.request("gemini/nothing") is None


async def test_pygls_own_typed_way_to_the_client_works_through_the_dispatcher(client: InMemoryClient):
    client.server.window_show_message(types.ShowMessageParams(type=types.MessageType.Info, message="hé \ud83d"))
    assert client.notifications("window/showMessage") == [{"type": 3, "message": "hé \\ud83d"}]
    client.handlers["window/showMessageRequest"] = lambda params: params["actions"][0]
    async with asyncio.timeout(PATIENCE):
        chosen = await client.server.window_show_message_request_async(
            types.ShowMessageRequestParams(
                type=types.MessageType.Info, message="Go on?", actions=[types.MessageActionItem(title="Yes")]
            )
        )
    assert chosen == types.MessageActionItem(title="Yes")


def test_the_ways_of_pygls_that_lead_past_the_dispatcher_are_closed():
    server = create_sample_server()
    with pytest.raises(TypeError):
        server.feature("textDocument/hover")
    with pytest.raises(TypeError):
        server.command("x")


def test_a_method_is_bound_once():
    server = create_sample_server()
    echo = next(method for method in SAMPLE_METHODS if method.name == "gemini/echo")
    with pytest.raises(ValueError, match="bound already"):
        server.routes.bind(echo, None)  # type: ignore[arg-type]
