"""The real SDK against the emulator, over HTTP: answers and counts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from gemini_companion.adapters.gemini import GeminiProvider
from gemini_companion.engine.errors import ContextOverflow, TokenCountFailed, Unauthenticated
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.models.port import CountedTokens, ModelRequest
from tests.adapters.gemini.calls import HI, collect, connected
from tests.support.emulator import (
    Emulator,
    Gate,
    Summariser,
    answer,
    call,
    faults,
    recordings_folder,
    responses,
    slow,
    thought,
    token_count,
)

pytestmark = pytest.mark.usefixtures("bounded")


SYSTEM = ModelRequest(
    model="gemini-2.5-pro",
    contents=(user_text("Hi"),),
    system_instruction="Be kind.",
    tools=({"name": "ls", "description": "List.", "parametersJsonSchema": {"type": "object"}},),
    temperature=0.5,
    max_output_tokens=100,
)
CALLED = Content(
    role="model", parts=({"functionCall": {"name": "ls", "args": {}}, "callIndex": 0, "thoughtSignature": "AA=="},)
)
RESULT = Content(role="user", parts=({"functionResponse": {"name": "ls", "response": {"output": "a"}}},))


# ── answers
# ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_stream_arrives_piece_by_piece(emulator: Emulator, gemini: GeminiProvider):
    reply = slow("Hel", "lo", "!")
    emulator.script(reply)
    stream = gemini.stream(HI)
    seen: list[Any] = []
    for gate in (*reply.gates, None):
        chunk = await anext(stream)
        seen.append((chunk.parts[0]["text"], chunk.finish_reason))
        if gate is not None:
            gate.release()
    assert seen == [("Hel", None), ("lo", None), ("!", "STOP")]
    assert [chunk async for chunk in stream] == []


async def test_a_chunk_carries_parts_usage_and_the_models_version(emulator: Emulator, gemini: GeminiProvider):
    parts = thought("Let me see."), call("ls", {"path": "."}, call_id="c1"), {"text": "", "thoughtSignature": "+/8="}
    emulator.script(answer(*parts, usage={"cachedContentTokenCount": 3}))
    chunks = await collect(gemini)
    assert [part for chunk in chunks for part in chunk.parts] == list(parts)
    prompt, thoughts, output = (
        0,
        len("Let me see.") // 4,
        (len(json.dumps({"functionCall": parts[1]["functionCall"]}))) // 4,
    )
    assert chunks[-1].usage == Usage(
        prompt_tokens=prompt,
        cached_tokens=3,
        thought_tokens=thoughts,
        output_tokens=output,
        total_tokens=prompt + thoughts + output,
    )
    assert chunks[-1].model_version == "gemini-2.5-pro"


async def test_an_answer_at_once_is_one_chunk(emulator: Emulator, gemini: GeminiProvider):
    emulator.script(answer(thought("Hm."), "Hel", "lo"))
    chunk = await gemini.generate(HI)
    assert chunk.parts == ({"text": "Hm.", "thought": True}, {"text": "Hello"})
    assert chunk.finish_reason == "STOP"


async def test_the_request_says_what_it_was_told_in_the_apis_words(emulator: Emulator, gemini: GeminiProvider):
    await gemini.generate(SYSTEM)
    await collect(gemini, SYSTEM)
    once, streamed = emulator.requests
    assert once.body == streamed.body
    assert once.body == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "tools": [{"functionDeclarations": list(SYSTEM.tools)}],
        "generationConfig": {"temperature": 0.5, "maxOutputTokens": 100, "thinkingConfig": {"includeThoughts": True}},
    }
    assert streamed.query == {"alt": "sse"}
    assert once.headers["x-goog-api-key"] == "emulator-key"
    assert "x-server-timeout" not in once.headers  # it would end the whole answer, not a silence


async def test_fields_that_the_api_does_not_know_stay_out_of_the_request(emulator: Emulator, gemini: GeminiProvider):
    contents = (user_text("list"), CALLED, RESULT)
    await gemini.generate(ModelRequest(model="gemini-3-pro-preview", contents=contents))
    assert emulator.requests[0].contents[1]["parts"] == [
        {"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": "AA=="}
    ]
    assert CALLED.parts[0]["callIndex"] == 0


async def test_a_call_is_handed_back_and_never_executed_or_answered_by_the_sdk(
    emulator: Emulator, gemini: GeminiProvider
):
    emulator.script(answer(call("ls")), answer(call("ls")))
    await gemini.generate(SYSTEM)
    await collect(gemini, SYSTEM)
    assert len(emulator.requests) == 2


async def test_a_continuation_is_left_to_the_caller(emulator: Emulator, gemini: GeminiProvider):
    body = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "So"}]},
                "finishReason": "CONTINUATION",
                "continuationToken": "AAAA",
            }
        ]
    }
    emulator.script(responses(body), responses(body))
    assert (await gemini.generate(HI)).finish_reason == "CONTINUATION"
    assert [chunk.finish_reason for chunk in await collect(gemini)] == ["CONTINUATION"]
    assert len(emulator.requests) == 2


async def test_a_large_history_is_sent_whole(emulator: Emulator, gemini: GeminiProvider):
    contents = (
        *(content for index in range(2_000) for content in (user_text(f"q{index}"), model_text(f"a{index}"))),
        user_text("last"),
    )
    await gemini.generate(ModelRequest(model="gemini-2.5-pro", contents=contents))
    assert [content["parts"][0]["text"] for content in emulator.requests[0].contents] == [
        content.parts[0]["text"] for content in contents
    ]


async def test_requests_run_side_by_side(emulator: Emulator, gemini: GeminiProvider):
    gate = Gate()
    emulator.script(answer("one", gate), method="streamGenerateContent")
    async with asyncio.TaskGroup() as tasks:
        streaming = tasks.create_task(collect(gemini))
        await gate.wait_reached()
        assert (await gemini.count_tokens(HI)).total == 0
        assert (await gemini.generate(HI)).finish_reason == "STOP"
        gate.release()
    assert streaming.result()[0].parts == ({"text": "one"},)


async def test_every_shared_recording_replays_through_the_sdk_as_it_was_recorded(
    emulator: Emulator, gemini: GeminiProvider
):
    folder = recordings_folder()
    if folder is None:
        pytest.skip("no recordings: set COMPANION_RECORDINGS")
    for file in sorted(folder.glob("*.responses")):
        emulator.replay(file)
        for entry in map(json.loads, file.read_text("utf-8").splitlines()):
            streamed = entry["method"] == "generateContentStream"
            bodies = entry["response"] if streamed else [entry["response"]]
            chunks = await collect(gemini) if streamed else [await gemini.generate(HI)]
            recorded = [
                part
                for body in bodies
                for candidate in body.get("candidates", [])
                for part in candidate["content"]["parts"]
            ]
            assert [part for chunk in chunks for part in chunk.parts] == recorded
            assert [chunk.usage.prompt_tokens for chunk in chunks if chunk.usage] == [
                body["usageMetadata"]["promptTokenCount"] for body in bodies if "usageMetadata" in body
            ]
    assert emulator.unused == 0


async def test_a_summariser_is_answered_with_a_snapshot(emulator: Emulator, gemini: GeminiProvider):
    emulator.responder = Summariser()
    request = ModelRequest(
        model="gemini-2.5-flash",
        contents=(user_text("src/a.py"),),
        system_instruction="Write a <state_snapshot>",
        role="utility_compressor",
    )
    text = (await gemini.generate(request)).parts[0]["text"]
    assert "<state_snapshot>" in text


# ── counting
# ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_developer_api_counts_contents_only_and_says_so(emulator: Emulator, gemini: GeminiProvider):
    emulator.script(token_count(123), method="countTokens")
    assert await gemini.count_tokens(SYSTEM) == CountedTokens(total=123, source="api", covers_system=False)
    assert emulator.requests[0].body == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


async def test_vertex_counts_system_instruction_and_tools_along(emulator: Emulator):
    async with connected(vertex=True, base_url=emulator.base_url) as client:
        counted = await client.count_tokens(SYSTEM)
    assert counted == CountedTokens(total=emulator.count(emulator.requests[0].body), source="api", covers_system=True)
    assert emulator.requests[0].body.keys() == {"contents", "systemInstruction", "tools"}


async def test_a_request_too_large_to_be_counted_is_an_overflow(emulator: Emulator, gemini: GeminiProvider):
    emulator.limits["gemini-2.5-pro"] = 10
    with pytest.raises(ContextOverflow, match="exceeds the maximum"):
        await gemini.count_tokens(ModelRequest(model="gemini-2.5-pro", contents=(user_text("x" * 100),)))


@pytest.mark.parametrize(
    ("reply", "retryable"),
    [
        (faults.unavailable(retry_after="2"), True),
        (faults.refused(), False),
        (responses({}), True),
        (faults.drop_before_headers(), True),
    ],
)
async def test_a_count_that_fails_says_so(emulator: Emulator, gemini: GeminiProvider, reply: Any, retryable: bool):
    emulator.script(reply, method="countTokens")
    with pytest.raises(TokenCountFailed, match="The tokens could not be counted: ") as caught:
        await gemini.count_tokens(HI)
    assert caught.value.retryable is retryable
    assert caught.value.retry_after_ms == (2_000 if reply.error and reply.error.code == 503 else None)


async def test_a_refused_key_is_no_failure_to_count(emulator: Emulator, gemini: GeminiProvider):
    emulator.keys = {"another"}
    with pytest.raises(Unauthenticated):
        await gemini.count_tokens(HI)
