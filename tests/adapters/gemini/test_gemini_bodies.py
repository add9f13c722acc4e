"""Requests are encoded by us: what is sent is what the SDK would have sent itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.gemini import sdk
from gemini_companion.adapters.gemini.body import Body
from gemini_companion.adapters.gemini.encoding import Bodies
from gemini_companion.adapters.gemini.options import GeminiOptions
from gemini_companion.adapters.gemini.transport import PLACEHOLDER, BodyClient, UnexpectedRequest, outgoing
from gemini_companion.engine.history.content import Content, Part
from gemini_companion.sessions.models.port import ModelRequest
from tests.adapters.gemini.calls import HI, collect, connected
from tests.adapters.gemini.plain_bodies import OPTIONS, Method, alternating, whole
from tests.support.emulator import Emulator
from tests.support.examples import examples

ANSWER = {"candidates": [{"content": {"parts": [{"text": "-"}]}, "finishReason": "STOP"}], "totalTokens": 1}

texts = st.text(st.characters(), max_size=6) | st.sampled_from(
    ["\ud800", "a\udfffb", "\u2028</x>\x00", "漢字🙂", "x" * 99]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
blobs = st.fixed_dictionaries({"mimeType": st.just("image/png"), "data": st.just("AA==")})
calls = st.fixed_dictionaries(
    {"name": texts, "args": st.dictionaries(texts, values, max_size=3)}, optional={"id": texts}
)
results = st.fixed_dictionaries(
    {"name": texts, "response": st.dictionaries(texts, values, max_size=3) | values},
    optional={"id": texts, "parts": st.lists(st.fixed_dictionaries({"inlineData": blobs}), max_size=2)},
)
parts = st.fixed_dictionaries({"text": texts}) | st.fixed_dictionaries(
    {},
    optional={
        "text": texts,
        "thought": st.booleans(),
        "thoughtSignature": st.just("AAAA"),
        "functionCall": calls,
        "functionResponse": results,
        "inlineData": blobs,
        "fileData": st.fixed_dictionaries({"mimeType": texts, "fileUri": texts}),
        "executableCode": st.fixed_dictionaries({"language": texts, "code": texts}),
        "codeExecutionResult": st.fixed_dictionaries({"outcome": texts, "output": texts}),
        "toolCall": st.fixed_dictionaries({"toolType": texts, "args": values}),
        "videoMetadata": st.dictionaries(texts, values, max_size=2),
        "partMetadata": st.dictionaries(texts, values, max_size=2),
        "ourOwn": values,
    },
)
contents_drawn = st.lists(st.lists(parts, max_size=3), max_size=5).map(
    lambda drawn: tuple(
        Content(role="model" if number % 2 else "user", parts=tuple(one)) for number, one in enumerate(drawn)
    )
)
tools = st.fixed_dictionaries({"name": texts, "parametersJsonSchema": st.dictionaries(texts, values, max_size=3)})
requests = st.builds(
    ModelRequest,
    model=st.sampled_from(["gemini-2.5-pro", "gemini-2.0-flash"]),
    contents=contents_drawn,
    system_instruction=st.none() | texts,
    tools=st.lists(tools, max_size=2).map(tuple),
    role=st.sampled_from(["main", "utility_title"]),
    temperature=st.none() | st.floats(0, 2),
    max_output_tokens=st.none() | st.integers(1, 2**70),
    top_p=st.none() | st.floats(0, 1),
    top_k=st.none() | st.floats(1, 99),
    must_call=st.none() | st.lists(texts, max_size=2).map(tuple),
    answers_json=st.booleans(),
)


class Ways:
    """Connections to nowhere, each of which tells the bytes that it would send."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._sent: list[bytes] = []
        self._connections = {
            (kind, vertex): self._connect(kind, vertex=vertex)
            for kind in (BodyClient, httpx2.AsyncClient)
            for vertex in (False, True)
        }

    def _connect(self, kind: type[httpx2.AsyncClient], *, vertex: bool) -> sdk.Connection:
        async def make() -> sdk.Connection:
            http = kind(transport=httpx2.MockTransport(self._answer))
            return sdk.Connection(GeminiOptions(api_key="k", vertex=vertex), http)

        return self._runner.run(make())

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        assert request.headers["content-length"] == str(len(request.content))
        assert "transfer-encoding" not in request.headers
        assert request.headers["content-type"] == "application/json"
        self._sent.append(request.content)
        text = json.dumps(ANSWER)
        return httpx2.Response(200, text=f"data: {text}\n\n" if "streamGenerate" in request.url.path else text)

    def send(self, kind: type[httpx2.AsyncClient], request: ModelRequest, method: Method, *, vertex: bool) -> bytes:
        """What is sent."""
        connection = self._connections[kind, vertex]

        async def work() -> None:
            bodies = Bodies(msgspec.structs.replace(OPTIONS, vertex=vertex))
            match method:
                case "stream":
                    await connection.stream(request.model, await bodies.generate(request), lambda piece: None)
                case "generate":
                    await connection.generate(request.model, await bodies.generate(request))
                case "count":
                    await connection.count(request.model, await bodies.count(request))

        self._sent.clear()
        self._runner.run(work())
        (sent,) = self._sent
        return sent

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            self._runner.run(connection.close())
        self._runner.close()


@pytest.fixture(scope="module")
def ways() -> Iterator[Ways]:
    made = Ways()
    yield made
    made.close()


# ── both ways


@given(request=requests, method=st.sampled_from(["stream", "generate", "count"]), vertex=st.booleans())
@settings(deadline=None, max_examples=examples(250))
def test_encoded_bodies_say_what_the_sdk_would_have_sent_itself(
    ways: Ways, request: ModelRequest, method: Method, vertex: bool
):
    encoded = ways.send(BodyClient, request, method, vertex=vertex)
    dumped = ways.send(httpx2.AsyncClient, request, method, vertex=vertex)
    assert json.loads(encoded) == json.loads(dumped) == whole(request, method, vertex=vertex)
    assert encoded != dumped, "one of them was dumped by the SDK"


def test_a_number_that_is_not_finite_goes_out_as_null(ways: Ways):
    part: Part = {"functionCall": {"name": "f", "args": {"a": float("nan"), "b": float("-inf")}}}
    request = ModelRequest(model="gemini-2.5-pro", contents=(Content(role="model", parts=(part,)),))
    for kind in (BodyClient, httpx2.AsyncClient):
        sent = json.loads(ways.send(kind, request, "stream", vertex=False))
        assert sent["contents"][0]["parts"][0]["functionCall"]["args"] == {"a": None, "b": None}


def test_a_number_that_is_not_finite_goes_out_as_null_beside_a_lone_surrogate_too(ways: Ways):
    args = {"a": [float("nan"), 1.5, {"b": float("-inf")}], "c": "\ud800", "d": (float("inf"), 2)}
    part: Part = {"functionCall": {"name": "f", "args": args}}
    request = ModelRequest(model="gemini-2.5-pro", contents=(Content(role="model", parts=(part,)),))
    sent = ways.send(BodyClient, request, "stream", vertex=False)
    assert b"NaN" not in sent
    assert b"Infinity" not in sent
    assert json.loads(sent)["contents"][0]["parts"][0]["functionCall"]["args"] == {
        "a": [None, 1.5, {"b": None}],
        "c": "\ud800",
        "d": [None, 2],
    }


async def test_another_version_of_the_sdk_is_given_whole_requests(emulator: Emulator, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sdk, "SDK_VERSION", "4.0.0")
    async with connected(base_url=emulator.base_url) as client:
        await collect(client)
        await client.generate(HI)
        await client.count_tokens(HI)
    assert [request.body["contents"][0]["parts"] for request in emulator.requests] == [[{"text": "Hi"}]] * 3


async def test_where_the_sdk_asks_for_something_unknown_it_is_given_whole_requests_from_then_on():
    seen: list[str] = []

    class Wary(BodyClient):
        def build_request(self, method: str, url: Any, *, content: Any = None, **more: Any) -> Any:
            seen.append("placeholder" if PLACEHOLDER.encode() in content else "whole")
            if seen[-1] == "placeholder":
                raise UnexpectedRequest
            return super().build_request(method, url, content=content, **more)

    def respond(request: httpx2.Request) -> httpx2.Response:
        assert json.loads(request.content)["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]
        text = json.dumps(ANSWER)
        return httpx2.Response(200, text=f"data: {text}\n\n" if "streamGenerate" in request.url.path else text)

    body = Body.of({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]})
    async with Wary(transport=httpx2.MockTransport(respond)) as http:
        connection = sdk.Connection(OPTIONS, http)
        pieces: list[Any] = []
        await connection.stream("gemini-2.5-pro", body, pieces.append)
        await connection.generate("gemini-2.5-pro", body)
        assert await connection.count("gemini-2.5-pro", body) == 1
        await connection.close()
    assert len(pieces) == 1
    assert seen == ["placeholder", "whole", "whole", "whole"]


CONTENTS = [{"parts": [{"text": PLACEHOLDER}], "role": "user"}]


@pytest.mark.parametrize(
    "placeholder",
    [
        {"contents": CONTENTS, "generationConfig": {"temperature": 1}},
        {"contents": [*CONTENTS, *CONTENTS]},
        {"contents": [{"parts": [{"text": f"{PLACEHOLDER} "}], "role": "user"}]},
        [PLACEHOLDER],
    ],
)
async def test_a_placeholder_that_says_more_than_is_known_is_not_replaced(placeholder: object):
    body = Body.of({"contents": [], "generationConfig": {"temperature": 0}})
    async with BodyClient() as http:
        sending = outgoing.set(body)
        with pytest.raises(UnexpectedRequest):
            http.build_request("POST", "http://127.0.0.1/", content=json.dumps(placeholder).encode())
        outgoing.reset(sending)


async def test_a_placeholder_never_goes_out():
    async with BodyClient() as http:
        with pytest.raises(UnexpectedRequest):
            http.build_request("POST", "http://127.0.0.1/", content=json.dumps({"contents": CONTENTS}).encode())


async def test_what_the_sdk_adds_to_a_request_goes_out_with_it():
    body = Body.of({"contents": [], "tools": [1]})
    async with BodyClient() as http:
        sending = outgoing.set(body)
        added = {"contents": CONTENTS, "labels": {"a": "b"}, "tools": [1], "generationConfig": {}}
        request = http.build_request("POST", "http://127.0.0.1/", content=json.dumps(added).encode())
        outgoing.reset(sending)
    assert json.loads(await request.aread()) == {
        "contents": [],
        "tools": [1],
        "labels": {"a": "b"},
        "generationConfig": {},
    }


# ── over HTTP


async def test_large_bodies_arrive_whole(emulator: Emulator):
    part: Part = {"inlineData": {"mimeType": "image/png", "data": "A" * 3_000_000}}
    contents = (*alternating(200), Content(role="user", parts=(part,)))
    request = ModelRequest(model="gemini-2.0-flash", contents=contents)
    async with connected(base_url=emulator.base_url) as client:
        await collect(client, request)
        await collect(client, request)
    for received in emulator.requests:
        assert received.body["contents"] == whole(request, "count", vertex=False)["contents"]
        assert len(received.body["contents"]) == 201
