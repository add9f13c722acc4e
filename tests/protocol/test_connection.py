"""Speaking to a client."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.protocol.connection import ClientFault
from tests.support.sample_server import Question, Reply, SampleApp
from tests.support.wire import InMemoryClient


async def test_a_notification_arrives_as_its_struct_says_and_before_the_response_that_follows(client: InMemoryClient):
    await client.request("sample/flood", {"name": "3"})
    assert [message.get("method") for message in client.received] == ["sample/delta"] * 3 + [None]
    client.server.connection.send_notification("sample/delta", Question(text="x"))
    client.server.connection.send_notification("sample/bare")
    assert client.received[-2:] == [
        {"jsonrpc": "2.0", "method": "sample/delta", "params": {"text": "x"}},
        {"jsonrpc": "2.0", "method": "sample/bare"},
    ]


async def test_a_request_to_the_client_is_answered_by_it(client: InMemoryClient):
    client.handlers["sample/ask"] = lambda params: {"outcome": "yes" if params["text"] == "Sure?" else "no", "more": 1}
    connection = client.server.connection
    answers = await asyncio.gather(
        *(connection.send_request("sample/ask", Question(text=text), Reply) for text in ("Sure?", "Really?"))
    )
    assert [answer.outcome for answer in answers] == ["yes", "no"]


async def test_a_request_without_a_result_type_leaves_the_answer_as_it_is(client: InMemoryClient):
    client.handlers["sample/ask"] = lambda _params: [1, None]
    assert await client.server.connection.send_request("sample/ask", None) == [1, None]


@pytest.mark.parametrize("answer", [None, {}, {"outcome": "maybe"}, [1]])
async def test_an_answer_of_the_wrong_kind_is_the_client_s_fault(client: InMemoryClient, answer: object):
    client.handlers["sample/ask"] = lambda _params: answer
    with pytest.raises(ClientFault, match="not understood"):
        await client.server.connection.send_request("sample/ask", Question(text="?"), Reply)


async def test_a_refusal_carries_the_client_s_words_and_code(client: InMemoryClient):
    client.handlers["sample/ask"] = lambda _params: ValueError("not now")
    with pytest.raises(ClientFault, match="not now") as caught:
        await client.server.connection.send_request("sample/ask", Question(text="?"), Reply)
    assert caught.value.code == -32000


@pytest.mark.parametrize("error", [5, {}, {"code": "x", "message": []}, [None]])
async def test_a_refusal_without_words_is_one_too(client: InMemoryClient, error: object):
    asked = asyncio.create_task(client.server.connection.send_request("sample/ask", None))
    request = await client.until(lambda message: message.get("method") == "sample/ask")
    client.feed({"jsonrpc": "2.0", "id": request["id"], "error": error})
    client.feed({"jsonrpc": "2.0", "id": request["id"], "result": "too late"})
    with pytest.raises(ClientFault, match="refused"):
        await asked


async def test_a_client_that_does_not_answer_is_not_waited_for(client: InMemoryClient):
    with pytest.raises(TimeoutError):
        await client.server.connection.send_request("sample/ask", None, timeout=0.01)
    asked, cancelled = client.received
    assert cancelled == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": asked["id"]}}
    client.feed({"jsonrpc": "2.0", "id": asked["id"], "result": "too late"})
    assert await client.request("gemini/nothing") is None


async def test_who_is_cancelled_while_asking_cancels_the_question(client: InMemoryClient):
    asking = asyncio.create_task(client.server.connection.send_request("sample/ask", None))
    await client.until(lambda message: message.get("method") == "sample/ask")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert client.received[-1]["method"] == "$/cancelRequest"


async def test_a_client_that_leaves_answers_nothing_any_more(client: InMemoryClient, app: SampleApp):
    connection = client.server.connection
    asking = asyncio.create_task(connection.send_request("sample/ask", None))
    await client.until(lambda message: message.get("method") == "sample/ask")
    await client.server.dispatcher.close()
    with pytest.raises(ClientFault, match="left"):
        await asking
    with pytest.raises(ClientFault, match="left"):
        await connection.send_request("sample/ask", None)


async def test_the_workspace_is_there_only_after_initialize(raw_client: InMemoryClient):
    with pytest.raises(RuntimeError):
        _ = raw_client.server.connection.documents
