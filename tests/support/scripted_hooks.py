"""Hooks whose commands a test stands in for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from typing import Any

from gemini_companion.engine.hooks.answers import HookEnd
from gemini_companion.engine.hooks.config import Hook, HookOptions
from gemini_companion.sessions.hooks.service import HooksOfSessions
from tests.support.patience import PATIENCE
from tests.support.sessions import Studio


class ScriptedHooks:
    """Runs no process: each command has its answers, and what it was told is remembered."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.queues: dict[str, list[Any]] = {}
        """Answers ahead of those, each once."""
        self.told: list[dict[str, Any]] = []
        self.places: list[tuple[str, Mapping[str, str]]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def run(
        self,
        command: str,
        *,
        cwd: str,
        stdin: bytes,
        env: Mapping[str, str],
        limit_seconds: float,
        is_own: bool = False,
    ) -> HookEnd:
        self.told.append(json.loads(stdin))
        self.places.append((cwd, env))
        await self.gate.wait()
        queue = self.queues.get(command)
        answer = queue.pop(0) if queue else self.answers.get(command, {})
        return answer if isinstance(answer, HookEnd) else HookEnd(stdout=json.dumps(answer), duration_ms=7)


def use(studio: Studio, *hooks: Hook, **options: Any) -> ScriptedHooks:
    runner = ScriptedHooks()
    studio.services.hooks = HooksOfSessions(runner, home="/home/me")
    studio.set(hooks=HookOptions(hooks=hooks, **options))
    return runner


def hook(event: Any, command: str = "c", **more: Any) -> Hook:
    return Hook(event=event, command=command, **more)


async def request(work: Coroutine[Any, Any, Any]) -> None:
    """Do it as a client's request: in a task that ends."""
    async with asyncio.timeout(PATIENCE):
        await asyncio.create_task(work)


def context(text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"additionalContext": text}}
