"""A call and its session put before the policy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.history.tool_entries import ChangeEntry, Decision, ToolRule
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.modes import mode_of
from gemini_companion.sessions.tools.rules import rules_of
from gemini_companion.tools.policy.decide import Asked, Ruling, Situation, decide, suggestion, would_allow
from gemini_companion.tools.policy.lines import JudgedLine, LineJudge
from gemini_companion.tools.policy.rules import SourcedRule, concerns, holds_in
from gemini_companion.tools.tool import Proposal, Risk, Tool, ToolContext, Touched, rule_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A call as the policy sees it, and what the policy says."""

    asked: Asked
    situation: Situation
    ruling: Ruling
    judge: LineJudge | None
    fresh: frozenset[str]
    """Real paths of files that were written in this turn."""

    async def offered(self) -> ToolRule | None:
        """The rule that "always" would keep; `None` where no stored rule would let the call through."""
        rule = suggestion(self.asked, self.situation.roots)
        return rule if rule is not None and await self.would_let_through(rule) else None

    async def would_let_through(self, rule: ToolRule) -> bool:
        """Whether with this rule the call would go ahead unasked."""
        asked = self.asked
        if asked.line is not None:
            rules = (*self.situation.rules, SourcedRule(rule=rule, source="session"))
            more = msgspec.structs.replace(self.situation, rules=rules)
            asked = await _asked(asked.names, asked.risk, asked.proposal, more, self.judge, self.fresh)
        return would_allow(rule, asked, self.situation)


def situation_of(session: Session, roots: Sequence[str]) -> Situation:
    """What holds for a session now."""
    return Situation(
        rules=rules_of(session),
        mode=mode_of(session),
        trusted=session.services.trusted(),
        roots=tuple(roots),
        core=session.services.settings().tools.core,
    )


async def put_to_policy(
    session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext, judge: LineJudge | None
) -> Case:
    """What the policy says of a call now."""
    situation = situation_of(session, context.roots)
    fresh = _written_in(session, context.turn_id) if proposal.command is not None else frozenset[str]()
    asked = await _asked(rule_names(tool), tool.risk, proposal, situation, judge, fresh)
    ruling = decide(asked, situation)
    if context.must_ask and ruling.decision == "allow":
        ruling = msgspec.structs.replace(ruling, decision="ask", reason=context.must_ask)
    return Case(asked=asked, situation=situation, ruling=ruling, judge=judge, fresh=fresh)


async def _asked(
    names: tuple[str, ...],
    risk: Risk,
    proposal: Proposal,
    situation: Situation,
    judge: LineJudge | None,
    fresh: frozenset[str],
) -> Asked:
    line: JudgedLine | None = None
    if proposal.command is not None and judge is not None and situation.roots:
        line = await asyncio.to_thread(
            judge,
            proposal.command,
            cwd=proposal.cwd or situation.roots[0],
            roots=situation.roots,
            rules=_for_lines(names, situation, proposal.cwd or situation.roots[0]),
            of_file=files_by_rules(situation),
            fresh=fresh,
        )
    return Asked(names=names, risk=risk, proposal=proposal, line=line)


def _for_lines(names: tuple[str, ...], situation: Situation, cwd: str) -> list[ToolRule]:
    """The rules by which a line is judged; in plan mode none that allows, for what a rule lets run may do anything."""
    plans = situation.mode == "plan"
    return [
        one.rule
        for one in situation.rules
        if concerns(one.rule, names)
        and holds_in(one.rule, situation.roots, cwd)
        and not (plans and one.rule.decision == "allow")
    ]


def _written_in(session: Session, turn_id: str) -> frozenset[str]:
    """The real paths of the files that this turn has changed so far, in the chat and in its subagents."""
    paths = set(session.principal.unlogged.changed_by_agents)
    turns = [(session, turn_id)]
    if session.caller is not None and session.meta.agent is not None:
        turns.append((session.caller, session.meta.agent.turn_id))
    for one, turn in turns:
        for entry in reversed(one.history.entries):
            if isinstance(entry, PromptEntry) and entry.turn_id == turn:
                break
            if isinstance(entry, ChangeEntry) and entry.turn_id == turn:
                paths.update(change.path for change in entry.changes)
    return frozenset(paths)


def readable_unasked(session: Session, roots: Sequence[str]) -> Callable[[str], bool]:
    """Says of a file inside the folders, by its real path, whether the rules of now let it be read unasked."""
    situation = situation_of(session, roots)

    def is_readable(path: str) -> bool:
        asked = Asked(
            names=("read_file", "grep_search"),
            risk="read",
            proposal=Proposal(title="", touched=(Touched(path=path, how="read"),)),
        )
        return decide(asked, situation).decision == "allow"

    return is_readable


def files_by_rules(situation: Situation) -> Callable[[Touched], Decision]:
    """What the rules say of a file that a command reads or writes: the same as of the tools for files.

    A search through a folder asks about thousands: where no rule has a path, files that are alike get one answer.
    """
    if situation.mode == "plan":  # it forbids the command that writes, not this file
        situation = msgspec.structs.replace(situation, mode="ask")
    names = {"read": ("read_file",), "write": ("write_file", "replace")}
    by_path = {
        how: any(
            (one.rule.path or one.rule.workspace) is not None and concerns(one.rule, names[how])
            for one in situation.rules
        )
        for how in names
    }
    known: dict[tuple[str, bool, bool, bool, bool], Decision] = {}

    def decision(touched: Touched) -> Decision:
        is_read = touched.how == "read"
        how = "read" if is_read else "write"
        kind = (how, touched.is_inside, bool(touched.secret), touched.is_guarded, touched.is_unknown)
        if (found := known.get(kind)) is not None:
            return found
        asked = Asked(
            names=names[how], risk="read" if is_read else "edit", proposal=Proposal(title="", touched=(touched,))
        )
        found = decide(asked, situation).decision
        if not by_path[how]:
            known[kind] = found
        return found

    return decision
