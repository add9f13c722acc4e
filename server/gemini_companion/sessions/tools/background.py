"""The commands of every session: those that run, and background ones that ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import CommandsChanged
from gemini_companion.sessions.tool_results import BackgroundCommand
from gemini_companion.tools.ports import CommandEnd, CommandRunner, RunningCommand
from gemini_companion.tools.shell.commandbook import KeptCommand
from gemini_companion.tools.tool import ToolRefusal

MOST_ENDED: Final = 20
"""Background commands of a session that are remembered after their end."""
MOST_RUNNING: Final = 8
"""Background commands of one session at a time: servers and watchers of a project. They have no slot of those that end
soon, since they would keep it for ever.
"""
MOST_OF_ALL: Final = 32
"""Background commands of all sessions at a time."""
SHOWN_CHARACTERS: Final = 2_000
"""Of the output of one command, in lists for clients."""


_INSTEAD: Final = "Run it in the foreground if it ends by itself; else stop one that is not needed."


@dataclass(slots=True)
class _Kept:
    line: str
    cwd: str
    running: RunningCommand
    is_background: bool
    started_at: int
    state: Literal["running", "exited", "stopped"] = "running"
    end: CommandEnd | None = None
    waiting: asyncio.Task[None] | None = field(default=None, repr=False)

    def shown(self, call_id: str) -> BackgroundCommand:
        return BackgroundCommand(
            tool_call_id=call_id,
            command=self.line,
            cwd=self.cwd,
            started_at=self.started_at,
            state=self.state,
            exit_code=self.end.exit_code if self.end else None,
            output=self.running.latest(SHOWN_CHARACTERS),
        )


class Commands:
    """Keeps commands by session and call. `use` says how a session is found; until then there are none."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, _Kept]] = {}
        self._runners: dict[str, CommandRunner] = {}
        """Of each chat whose commands, or whose agents' commands, may share something: who ran them."""
        self._session_of: Callable[[str], Session | None] = lambda session_id: None

    def use(self, session_of: Callable[[str], Session | None]) -> None:
        """Where sessions are found."""
        self._session_of = session_of

    def began(
        self, session_id: str, call_id: str, line: str, cwd: str, running: RunningCommand, *, is_background: bool
    ) -> None:
        """A command runs. In the background, it keeps its session in use until it ends."""
        session = self._session_of(session_id)
        now = session.services.clock.now() if session else 0
        kept = _Kept(line, cwd, running, is_background, now)
        self._kept.setdefault(session_id, {})[call_id] = kept
        if session is not None and session.services.ports is not None:
            self._runners[session.principal.session_id] = session.services.ports.commands
        if is_background:
            kept.waiting = asyncio.create_task(self._until_ended(session_id, kept))
            if session is not None:
                session.use(kept.waiting, session.services.clock.monotonic())
            self._tell(session_id)

    def ended(self, session_id: str, call_id: str) -> bool:
        """A command of the foreground ended; whether a person stopped it."""
        kept = self._kept.get(session_id, {}).pop(call_id, None)
        return kept is not None and kept.state == "stopped"

    def runs_on(self, session_id: str, call_id: str) -> asyncio.Task[None] | None:
        """What waits for the end of a command in the background; `None` for one that has none, or that has ended."""
        kept = self._kept.get(session_id, {}).get(call_id)
        return kept.waiting if kept is not None and kept.is_background and kept.state == "running" else None

    def background(self, session_id: str) -> Sequence[KeptCommand]:
        """The session's commands in the background, oldest first."""
        return [
            KeptCommand(
                call_id=call_id,
                pid=kept.running.pid,
                command=kept.line,
                state=kept.state,
                running=kept.running,
                end=kept.end,
            )
            for call_id, kept in self._kept.get(session_id, {}).items()
            if kept.is_background
        ]

    def refusal(self, session_id: str) -> str:
        """Why no other command may begin in the background, for the model; empty if one may."""
        running = {session: self._running(session) for session in self._kept}
        if running.get(session_id, 0) >= MOST_RUNNING:
            return f"{MOST_RUNNING} commands of this chat run in the background already, and no more may. {_INSTEAD}"
        if sum(running.values()) >= MOST_OF_ALL:
            return f"{MOST_OF_ALL} commands of all chats run in the background already, and no more may. {_INSTEAD}"
        return ""

    def _running(self, session_id: str) -> int:
        kept = self._kept[session_id].values()
        return sum(one.is_background and one.state == "running" for one in kept)

    def list(self, session_id: str) -> tuple[BackgroundCommand, ...]:
        """The commands that run, and background ones that ended, oldest first."""
        return tuple(kept.shown(call_id) for call_id, kept in self._kept.get(session_id, {}).items())

    async def stop(self, session_id: str, call_id: str) -> bool:
        """End a command, in the background or not; whether it ran. Its call goes on with what it put out."""
        kept = self._kept.get(session_id, {}).get(call_id)
        if kept is None or kept.state != "running":
            return False
        kept.state = "stopped"
        try:
            kept.end = await kept.running.stop()
        except ToolRefusal:
            return False  # it had not even started
        if kept.is_background:
            self._forget_old(session_id)
            self._tell(session_id)
        return True

    async def end(self, session_id: str) -> None:
        """The session ends: so do its commands."""
        commands = self._kept.pop(session_id, {}).values()
        await asyncio.gather(*(kept.running.stop() for kept in commands), return_exceptions=True)
        await asyncio.gather(*(kept.waiting for kept in commands if kept.waiting), return_exceptions=True)
        for kept in commands:
            if kept.is_background:  # the call of another one takes its output
                kept.running.discard()
        if runner := self._runners.pop(session_id, None):
            runner.forget(session_id)

    async def close(self) -> None:
        """The daemon ends: so do all commands."""
        await asyncio.gather(*(self.end(session_id) for session_id in tuple(self._kept)))

    async def _until_ended(self, session_id: str, kept: _Kept) -> None:
        try:
            kept.end = await kept.running.wait()
        except ToolRefusal:
            kept.end = None
        if kept.state == "running":
            kept.state = "exited"
            self._forget_old(session_id)
            self._tell(session_id)

    def _forget_old(self, session_id: str) -> None:
        commands = self._kept.get(session_id, {})
        ended = [call_id for call_id, kept in commands.items() if kept.is_background and kept.state != "running"]
        for call_id in ended[:-MOST_ENDED]:
            commands.pop(call_id).running.discard()

    def _tell(self, session_id: str) -> None:
        session = self._session_of(session_id)
        if session is not None:
            shown = tuple(command for command in self.list(session_id))
            background = {id_ for id_, kept in self._kept.get(session_id, {}).items() if kept.is_background}
            session.emit(
                CommandsChanged(commands=tuple(command for command in shown if command.tool_call_id in background))
            )
