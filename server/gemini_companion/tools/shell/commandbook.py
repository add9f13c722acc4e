"""What tools need of whoever keeps a session's commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from gemini_companion.tools.ports import CommandEnd, RunningCommand


class KeptCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command that runs in the background, or that did."""

    call_id: str
    pid: int
    command: str
    state: Literal["running", "exited", "stopped"]
    running: RunningCommand
    end: CommandEnd | None = None
    """How it ended."""


class CommandBook(Protocol):
    """The commands of every session."""

    def began(
        self, session_id: str, call_id: str, line: str, cwd: str, running: RunningCommand, *, is_background: bool
    ) -> None:
        """A command runs; it is stopped with its session."""
        ...

    def ended(self, session_id: str, call_id: str) -> bool:
        """A command of the foreground ended; whether a person stopped it."""
        ...

    def refusal(self, session_id: str) -> str:
        """Why no other command may begin in the background, for the model; empty if one may."""
        ...

    def background(self, session_id: str) -> Sequence[KeptCommand]:
        """The session's commands in the background, oldest first."""
        ...

    async def stop(self, session_id: str, call_id: str) -> bool:
        """End a command; whether it ran."""
        ...
