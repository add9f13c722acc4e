"""What tools need of whoever keeps a session's commands, and what a model is shown of their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from gemini_companion.engine.ide_context.secrets import mask_secrets
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


def without_secrets(text: str) -> str:
    """The output as `read_file` shows a text, and word of it where that differs.

    Takes some time with a long text, so not on the event loop.
    """
    masked, count = mask_secrets(text)
    if not count:
        return text
    lead = "" if masked.endswith("\n") else "\n"
    what = "One secret is" if count == 1 else f"{count} secrets are"
    return f"{masked}{lead}[{what} masked as [masked: …]; the command's own output has the value.]\n"
