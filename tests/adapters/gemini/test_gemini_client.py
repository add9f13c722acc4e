"""The real SDK against the emulator, over HTTP: answers, counts, cancellation, endpoints, credentials, keys."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.adapters.gemini import GeminiModelClient, GeminiOptions
from gemini_companion.engine.errors import ContextOverflow, ModelUnavailable, TokenCountFailed, Unauthenticated
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import Usage
from gemini_companion.sessions.ports import ModelChunk, ModelClient, ModelRequest, TokenCount
from tests.support.emulator import Emulator, Gate, Summariser, answer, call, faults, recordings_folder, responses, slow, thought, token_count

HI = ModelRequest(model="gemini-2.5-pro", contents=(user_text("Hi"),))
SYSTEM = ModelRequest(
    model="gemini-2.5-pro",
    contents=(user_text("Hi"),),
    system_instruction="Be kind.",
    tools=({"name": "ls", "description": "List.", "parametersJsonSchema": {"type": "object"}},),
    temperature=0.5,
    max_output_tokens=100,
)
CALLED = Content(role="model", parts=({"functionCall": {"name": "ls", "args": {}}, "callIndex": 0, "thoughtSignature": "AA=="},))
RESULT = Content(role="user", parts=({"functionResponse": {"name": "ls", "response": {"output": "a"}}},))


@asynccontextmanager
async def connected(**options: Any) -> AsyncGenerator[GeminiModelClient]:
    fields: dict[str, Any] = {"api_key": "k", **options}
    client = GeminiModelClient(GeminiOptions(**fields))
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture(autouse=True)
async def _bounded() -> AsyncIterator[None]:
    async with asyncio.timeout(20):
        yield


async def collect(client: GeminiModelClient, request: ModelRequest = HI) -> list[ModelChunk]:
    return [chunk async for chunk in client.stream(request)]


# ── answers ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_stream_arrives_piece_by_piece(emulator: Emulator, gemini: GeminiModelClient):
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


async def test_a_chunk_carries_parts_usage_and_the_models_version(emulator: Emulator, gemini: GeminiModelClient):
    parts = thought("Let me see."), call("ls", {"path": "."}, call_id="c1"), {"text": "", "thoughtSignature": "+/8="}
    emulator.script(answer(*parts, usage={"cachedContentTokenCount": 3}))
    chunks = await collect(gemini)
    assert [part for chunk in chunks for part in chunk.parts] == list(parts)
    prompt, thoughts, output = 0, len("Let me see.") // 4, (len(json.dumps({"functionCall": parts[1]["functionCall"]}))) // 4
    assert chunks[-1].usage == Usage(
        prompt_tokens=prompt, cached_tokens=3, thought_tokens=thoughts, output_tokens=output, total_tokens=prompt + thoughts + output
    )
    assert chunks[-1].model_version == "gemini-2.5-pro"


async def test_an_answer_at_once_is_one_chunk(emulator: Emulator, gemini: GeminiModelClient):
    emulator.script(answer(thought("Hm."), "Hel", "lo"))
    chunk = await gemini.generate(HI)
    assert chunk.parts == ({"text": "Hm.", "thought": True}, {"text": "Hello"})
    assert chunk.finish_reason == "STOP"


async def test_the_request_says_what_it_was_told_in_the_apis_words(emulator: Emulator, gemini: GeminiModelClient):
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


async def test_fields_that_the_api_does_not_know_stay_out_of_the_request(emulator: Emulator, gemini: GeminiModelClient):
    contents = (user_text("list"), CALLED, RESULT)
    await gemini.generate(ModelRequest(model="gemini-3-pro-preview", contents=contents))
    assert emulator.requests[0].contents[1]["parts"] == [{"functionCall": {"name": "ls", "args": {}}, "thoughtSignature": "AA=="}]
    assert CALLED.parts[0]["callIndex"] == 0


async def test_a_call_is_handed_back_and_never_executed_or_answered_by_the_sdk(emulator: Emulator, gemini: GeminiModelClient):
    emulator.script(answer(call("ls")), answer(call("ls")))
    await gemini.generate(SYSTEM)
    await collect(gemini, SYSTEM)
    assert len(emulator.requests) == 2


async def test_a_continuation_is_left_to_the_caller(emulator: Emulator, gemini: GeminiModelClient):
    body = {"candidates": [{"content": {"role": "model", "parts": [{"text": "So"}]}, "finishReason": "CONTINUATION", "continuationToken": "AAAA"}]}
    emulator.script(responses(body), responses(body))
    assert (await gemini.generate(HI)).finish_reason == "CONTINUATION"
    assert [chunk.finish_reason for chunk in await collect(gemini)] == ["CONTINUATION"]
    assert len(emulator.requests) == 2


async def test_a_large_history_is_sent_whole(emulator: Emulator, gemini: GeminiModelClient):
    contents = (*(content for index in range(2_000) for content in (user_text(f"q{index}"), model_text(f"a{index}"))), user_text("last"))
    await gemini.generate(ModelRequest(model="gemini-2.5-pro", contents=contents))
    assert [content["parts"][0]["text"] for content in emulator.requests[0].contents] == [content.parts[0]["text"] for content in contents]


async def test_requests_run_side_by_side(emulator: Emulator, gemini: GeminiModelClient):
    gate = Gate()
    emulator.script(answer("one", gate), method="streamGenerateContent")
    async with asyncio.TaskGroup() as tasks:
        streaming = tasks.create_task(collect(gemini))
        await gate.wait_reached()
        assert (await gemini.count_tokens(HI)).total == 0
        assert (await gemini.generate(HI)).finish_reason == "STOP"
        gate.release()
    assert streaming.result()[0].parts == ({"text": "one"},)


async def test_every_shared_recording_replays_through_the_sdk_as_it_was_recorded(emulator: Emulator, gemini: GeminiModelClient):
    folder = recordings_folder()
    if folder is None:
        pytest.skip("no recordings: set COMPANION_RECORDINGS")
    for file in sorted(folder.glob("*.responses")):
        emulator.replay(file)
        for entry in map(json.loads, file.read_text("utf-8").splitlines()):
            streamed = entry["method"] == "generateContentStream"
            bodies = entry["response"] if streamed else [entry["response"]]
            chunks = await collect(gemini) if streamed else [await gemini.generate(HI)]
            recorded = [part for body in bodies for candidate in body.get("candidates", []) for part in candidate["content"]["parts"]]
            assert [part for chunk in chunks for part in chunk.parts] == recorded
            assert [chunk.usage.prompt_tokens for chunk in chunks if chunk.usage] == [
                body["usageMetadata"]["promptTokenCount"] for body in bodies if "usageMetadata" in body
            ]
    assert emulator.unused == 0


async def test_a_summariser_is_answered_with_a_snapshot(emulator: Emulator, gemini: GeminiModelClient):
    emulator.responder = Summariser()
    request = ModelRequest(
        model="gemini-2.5-flash", contents=(user_text("src/a.py"),), system_instruction="Write a <state_snapshot>", role="utility_compressor"
    )
    text = (await gemini.generate(request)).parts[0]["text"]
    assert "<state_snapshot>" in text


# ── counting ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_developer_api_counts_contents_only_and_says_so(emulator: Emulator, gemini: GeminiModelClient):
    emulator.script(token_count(123), method="countTokens")
    assert await gemini.count_tokens(SYSTEM) == TokenCount(total=123, source="api", covers_system=False)
    assert emulator.requests[0].body == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


async def test_vertex_counts_system_instruction_and_tools_along(emulator: Emulator):
    async with connected(vertex=True, base_url=emulator.base_url) as client:
        counted = await client.count_tokens(SYSTEM)
    assert counted == TokenCount(total=emulator.count(emulator.requests[0].body), source="api", covers_system=True)
    assert emulator.requests[0].body.keys() == {"contents", "systemInstruction", "tools"}


async def test_a_request_too_large_to_be_counted_is_an_overflow(emulator: Emulator, gemini: GeminiModelClient):
    emulator.limits["gemini-2.5-pro"] = 10
    with pytest.raises(ContextOverflow, match="exceeds the maximum"):
        await gemini.count_tokens(ModelRequest(model="gemini-2.5-pro", contents=(user_text("x" * 100),)))


@pytest.mark.parametrize(
    ("reply", "retryable"),
    [(faults.unavailable(retry_after="2"), True), (faults.refused(), False), (responses({}), True), (faults.drop_before_headers(), True)],
)
async def test_a_count_that_fails_says_so(emulator: Emulator, gemini: GeminiModelClient, reply: Any, retryable: bool):
    emulator.script(reply, method="countTokens")
    with pytest.raises(TokenCountFailed, match="The tokens could not be counted: ") as caught:
        await gemini.count_tokens(HI)
    assert caught.value.retryable is retryable
    assert caught.value.retry_after_ms == (2_000 if reply.error and reply.error.code == 503 else None)


async def test_a_refused_key_is_no_failure_to_count(emulator: Emulator, gemini: GeminiModelClient):
    emulator.keys = {"another"}
    with pytest.raises(Unauthenticated):
        await gemini.count_tokens(HI)


# ── ending early ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def _leave(client: GeminiModelClient) -> None:
    async for _ in client.stream(HI):
        break
    gc.collect()


async def _close(client: GeminiModelClient) -> None:
    stream = client.stream(HI)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]


async def _cancel(client: GeminiModelClient) -> None:
    first = asyncio.Event()

    async def read() -> None:
        async for _ in client.stream(HI):
            first.set()

    task = asyncio.create_task(read())
    await first.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _shut_down(client: GeminiModelClient) -> None:
    stream = client.stream(HI)
    await anext(stream)
    await client.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        await anext(stream)


@pytest.mark.parametrize("end", [_leave, _close, _cancel, _shut_down])
async def test_ending_a_stream_early_closes_its_connection(emulator: Emulator, gemini: GeminiModelClient, end: Any):
    gate = Gate()
    emulator.script(answer("Hel", gate, "lo"))
    await end(gemini)
    await emulator.wait_for_hang_up(await emulator.wait_for_request())


@pytest.mark.parametrize("end", [_leave, _close, _cancel])
async def test_after_a_stream_was_ended_early_the_client_goes_on(emulator: Emulator, gemini: GeminiModelClient, end: Any):
    emulator.script(answer("Hel", Gate(), "lo"))
    await end(gemini)
    assert (await gemini.generate(HI)).finish_reason == "STOP"
    assert (await collect(gemini))[-1].finish_reason == "STOP"


@pytest.mark.parametrize("method", ["generate", "count_tokens"])
async def test_cancelling_a_call_closes_its_connection(emulator: Emulator, gemini: GeminiModelClient, method: str):
    emulator.script(faults.hang_before_headers(), method="countTokens" if method == "count_tokens" else None)
    task = asyncio.create_task(getattr(gemini, method)(HI))
    request = await emulator.wait_for_request()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await emulator.wait_for_hang_up(request)


async def test_a_stream_that_nobody_reads_is_ended_by_close(emulator: Emulator):
    async with connected(base_url=emulator.base_url) as client:
        emulator.script(faults.hang_before_headers())
        reading = asyncio.create_task(collect(client))
        request = await emulator.wait_for_request()
    with pytest.raises(ModelUnavailable, match="closed"):
        await reading
    await emulator.wait_for_hang_up(request)


async def test_a_closed_client_says_so_and_may_be_closed_again(emulator: Emulator, gemini: GeminiModelClient):
    await gemini.generate(HI)
    await gemini.close()
    await gemini.close()
    for attempt in (gemini.generate(HI), gemini.count_tokens(HI), collect(gemini)):
        with pytest.raises(ModelUnavailable, match="closed"):
            await attempt
    await gemini.warm_up()
    assert len(emulator.requests) == 1


async def test_closing_a_client_that_was_never_used_is_nothing():
    await GeminiModelClient(GeminiOptions(api_key="k")).close()


async def test_a_fault_after_the_reader_left_disturbs_nobody(emulator: Emulator, gemini: GeminiModelClient, caplog: pytest.LogCaptureFixture):
    emulator.script(faults.drop_mid_stream())
    stream = gemini.stream(HI)
    await anext(stream)
    (reading,) = (task for task in asyncio.all_tasks() if task.get_name().startswith("gemini:"))
    await asyncio.wait([reading], timeout=5)
    await stream.aclose()  # type: ignore[attr-defined]
    assert reading.done()
    del reading, stream
    gc.collect()
    assert caplog.records == []


async def test_nothing_is_left_behind_by_clients_that_come_and_go(emulator: Emulator):
    before = asyncio.all_tasks()
    for _ in range(3):
        async with connected(base_url=emulator.base_url) as client:
            await client.warm_up()
            emulator.script(faults.drop_mid_stream(), faults.malformed_event())
            for _ in range(2):
                with pytest.raises(ModelUnavailable):
                    await collect(client)
            await client.generate(HI)
        del client
        gc.collect()
    if left := asyncio.all_tasks() - before:  # the SDK closes itself once more when it is collected
        await asyncio.wait(left, timeout=5)
    assert asyncio.all_tasks() == before


# ── endpoints and credentials ──────────────────────────────────────────────────────────────────────────────────────────


async def test_a_path_prefix_of_the_endpoint_is_kept():
    with Emulator(prefix="/gateway/gemini") as emulator:
        async with connected(base_url=emulator.base_url) as client:
            await collect(client)
            await client.generate(HI)
            await client.count_tokens(HI)
        assert [request.status for request in emulator.requests] == [200, 200, 200]


async def test_another_version_of_the_api_can_be_asked_for(emulator: Emulator):
    async with connected(base_url=emulator.base_url, api_version="v1beta") as client:
        await client.generate(HI)
    assert emulator.requests[0].path == "/v1beta/models/gemini-2.5-pro:generateContent"


async def test_vertex_with_a_key_needs_no_project(emulator: Emulator):
    async with connected(vertex=True, base_url=emulator.base_url) as client:
        assert (await collect(client))[-1].finish_reason == "STOP"
    assert emulator.requests[0].path.endswith("/publishers/google/models/gemini-2.5-pro:streamGenerateContent")
    assert emulator.requests[0].headers["x-goog-api-key"] == "k"


def service_account(folder: Path, token_uri: str) -> Path:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    account = {"type": "service_account", "client_email": "a@b.c", "private_key": pem, "token_uri": token_uri, "project_id": "p"}
    file = folder / "account.json"
    file.write_text(json.dumps(account), "utf-8")
    return file


async def test_vertex_with_a_project_signs_in_with_the_machines_credentials(emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, f"{emulator.base_url}/token")))
    async with connected(api_key=None, vertex=True, project="p", location="europe-west4", base_url=emulator.base_url) as client:
        assert (await client.generate(HI)).finish_reason == "STOP"
    (request,) = emulator.requests
    assert request.path == "/v1beta1/projects/p/locations/europe-west4/publishers/google/models/gemini-2.5-pro:generateContent"
    assert request.headers["authorization"] == "Bearer emulated"
    assert "x-goog-api-key" not in request.headers


async def test_vertex_without_usable_credentials_says_how_to_sign_in(emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "missing.json"))
    async with connected(api_key=None, vertex=True, project="p", location="l", base_url=emulator.base_url) as client:
        with pytest.raises(Unauthenticated) as caught:
            await client.generate(HI)
    assert "gcloud auth application-default login" in caught.value.hint
    assert emulator.requests == []


async def test_credentials_that_appear_later_are_found_without_a_restart(emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "account.json"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody is there: Google itself stays out of reach
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    async with connected(api_key=None, vertex=True) as client:
        with pytest.raises(Unauthenticated) as caught:
            await client.generate(HI)
        assert "gcloud" in caught.value.hint
        service_account(tmp_path, f"{emulator.base_url}/token")
        with pytest.raises(ModelUnavailable, match="could not be reached"):
            await client.generate(HI)


@pytest.mark.parametrize("key", [None, "two words", "schlüssel", "a\nb"])
async def test_a_key_that_is_missing_or_cannot_be_one_is_reported_without_asking_anybody(emulator: Emulator, key: str | None):
    async with connected(api_key=key, base_url=emulator.base_url) as client:
        await client.warm_up()
        for attempt in (client.generate(HI), client.count_tokens(HI), collect(client)):
            with pytest.raises(Unauthenticated, match="key") as caught:
                await attempt
            assert "GEMINI_API_KEY" in caught.value.hint
            assert not key or key not in str(caught.value)
    assert emulator.requests == []


async def test_this_machine_is_never_reached_through_a_proxy(emulator: Emulator, monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with connected(base_url=emulator.base_url) as client:
        assert (await client.generate(HI)).finish_reason == "STOP"


async def test_any_other_host_is_reached_through_the_environments_proxy(emulator: Emulator, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", emulator.base_url)  # asked for an absolute address, the emulator answers as that host would
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with connected(base_url="http://gemini.invalid") as client:
        assert (await client.generate(HI)).finish_reason == "STOP"
    assert emulator.requests[0].headers["host"] == "gemini.invalid"


async def test_the_environment_of_the_process_does_not_reach_past_the_options(emulator: Emulator, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_API_KEY", "another")
    monkeypatch.setenv("GEMINI_API_KEY", "a-third")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    async with connected(base_url=emulator.base_url) as client:
        await client.generate(HI)
    assert emulator.requests[0].headers["x-goog-api-key"] == "k"
    assert not emulator.requests[0].vertex


async def test_without_an_endpoint_of_its_own_a_client_asks_google_whatever_the_process_was_told(emulator: Emulator, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", emulator.base_url)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # nobody is there
    async with connected() as client:
        with pytest.raises(ModelUnavailable, match="could not be reached"):
            await client.generate(HI)
    assert emulator.requests == []


# ── keys stay private, the loop stays free ─────────────────────────────────────────────────────────────────────────────


def _everything(error: BaseException) -> str:
    seen: list[str] = []
    link: BaseException | None = error
    while link is not None:
        seen += [repr(link), str(link), repr(vars(link))]
        assert not type(link).__module__.startswith(("google", "httpx"))
        link = link.__cause__ or link.__context__
    return "".join(seen)


async def test_the_key_is_in_no_error_log_or_repr(emulator: Emulator, caplog: pytest.LogCaptureFixture):
    key = "sk-0123456789-very-secret"
    echoed = faults.internal()
    assert echoed.error is not None
    echoed.error.message = f"Key {key} broke us"
    caplog.set_level(logging.DEBUG)
    async with connected(api_key=key, base_url=emulator.base_url) as client:
        shown = repr(client) + repr(vars(client))
        for reply in (echoed, faults.invalid_key(), faults.drop_before_headers(), faults.malformed_event(), faults.error_event()):
            emulator.script(reply)
            with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is
                await collect(client)
            shown += _everything(caught.value)
    async with connected(api_key=key, base_url="http://127.0.0.1:9") as client:
        with pytest.raises(ModelUnavailable) as caught_here:
            await client.generate(HI)
        shown += _everything(caught_here.value)
    assert "[key] broke us" in shown
    assert key not in shown + caplog.text


async def test_the_environments_own_keys_cause_no_words_on_standard_error(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("GOOGLE_API_KEY", "a")
    monkeypatch.setenv("GEMINI_API_KEY", "b")
    async with connected(base_url=emulator.base_url) as client:
        await client.generate(HI)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_the_sdk_is_imported_by_warming_up_and_not_before_and_then_its_parsers_are_built():
    script = """
import asyncio, sys
import gemini_companion.adapters.gemini as adapter
heavy = {"google.genai", "google.auth", "httpx2", "pydantic", "aiohttp"}
options = adapter.from_environment({"GEMINI_API_KEY": "k"})
client = adapter.GeminiModelClient(options)
print(sorted(heavy & sys.modules.keys()))
async def main():
    await client.warm_up()
    print(sorted(heavy & sys.modules.keys()))
    types = sys.modules["google.genai.types"]
    print([kind.__pydantic_complete__ for kind in (types.GenerateContentResponse, types.CountTokensResponse, types.HttpOptions)])
    await client.close()
asyncio.run(main())
"""
    lines = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        cwd=Path(__file__).parents[3] / "server",
    )
    before, after, parsers = lines.stdout.splitlines()
    assert before == "[]"
    assert after == "['google.auth', 'google.genai', 'httpx2', 'pydantic']"
    assert parsers == "[True, True, True]"
    assert lines.stderr == ""


async def test_many_callers_share_one_connection_and_a_cancelled_one_does_not_stop_it(emulator: Emulator, gemini: GeminiModelClient):
    impatient = asyncio.create_task(gemini.generate(HI))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(gemini.warm_up(), gemini.generate(HI), collect(gemini), gemini.count_tokens(HI))
    with pytest.raises(asyncio.CancelledError):
        await impatient
    assert len({request.headers["user-agent"] for request in emulator.requests}) == 1


def test_it_is_a_model_client_and_says_which():
    client: ModelClient = GeminiModelClient(GeminiOptions(api_key="k"))
    assert client.provider == "gemini"
