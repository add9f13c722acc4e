"""Commands that end when a test says so, and a runner that starts them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from gemini_companion.tools.ports import CommandEnd, SandboxWish


class SlowCommand:
    """Runs until it is let end, or stopped."""

    def __init__(self, pid: int = 7) -> None:
        self.pid = pid
        self.output = ""
        self.stopped = False
        self.discarded = False
        self._end: asyncio.Future[CommandEnd] = asyncio.get_running_loop().create_future()

    def let_end(self, **fields: Any) -> None:
        """It ends so."""
        if not self._end.done():
            known: dict[str, Any] = {"exit_code": 0, "output": self.output, **fields}
            self._end.set_result(CommandEnd(**known))

    async def wait(self) -> CommandEnd:
        """Until it ends."""
        return await asyncio.shield(self._end)

    async def stop(self) -> CommandEnd:
        """By a signal."""
        self.stopped = True
        self.let_end(exit_code=None, signal="SIGTERM")
        return await self.wait()

    def latest(self, characters: int = 4000) -> str:
        """What the test put there."""
        return self.output[-characters:]

    def discard(self) -> None:
        """Note it."""
        self.discarded = True


class SlowRunner:
    """Starts them, and remembers how it was asked to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.started: asyncio.Queue[SlowCommand] = asyncio.Queue()
        self.on_start: Callable[[SlowCommand], None] = lambda command: None

    async def start(self, line: str, *, on_output: Callable[[str], None], **how: Any) -> SlowCommand:
        """Start one."""
        self.asked.append((line, how))
        command = SlowCommand(pid=100 + len(self.asked))
        self.on_start(command)
        if command.output:
            on_output(command.output)
        self.started.put_nowait(command)
        return command

    def describe_sandbox(self, wish: SandboxWish, roots: Sequence[str]) -> str:
        """In words."""
        return f"Sandbox: {wish.use}, network: {wish.network}."

    def forget(self, chat: str) -> None:
        """Nothing is shared."""

    async def close(self) -> None:
        """Nothing is kept."""
