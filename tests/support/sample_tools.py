"""Tools that only tests have, and ports that lead nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta

from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.consent import Decided
from gemini_companion.sessions.tools.records import call_draft
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.settings.obeyed import Made
from gemini_companion.tools.documents import Buffer, EditAnswer, FileDiagnostics, Saved
from gemini_companion.tools.ports import CommandRunner, FileSystem, PersonsAnswer, Ports, TextSearch
from gemini_companion.tools.tool import Proposal, Risk, Shape, Tool, ToolCall, ToolContext, ToolOutput


class SampleArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What sample tools take."""

    file_path: Annotated[str, Meta(description="Which one.")] = ""
    content: Annotated[str, Meta(description="What to write.")] = ""


Work = Callable[[SampleArgs, ToolContext], Awaitable[ToolOutput]]


class SampleTool:
    """A tool that does what the test says. It counts how many run at the same time."""

    def __init__(self, name: str, risk: Risk, work: Work | None = None, aliases: tuple[str, ...] = ()) -> None:
        self.name = name
        self.risk: Risk = risk
        self.aliases = aliases
        self.description = f"The sample tool {name}."
        self.arguments = SampleArgs
        self.shape: Shape = "text"
        self.called: list[SampleArgs] = []
        self.contexts: list[ToolContext] = []
        self.running = 0
        self.most_running = 0
        self.started = asyncio.Event()
        self.work = work

    async def propose(self, args: SampleArgs, context: ToolContext) -> Proposal:
        return Proposal(title=f"{self.name} {args.file_path}".strip(), path=args.file_path or None)

    async def run(self, args: SampleArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        self.called.append(args)
        self.contexts.append(context)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.started.set()
        try:
            if self.work is not None:
                return await self.work(args, context)
            await asyncio.sleep(0)
            return ToolOutput(output=f"{self.name} {args.file_path}", summary="done")
        finally:
            self.running -= 1


class FreeConsent:
    """Lets everything go ahead, or as `decisions` says; remembers what it was asked."""

    def reconsider(self, session_id: str | None = None) -> None:
        """Nothing waits that could be decided otherwise."""

    def __init__(self, *decisions: Decided) -> None:
        self.decisions = list(decisions)
        self.asked: list[tuple[ToolCall, Proposal]] = []

    async def refusal(self, session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext) -> str:
        return ""

    async def agrees(
        self, session: Session, client: Client, call: ToolCall, made: Sequence[Made], context: ToolContext
    ) -> bool:
        return True

    async def decide(
        self,
        session: Session,
        client: Client,
        call: ToolCall,
        tool: Tool[Any],
        proposal: Proposal,
        context: ToolContext,
    ) -> Decided:
        self.asked.append((call, proposal))
        return self.decisions.pop(0) if self.decisions else Decided(allowed=True, consent="a test")


class AskingConsent(FreeConsent):
    """Writes that it asks, and waits for `answer`; not for reads."""

    def reconsider(self, session_id: str | None = None) -> None:
        """Nothing waits that could be decided otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = asyncio.Event()
        self.answer = asyncio.Event()

    async def decide(
        self,
        session: Session,
        client: Client,
        call: ToolCall,
        tool: Tool[Any],
        proposal: Proposal,
        context: ToolContext,
    ) -> Decided:
        if tool.risk == "read":
            return Decided(allowed=True, consent="a read")
        await session.append(call_draft(session, context.turn_id, call, "asked"))
        self.waits.set()
        await self.answer.wait()
        return await super().decide(session, client, call, tool, proposal, context)


def allowing(consent: FreeConsent | None = None, **more: Any) -> Tooling:
    """Tooling that lets everything go ahead."""
    return Tooling(consent=consent or FreeConsent(), **more)


class SilentEditor:
    """An editor that shows nothing, and a person who does not answer, or as `answers` says."""

    def __init__(self) -> None:
        self.answers: list[str] = []
        self.questions: list[str] = []

    def buffer(self, path: str) -> Buffer | None:
        return None

    def unsaved(self) -> Sequence[Buffer]:
        return ()

    def saved(self) -> dict[str, Saved]:
        return {}

    async def diagnostics(self, paths: Sequence[str], *, wait: bool) -> tuple[FileDiagnostics, ...] | None:
        return None

    async def apply_edit(self, path: str, text: str, label: str) -> EditAnswer:
        return "unable"

    async def save(self, path: str) -> bool:
        return False

    async def ask(self, question: str, options: Sequence[str], *, allows_text: bool) -> PersonsAnswer | None:
        self.questions.append(question)
        return PersonsAnswer(text=self.answers.pop(0)) if self.answers else None


def no_ports(editor: SilentEditor | None = None) -> Ports:
    """Ports for tools that do not use any."""
    nothing: Any = None
    return Ports(
        files=cast("FileSystem", nothing),
        search=cast("TextSearch", nothing),
        commands=cast("CommandRunner", nothing),
        editor=editor or SilentEditor(),
    )
