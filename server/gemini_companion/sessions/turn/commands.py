"""From a slash command that was typed to the parts that go to the model: its files read, its shell lines run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from gemini_companion.engine.errors import Blocked
from gemini_companion.engine.history.command_use import CommandUse
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.part import response_of, text_of
from gemini_companion.engine.history.tool_entries import CallRecord
from gemini_companion.engine.prompts.attachments import file_brought_in, folder_brought_in, of_command
from gemini_companion.sessions.commands.registry import TypedCommand
from gemini_companion.sessions.context.mentions import MAX_CHARACTERS, Attached, Frames, attach_one
from gemini_companion.sessions.context.prompt_check import MISSING
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.called import Called, Ended
from gemini_companion.sessions.tools.calls import BY_END, BY_USER, Setting
from gemini_companion.sessions.tools.rounds import Round
from gemini_companion.sessions.turn.prompt import without_slash
from gemini_companion.tools.shell.rules import TOOL
from gemini_companion.tools.shell.run_shell_command import bare
from gemini_companion.tools.tool import ToolCall, ToolRefusal

_FRAMES: Final = Frames(file_brought_in, folder_brought_in)
_HINT: Final = "Nothing was sent to the model."


@dataclass(slots=True, kw_only=True)
class Expanding:
    """One command on its way. It is the `Room` that its source gets."""

    setting: Setting
    typed: TypedCommand
    _attached: Attached = field(init=False, default_factory=Attached)
    _left: int = field(init=False, default=MAX_CHARACTERS)
    _calls: list[CallRecord] = field(init=False, default_factory=list[CallRecord])
    _round: Round | None = field(init=False, default=None)

    async def into(self, attached: Attached) -> None:
        """Put what it stands for into what goes along with the prompt. Raises `CompanionError`."""
        command, source, typed = self.typed
        parts = await source.expanded(command, typed, self)
        attached.expansion = tuple(
            part if (text := text_of(part)) is None else of_command(typed.name, text) for part in parts
        )
        attached.command = CommandUse(
            name=typed.name,
            scope=command.scope,
            owner=command.owner,
            path=command.path,
            parts=len(attached.expansion),
            files=tuple(self._attached.attachments),
            withheld=tuple(self._attached.withheld),
            calls=tuple(self._calls),
        )

    async def text_of_file(self, path: str) -> str:
        """A file or folder of the workspace, framed; why it is withheld, if it is. See `Room`."""
        session, client, attached = self.setting.session, self.setting.client, self._attached
        folders = client.folders or session.meta.workspace_folders
        (found,) = await session.services.workspace.find([(path,)], folders)
        before = len(attached.parts)
        if found is None:
            attached.withhold(path, MISSING)
        else:
            self._left -= await attach_one(session, client, found, attached, self._left, _FRAMES)
        if len(attached.parts) > before:
            return text_of(attached.parts[-1]) or ""
        return f"[{attached.withheld[-1].name} is not brought in: {attached.withheld[-1].reason}]"

    async def run(self, commands: Sequence[str], *, asks: str) -> list[str]:
        """The outputs of shell lines; see `Room`."""
        for line in commands:
            await self._check(line)
        return [await self._output(line, number, asks) for number, line in enumerate(commands)]

    def stopped(self, by: str) -> None:
        """The turn was cancelled: what ran has its end in the log and in every view."""
        if self._round is not None:
            self._round.close(BY_END if by == "shutdown" else BY_USER)

    async def _check(self, line: str) -> None:
        """Refuse a line that no person could let through, before any has run. Raises `Blocked`."""
        session = self.setting.session
        try:
            tool = session.services.tools.find(TOOL)
            context = self.setting.context("", lambda _: None)
            args = session.services.tools.decode(tool, _args(line))
            refusal = await self.setting.tooling.consent.refusal(
                session, tool, await tool.propose(args, context), context
            )
        except ToolRefusal as fault:
            refusal = fault.message
        if refusal:
            raise self._blocked(line, refusal)

    async def _output(self, line: str, number: int, asks: str) -> str:
        session = self.setting.session
        call = ToolCall(call_id=session.services.new_id("call"), name=TOOL, args=_args(line), number=number)
        self._round = running = Round([Called(call=call, wire_id=None)], replace(self.setting, asks=asks))
        await running.run()
        self._round = None
        (ended,) = running.ended
        self._calls.append(ended.record)
        said, refusal = _said(ended)
        if ended.record.outcome in ("declined", "interrupted") or (not ended.acted and refusal):
            raise self._blocked(line, refusal or ended.record.consent or ended.record.summary)
        return bare(said or refusal)

    def _blocked(self, line: str, why: str) -> Blocked:
        shown = " ".join(line.split())
        shown = shown if len(shown) <= 120 else f"{shown[:119]}…"
        return Blocked(f"/{self.typed.typed.name} was not carried out: its command `{shown}` {_did(why)}", hint=_HINT)


def _args(line: str) -> dict[str, Any]:
    return {"command": line}


def _said(ended: Ended) -> tuple[str, str]:
    """Output and error of a call."""
    response: object = (response_of(ended.part) or {}).get("response")
    told = cast("dict[str, object]", response) if isinstance(response, dict) else {}
    output, error = told.get("output"), told.get("error")
    return output if isinstance(output, str) else "", error if isinstance(error, str) else ""


def _did(why: str) -> str:
    return f"did not run. {why.strip()}" if why.strip() else "did not run."


async def read_command(session: Session, prompt: tuple[Part, ...]) -> tuple[tuple[Part, ...], TypedCommand | None]:
    """The prompt, and the command that it is, if it is one. Of two slashes before a command's name the first goes."""
    commands = session.services.slash_commands
    if (typed := await commands.typed(prompt)) is None and await commands.is_escaped(prompt):
        prompt = without_slash(prompt)
    return prompt, typed


async def expand_into(
    setting: Setting, typed: TypedCommand, attached: Attached, *, stopped_by: Callable[[], str]
) -> None:
    """Expand a command within a turn; a cancellation, of whom `stopped_by` says, ends what it runs.

    Raises `CompanionError`.
    """
    expanding = Expanding(setting=setting, typed=typed)
    try:
        await expanding.into(attached)
    except asyncio.CancelledError:
        expanding.stopped(stopped_by())
        raise
