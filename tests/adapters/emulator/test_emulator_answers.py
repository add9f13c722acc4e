"""The emulator over plain HTTP: what it answers, what it records, how it waits."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.emulator import (
    SECTIONS,
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
from tests.support.emulator.faults import FAULTS
from tests.support.emulator.recordings import read_lines
from tests.support.patience import PATIENCE
from tests.support.processes import running

Json = dict[str, Any]

HELLO: Json = {"contents": [{"role": "user", "parts": [{"text": "Hello there"}]}]}
SUMMARISE: Json = {
    "systemInstruction": {"parts": [{"text": "Write a <state_snapshot>."}]},
    "contents": [{"role": "user", "parts": [{"text": "user: fix src/a.py\nmodel: done"}]}],
}


def ask(
    emulator: Emulator,
    method: str = "generateContent",
    body: Json = HELLO,
    *,
    model: str = "gemini-2.5-pro",
    key: str = "k",
) -> httpx2.Response:
    url = f"{emulator.base_url}/v1/models/{model}:{method}"
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as http:
        return http.post(url, json=body, headers={"x-goog-api-key": key} if key else {})


def texts(response: Json) -> str:
    return "".join(part.get("text", "") for part in response["candidates"][0]["content"]["parts"])


def events(response: httpx2.Response) -> list[Json]:
    return [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line.startswith("data: ")]


def test_an_unscripted_chat_is_answered_with_an_echo_and_counted_usage(emulator: Emulator):
    body = ask(emulator).json()
    assert texts(body) == "You said: Hello there…"
    assert body["candidates"][0]["finishReason"] == "STOP"
    assert body["usageMetadata"] == {"promptTokenCount": 2, "candidatesTokenCount": 5, "totalTokenCount": 7}


def test_a_stream_carries_the_same_answer_in_pieces_with_the_finish_reason_on_the_last(emulator: Emulator):
    emulator.script(answer(thought("Hm."), "Hel", "lo"))
    pieces = events(ask(emulator, "streamGenerateContent?alt=sse"))
    assert [texts(piece) for piece in pieces] == ["Hm.", "Hel", "lo"]
    assert [piece["candidates"][0].get("finishReason") for piece in pieces] == [None, None, "STOP"]


def test_generate_content_gets_a_scripted_streams_pieces_merged(emulator: Emulator):
    emulator.script(answer(thought("Hm. "), thought("So."), "Hel", "lo", call("read_file", {"path": "a"})))
    parts = ask(emulator).json()["candidates"][0]["content"]["parts"]
    assert parts == [{"text": "Hm. So.", "thought": True}, {"text": "Hello"}, call("read_file", {"path": "a"})]


def test_a_script_is_used_in_order_by_method_and_by_matcher(emulator: Emulator):
    emulator.script("for anyone")
    emulator.script("for a stream", method="streamGenerateContent")
    emulator.script(token_count(42), method="countTokens")
    emulator.script("for flash", when=lambda request: "flash" in request.model)
    assert ask(emulator, "countTokens").json() == {"totalTokens": 42}
    assert texts(ask(emulator, model="gemini-2.5-flash").json()) == "for anyone"
    assert texts(ask(emulator).json()).startswith("You said")
    assert texts(ask(emulator, model="gemini-2.5-flash").json()) == "for flash"
    assert [texts(event) for event in events(ask(emulator, "streamGenerateContent?alt=sse"))] == ["for a stream"]
    assert emulator.unused == 0


def test_what_was_asked_is_recorded(emulator: Emulator):
    ask(emulator, "countTokens")
    ask(emulator, body=SUMMARISE, key="secret")
    first, second = emulator.requests
    assert (first.method, first.model, first.body, first.status) == ("countTokens", "gemini-2.5-pro", HELLO, 200)
    assert (second.headers["x-goog-api-key"], second.system, second.prompt) == (
        "secret",
        "Write a <state_snapshot>.",
        "user: fix src/a.py\nmodel: done",
    )
    assert emulator.asked("generateContent") == [second]


def test_a_summariser_gets_a_snapshot_with_every_section_and_the_files_that_were_spoken_of(emulator: Emulator):
    text = texts(ask(emulator, body=SUMMARISE).json())
    assert text.index("<scratchpad>") < text.index("<state_snapshot>") < text.index("</state_snapshot>")
    assert all(f"<{section}>" in text for section in SECTIONS)
    assert "- src/a.py" in text


def test_a_conversation_that_holds_a_snapshot_is_not_taken_for_a_summarisers(emulator: Emulator):
    contents = [
        {"role": "user", "parts": [{"text": "<state_snapshot>…</state_snapshot>"}]},
        {"role": "model", "parts": [{"text": "Got it."}]},
        {"role": "user", "parts": [{"text": "go on"}]},
    ]
    assert texts(ask(emulator, body={"contents": contents}).json()) == "You said: go on…"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("empty", ""),
        ("garbage", "Sure!"),
        ("no_tag", "<overall_goal>"),
        ("unclosed", "<state_snapshot>"),
        ("scratchpad_only", "<scratchpad>"),
        ("inflated", "<state_snapshot>"),
    ],
)
def test_a_summariser_can_be_made_to_fail_in_every_way(emulator: Emulator, mode: Any, expected: str):
    emulator.responder = Summariser(mode)
    candidate = ask(emulator, body=SUMMARISE).json()["candidates"][0]
    text = "".join(part["text"] for part in candidate.get("content", {}).get("parts", []))
    assert text.strip().startswith(expected)
    assert bool(text) == bool(expected)
    assert ("</state_snapshot>" in text) == (mode == "inflated")
    assert mode != "inflated" or len(text) > 1000


def test_an_inflated_snapshot_is_longer_than_any_conversation(emulator: Emulator):
    emulator.responder = Summariser("inflated")
    long = {"role": "user", "parts": [{"text": "and so on " * 5000}]}
    assert len(texts(ask(emulator, body={**SUMMARISE, "contents": [long]}).json())) > 50_000


def test_an_oracle_writes_the_summarisers_answer(emulator: Emulator):
    emulator.responder = Summariser(oracle=lambda request: f"<state_snapshot>{request.characters}</state_snapshot>")
    assert (
        texts(ask(emulator, body=SUMMARISE).json())
        == f"<state_snapshot>{len('user: fix src/a.py') + 1 + len('model: done')}</state_snapshot>"
    )


def test_a_request_over_the_models_limit_is_refused_and_so_is_counting_it_unless_that_has_its_own_limit(
    emulator: Emulator,
):
    emulator.limits["gemini-2.5-pro"] = 1
    assert ask(emulator).json()["error"] == {
        "code": 400,
        "message": "The input token count (2) exceeds the maximum number of tokens allowed (1).",
        "status": "INVALID_ARGUMENT",
    }
    assert ask(emulator, "countTokens").status_code == 400
    emulator.count_limits["gemini-2.5-pro"] = 10
    assert ask(emulator, "countTokens").json() == {"totalTokens": 2}


def test_tokens_are_counted_by_the_given_function(emulator: Emulator):
    emulator.count = lambda body: 1000 * len(body["contents"])
    assert ask(emulator, "countTokens").json() == {"totalTokens": 1000}
    assert ask(emulator).json()["usageMetadata"]["promptTokenCount"] == 1000


def test_keys_and_models_are_checked_before_the_script_is_touched(emulator: Emulator):
    emulator.script("for somebody allowed")
    emulator.keys = {"right"}
    assert ask(emulator, key="").status_code == 403
    assert ask(emulator, key="wrong").json()["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert ask(emulator, key="right", model="gpt-1").json()["error"]["status"] == "NOT_FOUND"
    assert texts(ask(emulator, key="right").json()) == "for somebody allowed"


def test_vertex_paths_and_a_prefix_are_understood(emulator: Emulator):
    with Emulator(prefix="/gateway/") as prefixed, httpx2.Client(trust_env=False, timeout=PATIENCE) as http:
        url = f"{prefixed.base_url}/v1beta1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:countTokens"
        response = http.post(
            url,
            json={**HELLO, "systemInstruction": {"parts": [{"text": "Be kind."}]}},
            headers={"authorization": "Bearer t"},
        )
        assert response.json() == {"totalTokens": 4}
        assert prefixed.requests[0].vertex
        assert http.post(url.replace("/gateway", ""), json=HELLO).status_code == 404


async def test_a_gate_holds_the_answer_until_it_is_opened(emulator: Emulator):
    reply = slow("Hel", "lo", "!")
    emulator.script(reply)
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        url = f"{emulator.base_url}/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
        async with http.stream("POST", url, json=HELLO, headers={"x-goog-api-key": "k"}) as response:
            lines = response.aiter_lines()
            seen: list[str] = []
            for gate in reply.gates:
                seen.append(texts(json.loads((await anext(lines)).removeprefix("data: "))))
                await anext(lines)
                await gate.wait_reached()
                gate.release()
            seen.extend([texts(json.loads(line.removeprefix("data: "))) async for line in lines if line])
    assert seen == ["Hel", "lo", "!"]


async def test_every_gate_can_be_opened_at_once(emulator: Emulator):
    reply = slow("Hel", "lo", "!")
    emulator.responder = lambda request: reply
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        url = f"{emulator.base_url}/v1/models/gemini-2.5-pro:generateContent"
        asking = asyncio.create_task(http.post(url, json=HELLO, headers={"x-goog-api-key": "k"}))
        await reply.gates[0].wait_reached()
        emulator.release()
        assert texts((await asking).json()) == "Hello!"


async def test_a_client_that_hangs_up_is_noticed(emulator: Emulator):
    gate = Gate()
    emulator.script(answer("Hel", gate, "lo"))
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        url = f"{emulator.base_url}/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
        async with http.stream("POST", url, json=HELLO, headers={"x-goog-api-key": "k"}):
            request = await emulator.wait_for_request()
            await gate.wait_reached()
            assert not request.hung_up
        await emulator.wait_for_hang_up(request)


def test_one_connection_serves_many_requests(emulator: Emulator):
    with httpx2.Client(trust_env=False, timeout=PATIENCE, headers={"x-goog-api-key": "k"}) as http:
        for method in ("countTokens", "generateContent", "streamGenerateContent?alt=sse") * 3:
            assert http.post(f"{emulator.base_url}/v1/models/gemini-2.5-pro:{method}", json=HELLO).status_code == 200
    assert emulator.wait_for_request_blocking(9).status == 200


def test_a_broken_responder_is_reported_to_the_client_and_to_the_test(emulator: Emulator):
    def broken(_: object) -> Any:
        raise KeyError("oops")

    emulator.responder = broken
    assert ask(emulator).status_code == 500
    assert emulator.defects == ["KeyError('oops')"]
    emulator.defects.clear()


@pytest.mark.parametrize("name", [name for name in FAULTS if "hang" not in name])
def test_every_fault_ends_either_method(emulator: Emulator, name: str):
    for method in ("generateContent", "streamGenerateContent?alt=sse"):
        emulator.script(FAULTS[name]())
        try:
            assert ask(emulator, method).status_code > 0
        except httpx2.RemoteProtocolError:
            assert "drop" in name
    assert emulator.unused == 0


def test_a_rate_limit_says_when_to_come_back_in_both_ways(emulator: Emulator):
    emulator.script(faults.rate_limited(retry_after="7", retry_delay="1.5s", quota="PerDay"))
    response = ask(emulator)
    assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    assert [detail["@type"].rpartition(".")[2] for detail in response.json()["error"]["details"]] == [
        "QuotaFailure",
        "RetryInfo",
    ]


def test_recordings_are_replayed_and_then_refused(emulator: Emulator, tmp_path: Path):
    recorded = {"candidates": [{"content": {"role": "model", "parts": [{"text": "4"}]}, "finishReason": "STOP"}]}
    file = tmp_path / "a.responses"
    lines = [
        {"method": "generateContentStream", "response": [recorded, {"usageMetadata": {"promptTokenCount": 9}}]},
        {"method": "generateContent", "response": recorded},
        {"method": "countTokens", "response": {"totalTokens": 3}},
    ]
    file.write_text("\n\n".join(map(json.dumps, lines)), "utf-8")
    emulator.replay(file)
    assert ask(emulator, "countTokens").json() == {"totalTokens": 3}
    assert ask(emulator).json() == recorded
    assert events(ask(emulator, "streamGenerateContent?alt=sse")) == [
        recorded,
        {"usageMetadata": {"promptTokenCount": 9}},
    ]
    assert ask(emulator).json()["error"]["message"] == "The recording has no more answers."


def test_a_broken_recording_is_named_with_its_line(tmp_path: Path):
    file = tmp_path / "b.responses"
    file.write_text('{"method":"generateContent","response":{}}\n{"method":"generateContent"}\n', "utf-8")
    with pytest.raises(ValueError, match=r"b\.responses:2: .*expected an object with `response`"):
        list(read_lines(file))


def test_every_shared_recording_can_be_read():
    folder = recordings_folder()
    if folder is None:
        pytest.skip("no recordings: set COMPANION_RECORDINGS")
    files = sorted(folder.glob("*.responses"))
    assert files
    for file in files:
        assert all(
            reply.responses and method in ("generateContent", "streamGenerateContent", "countTokens")
            for method, reply in read_lines(file)
        )


def test_recorded_responses_are_sent_as_they_are(emulator: Emulator):
    body = {"candidates": [{"index": 0, "somethingNew": 1}]}
    emulator.script(responses(body))
    assert ask(emulator).json() == body


@pytest.mark.process
def test_it_runs_as_a_process_and_says_where(tmp_path: Path):
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": ["Hel", "lo"]}\n{"fault": "unavailable"}\n', "utf-8")
    command = [sys.executable, "-m", "tests.support.emulator", "--port", "0", "--script", str(script)]
    with running(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as process:
        assert process.stdout is not None
        base_url = json.loads(process.stdout.readline())["baseUrl"]
        with httpx2.Client(trust_env=False, timeout=PATIENCE, headers={"x-goog-api-key": "k"}) as http:
            url = f"{base_url}/v1/models/gemini-2.5-pro:generateContent"
            assert texts(http.post(url, json=HELLO).json()) == "Hello"
            assert http.post(url, json=HELLO).status_code == 503
            assert texts(http.post(url, json=HELLO).json()).startswith("You said")
            assert [asked["status"] for asked in http.get(f"{base_url}/emulator/requests").json()] == [200, 503, 200]
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 0
