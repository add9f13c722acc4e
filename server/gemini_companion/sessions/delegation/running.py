"""A subagent at work: a session of its own, one task, one report."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import msgspec

from gemini_companion.engine.agents.definition import AgentCall, AgentDefinition
from gemini_companion.engine.agents.words import LIMIT_REACHED, agent_instruction, at_its_limit, unfinished
from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.model_call import ModelCallEntry
from gemini_companion.sessions.agents.service import AgentService
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.compression.background import end
from gemini_companion.sessions.constraints.entries import draft_of
from gemini_companion.sessions.delegation.activity import Activity
from gemini_companion.sessions.event import SessionEvent
from gemini_companion.sessions.ports import SessionMeta
from gemini_companion.sessions.results import ChatResult, CompressionStatusReport
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.tools.delegation import AgentReport
from gemini_companion.tools.ports import EditorPort
from gemini_companion.tools.tool import ToolRefusal

LAST_WORDS_SECONDS: Final = 60.0
"""What an agent at its limit has for its report (Gemini CLI's number)."""


_WHY: Final = {
    "time": "its time was up",
    "maxToolRounds": "its rounds were used up",
    "loopDetected": "it went round in circles",
    "contextWindowWillOverflow": "what it read did not fit into its window any more",
    "budget": "the budget of the chat or of the day is used up; do not hand this out again",
    "blocked": "a hook ended it",
}
"""Why one ends before it has reported, by `ChatResult.stopped`."""


class AgentsOfSession:
    """The port `Delegation` for one call of a chat."""

    def __init__(self, session: Session, client: Client, turn_id: str, call_id: str, tooling: Tooling) -> None:
        self._session = session
        self._client = client
        self._turn_id = turn_id
        self._call_id = call_id
        self._tooling = tooling

    async def known(self) -> Sequence[AgentDefinition]:
        """Those that can be called now."""
        service = self._session.services.agents
        return () if service is None else await service.known()

    async def run(self, agent: AgentDefinition, task: str, begun: Callable[[str], None]) -> AgentReport:
        """Have an agent do a task; `begun` takes the id of its session. Cancelling it stops the agent. Raises
        `ToolRefusal`.
        """
        service = self._session.services.agents
        if service is None:
            raise ToolRefusal("There are no subagents here.")
        try:
            child = await self._made(service, agent, task)
        except CompanionError as fault:
            raise ToolRefusal(f"The subagent could not be started: {fault.message}") from None
        begun(child.session_id)
        activity = Activity(self._session, self._turn_id, self._call_id, child, agent.title)
        work = _Work(child, _stand_in(self._client, self._call_id), self._of_person(), activity)
        child.caller = self._session
        child.channel.listener = activity.hear
        activity.tell("started", " ".join(task.split()))
        ended = "stopped"
        try:
            text, is_whole = await work.report(task, agent.timeout_minutes * 60)
            ended = "done" if is_whole else "stopped at its limit"
        except CompanionError as fault:
            ended = fault.message
            raise ToolRefusal(f"The subagent failed: {fault.message}") from None
        finally:
            end(child, "agent")
            child.channel.listener = None
            activity.leave_slots()
            activity.tell("ended", ended)
            tokens = _tokens(child)
            self._tooling.outputs.note_spent(self._session, tokens)
            child.caller = None
        await child.update_listing()
        calls = f"{activity.calls} call" if activity.calls == 1 else f"{activity.calls} calls"
        summary = f"{'' if is_whole else 'stopped at its limit after '}{calls}, {tokens:,} tokens"
        return AgentReport(text=text, summary=summary, is_whole=is_whole)

    async def _made(self, service: AgentService, agent: AgentDefinition, task: str) -> Session:
        """The agent's session, with the person's rules of the chat in it. Raises `StorageFault`."""
        chat = self._session
        now = chat.services.clock.now()
        title = " ".join(task.split())
        meta = SessionMeta(
            session_id=chat.services.new_id("session"),
            title=f"{agent.title}: {title if len(title) <= 80 else title[:79] + '…'}",
            model=agent.model or chat.choice().name,
            created_at=now,
            updated_at=now,
            workspace_folders=chat.meta.workspace_folders,
            system_instruction=agent_instruction(agent.prompt),
            agent=AgentCall(definition=agent, session_id=chat.session_id, turn_id=self._turn_id, call_id=self._call_id),
        )
        assert service.create is not None  # otherwise no agent is known
        child: Session
        async with service.create(meta, ()) as child:
            if rules := [one for one in chat.history.standing if one.scope == "session"]:
                await child.append(*(draft_of(child, one) for one in rules))
        return child

    def _of_person(self) -> Tooling:
        """The tooling of the chat; the editor is that of the person's client, which the agent's stand-in has not."""
        tooling, client = self._tooling, self._client
        editor_of = tooling.editor_of
        if editor_of is None:
            return tooling

        def editor(session: Session, stand_in: Client, call_id: str) -> EditorPort:
            return editor_of(session, client, call_id)

        return replace(tooling, editor_of=editor)


class _Work:
    """One task of an agent."""

    def __init__(self, child: Session, client: Client, tooling: Tooling, activity: Activity) -> None:
        self._child = child
        self._client = client
        self._tooling = tooling
        self._activity = activity

    async def report(self, task: str, seconds: float) -> tuple[str, bool]:
        """The report, and whether the agent was done. Raises `CompanionError`s."""
        result = await self._chat(task, seconds)
        if result is not None and not result.stopped and result.text.strip():
            return result.text, True
        stopped = "time" if result is None else result.stopped
        why = _WHY.get(stopped or "", "it gave no report")
        if stopped in ("blocked", "budget"):  # nothing more may be asked
            said = result.message if result is not None else ""
            return unfinished(self._said(), said or why), False
        return await self._last_words(why), False

    async def _last_words(self, why: str) -> str:
        """What it reports without tools, else what it said last."""
        child = self._child
        settings = child.services.settings
        child.services.settings = lambda: msgspec.structs.replace(
            now := settings(), tools=msgspec.structs.replace(now.tools, enabled=False)
        )
        result = None
        try:
            with suppress(CompanionError):
                result = await self._chat(LIMIT_REACHED, LAST_WORDS_SECONDS)
        finally:
            child.services.settings = settings
        text = "" if result is None or result.stopped else result.text.strip()
        return at_its_limit(text, why) if text else unfinished(self._said(), why)

    async def _chat(self, prompt: str, seconds: float) -> ChatResult | None:
        """The end of a turn; `None` where its time was up. The time that a person is waited for does not count."""
        loop = asyncio.get_running_loop()
        limit = asyncio.timeout(seconds)
        left = seconds
        since = loop.time()

        def wait(is_waiting: bool) -> None:
            nonlocal left, since
            if is_waiting and limit.when() is not None:
                left -= loop.time() - since
                limit.reschedule(None)
            elif not is_waiting and limit.when() is None and not limit.expired():
                since = loop.time()
                limit.reschedule(since + max(0.0, left))

        try:
            async with limit:
                self._activity.waits = wait
                from gemini_companion.sessions.turn.starting import Start  # loaded by the turn that asks

                start = Start(self._child, self._client, self._tooling)
                return await start.chat(({"text": prompt},), model=None, replaces=None, steer=False)
        except TimeoutError:
            if not limit.expired():
                raise
            await self._child.lane.drain("limit")
            return None
        finally:
            self._activity.waits = lambda is_waiting: None
            self._activity.tell_said()

    def _said(self) -> str:
        """The last text of its own."""
        own = (item.content.parts for item in reversed(self._child.history.items) if item.content.role == "model")
        return next((text for parts in own if (text := visible_text_of(parts))), "")


def _tokens(child: Session) -> int:
    """Tokens of all its requests."""
    calls = child.history.entries.of(ModelCallEntry)
    return sum(call.usage.total_tokens for call in calls if call.usage is not None)


def _stand_in(client: Client, call_id: str) -> Client:
    """A client for the agent: the same person and folders, and an editor that shows nothing."""
    one = Client(f"{client.client_id}/{call_id}", _Nobody(), name=client.name, trusted=client.trusted)
    one.folders, one.asker, one.is_leaving = client.folders, client.asker, client.is_leaving
    return one


class _Nobody:
    """The sink of a client that nobody reads."""

    def event(self, session_id: str, seq: int, time: int, turn_id: str | None, event: SessionEvent) -> None:
        """Not sent."""

    def status(self, report: CompressionStatusReport) -> None:
        """Not sent."""

    def taken(self, session_id: str) -> None:
        """Not sent."""
