"""Progress bars."""

from __future__ import annotations

from typing import Any

import pytest

from gemini_companion.protocol import progress as progress_module
from gemini_companion.protocol.progress import WorkDone, client_progress, server_progress
from tests.support.wire import InMemoryClient

CAN_SHOW = {"window": {"workDoneProgress": True}}


def shown(client: InMemoryClient) -> list[dict[str, Any]]:
    return [params["value"] for params in client.notifications("$/progress")]


async def test_the_bar_of_a_request_begins_reports_and_ends(client: InMemoryClient):
    with client_progress(client.server.connection, "token", "Compressing") as work:
        work.report("verifying", 50)
        work.report()
        work.end("done")
        work.end("again")
        work.report("too late")
        work.begin("too late")
    assert shown(client) == [
        {"kind": "begin", "title": "Compressing", "cancellable": True},
        {"kind": "report", "message": "verifying", "percentage": 50},
        {"kind": "report"},
        {"kind": "end", "message": "done"},
    ]
    assert {params["token"] for params in client.notifications("$/progress")} == {"token"}


async def test_a_bar_ends_also_when_its_work_fails(client: InMemoryClient):
    with pytest.raises(ValueError, match="no"), client_progress(client.server.connection, 7, "Compressing"):
        raise ValueError("no")
    assert [value["kind"] for value in shown(client)] == ["begin", "end"]


async def test_without_a_token_nothing_is_shown(client: InMemoryClient):
    with client_progress(client.server.connection, None, "Compressing") as work:
        work.report("x")
    assert client.said == []


async def test_nothing_is_reported_before_the_begin(client: InMemoryClient):
    work = WorkDone(client.server.connection, "token")
    work.report("x")
    work.end()
    assert client.said == []


async def test_a_bar_of_our_own_is_made_by_the_client_and_can_be_cancelled(raw_client: InMemoryClient):
    await raw_client.initialize(capabilities=CAN_SHOW)
    raw_client.handlers["window/workDoneProgress/create"] = lambda _params: None
    cancelled: list[str] = []
    async with server_progress(raw_client.server.connection, "Compressing", cancel=lambda: cancelled.append("yes")):
        token = raw_client.notifications("$/progress")[0]["token"]
        raw_client.notify("window/workDoneProgress/cancel", {"token": "another"})
        raw_client.notify("window/workDoneProgress/cancel", {"token": token})
    raw_client.notify("window/workDoneProgress/cancel", {"token": token})
    assert cancelled == ["yes"]
    assert [value["kind"] for value in shown(raw_client)] == ["begin", "end"]
    assert shown(raw_client)[0]["cancellable"] is True


async def test_a_bar_that_nobody_can_stop_says_so(raw_client: InMemoryClient):
    await raw_client.initialize(capabilities=CAN_SHOW)
    raw_client.handlers["window/workDoneProgress/create"] = lambda _params: None
    async with server_progress(raw_client.server.connection, "Indexing"):
        raw_client.notify("window/workDoneProgress/cancel", {"token": raw_client.notifications("$/progress")[0]["token"]})
    assert shown(raw_client)[0]["cancellable"] is False


async def test_a_client_that_cannot_show_bars_is_not_asked(client: InMemoryClient):
    async with server_progress(client.server.connection, "Compressing") as work:
        work.report("x")
    assert client.said == []


@pytest.mark.parametrize("handlers", [{}, {"window/workDoneProgress/create": lambda _params: ValueError("no")}])
async def test_a_client_that_refuses_or_does_not_answer_stops_nothing(
    raw_client: InMemoryClient, handlers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(progress_module, "CREATE_TIMEOUT", 0.01)
    await raw_client.initialize(capabilities=CAN_SHOW)
    raw_client.handlers.update(handlers)
    async with server_progress(raw_client.server.connection, "Compressing", cancel=lambda: None) as work:
        work.report("x")
    assert shown(raw_client) == []
