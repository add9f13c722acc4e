"""Every fault of the emulator, through the real SDK: a typed fault or a chunk that says so, and the client usable after
it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemini_companion.adapters.gemini import GeminiOptions, GeminiProvider
from gemini_companion.engine.errors import (
    ContextOverflow,
    ModelFault,
    ModelUnavailable,
    TokenCountFailed,
    Unauthenticated,
)
from gemini_companion.engine.history.content import user_text
from gemini_companion.sessions.models.port import ModelChunk, ModelRequest
from tests.support.emulator import ApiError, Emulator, Reply, answer, call, failure, faults, responses
from tests.support.emulator.faults import FAULTS
from tests.support.examples import examples
from tests.support.patience import PATIENCE

HI = ModelRequest(model="gemini-2.5-pro", contents=(user_text("Hi"),))

RAISED: dict[str, tuple[type[ModelFault], bool]] = {
    "rate_limited": (ModelUnavailable, True),
    "internal": (ModelUnavailable, True),
    "unavailable": (ModelUnavailable, True),
    "deadline": (ModelUnavailable, True),
    "hang_before_headers": (ModelUnavailable, True),
    "hang_mid_stream": (ModelUnavailable, True),
    "drop_before_headers": (ModelUnavailable, True),
    "drop_mid_stream": (ModelUnavailable, True),
    "malformed_event": (ModelUnavailable, True),
    "error_event": (ModelUnavailable, True),
    "overflow": (ContextOverflow, False),
    "invalid_key": (Unauthenticated, False),
    "unauthenticated": (Unauthenticated, False),
    "forbidden": (Unauthenticated, False),
    "unknown_model": (ModelUnavailable, False),
    "refused": (ModelUnavailable, False),
}
SAID: dict[str, dict[str, Any]] = {
    "malformed_call": {"finish_reason": "MALFORMED_FUNCTION_CALL"},
    "unexpected_call": {"finish_reason": "UNEXPECTED_TOOL_CALL"},
    "prompt_blocked": {"finish_reason": None, "block_reason": "SAFETY"},
    "stopped": {"finish_reason": "SAFETY", "parts": ({"text": "I was about to"},)},
    "empty": {"finish_reason": "STOP", "parts": ()},
    "nothing": {"finish_reason": None, "parts": (), "block_reason": None},
    "no_finish_reason": {"finish_reason": None, "parts": ({"text": "And then"},)},
    "max_tokens": {"finish_reason": "MAX_TOKENS"},
    "thoughts_only": {"finish_reason": "STOP", "parts": ({"text": "Let me see.", "thought": True},)},
    "unknown_words": {"finish_reason": "SOMETHING_NEW"},
    "too_many_calls": {"finish_reason": "STOP"},
}


@pytest.fixture
async def impatient(emulator: Emulator) -> AsyncIterator[GeminiProvider]:
    """Silence ends its calls soon."""
    async with asyncio.timeout(PATIENCE), waiting(emulator, 1_500) as client:
        yield client


@asynccontextmanager
async def waiting(emulator: Emulator, limit_ms: int) -> AsyncGenerator[GeminiProvider]:
    options = GeminiOptions(api_key="k", base_url=emulator.base_url, timeout_ms=limit_ms, idle_timeout_ms=limit_ms)
    client = GeminiProvider(options)
    yield client
    await client.close()


async def collect(client: GeminiProvider) -> list[ModelChunk]:
    return [chunk async for chunk in client.stream(HI)]


def test_every_fault_is_accounted_for():
    assert RAISED.keys() | SAID.keys() == FAULTS.keys()


@pytest.mark.parametrize("method", ["stream", "generate"])
@pytest.mark.parametrize("name", RAISED)
async def test_a_fault_is_raised_typed_with_a_hint_and_the_client_goes_on(
    emulator: Emulator, gemini: GeminiProvider, impatient: GeminiProvider, name: str, method: str
):
    emulator.script(FAULTS[name]())
    client = impatient if "hang" in name else gemini
    with pytest.raises(ModelFault) as caught:
        await (collect(client) if method == "stream" else client.generate(HI))
    assert (type(caught.value), caught.value.retryable) == RAISED[name]
    assert caught.value.hint
    assert len(emulator.requests) == 1, "the adapter retried by itself"
    assert (await gemini.generate(HI)).finish_reason == "STOP"


@pytest.mark.parametrize("name", SAID)
async def test_what_is_no_fault_is_a_chunk_that_says_it(emulator: Emulator, gemini: GeminiProvider, name: str):
    emulator.script(FAULTS[name](), FAULTS[name]())
    for last in ((await collect(gemini))[-1], await gemini.generate(HI)):
        for field, expected in SAID[name].items():
            assert getattr(last, field) == expected


@pytest.mark.parametrize("name", ["hang_mid_stream", "drop_mid_stream", "malformed_event", "error_event"])
async def test_what_came_before_a_fault_in_the_middle_was_handed_out(emulator: Emulator, name: str):
    emulator.script(FAULTS[name]())
    seen: list[ModelChunk] = []

    async def read(client: GeminiProvider) -> None:
        async for chunk in client.stream(HI):
            seen.append(chunk)  # noqa: PERF401 - what came before the fault is meant

    async with waiting(emulator, 5_000) as client:  # what comes first must not come too late on a busy machine
        with pytest.raises(ModelUnavailable):
            await read(client)
    assert [chunk.parts for chunk in seen] == [({"text": "Hel"},)]


@pytest.mark.parametrize("method", ["stream", "generate", "count_tokens"])
async def test_silence_ends_a_call_and_its_connection(emulator: Emulator, impatient: GeminiProvider, method: str):
    emulator.script(faults.hang_before_headers(), method="countTokens" if method == "count_tokens" else None)
    with pytest.raises((ModelUnavailable, TokenCountFailed), match="too long") as caught:
        await (collect(impatient) if method == "stream" else getattr(impatient, method)(HI))
    assert caught.value.retryable
    await emulator.wait_for_hang_up(await emulator.wait_for_request())


@pytest.mark.parametrize(
    "reply",
    [faults.rate_limited(retry_after="2"), faults.rate_limited(retry_delay="2s"), faults.unavailable(retry_after="2")],
)
async def test_how_long_to_wait_comes_through(emulator: Emulator, gemini: GeminiProvider, reply: Reply):
    emulator.script(reply, reply)
    for attempt in (collect(gemini), gemini.generate(HI)):
        with pytest.raises(ModelUnavailable) as caught:
            await attempt
        assert (caught.value.retryable, caught.value.retry_after_ms) == (True, 2_000)


async def test_an_overflow_says_both_numbers(emulator: Emulator, gemini: GeminiProvider):
    emulator.limits["gemini-2.5-pro"] = 5
    emulator.count = lambda body: 9
    with pytest.raises(ContextOverflow, match=r"\(9\).*\(5\)"):
        await collect(gemini)


async def test_an_unknown_model_is_named(emulator: Emulator, gemini: GeminiProvider):
    emulator.models = {"gemini-2.5-pro"}
    with pytest.raises(ModelUnavailable, match=r"'gemini-9-ultra' was not found") as caught:
        await gemini.generate(ModelRequest(model="gemini-9-ultra", contents=HI.contents))
    assert not caught.value.retryable
    assert "gemini/models" in caught.value.hint


async def test_a_name_that_would_bend_the_address_is_never_sent(emulator: Emulator, gemini: GeminiProvider):
    for name in ("../../v1/files", "x?key=y"):
        with pytest.raises(ModelUnavailable, match="not the name of a model"):
            await gemini.generate(ModelRequest(model=name, contents=HI.contents))
    assert emulator.requests == []


async def test_a_conversation_that_the_api_refuses_is_not_retryable(emulator: Emulator, gemini: GeminiProvider):
    with pytest.raises(ModelUnavailable, match="contents is not specified") as caught:
        await gemini.generate(ModelRequest(model="gemini-2.5-pro", contents=()))
    assert not caught.value.retryable
    emulator.malformed.clear()


@pytest.mark.parametrize(
    ("base_url", "message", "retryable"),
    [
        ("http://127.0.0.1:9", "could not be reached", True),
        ("nonsense", "address .* cannot be used", False),
        ("localhost:8080", "address .* cannot be used", False),
        ("ftp://127.0.0.1/", "address .* cannot be used", False),
        ("http://[", "address .* cannot be used", False),
        ("http://127.0.0.1:99999", "address .* cannot be used", False),
        ("http://", "address .* cannot be used", False),
    ],
)
async def test_an_endpoint_that_is_none_points_at_the_setting(base_url: str, message: str, retryable: bool):
    client = GeminiProvider(GeminiOptions(api_key="k", base_url=base_url))
    for attempt in (client.generate(HI), collect(client)):
        with pytest.raises(ModelUnavailable, match=message) as caught:
            await attempt
        assert caught.value.retryable is retryable
        assert "GOOGLE_GEMINI_BASE_URL" in caught.value.hint
    await client.close()


async def test_an_endpoint_without_a_gemini_api_points_at_the_setting(emulator: Emulator):
    client = GeminiProvider(GeminiOptions(api_key="k", base_url=f"{emulator.base_url}/elsewhere"))
    with pytest.raises(ModelUnavailable) as caught:
        await client.generate(HI)
    assert "GOOGLE_GEMINI_BASE_URL" in caught.value.hint
    assert "<" not in caught.value.message
    await client.close()


async def test_a_redirect_is_not_followed_with_the_key(emulator: Emulator, gemini: GeminiProvider):
    with Emulator() as elsewhere:
        moved = ApiError(
            307, "", headers={"location": f"{elsewhere.base_url}/v1/models/gemini-2.5-pro:generateContent"}
        )
        emulator.script(failure(moved), failure(moved))
        for attempt in (gemini.generate(HI), collect(gemini)):
            with pytest.raises(ModelUnavailable, match="redirects") as caught:
                await attempt
            assert not caught.value.retryable
        assert elsewhere.requests == []


async def test_an_answer_without_end_is_cut_off(
    emulator: Emulator, gemini: GeminiProvider, monkeypatch: pytest.MonkeyPatch
):
    await gemini.warm_up()
    monkeypatch.setattr("gemini_companion.adapters.gemini.transport.MAX_ANSWER_BYTES", 10_000)
    for _ in range(2):
        emulator.script(answer(*["x" * 1_000] * 50))
    for attempt in (gemini.generate(HI), collect(gemini)):
        with pytest.raises(ModelUnavailable, match="larger than") as caught:
            await attempt
        assert not caught.value.retryable


async def test_words_that_the_sdk_does_not_know_are_passed_on_without_a_warning(
    emulator: Emulator, gemini: GeminiProvider
):
    body = {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "a", "novelty": 1}]}, "finishReason": "NEW", "novelty": {}}
        ],
        "promptFeedback": {"blockReason": "NEWER"},
        "usageMetadata": {"promptTokenCount": 1, "promptTokensDetails": [{"modality": "SMELL", "tokenCount": 1}]},
    }
    emulator.script(responses(body), responses(body))
    for chunk in (*await collect(gemini), await gemini.generate(HI)):
        assert (chunk.parts, chunk.finish_reason, chunk.block_reason) == (({"text": "a"},), "NEW", "NEWER")


async def test_arguments_that_no_log_can_hold_are_made_plain_or_refused(emulator: Emulator, gemini: GeminiProvider):
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    emulator.script(answer(call("ls", {"a\ud800": 2**80})), answer(call("ls", {"deep": deep})), answer("fine"))
    (chunk,) = await collect(gemini)
    assert chunk.parts[0]["functionCall"]["args"] == {
        "a\ufffd\ufffd\ufffd": float(2**80)
    }  # as many as the SDK makes of it
    with pytest.raises(ModelUnavailable):
        await collect(gemini)
    assert (await collect(gemini))[0].parts == ({"text": "fine"},)


VALID: Any = {
    "candidates": [
        {
            "index": 0,
            "content": {
                "role": "model",
                "parts": [
                    {"text": "a", "thoughtSignature": "AA=="},
                    {"functionCall": {"name": "ls", "args": {"a": [1]}}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "promptFeedback": {"blockReason": "SAFETY"},
    "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 1},
    "modelVersion": "m",
}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "error", "code", "message", "parts"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def damaged(draw: st.DrawFn, node: Any = VALID, depth: int = 0) -> Any:
    """A response with one of its nodes replaced by anything."""
    if not isinstance(node, dict | list) or not node or (depth and draw(st.integers(0, 3)) == 0):
        return draw(json_values)
    key: Any = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
    copy: Any = dict(node) if isinstance(node, dict) else list(node)
    copy[key] = draw(damaged(node[key], depth + 1))
    return copy


@given(st.lists(damaged() | json_values, min_size=1, max_size=3))
@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
async def test_whatever_the_service_answers_it_is_chunks_that_can_be_stored_or_a_model_fault(
    emulator: Emulator, gemini: GeminiProvider, bodies: list[Any]
):
    events = b"".join(b"data: " + json.dumps(body).encode() + b"\r\n\r\n" for body in bodies)
    emulator.script(Reply(steps=(events,)), Reply(steps=(json.dumps(bodies[0]).encode(),)))
    chunks: list[ModelChunk] = []
    with suppress(ModelFault):
        chunks += await collect(gemini)
    with suppress(ModelFault):
        chunks.append(await gemini.generate(HI))
    for chunk in chunks:
        assert msgspec.json.decode(msgspec.json.encode(chunk), type=ModelChunk) == chunk
