"""What is no message, or none that may come now: each request still gets exactly one answer."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemini_companion.protocol.codec import MAX_DEPTH
from tests.support.examples import examples
from tests.support.sample_server import SAMPLE_METHODS, SampleApp, create_sample_server
from tests.support.wire import InMemoryClient


def only_error(client: InMemoryClient) -> tuple[object, int]:
    """Id and code of the one thing that was sent: an error reply with all of its data."""
    (message,) = client.received
    assert message["error"]["data"].keys() >= {"kind", "message", "hint", "retryable"}
    return message["id"], message["error"]["code"]


@pytest.mark.parametrize("body", [b"{nope", b"", b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 1', b'"\xed\xa0\x80"'])
async def test_what_is_no_json_is_answered_with_a_parse_error_and_a_null_id(client: InMemoryClient, body: bytes):
    client.feed(body)
    assert only_error(client) == (None, -32700)


@pytest.mark.parametrize(
    "message", [[], [{"jsonrpc": "2.0", "id": 1, "method": "gemini/nothing"}], 5, "text", None, True]
)
async def test_a_batch_or_anything_else_than_an_object_is_an_invalid_request(client: InMemoryClient, message: object):
    client.feed(message)
    assert only_error(client) == (None, -32600)
    assert '"id": null' in json.dumps(client.received[0])


@pytest.mark.parametrize(
    ("message", "answered_id"),
    [
        ({"id": 1, "method": "gemini/nothing"}, 1),
        ({"jsonrpc": "1.0", "id": 1, "method": "gemini/nothing"}, 1),
        ({"jsonrpc": 2.0, "id": "a", "method": "gemini/nothing"}, "a"),
        ({"jsonrpc": "1.0", "method": "gemini/notice"}, None),
        ({"jsonrpc": "2.0", "id": 1}, 1),
        ({"jsonrpc": "2.0"}, None),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1),
        ({"jsonrpc": "2.0", "id": True, "method": "gemini/nothing"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "gemini/nothing"}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "gemini/nothing"}, None),
        ({"jsonrpc": "2.0", "id": None, "method": "gemini/nothing"}, None),
    ],
)
async def test_a_broken_envelope_is_an_invalid_request(client: InMemoryClient, message: object, answered_id: object):
    client.feed(message)
    assert only_error(client) == (answered_id, -32600)


async def test_nesting_beyond_reason_is_refused_under_the_id_that_was_read(client: InMemoryClient):
    def nested(levels: int) -> bytes:
        return (
            b'{"jsonrpc": "2.0", "id": 5, "method": "gemini/nothing", "params": {"a": '
            + b"[" * levels
            + b"]" * levels
            + b"}}"
        )

    client.feed(nested(MAX_DEPTH - 2))
    assert "result" in await client.answer_to(5)
    client.received.clear()
    client.feed(nested(MAX_DEPTH - 1))
    assert only_error(client) == (5, -32600)
    client.received.clear()
    client.feed(nested(100_000))
    assert only_error(client) == (None, -32600)


async def test_half_an_emoji_neither_stops_a_request_nor_an_answer(client: InMemoryClient):
    client.feed(
        rb'{"jsonrpc": "2.0", "id": 5, "method": "gemini/echo", "params": {"sessionId": "\ud83d", "parts": [{"text":'
        rb' "\ude00!"}]}}'
    )
    assert (await client.answer_to(5))["result"] == {"sessionId": r"\ud83d", "texts": [r"\ude00!"], "notices": 0}
    assert await client.request("sample/surrogate") == r"half \ud83d an emoji"


async def test_a_second_request_with_an_id_in_flight_is_refused_and_the_first_is_unharmed(
    client: InMemoryClient, app: SampleApp
):
    client.send("sample/wait", {"name": "first"}, 7)
    await app.started.wait()
    client.send("sample/wait", {"name": "second"}, 7)
    client.send("sample/wait", {"name": "other"}, "7")
    assert only_error(client) == (7, -32600)
    client.received.clear()
    app.release.set()
    assert (await client.answer_to(7))["result"] == "first"
    assert (await client.answer_to("7"))["result"] == "other"
    client.received.clear()
    client.send("gemini/nothing", {}, 7)
    assert "result" in await client.answer_to(7)


PLAUSIBLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["s", "", "2.0", "gemini/echo", "exit", "initialize"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "sessionId", "parts", "token"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


METHODS = [method.name for method in SAMPLE_METHODS] + [
    "initialize", "initialized", "shutdown", "$/cancelRequest", "textDocument/didOpen", "textDocument/didChange", "workspace/executeCommand",
    "workspace/didChangeWorkspaceFolders", "window/workDoneProgress/cancel", "no/such",
]  # fmt: skip


MESSAGES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={"id": st.integers(0, 3) | PLAUSIBLE, "method": st.sampled_from(METHODS) | PLAUSIBLE, "params": PLAUSIBLE},
)


@given(st.lists(MESSAGES | PLAUSIBLE, max_size=12), st.booleans())
@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_sequence_of_messages_leaves_every_request_with_exactly_one_answer(
    messages: list[object], initialized: bool
):
    async def run() -> None:
        app = SampleApp()
        app.release.set()
        client = InMemoryClient(create_sample_server(app))
        if initialized:
            await client.initialize()
        client.received.clear()
        expected = 0
        for message in messages:
            is_request = isinstance(message, dict) and "method" in message and "id" in message
            is_answer = (
                isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)
            )
            is_notification = (
                isinstance(message, dict) and isinstance(message.get("method"), str) and message.get("jsonrpc") == "2.0"
            )
            expected += is_request or not (is_answer or is_notification)
            client.feed(message)
        await client.server.dispatcher.close()
        assert len(client.responses()) == expected
        assert app.closed == 1

    asyncio.run(run())
