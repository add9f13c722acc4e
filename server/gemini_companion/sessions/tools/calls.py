"""One call of a tool, from what the model wrote to its result. Whatever happens, there is a result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.tool_entries import CallRecord, ToolOutcome
from gemini_companion.engine.hooks.merging import TailCall
from gemini_companion.engine.tool_output.cutting import cut_output
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.context.memory import with_memory
from gemini_companion.sessions.fitting import limit_of
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.memory.keeping import Keeper
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.slots import command_slot
from gemini_companion.sessions.tool_events import ToolCallCompleted, ToolCallProgress, ToolCallStarted
from gemini_companion.sessions.tools.called import Called, Ended, Response
from gemini_companion.sessions.tools.grounding import grounding_of
from gemini_companion.sessions.tools.hooks import CallHooks
from gemini_companion.sessions.tools.judging import readable_unasked
from gemini_companion.sessions.tools.memory import MemoryOfSession
from gemini_companion.sessions.tools.notes import NotesOfSession
from gemini_companion.sessions.tools.obeying import named, warning
from gemini_companion.sessions.tools.previews import previewed
from gemini_companion.sessions.tools.progress import Progress
from gemini_companion.sessions.tools.records import CallState, call_draft
from gemini_companion.sessions.tools.skills import SkillsOfSession
from gemini_companion.sessions.tools.tooling import Recorded, Tooling
from gemini_companion.settings.obeyed import Made, gate
from gemini_companion.tools.delegation import Delegation
from gemini_companion.tools.tool import (
    NamedByPerson,
    Proposal,
    Tool,
    ToolContext,
    ToolOutput,
    ToolRefusal,
    named_by_nobody,
)
from gemini_companion.tools.workspace.changing import Change, corrected

logger = logging.getLogger(__name__)

_MOST_EDITS: Final = 8
"""How often a person can give a call other arguments."""

_MOST_SO_FAR: Final = 200_000
"""Characters of an interrupted call's output that are looked at."""

_BOUNDED: Final = frozenset({"read", "edit", "note"})
"""Risks of tools that get `Tooling.limit_seconds`; the others wait for people, processes, networks."""

ACTING: Final = frozenset({"edit", "command", "network", "server", "agent"})
"""Risks of tools that leave something behind: what they began stands in the log before they begin."""

BY_USER: Final = "Interrupted by the user before it ended."
BY_END: Final = "Interrupted: the daemon ended before this call did."
UNTIL_THEN: Final = "What it had put out until then:\n"
NOT_BEGUN: Final = "Interrupted before it began: nothing was done."


@dataclass(slots=True, kw_only=True)
class Setting:
    """What the calls of one turn are made in."""

    session: Session
    client: Client
    turn_id: str
    tooling: Tooling
    roots: tuple[str, ...] = ()
    named_by_person: NamedByPerson = named_by_nobody
    stop: Callable[[str], None] = lambda reason: None
    """Takes why the turn is to end behind this round."""
    asks: str = ""
    """Why a person is asked about commands unless a rule allows them: see `ToolContext.asks`."""

    def context(self, call_id: str, progress: Callable[[str], None]) -> ToolContext:
        """The context of one call, as of now."""
        session, editor_of = self.session, self.tooling.editor_of
        ports = session.services.ports
        if ports is None:
            raise ToolRefusal("There are no tools here.")
        if editor_of is not None:
            ports = replace(ports, editor=editor_of(session, self.client, call_id))
        ports = replace(
            ports,
            notes=NotesOfSession(session, self.turn_id),
            memory=MemoryOfSession(session),
            grounding=grounding_of(session),
            agents=self._agents(call_id),
            keeper=Keeper(session.services.memory) if session.services.memory else None,
            skills=SkillsOfSession(session) if session.services.skills else None,
        )
        return ToolContext(
            call_id=call_id,
            turn_id=self.turn_id,
            session_id=session.session_id,
            chat_id=session.principal.session_id,
            roots=self.roots,
            trusted=session.services.trusted(),
            mode=session.mode,
            ports=ports,
            progress=progress,
            named_by_person=self.named_by_person,
            client_id=self.client.client_id,
            options=self.tooling.options(),
            may_show=readable_unasked(session, self.roots),
            asks=self.asks,
        )

    def _agents(self, call_id: str) -> Delegation | None:
        of = self.tooling.delegation_of
        if of is None or self.session.services.agents is None:
            return None
        return of(self.session, self.client, self.turn_id, call_id, self.tooling)


class _NotAllowed(ToolRefusal):
    """The rules, the mode or a person said no."""


class CallRun:
    """One call under way."""

    def __init__(self, called: Called, setting: Setting) -> None:
        self.called = called
        self.has_begun = False
        """The tool runs, or ran."""
        self._setting = setting
        self._acting = False
        self._consent = ""
        self._note = self._odd_arguments = ""
        # The answer has no arguments of a call that a hook wants: they are written with it.
        self._edited: dict[str, Any] | None = dict(called.call.args) if called.in_place_of else None
        self._has_ended = False
        self._seconds = 0.0
        self._title = ""
        self._context: ToolContext | None = None
        """What the tool runs in, once it does."""
        self._args: dict[str, Any] = dict(called.call.args)
        self._hooks = CallHooks(
            session=setting.session,
            turn_id=setting.turn_id,
            name=called.call.name,
            folders=setting.client.folders or setting.roots,
            stop=setting.stop,
            in_place_of=called.in_place_of,
        )

    @property
    def tail(self) -> TailCall | None:
        """The call that a hook wants made behind it, once it has run."""
        return self._hooks.tail

    def announce(self) -> None:
        """Tell that it waits for its turn."""
        self._emit_started("waiting")

    async def run(self) -> Ended:
        """Run it to its result. Raises nothing but `CancelledError`."""
        try:
            output, response, media = await self._run(self._tool())
        except ToolRefusal as refusal:
            # Of a refusal by rules or a person, people read the reason; the sentence is meant for the model.
            said = self._consent if isinstance(refusal, _NotAllowed) and self._consent else refusal.message
            return self._end(refusal.outcome, {"error": refusal.message}, summary=_first_line(said))
        except (Exception, asyncio.CancelledError) as defect:
            if _is_stopped(defect):
                raise
            logger.exception("The tool %r raised", self.called.call.name[:80])
            message = f"The tool failed because of an error of its own ({type(defect).__name__}), not of the call."
            return self._end("failed", {"error": message}, summary=f"internal error ({type(defect).__name__})")
        return self._end(
            output.outcome if output.error is None or output.outcome != "ok" else "failed",
            response,
            media,
            summary=output.summary or _first_line(output.error or ""),
        )

    def interrupted(self, message: str) -> Ended:
        """Its result where it was stopped, with what it had put out until then."""
        if not self.has_begun:
            message = message if self.called.in_place_of else NOT_BEGUN
        elif said := self._so_far():
            message = f"{message} {UNTIL_THEN}{said}"
        return self._end("interrupted", {"error": message}, summary="interrupted")

    def _so_far(self) -> str:
        if self._context is None:
            return ""
        said, limit = self._context.so_far(_MOST_SO_FAR), limit_of(self._setting.session)
        return cut_output(said, shape="command", limit=limit, where="The rest was not kept.") or said

    def _tool(self) -> Tool[Any]:
        tool = self._setting.session.tools.find(self.called.call.name)
        if self.called.fault:
            raise ToolRefusal(self.called.fault)
        return tool

    async def _run(self, tool: Tool[Any]) -> tuple[ToolOutput, Response, tuple[Part, ...]]:
        setting = self._setting
        progress = Progress(lambda text: self._emit(ToolCallProgress(tool_call_id=self._id, output=text)))
        context = setting.context(self._id, progress.add)
        self._args, self._odd_arguments = setting.session.tools.understood(tool, self._args)
        tool, args, proposal = await self._agreed(tool, context)
        self._acting = tool.risk in ACTING
        call = msgspec.structs.replace(self.called.call, args=self._args)
        # A command's slot ends with it: hooks behind it, and a model that condenses its output, need one of their own.
        async with command_slot(setting.session) if tool.risk == "command" else nullcontext():
            output, record = await self._carried_out(tool, args, proposal, context, progress)
        response, media = await setting.tooling.outputs.shape(setting.session, tool, call, output)
        response = await self._hooks.after(self._args, response)
        if record is not None and record.told:
            response = {**response, "filesChanged": record.told}
        if record is not None and record.deciding:
            response = {**response, "filesThatDecide": record.deciding}
            output = msgspec.structs.replace(output, summary=f"{output.summary}; {record.deciding}".lstrip("; "))
        if record is not None and record.made:
            response = {**response, "filesThatDoNotCount": await self._asked_about(record.made, context)}
        if note := "\n".join(filter(None, (self._note, self._odd_arguments))):
            response = {**response, "note": note}
        return output, await with_memory(setting.session, setting.turn_id, proposal, response), media

    async def _asked_about(self, made: Sequence[Made], context: ToolContext) -> str:
        """Ask whether what a command wrote may count, and what came of it, for the model."""
        setting = self._setting
        files = named(made, context.roots)
        call = msgspec.structs.replace(self.called.call, args=self._args)
        if await setting.tooling.consent.agrees(setting.session, setting.client, call, made, context):
            for each in (one for one in made if one.can_be_shown):
                gate.agree(each.path, each.digest)
            if not (made := [one for one in made if not one.can_be_shown]):
                return f"None: the user agreed to {files}."
            files = named(made, context.roots)
        setting.tooling.tell(warning(made, context.roots))
        return f"{files}: this program would go by what it says, and the user has not agreed. Do not rely on it."

    async def _carried_out(
        self, tool: Tool[Any], args: Any, proposal: Proposal, context: ToolContext, progress: Progress
    ) -> tuple[ToolOutput, Recorded | None]:
        """What the tool gives back, and the record of what it changed, which others' changes must not get into."""
        setting = self._setting
        if self._acting:
            await setting.session.append(self._draft("running"))
        recorded = setting.tooling.changes.recorded(setting.session, tool, proposal, context)
        started = setting.session.services.clock.monotonic()
        try:
            async with recorded if tool.risk in ("edit", "command") else nullcontext() as record:
                self.has_begun, self._context = True, context
                self._emit_started("running")
                output = await self._limited(tool, tool.run(args, proposal, context))
        finally:
            progress.close()
            self._seconds = setting.session.services.clock.monotonic() - started
            if self._acting and not self._has_ended:  # one that comes late has its result already
                setting.session.write_later(self._draft("ended"))
        return output, record

    async def _agreed(self, tool: Tool[Any], context: ToolContext) -> tuple[Tool[Any], Any, Proposal]:
        """Tool, arguments and proposal that may go ahead. Raises `ToolRefusal`.

        Edited arguments pass every check again; so does a corrected text, which is written as a whole.
        """
        setting = self._setting
        for _ in range(_MOST_EDITS):
            wished = await self._hooks.before(self._args)
            if wished != self._args:
                self._args = self._edited = wished
            args = setting.session.tools.decode(tool, self._args)
            context.must_ask = self._hooks.must_ask
            context.mode, context.trusted = setting.session.mode, setting.session.services.trusted()
            proposal = await self._limited(tool, tool.propose(args, context))
            self._title = proposal.title
            call = msgspec.structs.replace(self.called.call, args=self._args)
            decided = await setting.tooling.consent.decide(
                setting.session, setting.client, call, tool, proposal, context
            )
            self._consent, self._note = decided.consent, decided.note or self._note
            if decided.edited_content is not None and isinstance(proposal.state, Change):
                tool = setting.session.tools.find("write_file")
                self._args, self._note = corrected(proposal, decided.edited_content)
                self._edited = self._args
            elif decided.edited_args is not None:
                if dict(decided.edited_args) != self._args:
                    self._args = self._edited = dict(decided.edited_args)
            elif decided.allowed:
                return tool, args, proposal
            else:
                raise _NotAllowed(decided.refusal or "Not done: consent was not given.", outcome="declined")
        raise ToolRefusal("Not done: its arguments were changed too often.", outcome="declined")

    async def _limited(self, tool: Tool[Any], work: Any) -> Any:
        seconds = self._setting.tooling.limit_seconds
        if tool.risk not in _BOUNDED:
            return await work
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await work
        except TimeoutError:
            if not limit.expired():
                raise
            raise ToolRefusal(f"It took longer than {seconds:g} seconds and was stopped.", outcome="timedOut") from None

    @property
    def _id(self) -> str:
        return self.called.call.call_id

    def _draft(self, state: CallState) -> Draft:
        edited = self._edited if state == "running" else None
        return call_draft(self._setting.session, self._setting.turn_id, self.called.call, state, edited=edited)

    def _end(
        self,
        outcome: ToolOutcome,
        response: Response,
        media: tuple[Part, ...] = (),
        *,
        summary: str = "",
    ) -> Ended:
        record = CallRecord(
            call_id=self._id,
            name=self.called.call.name,
            outcome=outcome,
            summary=summary,
            duration_ms=max(0, round(self._seconds * 1000)),
            edited_args=self._edited,
            consent=self._consent,
            agent_session_id="" if self._context is None else self._context.agent_session_id,
        )
        if not self._has_ended:  # one that does not let itself be stopped may come late
            self._has_ended = True
            self._setting.session.emit(
                ToolCallCompleted(
                    tool_call_id=self._id,
                    outcome=outcome,
                    summary=summary,
                    duration_ms=record.duration_ms,
                    consent=self._consent,
                    name=self.called.call.name,
                ),
                self._setting.turn_id,
            )
        part = self.called.result(response, media)
        return Ended(called=self.called, part=part, record=record, acted=self.has_begun and self._acting)

    def _emit_started(self, state: Any) -> None:
        name, args = self.called.call.name, previewed(self._args)
        self._emit(ToolCallStarted(tool_call_id=self._id, name=name, args=args, title=self._title, state=state))

    def _emit(self, event: Any) -> None:
        if self._has_ended:
            return
        self._setting.session.emit(event, self._setting.turn_id)


def _is_stopped(error: BaseException) -> bool:
    """Whether the call was cancelled from outside; a tool may also raise such an error by itself."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _first_line(text: str) -> str:
    line = text.partition("\n")[0]
    return line if len(line) <= 120 else line[:119] + "…"
