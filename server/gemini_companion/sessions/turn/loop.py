"""The rounds of a turn: answer, calls, results, until the model calls nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import ReplyEntry, Usage
from gemini_companion.engine.history.loop_entry import LOOP
from gemini_companion.engine.prompts.naming import names_path
from gemini_companion.sessions.context.environment import refresh_environment
from gemini_companion.sessions.events import ModelChanged
from gemini_companion.sessions.lane import Steered
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.loops.watch import Noticed
from gemini_companion.sessions.results import StopReason
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop
from gemini_companion.sessions.tool_events import MaxToolRoundsReached
from gemini_companion.sessions.tools.called import Ended, called_in
from gemini_companion.sessions.tools.calls import Setting
from gemini_companion.sessions.tools.repeats import Repeats, question_about
from gemini_companion.sessions.tools.resuming import called_again
from gemini_companion.sessions.tools.rounds import Round, results_entry
from gemini_companion.sessions.tools.steering import Steering, taken_along
from gemini_companion.sessions.tools.tooling import Tooling
from gemini_companion.sessions.turn.entries import TurnEntries
from gemini_companion.sessions.turn.requests import Requests
from gemini_companion.sessions.turn.streaming import Answer

_CUT = (
    "Not carried out: your answer was cut before its end ({reason}), so this call may not be whole. Call it again with"
    " less in one call, and write a long text in several pieces."
)
_GO_ON, _STOP = "Go on", "Stop"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn ends before the model is done; its finished rounds stay."""

    reason: StopReason
    text: str = ""
    """For the person."""


@dataclass(slots=True, kw_only=True)
class TurnLoop:
    """The rounds of one turn. What is held does not grow with their number."""

    requests: Requests
    entries: TurnEntries
    tooling: Tooling
    steering: Steering
    asked_model: str | None = None
    """The model that the request named: the session's from its first answer on."""
    kept_to: int = 0
    """The last entry of a finished round: what stays if the turn ends early."""
    usage: Usage = field(default_factory=Usage)
    """Of the last request."""
    repeats: Repeats = field(default_factory=Repeats)
    _round: Round | None = None
    """The round whose calls are made now."""
    _setting: Setting | None = None
    _stopped: Stopped | None = None
    """The model went round in circles once too often."""
    _model_change: ModelChanged | None = None
    """To be told once it is written."""

    async def run(self) -> Answer | Stopped:
        """Go round until an answer calls nothing; that one is returned, and not yet written."""
        session = self.requests.session
        rounds, limit = 0, session.services.settings().tool_max_rounds
        while True:
            if rounds and await self.requests.is_over_budget():  # the first request was looked at when the turn began
                return Stopped("budget")
            answer = await self.requests.answer()
            self.usage = answer.usage or Usage()
            calls = await self._round_of(answer)
            again, is_last = "", calls.is_empty and answer.finish_reason != LOOP
            if is_last and not self.steering.waiting():
                again = await self.requests.hooks.after_agent(answer.parts)
            if is_last and not again and self.steering.close_if_empty():
                return answer
            # Written ahead of the next entries: of what acts or asks about a call, else of the results.
            self._model_change, drafts = self.entries.model_change(self.asked_model)
            session.write_later(*drafts, self.entries.reply(answer, self.requests.choice.name))
            self.requests.showing.clear()
            self.asked_model = None  # it is in the log with that answer
            rounds += not calls.is_empty
            if again:
                await self._send_back(again)
            stopped = await self.finish_round(calls)
            if stopped is not None:
                return stopped
            if reason := self.requests.hooks.stopped:
                return Stopped("blocked", reason)
            if rounds >= limit:
                self.requests.emit(MaxToolRoundsReached(limit=limit))
                return Stopped("maxToolRounds")

    async def _send_back(self, reason: str) -> None:
        """Write what a hook says to the answer; behind a view that is empty, if it wants that too."""
        cleared = [self.entries.cleared()] if self.requests.hooks.clears else []
        await self._write([*cleared, self.entries.sent_back(reason)], [])
        if cleared:
            await refresh_environment(self.requests.session)
            await self.requests.resend_context()

    async def go_on(self, reply: ReplyEntry | None) -> Stopped | None:
        """Take up a turn that ended early: make the calls of its last answer, if they are still to be made.

        What the editor shows now goes along.
        """
        setting = await self.setting()
        if reply is None:
            stopped = await self._make_room()
        else:
            session = setting.session
            left = session.tools_state.calls_of(self.requests.turn_id)
            stopped = await self.finish_round(
                Round(called_again(reply.content.parts, left, session.services.new_id), setting)
            )
        if stopped is None and (contexts := self.requests.hooks.contexts):
            await self._write([self.entries.contexts(contexts)], [])
        await self.requests.resend_context()
        return stopped

    async def finish_round(self, calls: Round) -> Stopped | None:
        """Make the calls, write their results with the prompts that came meanwhile, and make room for what follows."""
        asked = await self._make_calls(calls)
        stopped = self._stopped or (await self._ask_about(asked) if asked is not None else None)
        stopped = stopped or await self._look_at_progress()
        if stopped is not None:
            return stopped
        self.requests.session.notify_usage(self.requests.turn_id)
        return await self._make_room()

    async def _make_room(self) -> Stopped | None:
        epoch = self.requests.session.history.epoch
        await self.tooling.outputs.mask_if_due(self.requests.session)
        overflow = await self.requests.make_room_again(self._fresh_tokens, epoch)
        if overflow is not None:
            self.requests.emit(overflow)
            return Stopped("contextWindowWillOverflow")
        return None

    @property
    def is_asked(self) -> bool:
        """A person is being asked about the calls under way, nothing that acts has begun, and no prompt waits."""
        calls = self.requests.session.tools_state.calls_of(self.requests.turn_id) if self._round is not None else []
        return bool(calls) and all(call.state == "asked" for call in calls) and not self.steering.waiting()

    def closing(self, by: str) -> list[Draft]:
        """The results of a round that was interrupted; called once."""
        calls, self._round = self._round, None
        if calls is None or calls.is_empty:
            return []
        calls.close(by)
        return [calls.entry()]

    def tell_model(self) -> None:
        """Emit the change of the session's model, once, if its first answer is written."""
        change, self._model_change = self._model_change, None
        if change is not None and self.requests.session.meta.model == change.to:
            self.requests.emit(change)

    async def take_steers(self) -> None:
        """Write the prompts that still wait."""
        await self._write([], self.steering.waiting())

    async def _round_of(self, answer: Answer) -> Round:
        setting = await self.setting()
        calls = called_in(answer.parts, setting.session.services.new_id)
        if answer.is_cut:  # half a file may be a valid argument
            calls = [replace(call, fault=_CUT.format(reason=answer.finish_reason)) for call in calls]
        return Round(calls, setting)

    async def setting(self) -> Setting:
        """What calls are made in; found out once."""
        if self._setting is None:
            session, client = self.requests.session, self.requests.client
            folders = client.folders or session.meta.workspace_folders
            self._setting = Setting(
                session=session,
                client=client,
                turn_id=self.requests.turn_id,
                tooling=self.tooling,
                stop=self.requests.hooks.stop,
                roots=await asyncio.to_thread(_real, folders),
                named_by_person=partial(is_named, session.principal),
            )
        return self._setting

    async def _make_calls(self, calls: Round) -> Ended | None:
        """The call that failed too often, if one did."""
        self._round = calls
        await calls.run()
        loops = self.requests.loops
        noticed = loops.begin_anew() if self.steering.waiting() else loops.round_ended(calls.ended)
        ended, asked = self.repeats.note(calls.ended)
        session = self.requests.session
        results = [] if calls.is_empty else [results_entry(session, self.requests.turn_id, ended)]
        await self._write([*results, *self._told(noticed)], self.steering.waiting())
        return asked

    async def _look_at_progress(self) -> Stopped | None:
        """Have a model look at a long turn, where that is due."""
        told = self._told(await self.requests.loops.look(self.requests.choice))
        if told:
            await self._write(told, [])
        return self._stopped

    def _told(self, noticed: Noticed | None) -> list[Draft]:
        """What the model is told of a loop; the second time the turn ends instead."""
        if noticed is None:
            return []
        if noticed.stopped:
            self._stopped = Stopped("loopDetected", noticed.stopped)
        return noticed.drafts

    async def _write(self, results: list[Draft], steered: Sequence[Steered]) -> None:
        session = self.requests.session
        drafts, rules, attached = await taken_along(session, self.requests.turn_id, steered)
        if results or drafts:
            async with session.rules_lock:
                written = await session.commit(*results, *drafts, *rules.with_prompt())
            self._round = None
            self.kept_to = written[-1].seq
            self.steering.taken(steered)
            self.tell_model()
        rules.tell()
        for files in attached:
            if files.has_news:
                self.requests.emit(files.receipt())
        if self.requests.is_cancelled():
            raise asyncio.CancelledError

    async def _ask_about(self, ended: Ended) -> Stopped | None:
        """Ask the person about a call that fails again and again; without an answer the turn ends with the question."""
        question = question_about(ended)
        context = (await self.setting()).context(ended.record.call_id, lambda _: None)
        answer = await context.ports.editor.ask(question, (_GO_ON, _STOP), allows_text=True)
        if answer is None or answer.text == _STOP:
            return Stopped("loopDetected", question)
        self.repeats.forget()
        self.requests.loops.begin_anew()
        if answer.text != _GO_ON and answer.text.strip():
            await self._write([], [Steered(({"text": answer.text},), self.requests.client)])
        return None

    def _fresh_tokens(self) -> int:
        """Tokens of what the last round added."""
        history = self.requests.session.history
        tokens = 0
        for item in reversed(history.items):
            if item.content.role == "model":
                break
            tokens += item.measure.tokens
        return tokens


def _real(folders: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(Path(folder).resolve()) for folder in folders))


async def is_named(session: Session, path: str) -> bool:
    """Whether a prompt names it; for one that none does, all are read, and what is put away is unpacked for that."""
    prompts = session.history.prompts
    texts = (visible_text_of(prompt.own_parts) for prompt in reversed(prompts))
    return await off_loop(prompts.units, lambda: names_path(texts, path))
