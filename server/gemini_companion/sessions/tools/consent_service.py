"""Consent of the daemon: the policy decides, and where it asks, the person whose prompt it is.

Only that person's client can answer, by the answer to its own request; every other subscriber sees the question and how
it was settled. The first answer counts. None in time, or a client that has gone, means no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.sessions.asking import ConsentAnswer
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import ToolQuestionAnswered, ToolQuestionAsked
from gemini_companion.sessions.tool_results import ToolQuestion
from gemini_companion.sessions.tools.consent import Decided
from gemini_companion.sessions.tools.judging import Case, put_to_policy
from gemini_companion.sessions.tools.notifying import tell_hooks_of_question
from gemini_companion.sessions.tools.questions import OpenQuestion, Settled, answer_to, question_of, question_of_made
from gemini_companion.sessions.tools.records import call_draft
from gemini_companion.sessions.tools.rules import OwnRules, allow_for_session, can_be_stored
from gemini_companion.settings.obeyed import Made
from gemini_companion.tools.policy.lines import LineJudge
from gemini_companion.tools.policy.rules import text_of
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import Proposal, Tool, ToolCall, ToolContext, ToolRefusal

_NOT_DONE: Final = "Not done, and this is no fault: nothing was changed."
_MOST_EDITED: Final = 1_000
"""Edits by persons that are remembered until their call is decided."""


GONE_SECONDS: Final = 2.0
"""How long a question of a client that is gone is kept before that means no."""


@dataclass(frozen=True, slots=True)
class _Edited:
    """What a person put in place of what was proposed; their yes is to this."""

    args: Mapping[str, Any] | None
    content: str | None
    path: str | None = None
    """The file that the content is for."""

    def covers(self, call: ToolCall, proposal: Proposal) -> bool:
        """Whether a call is what the person wrote; a file that ends its last line goes on doing so."""
        if self.content is not None:
            given, proposed = _with_line_feeds(self.content), _with_line_feeds(proposal.new_content or "")
            return proposed in (given, f"{given}\n") and proposal.path == self.path
        return call.args == self.args


@dataclass(slots=True)
class _Inquiry:
    """One call that is to be decided."""

    session: Session
    client: Client
    call: ToolCall
    tool: Tool[Any]
    proposal: Proposal
    context: ToolContext

    @property
    def key(self) -> tuple[str, str]:
        return self.session.session_id, self.call.call_id


class ConsentService:
    """Decides on every call of every session. `judge` judges shell lines; without one every command is asked about.
    `own` are the rules in the user's own settings, `None` where there is no such file.
    """

    def __init__(self, *, judge: LineJudge | None = None, own: OwnRules | None = None) -> None:
        self.own = own
        self._judge = judge
        self._open: dict[tuple[str, str], OpenQuestion] = {}
        self._edited: dict[tuple[str, str], _Edited] = {}

    def questions(self, session_id: str) -> tuple[ToolQuestion, ...]:
        """Those of a session and its subagents that wait for an answer, oldest first."""
        return tuple(one.question for one in self._open.values() if one.question.session_id == session_id)

    def reconsider(self, session_id: str | None = None) -> None:
        """Look at the waiting questions again, of one session or of all: a mode, a rule or trust has changed."""
        for one in self._open.values():
            if session_id in (None, one.question.session_id):
                one.news.set()

    async def decide(
        self,
        session: Session,
        client: Client,
        call: ToolCall,
        tool: Tool[Any],
        proposal: Proposal,
        context: ToolContext,
    ) -> Decided:
        """Whether this call may go ahead as proposed. Cancelled, it takes its question back."""
        inquiry = _Inquiry(session, client, call, tool, proposal, context)
        edited = self._edited.pop(inquiry.key, None)
        case = await self._case(inquiry)
        context.looks_in = ""
        if settled := _settled(case):
            if settled.allowed and case.asked.line is not None:
                context.looks_in = case.asked.line.looks_in
            return settled
        if edited is not None and edited.covers(call, proposal):
            return Decided(allowed=True, consent="yes, as you changed it")
        return await self._ask(inquiry, case)

    async def refusal(self, session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext) -> str:
        """Why no person could let a call through now; empty where it may go ahead, or where somebody is asked."""
        case = await put_to_policy(session, tool, proposal, context, self._judge)
        return case.ruling.refusal if case.ruling.decision == "deny" else ""

    async def agrees(
        self, session: Session, client: Client, call: ToolCall, made: Sequence[Made], context: ToolContext
    ) -> bool:
        """Whether the person lets files count that a command wrote. No rule and no mode answers for them."""
        asker, services = client.asker, session.services
        if asker is None:
            return False
        key = (session.session_id, call.call_id)
        one = self._open[key] = OpenQuestion(question_of_made(session, call, made, context))
        outcome: Settled = "gone"
        session.emit(ToolQuestionAsked(question=one.question), context.turn_id)

        async def still_open() -> bool:
            return services.trusted()

        begun, seconds = services.clock.monotonic(), services.settings().tools.question_seconds
        try:
            answer = await answer_to(one, asker, seconds, still_open)
            if answer is not None:
                outcome = answer.outcome
            elif services.clock.monotonic() - begun >= seconds:
                outcome = "timeout"
        finally:
            del self._open[key]
            session.emit(ToolQuestionAnswered(tool_call_id=call.call_id, outcome=outcome), context.turn_id)
        return outcome in ("once", "session", "always")

    async def _case(self, inquiry: _Inquiry) -> Case:
        return await put_to_policy(inquiry.session, inquiry.tool, inquiry.proposal, inquiry.context, self._judge)

    async def _ask(self, inquiry: _Inquiry, case: Case) -> Decided:
        session, asker = inquiry.session, inquiry.client.asker
        if asker is None:
            return Decided(allowed=False, consent="nobody can be asked", refusal=f"{_NOT_DONE} Nobody can be asked.")
        offered = await case.offered() if session.services.settings().tools.keeps_rules else None
        question = question_of(session, inquiry.call, inquiry.tool.risk, case, inquiry.context, offered)
        await self._keep_asked(inquiry)
        one = self._open[inquiry.key] = OpenQuestion(question)
        outcome: Settled = "gone"
        latest: list[Case] = []

        async def still_open() -> bool:
            latest[:] = [await self._case(inquiry)]
            return latest[0].ruling.decision == "ask"

        seconds = session.services.settings().tools.question_seconds
        begun = session.services.clock.monotonic()
        session.emit(ToolQuestionAsked(question=question), inquiry.context.turn_id)
        tell_hooks_of_question(session, inquiry.proposal)
        try:
            answer = await answer_to(one, asker, seconds, still_open)
            if answer is not None:
                outcome = answer.outcome
            elif latest and latest[0].ruling.decision != "ask":
                outcome = "once" if latest[0].ruling.decision == "allow" else "reject"
            elif session.services.clock.monotonic() - begun >= seconds:
                outcome = "timeout"
            else:  # a window that is closed or loaded anew may end the daemon with it: then it is asked about anew
                await session.services.clock.sleep(GONE_SECONDS)
        finally:
            del self._open[inquiry.key]
            session.emit(
                ToolQuestionAnswered(tool_call_id=inquiry.call.call_id, outcome=outcome), inquiry.context.turn_id
            )
        if answer is None:
            return (_settled(latest[0]) if latest else None) or _unanswered(outcome)
        if answer.outcome == "reject":
            return _rejected(answer)
        return await self._agreed(inquiry, answer, case)

    async def _agreed(self, inquiry: _Inquiry, answer: ConsentAnswer, before: Case) -> Decided:
        """The person said yes: to what they changed, or to what was proposed, if it still is what would be done."""
        if changed := self._changed(inquiry, answer):
            return changed
        try:
            args = ToolRegistry.decode(inquiry.tool, inquiry.call.args)
            proposal = await inquiry.tool.propose(args, inquiry.context)
        except ToolRefusal as refusal:
            return Decided(allowed=False, consent="it cannot be done any more", refusal=refusal.message)
        if _differs(inquiry.proposal, proposal):
            return Decided(
                allowed=False, consent="what it would do changed meanwhile", edited_args=dict(inquiry.call.args)
            )
        case = await self._case(inquiry)
        if case.ruling.decision == "deny":
            return _denied(case)
        kept = await self._kept(inquiry, answer, case, before)
        return Decided(allowed=True, consent=kept)

    def _changed(self, inquiry: _Inquiry, answer: ConsentAnswer) -> Decided | None:
        args, content = answer.edited_args, answer.edited_content
        proposed = inquiry.proposal.new_content
        if content is not None and content != proposed and proposed is not None:
            edited = _Edited(None, content, inquiry.proposal.path)
            self._remember(inquiry, edited)
            if "content" in inquiry.call.args:
                return Decided(
                    allowed=False,
                    consent="you corrected the text",
                    edited_args={**inquiry.call.args, "content": content},
                    edited_content=content,
                    note=_note_of(edited),
                )
            return Decided(
                allowed=False,
                consent="you corrected the text",
                edited_content=content,
                refusal=f"{_NOT_DONE} The person corrected the text of the file. It must read, as a whole:\n{content}",
                note=_note_of(edited),
            )
        if args is not None and args != inquiry.call.args:
            edited = _Edited(dict(args), None)
            self._remember(inquiry, edited)
            return Decided(
                allowed=False, consent="you changed the arguments", edited_args=dict(args), note=_note_of(edited)
            )
        return None

    def _remember(self, inquiry: _Inquiry, edited: _Edited) -> None:
        while len(self._edited) >= _MOST_EDITED:
            del self._edited[next(iter(self._edited))]
        self._edited[inquiry.key] = edited

    async def _kept(self, inquiry: _Inquiry, answer: ConsentAnswer, case: Case, before: Case) -> str:
        """Keep the rule that goes with the answer, where it lets such a call through; what is to be told of it."""
        if answer.outcome == "once":
            return "yes, once"
        if not inquiry.session.services.settings().tools.keeps_rules:
            return "yes, once; security.disableAlwaysAllow keeps it from being more"
        rule = _bound(answer.rule, offered := await before.offered()) or offered
        if rule is None or not await case.would_let_through(rule):
            return "yes, once; no rule was kept, for none would let this through"
        if answer.outcome == "always":
            told = self._store(rule)
            if told is not None:
                return told
        if await allow_for_session(inquiry.session.principal, rule):
            return f"yes, for this session: {text_of(rule)}"
        return "yes, once; the session has too many rules"

    def _store(self, rule: ToolRule) -> str | None:
        """Put a rule into the user's own settings; `None` where it can be kept for the session only."""
        if self.own is None or not can_be_stored(rule):
            return None
        try:
            self.own.add_rule(rule)
        except CompanionError:
            return None
        return f"yes, always: {text_of(rule)}"

    async def _keep_asked(self, inquiry: _Inquiry) -> None:
        session, turn_id = inquiry.session, inquiry.context.turn_id
        await session.append(call_draft(session, turn_id, inquiry.call, "asked"))


def _bound(rule: ToolRule | None, offered: ToolRule | None) -> ToolRule | None:
    """A rule as the person wrote it; where the one that was offered holds in one workspace folder, so does this one."""
    if rule is None or offered is None or rule.workspace is not None:
        return rule
    return msgspec.structs.replace(rule, workspace=offered.workspace)


def _settled(case: Case) -> Decided | None:
    """What needs no person."""
    match case.ruling.decision:
        case "deny":
            return _denied(case)
        case "allow":
            return Decided(allowed=True, consent=case.ruling.reason)
        case "ask":
            return None


def _denied(case: Case) -> Decided:
    return Decided(allowed=False, consent=case.ruling.reason, refusal=f"{_NOT_DONE} {case.ruling.refusal}")


def _rejected(answer: ConsentAnswer) -> Decided:
    words = answer.reason.strip()
    why = f" Their words: {words}" if words else " Ask what they want instead, or go on without it."
    return Decided(
        allowed=False,
        consent="you said no" + (f": {words[:200]}" if words else ""),
        refusal=f"{_NOT_DONE} The person said no.{why}",
    )


def _unanswered(outcome: Settled) -> Decided:
    if outcome == "timeout":
        return Decided(
            allowed=False, consent="nobody answered in time", refusal=f"{_NOT_DONE} The person did not answer in time."
        )
    return Decided(allowed=False, consent="no answer came", refusal=f"{_NOT_DONE} The person could not be asked.")


def _note_of(edited: _Edited) -> str:
    if edited.content is not None:
        return "The person corrected the text of the file before it was written; read it before you build on it."
    return f"The person changed the arguments; it ran with {dict(edited.args or {})!r}."


def _with_line_feeds(text: str) -> str:
    """The text as a diff editor gives it back, which knows one kind of line ending."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _differs(one: Proposal, other: Proposal) -> bool:
    """Whether two proposals would not do the same, as far as a person could see."""
    return (one.command, one.cwd, one.path, one.new_content, one.diff, one.touched) != (
        other.command,
        other.cwd,
        other.path,
        other.new_content,
        other.diff,
        other.touched,
    )
