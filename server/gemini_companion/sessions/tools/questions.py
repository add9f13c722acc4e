"""A question to a person, from the moment it is asked until it is settled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.sessions.asking import Asker, ConsentAnswer
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import QuestionPart, ToolQuestion
from gemini_companion.sessions.tools.judging import Case
from gemini_companion.sessions.tools.obeying import diff_of, named
from gemini_companion.settings.obeyed import Made
from gemini_companion.tools.policy.rules import text_of
from gemini_companion.tools.tool import Risk, ToolCall, ToolContext

Settled: TypeAlias = Literal["once", "session", "always", "reject", "timeout", "gone"]


@dataclass(slots=True)
class OpenQuestion:
    """A question that waits. `news` is set when what it rests on may have changed."""

    question: ToolQuestion
    news: asyncio.Event = field(default_factory=asyncio.Event)


def question_of(
    session: Session, call: ToolCall, risk: Risk, case: Case, context: ToolContext, rule: ToolRule | None
) -> ToolQuestion:
    """What the person is asked."""
    proposal, line = case.asked.proposal, case.asked.line
    agent = session.meta.agent if session.caller is not None else None
    parts = () if line is None else line.parts
    return ToolQuestion(
        session_id=session.session_id if agent is None else agent.session_id,
        turn_id=context.turn_id if agent is None else agent.turn_id,
        agent="" if agent is None else agent.definition.title,
        tool_call_id=call.call_id,
        name=case.asked.names[0],
        args=dict(call.args),
        title=proposal.title,
        risk=risk,
        path=proposal.path,
        diff=proposal.diff,
        new_content=proposal.new_content,
        command=proposal.command,
        parts=tuple(
            QuestionPart(
                text=part.text, decision="deny" if part.decision == "refuse" else part.decision, reason=part.reason
            )
            for part in parts
        ),
        cwd=proposal.cwd,
        sandbox=proposal.sandbox,
        mode=case.situation.mode,
        reason=case.ruling.reason,
        warnings=proposal.warnings,
        irreversible=proposal.irreversible,
        rule=rule,
        rule_text=text_of(rule) if rule is not None else "",
        asked_at=session.services.clock.now(),
    )


def question_of_made(session: Session, call: ToolCall, made: Sequence[Made], context: ToolContext) -> ToolQuestion:
    """What the person is asked of files that a command wrote and that this program would obey."""
    agent = session.meta.agent if session.caller is not None else None
    files = named(made, context.roots)
    return ToolQuestion(
        session_id=session.session_id if agent is None else agent.session_id,
        turn_id=context.turn_id if agent is None else agent.turn_id,
        agent="" if agent is None else agent.definition.title,
        tool_call_id=call.call_id,
        name=call.name,
        args=dict(call.args),
        title=f"Let {files} count",
        risk="edit",
        path=made[0].path if len(made) == 1 else None,
        diff=diff_of(made, context.roots),
        mode=session.mode,
        reason="a command wrote it, and this program would go by what it says",
        warnings=("It is written already. Until you agree, nothing of it counts.",),
        asked_at=session.services.clock.now(),
    )


async def answer_to(
    one: OpenQuestion, asker: Asker, seconds: float, still_open: Callable[[], Awaitable[bool]]
) -> ConsentAnswer | None:
    """The first answer; `None` without one, or once `still_open` says that there is nothing left to ask.

    However it ends, the question is taken back from the person.
    """
    asking = asyncio.create_task(asker.confirm(one.question, seconds), name="question")
    try:
        while True:
            news = asyncio.create_task(one.news.wait(), name="news of a question")
            try:
                await asyncio.wait({asking, news}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()
            if asking.done():
                return asking.result()
            one.news.clear()
            if not await still_open():
                return None
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait({asking})
