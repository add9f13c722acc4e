"""A studio whose model calls a tool that writes, and whose person answers as the test says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.tool_entries import Mode, ToolRule
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.results import ChatResult
from gemini_companion.sessions.tool_events import ToolQuestionAsked
from gemini_companion.sessions.tool_results import ToolQuestion
from gemini_companion.sessions.tools.consent_service import ConsentService
from gemini_companion.sessions.tools.editor import ClientEditor, can_ask
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.settings.tool_rules import SettingsRule, ToolOptions
from gemini_companion.tools.documents import EditAnswer, FileDiagnostics
from gemini_companion.tools.policy.lines import LineJudge
from gemini_companion.tools.tool import Proposal, Risk, Shape, Tool, ToolContext, ToolOutput, Touched
from tests.support.patience import until
from tests.support.scripted_model import calls
from tests.support.sessions import Studio

Answer = ConsentAnswer | None | Callable[[], Awaitable[ConsentAnswer | None]]


class Person:
    """Answers what is asked; remembers it."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.words: list[str | None] = []
        self.asked: list[ToolQuestion] = []
        self.questions: list[tuple[str, tuple[str, ...]]] = []
        self.seconds: list[float] = []
        self.taken_back = 0

    async def never(self) -> None:
        """The answer of somebody who has left the desk."""
        await asyncio.Event().wait()

    async def confirm(self, question: ToolQuestion, seconds: float) -> ConsentAnswer | None:
        self.asked.append(question)
        self.seconds.append(seconds)
        answer = self.answers.pop(0)
        try:
            return await answer() if callable(answer) else answer
        except asyncio.CancelledError:
            self.taken_back += 1
            raise

    async def ask(
        self, session_id: str, call_id: str, question: str, options: Sequence[str], *, allows_text: bool, seconds: float
    ) -> str | None:
        self.questions.append((question, tuple(options)))
        return self.words.pop(0) if self.words else None

    async def diagnostics(self, paths: Sequence[str], *, wait_ms: int) -> tuple[FileDiagnostics, ...] | None:
        return None

    async def apply_edit(self, path: str, before: str, after: str, label: str) -> EditAnswer:
        return "unable"

    async def save(self, path: str) -> bool:
        return False


class RulesInMemory:
    """The user's own rules, where there is no file."""

    def __init__(self) -> None:
        self.rules: list[ToolRule] = []
        self.is_broken = False

    def add_rule(self, rule: ToolRule) -> None:
        if self.is_broken:
            raise StorageFault("The disk is full.")
        self.rules.append(rule)

    def remove_rule(self, rule_id: str) -> bool:
        return False


class WriteArgs(msgspec.Struct, frozen=True, kw_only=True):
    """A file and its text."""

    file_path: str
    content: str = ""


class WriteTool:
    """Writes to a dictionary."""

    name = "write_file"
    aliases = ()
    description = "Write a file."
    arguments = WriteArgs
    risk: Risk = "edit"
    shape: Shape = "file"

    def __init__(self) -> None:
        self.on_disk: dict[str, str] = {}
        self.written: dict[str, str] = {}
        self.guarded: set[str] = set()
        self.ends_lines = False
        """Its files end their last line."""

    def as_written(self, content: str) -> str:
        return content if content.endswith("\n") or not self.ends_lines else f"{content}\n"

    def proposal_of(self, file_path: str, content: str) -> Proposal:
        path = f"/project/{file_path}"
        return Proposal(
            title=f"Edit {file_path}",
            touched=(Touched(path=path, how="write", is_guarded=path in self.guarded),),
            path=path,
            new_content=content,
            diff=f"-{self.on_disk.get(path, '')}\n+{content}",
        )

    async def propose(self, args: WriteArgs, context: ToolContext) -> Proposal:
        return self.proposal_of(args.file_path, self.as_written(args.content))

    async def run(self, args: WriteArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        self.written[proposal.path or ""] = self.as_written(args.content)
        return ToolOutput(output="written")


class ConsentStudio(Studio):
    """A studio with consent, a tool that writes, and a person before the first client."""

    def __init__(self, tmp_path: Path, *more: Tool[Any], judge: LineJudge | None = None) -> None:
        self.tool, self.own = WriteTool(), RulesInMemory()
        self.consent = ConsentService(judge=judge, own=self.own)
        tooling = Tooling(consent=self.consent, editor_of=ClientEditor, can_ask=can_ask)
        super().__init__(tmp_path, tools=[self.tool, *more], tooling=tooling)
        self.person = self.person_of(self.client)

    def person_of(self, client: Client) -> Person:
        """Somebody before a client."""
        client.asker = person = Person()
        return person

    async def write(self, file_path: str, content: str) -> ChatResult:
        """A turn in which the model writes a file."""
        return await self.call("write_file", {"file_path": file_path, "content": content})

    async def until_asked(self) -> None:
        """Wait until the person has a question before them, and everybody has heard of it."""
        await self.heard.wait_for(ToolQuestionAsked)
        await until(lambda: bool(self.person.asked))

    async def call(self, name: str, args: dict[str, Any]) -> ChatResult:
        """A turn in which the model calls a tool."""
        self.model.streams = [calls((name, args)), "Done."]
        return await self.chat("Do it.")


def settings_with(studio: Studio, *rules: ToolRule, mode: Mode = "ask") -> ToolOptions:
    """The settings of tools with rules of the user's."""
    own = tuple(SettingsRule(rule=rule, source="user") for rule in rules)
    return msgspec.structs.replace(studio.settings.tools, rules=own, mode=mode)
