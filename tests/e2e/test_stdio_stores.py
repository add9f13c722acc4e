"""Servers on one store: killed at any moment, and two at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.editor_client import editor, server_environment

pytestmark = pytest.mark.asyncio


async def test_killed_at_any_moment_nothing_acknowledged_is_lost(tmp_path: Path, workspace: Path) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as spoken:
        first = await spoken.ask("gemini/chat", {"prompt": "remember the port 8123"})
        chat = spoken.start("gemini/chat", {"prompt": "and another thing " * 200})
        await spoken.wait_for("turnStarted", 2)
        await spoken.kill()
        chat.cancel()
        await asyncio.gather(chat, return_exceptions=True)
    async with editor(environment, workspace) as again:
        info = await again.ask("gemini/session/open", {"sessionId": first["sessionId"]})
        assert info["sessionId"] == first["sessionId"]
        transcript = (await again.ask("gemini/session/history", {"view": "transcript"}))["contents"]
        assert transcript[0]["parts"] == [{"text": "remember the port 8123"}] or transcript[1]["parts"] == [
            {"text": "remember the port 8123"}
        ]
        assert (await again.ask("gemini/compressionStatus"))["state"] == "idle"
        result = await again.ask("gemini/chat", {"prompt": "which port?"})
        assert "8123" in result["text"]


async def test_two_servers_on_one_store_lose_nothing_and_the_second_is_told_who_holds_the_session(
    tmp_path: Path, workspace: Path
) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as first, editor(environment, workspace) as second:
        started = await first.ask("gemini/chat", {"prompt": "remember the port 8123"})
        listed = await second.ask("gemini/session/list", {"query": "8123"})
        assert [info["sessionId"] for info in listed["sessions"]] == [started["sessionId"]]
        assert isinstance(listed["sessions"][0]["heldBy"], int)
        await second.ask("gemini/session/open", {"sessionId": started["sessionId"]})
        refused = await second.fails("gemini/chat", {"prompt": "mine"})
        assert refused.code == 1002
        held = {"sessionId": started["sessionId"]}
        read = await second.ask("gemini/session/history", {**held, "view": "transcript"})
        assert read["contents"][0]["parts"] == [{"text": "remember the port 8123"}]
        assert (await second.ask("gemini/compression/list", held))["compressions"] == []
        assert (await second.ask("gemini/context", held))["tokenCount"] > 0
        opened = await second.ask("gemini/session/open", held)
        assert opened["heldBy"] == listed["sessions"][0]["heldBy"]
        own = await second.ask("gemini/session/new", {})
        results = await asyncio.gather(
            *(first.ask("gemini/chat", {"prompt": f"one {number}"}) for number in range(5)),
            *(second.ask("gemini/chat", {"prompt": f"two {number}"}) for number in range(5)),
        )
        assert {result["sessionId"] for result in results} == {started["sessionId"], own["sessionId"]}
        for spoken, session_id, count in ((first, started["sessionId"], 12), (second, own["sessionId"], 10)):
            said = (await spoken.ask("gemini/session/history", {"sessionId": session_id, "view": "transcript"}))[
                "contents"
            ]
            said = [item for item in said if item["kind"] != "ide"]
            assert len(said) == count
            assert not any(item.get("outcome") for item in said)


async def test_an_editor_whose_session_is_taken_is_told_so_while_it_does_nothing_and_can_take_it_back(
    tmp_path: Path, workspace: Path
) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as first, editor(environment, workspace) as second:
        held = {"sessionId": (await first.ask("gemini/chat", {"prompt": "remember the port 8123"}))["sessionId"]}
        await second.ask("gemini/session/open", {**held, "takeOver": True})
        await second.ask("gemini/chat", {**held, "prompt": "and 9000"})
        await first.is_told(held["sessionId"])
        assert (await first.ask("gemini/session/open", held))["heldBy"] == second.pid
        said = (await first.ask("gemini/session/history", {**held, "view": "transcript"}))["contents"]
        assert {"text": "and 9000"} in [part for item in said for part in item["parts"]]
        assert "heldBy" not in await first.ask("gemini/session/open", {**held, "takeOver": True})
        await second.is_told(held["sessionId"])
        assert (await first.ask("gemini/chat", {**held, "prompt": "mine again"}))["text"]
        assert first.taken == second.taken == [held["sessionId"]]


async def test_the_newest_turns_of_a_stored_chat_come_while_it_is_being_opened(tmp_path: Path, workspace: Path) -> None:
    environment = server_environment(tmp_path)
    async with editor(environment, workspace) as spoken:
        chat = await spoken.ask("gemini/chat", {"prompt": "remember the port 8123"})
        for number in range(3):
            await spoken.ask("gemini/chat", {"prompt": f"and the port 900{number}"})
    named = {"sessionId": chat["sessionId"]}
    async with editor(environment, workspace) as again:
        newest = again.start("gemini/session/newest", {**named, "limit": 5})
        opening = again.start("gemini/session/open", named)
        await asyncio.wait({newest, opening}, return_when=asyncio.FIRST_COMPLETED)
        assert newest.done()
        ahead = await newest
        info = await opening
        assert (ahead["session"]["sessionId"], ahead["session"]["title"]) == (info["sessionId"], info["title"])
        whole = (await again.ask("gemini/session/history", {**named, "view": "transcript"}))["contents"]
        assert 0 < len(ahead["contents"]) <= 5
        assert ahead["contents"] == whole[-len(ahead["contents"]) :]
        assert (await again.ask("gemini/session/newest", {**named, "limit": 5}))["contents"] == ahead["contents"]
        gone = await again.fails("gemini/session/newest", {"sessionId": "nothing"})
        assert gone.code == 1001
        assert (await again.fails("gemini/session/newest", {**named, "limit": 0})).code == -32602
