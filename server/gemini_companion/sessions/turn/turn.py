"""One turn: from a prompt to a stored answer, or back to the state before it, but for the rounds that were finished."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial

import msgspec

from gemini_companion.engine.errors import CompanionError, InternalFault
from gemini_companion.engine.history.content import Content, Part, visible_text_of
from gemini_companion.engine.history.log import TurnOutcome
from gemini_companion.engine.history.usage import Usage, sum_of
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.constraints.taking import PromptRules
from gemini_companion.sessions.context.ide import DueContext
from gemini_companion.sessions.context.memory import attach_memory
from gemini_companion.sessions.context.mentions import Attached
from gemini_companion.sessions.events import (
    CommandExpanded,
    Event,
    MaxTurnsReached,
    TurnCancelled,
    TurnCompleted,
    TurnFailed,
    TurnStarted,
)
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.results import ChatResult, StopReason
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.resuming import Resumable, give_up_open_calls
from gemini_companion.sessions.tools.steering import Steering
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.sessions.turn.bringing import brought_along
from gemini_companion.sessions.turn.entries import TurnEntries, prompt_content
from gemini_companion.sessions.turn.hooks import TurnHooks
from gemini_companion.sessions.turn.loop import Stopped, TurnLoop
from gemini_companion.sessions.turn.replacing import check_replaceable
from gemini_companion.sessions.turn.requests import Requests, SafePoint
from gemini_companion.sessions.turn.showing import Showing
from gemini_companion.sessions.turn.streaming import Answer
from gemini_companion.sessions.turn.taking_in import take_in_changes
from gemini_companion.sessions.turn.untaken import UntakenPrompts


@dataclass(slots=True, kw_only=True)
class Turn:
    """A turn under way."""

    session: Session
    safe_point: SafePoint
    turn_id: str
    client: Client
    prompt: tuple[Part, ...]
    asked_model: str | None
    tooling: Tooling = field(default_factory=Tooling)
    replaces: str | None = None
    """Id of the turn whose answer this one replaces."""
    resumes: Resumable | None = None
    """The same turn as it ended early, to be gone on with."""
    started: float = 0.0
    """Seconds on the monotonic clock; 0 until it runs."""
    attached: Attached = field(default_factory=Attached)
    has_excluded: bool = False
    """The turn that it replaces is excluded from the view."""
    showing: Showing = field(default_factory=Showing)
    steering: Steering = field(init=False)
    untaken: UntakenPrompts = field(init=False)
    rules: PromptRules | None = field(init=False, default=None)
    entries: TurnEntries = field(init=False)
    hooks: TurnHooks = field(init=False)
    requests: Requests = field(init=False)
    loop: TurnLoop | None = field(init=False, default=None)
    """Its rounds; `None` until the prompt is written."""
    job: Job[ChatResult] = field(init=False)

    def __post_init__(self) -> None:
        self.steering = Steering(self.session, self.turn_id, self.emit)
        self.untaken = UntakenPrompts(self.session, self.steering)
        self.entries = TurnEntries(self.session, self.turn_id)
        self.hooks = TurnHooks(session=self.session, client=self.client, turn_id=self.turn_id, prompt=self.prompt)

    def emit(self, event: Event) -> None:
        """Emit an event of this turn."""
        self.session.emit(event, self.turn_id)

    async def run(self, job: Job[ChatResult]) -> ChatResult:
        """Answer the prompt. Raises `CompanionError`s, after the turn was rolled back and its end emitted."""
        session = self.session
        self.job = job
        self.started = session.services.clock.monotonic()
        session.asked_model = self.asked_model
        self.requests = Requests(
            session=session,
            client=self.client,
            turn_id=self.turn_id,
            choice=session.choice(),
            safe_point=self.safe_point,
            is_cancelled=lambda: bool(job.cancelled_by),
            outputs=self.tooling.outputs,
            hooks=self.hooks,
            showing=self.showing,
        )
        self.emit(TurnStarted(prompt=self.prompt, model=self.requests.choice.name))
        try:
            return await (self._answer() if self.resumes is None else self._resume(self.resumes))
        except asyncio.CancelledError:
            by = self._ended_by(job.cancelled_by)
            await self._end("cancelled", by=by)
            self._emit_end(TurnCancelled(by=by))
            raise
        except CompanionError as fault:
            await self._end("failed", reason=fault.message)
            self._emit_end(self._failed(fault))
            raise
        except Exception as defect:  # the session must stay usable after a defect of the daemon
            await self._end("failed", reason=type(defect).__name__)
            self._emit_end(self._failed(InternalFault()))
            raise
        finally:
            self.steering.close()
            session.asked_model = None
            session.route.end()

    def _failed(self, fault: CompanionError) -> TurnFailed:
        return TurnFailed(error=self.session.services.describe_fault(fault))

    async def abandon(self, by: str) -> None:
        """End a turn whose prompt was cancelled while it waited."""
        by = self._ended_by(by)
        await self._end("cancelled", by=by)
        self.emit(TurnCancelled(by=by))

    def _ended_by(self, by: str) -> str:
        """Who ended it, where this is who had it cancelled: nobody has, if its client goes."""
        return "leave" if self.client.is_leaving() else by

    async def _answer(self) -> ChatResult:
        session = self.session
        if (asked := await self.hooks.before_agent()).stops:
            return await self._stop(Stopped("blocked", asked.reason))
        limit = session.services.settings().max_session_turns
        if limit is not None and session.turns - (self.replaces is not None) >= limit:
            self.emit(MaxTurnsReached(limit=limit))
            return await self._stop_unsent("maxTurns")
        if await self.requests.is_over_budget():
            return await self._stop_unsent("budget")
        if self.replaces is not None:
            check_replaceable(session, self.replaces)
            session.history.exclude(self.replaces)
            self.has_excluded = True
        await give_up_open_calls(session)
        await take_in_changes(session)
        loop, by = self._new_loop(), lambda: self.job.cancelled_by
        self.prompt, self.attached = await brought_along(session, self.client, self.prompt, loop.setting, by)
        await self.requests.route(self.prompt)
        await attach_memory(session, self.client, self.turn_id, self.attached)
        due, overflow = await self.requests.make_room(self._content())
        if overflow is not None:
            self.emit(overflow)
            return await self._stop_unsent("contextWindowWillOverflow")
        await self._open(due)
        self.loop = loop
        return await self._go_round(loop)

    async def _resume(self, before: Resumable) -> ChatResult:
        await self.hooks.before_going_on()
        await take_in_changes(self.session)
        if await self.requests.is_over_budget():
            return await self._stop(Stopped("budget"))
        await self.requests.route(self.prompt, resumes=True)
        self.loop = loop = self._new_loop()
        stopped = await loop.go_on(before.reply)
        return await self._go_round(loop) if stopped is None else await self._stop(stopped)

    async def _open(self, due: DueContext) -> None:
        """Log the prompt, with the editor's state ahead of it."""
        session = self.session
        drafts: list[Draft] = []
        if due.text is not None:
            drafts.append(due.entry(session, self.turn_id))
        self.rules = await PromptRules.of(session, self.prompt, self.turn_id, self.replaces)
        async with session.rules_lock:
            await session.append(*drafts, self._prompt_draft(), *self.rules.with_prompt())
        self.rules.tell()
        if due.has_news:
            self.emit(due.receipt())
        if self.attached.command is not None:
            self.emit(CommandExpanded(command=self.attached.command))
        if self.attached.has_news:
            self.emit(self.attached.receipt())

    def _prompt_draft(self) -> Draft:
        model = self.session.services.models.choose(
            self.session.services.settings(), asked=self.asked_model, session_model=self.session.meta.model
        )
        return self.entries.prompt(
            self._content(), self.client.client_id, self.attached, model.asked, len(self.hooks.contexts)
        )

    def _content(self) -> Content:
        return prompt_content(self.prompt, self.attached, self.hooks.contexts)

    def _new_loop(self) -> TurnLoop:
        return TurnLoop(
            requests=self.requests,
            entries=self.entries,
            tooling=self.tooling,
            steering=self.steering,
            asked_model=self._new_model,
            kept_to=self._kept_before,
        )

    @property
    def _new_model(self) -> str | None:
        """The model that the session has from its answer on; a turn that is gone on with keeps its own for itself."""
        return self.asked_model if self.resumes is None else None

    @property
    def _is_written(self) -> bool:
        """The prompt is in the log."""
        return self.session.transcript.has_prompt(self.turn_id)

    @property
    def _kept_before(self) -> int:
        return self.resumes.kept_to if self.resumes is not None else 0

    async def _go_round(self, loop: TurnLoop) -> ChatResult:
        answer = await loop.run()
        if isinstance(answer, Stopped):
            return await self._stop(answer)
        return await self._complete(answer)

    async def _complete(self, answer: Answer) -> ChatResult:
        session = self.session
        usage = sum_of((answer.usage or Usage(), self._spent()))
        answer = replace(answer, usage=usage)
        change, drafts = self.entries.model_change(self._new_model)
        async with session.rules_lock:
            self.job.is_written = True
            await session.commit(
                *drafts,
                self.entries.reply(answer, self.requests.choice.name),
                self.entries.end("completed", kept_to=None, duration_ms=session.elapsed_ms(self.started)),
                *self.entries.replaced(self.replaces),  # ahead of the rules: what it brought is withdrawn first
                *(self.rules.with_answer() if self.rules else ()),
                *([self.entries.cleared()] if self.hooks.clears else ()),
            )
        if self.rules is not None:
            self.rules.tell()
        if change is not None:
            self.emit(change)
        self._emit_end(self._completed(answer.finish_reason, usage))
        return self._result(visible_text_of(answer.parts), answer.finish_reason, usage)

    async def _stop(self, stopped: Stopped) -> ChatResult:
        """End a turn that the model would go on with: its finished rounds stay, and it can be resumed."""
        if self.loop is not None:
            await self.loop.take_steers()
        await self._end("stopped", reason=stopped.reason)
        spent = self._spent()
        usage = sum_of((self.loop.usage if self.loop is not None else Usage(), spent))
        self._emit_end(self._completed(stopped.reason, usage, spent))
        result = self._result(stopped.text, stopped.reason, usage)
        return msgspec.structs.replace(result, stopped=stopped.reason, message=self.requests.too_much)

    async def _stop_unsent(self, reason: StopReason) -> ChatResult:
        """End a turn that sent and logged nothing; the result has the prompt."""
        self._restore()
        await self._write_end(*self.untaken.close("stopped", reason))
        self.emit(self._completed(reason, Usage()))
        self.untaken.tell(TurnCancelled(by=reason), self.requests.choice.name)
        result = self._result("", reason, Usage())
        return msgspec.structs.replace(result, stopped=reason, prompt=self.prompt, message=self.requests.too_much)

    def _completed(self, reason: str, usage: Usage, unwritten: Usage | None = None) -> TurnCompleted:
        """`unwritten` is what no entry of the turn has in it."""
        return TurnCompleted(
            finish_reason=reason,
            usage=usage,
            duration_ms=self.session.elapsed_ms(self.started),
            turn_usage=sum_of((self.entries.usage(), unwritten or Usage())),
        )

    def _spent(self) -> Usage:
        """What models took on the way, in a turn that was cut short before this one too; called once a turn."""
        spent = self.tooling.outputs.take_spent(self.session)
        return Usage(utility_tokens=spent, total_tokens=spent) if spent else Usage()

    def _restore(self) -> None:
        """Bring back the turn that was to be replaced: there is no new answer."""
        if self.has_excluded:
            self.session.history.restore()

    def _emit_end(self, event: TurnCompleted | TurnCancelled | TurnFailed) -> None:
        """Emit the token count, then the turn's last event, and what became of the prompts that it ended without."""
        self.session.asked_model = None
        self.session.route.end()
        if self.loop is not None:
            self.loop.tell_model()
        self.session.notify_usage(self.turn_id)
        self.emit(event)
        end = TurnCancelled(by=event.finish_reason) if isinstance(event, TurnCompleted) else event
        self.untaken.tell(end, self.requests.choice.name)

    def _result(self, text: str, finish_reason: str, usage: Usage) -> ChatResult:
        return ChatResult(
            session_id=self.session.session_id,
            turn_id=self.turn_id,
            text=text,
            finish_reason=finish_reason,
            model=self.requests.choice.name,
            usage=usage,
            turn_usage=self.entries.usage(),
            compression=self.requests.compression,
        )

    async def _end(self, outcome: TurnOutcome, *, reason: str = "", by: str = "") -> None:
        """Close the turn in the log: the prompt stays readable, and so does what was shown of an unfinished answer;
        the view is as before but for finished rounds.

        Calls that were interrupted get a result that says so; prompts that steered and stand in no request are prompts
        of their own, which ended with it. If the store fails, the entries are written ahead of the
        next ones. A turn that waits for a person while the daemon ends is left open: it is asked about anew.
        """
        session = self.session
        self._restore()
        if (by == "shutdown" or self.client.is_leaving()) and self.loop is not None and self.loop.is_asked:
            return
        duration = session.elapsed_ms(self.started) if self.started else None
        drafts: list[Draft] = [] if self._is_written else [self._prompt_draft()]
        drafts += self.untaken.close(outcome, reason, by)
        closing = self.loop.closing(by) if self.loop is not None else []
        drafts += closing
        kept_to = self.loop.kept_to if self.loop is not None else self._kept_before
        end = partial(self.entries.end, outcome, reason=reason, by=by, duration_ms=duration, shown=self.showing.kept())
        drafts.append((lambda seq: end(kept_to=seq - 1)(seq)) if closing else end(kept_to=kept_to))
        if self.has_excluded and (closing or kept_to):  # what the new rounds did is done: they replace the old turn
            drafts += self.entries.replaced(self.replaces)
        await self._write_end(*drafts)

    async def _write_end(self, *drafts: Draft) -> None:
        if not drafts:
            return
        try:
            await self.session.commit(*drafts)
        except CompanionError:
            self.session.write_later(*drafts)
