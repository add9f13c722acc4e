"""Subagents over stdio: the real SDK, the emulated service, a real store."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import Emulator, Gate, answer, call, parallel


class Office:
    """Starts daemons over one store and one home."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.tmp_path, self.workspace, self.gemini = tmp_path, workspace, gemini
        self.own = tmp_path / "home" / ".gemini" / "agents"

    @asynccontextmanager
    async def server(self, *, trusted: bool = True) -> AsyncGenerator[Editor]:
        environment = server_environment(self.tmp_path, **self.gemini)
        async with editor(environment, self.workspace, options={"trusted": trusted}) as spoken:
            yield spoken


@pytest.fixture
def office(tmp_path: Path, workspace: Path, gemini_environment: dict[str, str]) -> Office:
    return Office(tmp_path, workspace, gemini_environment)


def handed(task: str, agent: str = "codebase_investigator", call_id: str = "hand-1") -> dict[str, Any]:
    """A call that hands a task over."""
    return call("invoke_agent", {"agent_name": agent, "prompt": task}, call_id=call_id)


async def test_a_subagent_works_in_a_window_of_its_own_and_hands_back_one_result(
    office: Office, emulator: Emulator
) -> None:
    emulator.script(
        answer(handed("Where is the parser?")),
        answer(call("read_file", {"file_path": "parser.py"}, call_id="r1")),
        "It is in parser.py, line 1.",
        "The parser is in parser.py.",
    )
    async with office.server() as spoken:
        result = await spoken.ask("gemini/chat", {"prompt": "Find the parser. Never touch setup.py."})
        assert result["text"] == "The parser is in parser.py."
        first, child, again, last = emulator.asked("streamGenerateContent")
        assert "codebase_investigator" in first.system
        assert "Where is the parser?" in child.prompt
        assert "Find the parser" not in str(child.contents)
        assert "invoke_agent" not in str(child.declarations)
        assert "def parse" in again.responses[0]["response"]["output"]
        assert last.responses[0]["response"]["output"] == "It is in parser.py, line 1."
        lines = [event for event in spoken.events if event["type"] == "agentActivity"]
        assert [event["kind"] for event in lines] == ["started", "tool", "toolEnded", "said", "ended"]
        listed = await spoken.ask("gemini/session/list", {})
        assert [one["sessionId"] for one in listed["sessions"]] == [result["sessionId"]]
        child_id = lines[0]["agentSessionId"]
        opened = await spoken.ask("gemini/session/history", {"sessionId": child_id, "view": "transcript"})
        assert "It is in parser.py" in str(opened["contents"])
    assert emulator.malformed == []
