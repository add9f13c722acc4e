"""Rounds over stdio: the real SDK, the emulated service, a real process that is killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer, call
from tests.support.patience import PATIENCE
from tests.support.tool_server import COMMAND

ROOT = str(Path(__file__).resolve().parents[2])


class Desk:
    """Starts servers over one store."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.tmp_path, self.workspace, self.gemini = tmp_path, workspace, gemini
        self.log = workspace / "log.txt"

    @asynccontextmanager
    async def server(self, consent: str = "") -> AsyncGenerator[Editor]:
        environment = server_environment(self.tmp_path, **self.gemini, COMPANION_TEST_CONSENT=consent)
        environment["PYTHONPATH"] += f":{ROOT}"
        async with editor(environment, self.workspace, options={"trusted": True}, command=COMMAND) as spoken:
            yield spoken

    def act(self, content: str) -> dict[str, Any]:
        """A call that writes a line."""
        return call("act", {"file_path": str(self.log), "content": content}, call_id=content)


@pytest.fixture
def desk(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Desk:
    return Desk(tmp_path, workspace, gemini_environment)


async def transcript(spoken: Editor, session_id: str) -> list[dict[str, Any]]:
    page = await spoken.ask("gemini/session/history", {"view": "transcript", "sessionId": session_id})
    return list(page["contents"])


async def asked(spoken: Editor, session_id: str) -> None:
    """Wait until the log says that the person is asked: what is written is in an export."""
    async with asyncio.timeout(PATIENCE):
        while '"state":"asked"' not in "".join(
            (await spoken.ask("gemini/session/export", {"sessionId": session_id, "format": "companion"}))[
                "content"
            ].split()
        ):
            pass


async def test_a_prompt_leads_to_calls_their_results_and_an_answer(desk: Desk, emulator: Emulator) -> None:
    look = call("look", {"file_path": str(desk.workspace / "parser.py")}, call_id="look-1")
    emulator.script(answer("I look.", look), answer(desk.act("one")), "All done.")
    async with desk.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Go."})
        assert (result["text"], result["finishReason"]) == ("All done.", "STOP")
        second, third = emulator.asked("streamGenerateContent")[1:]
        assert "def parse" in second.responses[0]["response"]["output"]
        assert third.responses == [{"id": "one", "name": "act", "response": {"output": "done"}}]
        assert desk.log.read_text("utf-8") == "one\n"
        kinds = [event["type"] for event in spoken.events if event["type"].startswith("toolCall")]
        assert kinds == [
            *("toolCallStarted", "toolCallStarted", "toolCallCompleted"),
            *("toolCallStarted", "toolCallStarted", "toolCallProgress", "toolCallCompleted"),
        ]
        items = await transcript(spoken, result["sessionId"])
        assert [record["summary"] for item in items for record in item.get("calls", [])] == ["1 file", "1 line"]
        context = await spoken.ask("gemini/context", {})
        assert context["byPart"]["tools"] > 0
    assert emulator.malformed == []


async def test_a_prompt_can_steer_the_turn_under_way(desk: Desk, emulator: Emulator) -> None:
    gate = Gate()
    emulator.script(answer("Wait.", gate, desk.act("one")), "Both done.")
    async with desk.server() as spoken:
        first = spoken.start("gemini/chat", {"prompt": "Go."})
        await gate.wait_reached()
        second = spoken.start("gemini/chat", {"prompt": "And be quick.", "steer": True})
        await spoken.wait_for("promptSteered")
        gate.release()
        assert (await first)["turnId"] == (await second)["turnId"]
        parts = emulator.asked("streamGenerateContent")[1].contents[-1]["parts"]
        assert parts[1] == {"text": "And be quick."}


async def test_cancelling_stops_a_running_tool_and_keeps_the_rounds_before_it(desk: Desk, emulator: Emulator) -> None:
    emulator.script(answer(desk.act("one")), answer(desk.act("wait")))
    async with desk.server() as spoken:
        chat = spoken.start("gemini/chat", {"prompt": "Go."})
        await spoken.wait_for("toolCallProgress", 2)
        assert (await spoken.ask("gemini/cancel", {}))["cancelled"]
        with pytest.raises(Exception, match="cancelled"):
            await chat
        emulator.script("It goes on.", method="streamGenerateContent")  # a title may be asked for just now
        result = await spoken.ask("gemini/chat/resume", {})
        assert result["text"] == "It goes on."
        (response,) = emulator.asked("streamGenerateContent")[-1].responses
        assert "Interrupted by the user" in response["response"]["error"]


async def test_a_tool_that_ran_when_the_daemon_was_killed_is_told_of_and_the_turn_goes_on(
    desk: Desk, emulator: Emulator
) -> None:
    emulator.script(answer(desk.act("one")), answer(desk.act("wait")))
    async with desk.server() as spoken:
        spoken.start("gemini/chat", {"prompt": "Go."})
        await spoken.wait_for("toolCallProgress", 2)
        session_id = spoken.envelopes[-1]["sessionId"]
        await spoken.kill()
    async with desk.server() as spoken:
        await spoken.ask("gemini/session/open", {"sessionId": session_id, "takeOver": True})
        items = await transcript(spoken, session_id)
        assert [record["outcome"] for item in items for record in item.get("calls", [])] == ["ok", "interrupted"]
        emulator.script("It goes on.", method="streamGenerateContent")  # a title may be asked for just now
        assert (await spoken.ask("gemini/chat/resume", {}))["text"] == "It goes on."
        (response,) = emulator.asked("streamGenerateContent")[-1].responses
        assert "what it did is unknown" in response["response"]["error"]
    assert desk.log.read_text("utf-8") == "one\nwait\n"
    assert emulator.malformed == []


async def test_a_question_that_was_open_when_the_daemon_was_killed_comes_again(desk: Desk, emulator: Emulator) -> None:
    emulator.script(answer(desk.act("one")))
    async with desk.server("ask") as spoken:
        spoken.start("gemini/chat", {"prompt": "Go."})
        await spoken.wait_for("toolCallStarted")
        session_id = spoken.envelopes[-1]["sessionId"]
        await asked(spoken, session_id)
        await spoken.kill()
    assert not desk.log.exists()
    async with desk.server() as spoken:
        emulator.script("Written.", method="streamGenerateContent")  # a title may be asked for just now
        await spoken.ask("gemini/session/open", {"sessionId": session_id, "takeOver": True})
        await spoken.wait_for("turnCompleted")
        assert desk.log.read_text("utf-8") == "one\n"
        items = await transcript(spoken, session_id)
        assert [item["kind"] for item in items] == ["prompt", "reply", "toolResult", "reply"]
