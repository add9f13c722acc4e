"""A question to a person, from the moment it is asked until it is settled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.sessions.asking import Asker, ConsentAnswer
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import QuestionPart, ToolQuestion
from gemini_companion.sessions.tools.judging import Case
from gemini_companion.sessions.tools.obeying import diff_of, named
from gemini_companion.settings.obeyed import Made
from gemini_companion.tools.consent_texts import (
    alike_in,
    signs_of,
    signs_of_prose,
    texts_in,
    visible,
    visible_line,
    visible_prose,
)
from gemini_companion.tools.policy.rules import text_of
from gemini_companion.tools.shell.tree import programs_in
from gemini_companion.tools.tool import Proposal, Risk, ToolCall, ToolContext

Settled: TypeAlias = Literal["once", "session", "always", "reject", "timeout", "gone"]


@dataclass(slots=True)
class OpenQuestion:
    """A question that waits. `news` is set when what it rests on may have changed."""

    question: ToolQuestion
    news: asyncio.Event = field(default_factory=asyncio.Event)


def question_of(
    session: Session, call: ToolCall, risk: Risk, case: Case, context: ToolContext, rule: ToolRule | None
) -> ToolQuestion:
    """What the person is asked. Every text of it goes through `consent_texts`, so none of it hides anything."""
    proposal, line = case.asked.proposal, case.asked.line
    agent = session.meta.agent if session.caller is not None else None
    parts = () if line is None else line.parts
    is_told_otherwise = proposal.command is not None or proposal.diff is not None
    return ToolQuestion(
        session_id=session.session_id if agent is None else agent.session_id,
        turn_id=context.turn_id if agent is None else agent.turn_id,
        agent="" if agent is None else visible_line(agent.definition.title),
        tool_call_id=call.call_id,
        name=case.asked.names[0],
        args=dict(call.args),
        args_text="" if is_told_otherwise or not call.args else _arguments(call.args),
        title=visible_line(proposal.title),
        risk=risk,
        path=proposal.path,
        diff=None if proposal.diff is None else visible_prose(proposal.diff),
        new_content=proposal.new_content,
        command=None if proposal.command is None else visible(proposal.command),
        parts=tuple(
            QuestionPart(
                text=part.text.replace("\n", "\\u{000A}").replace("\t", "\\u{0009}"),  # the rest is written out already
                decision="deny" if part.decision == "refuse" else part.decision,
                reason=visible_line(part.reason),
            )
            for part in parts
        ),
        cwd=None if proposal.cwd is None else visible_line(proposal.cwd),
        sandbox=visible_line(proposal.sandbox),
        mode=case.situation.mode,
        reason=visible_line(case.ruling.reason),
        warnings=(*map(visible_line, proposal.warnings), *_signs(proposal, call)),
        irreversible=visible_line(proposal.irreversible),
        rule=rule,
        rule_text=visible_line(text_of(rule)) if rule is not None else "",
        asked_at=session.services.clock.now(),
    )


def _arguments(args: Mapping[str, Any]) -> str:
    """All of a call's arguments, as JSON that is read in one way."""
    return visible_prose(json.dumps(args, ensure_ascii=False, indent=2, default=str))


def _signs(proposal: Proposal, call: ToolCall) -> list[str]:
    """What may deceive in what is asked about: where it acts, what it runs, what it writes or sends."""
    found: list[str] = []
    if proposal.command is not None:
        found += signs_of(proposal.command, programs_in(proposal.command))
    elif proposal.diff is not None:
        found += signs_of_prose(proposal.diff)
    else:
        for text in texts_in(call.args):
            found += [*signs_of_prose(text), *alike_in(text)]
    for place in (proposal.path, proposal.cwd, proposal.title if proposal.command is None else ""):
        found += signs_of(place or "")
    return list(dict.fromkeys(found))


def question_of_made(session: Session, call: ToolCall, made: Sequence[Made], context: ToolContext) -> ToolQuestion:
    """What the person is asked of files that a command wrote and that this program would obey."""
    agent = session.meta.agent if session.caller is not None else None
    files, diff = named(made, context.roots), diff_of(made, context.roots)
    signs = dict.fromkeys((*signs_of(files), *signs_of_prose(diff)))
    return ToolQuestion(
        session_id=session.session_id if agent is None else agent.session_id,
        turn_id=context.turn_id if agent is None else agent.turn_id,
        agent="" if agent is None else visible_line(agent.definition.title),
        tool_call_id=call.call_id,
        name=call.name,
        args=dict(call.args),
        title=visible_line(f"Let {files} count"),
        risk="edit",
        path=made[0].path if len(made) == 1 else None,
        diff=visible_prose(diff),
        mode=session.mode,
        reason="a command wrote it, and this program would go by what it says",
        warnings=("It is written already. Until you agree, nothing of it counts.", *signs),
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
