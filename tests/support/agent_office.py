"""Daemons for tests of subagents over stdio, and the calls that hand a task over."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.editor_client import Editor, editor, server_environment
from tests.support.emulator import call

ASKS = ["confirmTool", "askUser", "diagnostics"]


class Office:
    """Starts daemons over one store and one home."""

    def __init__(self, tmp_path: Path, workspace: Path, gemini: dict[str, str]) -> None:
        self.tmp_path, self.workspace, self.gemini = tmp_path, workspace, gemini
        self.asked: list[Any] = []
        self.own = tmp_path / "home" / ".gemini" / "agents"

    @asynccontextmanager
    async def server(self, *, trusted: bool = True, answers: str = "") -> AsyncGenerator[Editor]:
        """With `answers`, every question of consent gets that outcome, and is kept in `asked`."""
        environment = server_environment(self.tmp_path, **self.gemini)
        options = {"trusted": trusted, "supports": ASKS if answers else []}

        def confirm(question: Any) -> Any:
            self.asked.append(question)
            return {"outcome": answers}

        replies = {"gemini/confirmTool": confirm} if answers else {}
        async with editor(environment, self.workspace, options=options, answers=replies) as spoken:
            yield spoken


def handed(task: str, agent: str = "codebase_investigator", call_id: str = "hand-1") -> dict[str, Any]:
    """A call that hands a task over."""
    return call("invoke_agent", {"agent_name": agent, "prompt": task}, call_id=call_id)
