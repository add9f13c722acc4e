"""How much goes on at once in a real daemon: requests at the emulated service, commands, and who is next."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer, call, parallel

STREAM = "streamGenerateContent"


class Crowd:
    """A daemon with few slots, several sessions, and answers of the service that the test lets go one by one."""

    def __init__(self, tmp_path: Path, workspace: Path, emulator: Emulator, gemini: dict[str, str]) -> None:
        self.tmp_path, self.workspace, self.emulator, self.gemini = tmp_path, workspace, emulator, gemini
        self.gates: list[Gate] = []
        self.spoken: Editor

    @asynccontextmanager
    async def daemon(self, **limits: int) -> AsyncGenerator[Editor]:
        own = self.tmp_path / "home" / ".gemini" / "settings.json"
        own.parent.mkdir(parents=True)
        own.write_text(json.dumps({"companion": {"limits": limits}}), "utf-8")
        environment = server_environment(self.tmp_path, **self.gemini)
        options = {"trusted": True, "supports": ["confirmTool"]}
        answers = {"gemini/confirmTool": lambda question: {"outcome": "once"}}
        async with editor(environment, self.workspace, options=options, answers=answers) as self.spoken:
            try:
                yield self.spoken
            finally:
                self.release()

    def gated(self, *pieces: Any) -> None:
        """The next answer: it comes once the test says so."""
        self.gates.append(Gate())
        self.emulator.script(answer(self.gates[-1], *pieces), method=STREAM)

    def release(self) -> None:
        """Let every answer come."""
        for gate in self.gates:
            gate.release()

    async def sessions(self, count: int) -> list[str]:
        return [(await self.spoken.ask("gemini/session/new"))["sessionId"] for _ in range(count)]

    def chat(self, session: str, prompt: str) -> asyncio.Task[Any]:
        return self.spoken.start("gemini/chat", {"sessionId": session, "prompt": prompt})

    async def arrived(self, count: int) -> None:
        await self.emulator.wait_for_request(count, STREAM)

    def asked(self) -> list[str]:
        """The prompts that have reached the service, in order."""
        return [_last_line(request.prompt) for request in self.emulator.asked(STREAM)]


def _last_line(prompt: str) -> str:
    return prompt.strip().splitlines()[-1].rpartition(">")[2]


@pytest.fixture
def crowd(tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]) -> Crowd:
    return Crowd(tmp_path, workspace, emulator, gemini_environment)


async def test_two_requests_of_six_sessions_are_out_at_once_and_each_has_its_turn(crowd: Crowd) -> None:
    prompts = [f"prompt {number}" for number in range(6)]
    async with crowd.daemon(modelCalls=2) as spoken:
        sessions = await crowd.sessions(6)
        for prompt in prompts:
            crowd.gated(f"Answer to {prompt}.")
        tasks = []
        for number, (session, prompt) in enumerate(zip(sessions, prompts, strict=True)):
            tasks.append(crowd.chat(session, prompt))
            if number < 2:
                await crowd.arrived(number + 1)
            else:
                await spoken.wait_for("waitingForSlot", number - 1)
        assert crowd.asked() == prompts[:2], "four say that they wait, and have asked nothing"
        assert {event["kind"] for event in spoken.of("waitingForSlot")} == {"model"}
        for released in range(6):
            crowd.gates[released].release()
            expected = min(6, released + 3)
            await crowd.arrived(expected)
            assert len(crowd.asked()) == expected, "no more than two are not answered yet"
        results = await asyncio.gather(*tasks)
        assert [result["text"] for result in results] == [f"Answer to {prompt}." for prompt in prompts]
        assert crowd.asked() == prompts, "in the order in which they came"
        over = [event for event in spoken.of("waitingForSlot") if event.get("isOver")]
        assert len(over) == 4
    assert crowd.emulator.malformed == []


async def test_a_chat_with_many_subagents_has_one_share(crowd: Crowd) -> None:
    handed = [("invoke_agent", {"agent_name": "codebase_investigator", "prompt": f"task {n}"}) for n in range(3)]
    async with crowd.daemon(modelCalls=1) as spoken:
        many, single = await crowd.sessions(2)
        crowd.emulator.script(answer(*parallel(*handed)), method=STREAM)
        for _ in range(4):
            crowd.gated("Found.")
        busy = crowd.chat(many, "Look everywhere.")
        await crowd.arrived(2)
        await spoken.wait_for("waitingForSlot")
        other = crowd.chat(single, "One question.")
        await spoken.wait_for("waitingForSlot", 2)
        for released in range(3):
            crowd.gates[released].release()
            await crowd.arrived(released + 3)
        assert [prompt.startswith("task") for prompt in crowd.asked()[1:]] == [True, True, False, True]
        crowd.emulator.script("All found.", method=STREAM)
        crowd.gates[3].release()
        assert (await other)["text"] == "Found."
        assert (await busy)["text"] == "All found."
    assert crowd.emulator.malformed == []


async def test_a_turn_that_waits_is_cancelled_while_the_other_goes_on(crowd: Crowd) -> None:
    async with crowd.daemon(modelCalls=1) as spoken:
        first, second, third = await crowd.sessions(3)
        crowd.gated("Of the first.")
        crowd.emulator.script("Of the third.", method=STREAM)
        answered = crowd.chat(first, "first")
        await crowd.arrived(1)
        doomed = crowd.chat(second, "second")
        await spoken.wait_for("waitingForSlot")
        assert (await spoken.ask("gemini/cancel", {"sessionId": second}))["cancelled"]
        with pytest.raises(JsonRpcException, match="cancelled"):
            await doomed
        assert crowd.asked() == ["first"]
        last = crowd.chat(third, "third")
        crowd.gates[0].release()
        assert (await answered)["text"] == "Of the first."
        assert (await last)["text"] == "Of the third."
        assert crowd.asked() == ["first", "third"]


async def test_a_limit_of_the_settings_counts_while_the_daemon_runs(crowd: Crowd) -> None:
    async with crowd.daemon(modelCalls=1) as spoken:
        sessions = await crowd.sessions(3)
        for number in range(3):
            crowd.gated(f"Answer {number}.")
        tasks = [crowd.chat(session, f"prompt {number}") for number, session in enumerate(sessions)]
        await spoken.wait_for("waitingForSlot", 2)
        own = crowd.tmp_path / "home" / ".gemini" / "settings.json"
        own.write_text(json.dumps({"companion": {"limits": {"modelCalls": 3}}}), "utf-8")
        await crowd.arrived(3)
        crowd.release()
        await asyncio.gather(*tasks)


async def test_commands_wait_for_each_other_and_a_background_one_keeps_no_slot(crowd: Crowd) -> None:
    until = "until [ -e go ]; do sleep 0.05; done; echo gone"
    async with crowd.daemon(processes=1) as spoken:
        first, second = await crowd.sessions(2)
        serve = {"command": until, "is_background": True}
        crowd.emulator.script(answer(call("run_shell_command", serve, call_id="b")), "It serves.", method=STREAM)
        assert (await spoken.ask("gemini/chat", {"sessionId": first, "prompt": "Serve."}))["text"] == "It serves."
        shell = call("run_shell_command", {"command": until}, call_id="c")
        crowd.emulator.script(answer(shell), method=STREAM)
        running = crowd.chat(first, "Run it.")
        await crowd.arrived(3)
        await spoken.wait_for("toolCallStarted", 4)
        crowd.emulator.script(answer(call("run_shell_command", {"command": "echo hi"}, call_id="d")), method=STREAM)
        waits = crowd.chat(second, "Say hi.")
        assert (await spoken.wait_for("waitingForSlot"))["kind"] == "process"
        crowd.emulator.script("It ended.", "It ended.", method=STREAM)
        (crowd.workspace / "go").touch()
        for result in await asyncio.gather(running, waits):
            assert result["text"] == "It ended."
        outputs = [json.dumps(request.responses) for request in crowd.emulator.asked(STREAM)[-2:]]
        assert any("gone" in output for output in outputs)
        assert any("hi" in output for output in outputs)
