"""Every request can be cancelled, and is answered soon, whatever its handler does."""

from __future__ import annotations

import asyncio

import pytest

from gemini_companion.protocol import calls as calls_module
from tests.support.patience import PATIENCE, until
from tests.support.sample_server import SampleApp
from tests.support.wire import InMemoryClient


async def test_a_cancelled_request_is_answered_so_and_its_handler_cleans_up(client: InMemoryClient, app: SampleApp):
    request_id = client.send("sample/wait", {"name": "w"})
    await app.started.wait()
    client.notify("$/cancelRequest", {"id": request_id})
    error = (await client.answer_to(request_id))["error"]
    assert (error["code"], error["data"]["kind"]) == (-32800, "cancelled")
    assert app.trace == ["start w", "end w"]


async def test_a_request_cancelled_before_its_handler_began_is_answered(client: InMemoryClient, app: SampleApp):
    request_id = client.send("sample/wait", {"name": "w"})
    client.notify("$/cancelRequest", {"id": request_id})
    assert (await client.answer_to(request_id))["error"]["code"] == -32800
    assert app.trace == []


async def test_one_that_notes_cancels_is_begun_though_the_cancel_came_with_it(
    client: InMemoryClient, app: SampleApp
) -> None:
    noted: list[str] = []

    async def note() -> None:
        try:
            await app.release.wait()
        except asyncio.CancelledError:
            noted.append("noted")
            raise

    client.server.dispatcher.calls.start(78, "sample/direct", note, notes_cancel=True)
    client.server.dispatcher.calls.cancel(78)
    assert (await client.answer_to(78))["error"]["code"] == -32800
    assert noted == ["noted"]


async def test_a_handler_that_settles_in_time_has_its_result_sent(client: InMemoryClient, app: SampleApp):
    request_id = client.send("sample/commit", {})
    await app.started.wait()
    client.notify("$/cancelRequest", {"id": request_id})
    assert (await client.answer_to(request_id))["result"] == "committed"


async def test_a_handler_that_ignores_the_cancel_is_answered_for_and_its_result_goes_nowhere(
    client: InMemoryClient, app: SampleApp
):
    request_id = client.send("sample/shielded", {})
    await app.started.wait()
    client.notify("$/cancelRequest", {"id": request_id})
    client.notify("$/cancelRequest", {"id": request_id})
    assert (await client.answer_to(request_id))["error"]["code"] == -32800
    assert app.trace == ["cancel ignored"]
    client.send("gemini/nothing", {}, request_id)  # the id is free again
    app.release.set()

    def answers() -> list[object]:
        return [message.get("result", "refused") for message in client.responses() if message["id"] == request_id]

    await until(lambda: len(answers()) >= 2)
    await client.request("gemini/nothing")
    assert answers() == ["refused", None]


def test_an_answer_to_a_cancel_is_due_within_a_tenth_of_a_second():
    assert calls_module.CANCEL_GRACE < 0.1


async def test_a_fault_on_the_way_out_of_a_cancel_is_answered_as_the_cancel(
    client: InMemoryClient, app: SampleApp, monkeypatch: pytest.MonkeyPatch
):
    async def wait() -> None:
        app.started.set()
        try:
            await app.release.wait()
        except asyncio.CancelledError:
            raise ValueError("the stream broke") from None

    client.server.dispatcher.calls.start(77, "sample/direct", wait)
    await app.started.wait()
    client.notify("$/cancelRequest", {"id": 77})
    assert (await client.answer_to(77))["error"]["code"] == -32800


@pytest.mark.parametrize(
    "params", [{"id": 99}, {"id": "1"}, {"id": True}, {"id": 1.0}, {"id": None}, {}, [1], None, "1"]
)
async def test_a_cancel_of_something_else_cancels_nothing(client: InMemoryClient, app: SampleApp, params: object):
    client.send("sample/wait", {"name": "w"}, 1)
    await app.started.wait()
    client.notify("$/cancelRequest", params)
    app.release.set()
    assert (await client.answer_to(1))["result"] == "w"


@pytest.mark.parametrize("token", ["bar", 7])
async def test_cancelling_the_progress_cancels_the_request_that_took_its_token(
    client: InMemoryClient, app: SampleApp, token: str | int
):
    request_id = client.send("sample/wait", {"name": "w", "workDoneToken": token})
    other = client.send("sample/wait", {"name": "other", "workDoneToken": f"{token}"[:1] + "?"})
    await app.started.wait()
    client.notify("window/workDoneProgress/cancel", {"token": token})
    assert (await client.answer_to(request_id))["error"]["code"] == -32800
    app.release.set()
    assert (await client.answer_to(other))["result"] == "other"


async def test_cancelling_the_progress_of_a_command_cancels_it(client: InMemoryClient, app: SampleApp):
    request_id = client.send(
        "workspace/executeCommand", {"command": "sample.wait", "arguments": [], "workDoneToken": "bar"}
    )
    await app.started.wait()
    client.notify("window/workDoneProgress/cancel", {"token": "bar"})
    assert (await client.answer_to(request_id))["error"]["code"] == -32800


@pytest.mark.parametrize("params", [{"token": "none"}, {"token": 1}, {"token": None}, {}, [1], None])
async def test_cancelling_an_unknown_progress_cancels_nothing(client: InMemoryClient, app: SampleApp, params: object):
    request_id = client.send("sample/wait", {"name": "w", "workDoneToken": "1"})
    await app.started.wait()
    client.notify("window/workDoneProgress/cancel", params)
    app.release.set()
    assert (await client.answer_to(request_id))["result"] == "w"


async def test_closing_does_not_wait_for_ever_for_a_handler_that_ignores_the_cancel(
    client: InMemoryClient, app: SampleApp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(calls_module, "CLOSE_GRACE", 0.01)
    client.send("sample/shielded", {})
    await app.started.wait()
    async with asyncio.timeout(PATIENCE):
        await client.server.dispatcher.close()
    assert "Left behind: sample/shielded" in caplog.text
