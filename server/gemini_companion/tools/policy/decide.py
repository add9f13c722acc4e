"""The decision: deny before guards, guards before what asks, that before what allows, then what the call itself says,
then the mode, then the risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from gemini_companion.engine.history.tool_entries import Decision, Mode, ToolRule
from gemini_companion.tools.policy.lines import JudgedLine
from gemini_companion.tools.policy.patterns import pattern_of
from gemini_companion.tools.policy.rules import SourcedRule, concerns, concerns_file, holds_in, is_sound, text_of
from gemini_companion.tools.tool import Proposal, Risk, Touched

HOW_TO_TRUST: Final = (
    "This workspace is not trusted, so tools only read in it. A person trusts it in the editor, or by listing the"
    " folder under companion.trustedFolders in the settings of their own."
)
PLAN_ONLY: Final = "plan mode: only reading; call exit_plan_mode with the plan"
PLAN_COMMANDS: Final = (
    "plan mode: of commands only those run that just read in the workspace, with no rule's help, and this is none of"
    " them ({why}). Leave that out, use the tools that read, or call exit_plan_mode with the plan."
)
NOT_OF_CORE: Final[frozenset[Risk]] = frozenset({"note", "question", "server"})
"""Risks of tools that `tools.core` is not about; of servers' tools, includeTools of the server decides."""
_UNASKED: Final[frozenset[Risk]] = frozenset({"read", "note", "question", "agent"})
"""What plan mode and an untrusted workspace leave. A question goes to the person in any case."""


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision rests on, besides the call."""

    rules: tuple[SourcedRule, ...]
    mode: Mode
    trusted: bool
    roots: tuple[str, ...] = ()
    core: frozenset[str] | None = None
    """The names of the only tools that there are, where somebody said so."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is to be decided."""

    names: tuple[str, ...]
    """The tool's name, then its aliases."""
    risk: Risk
    proposal: Proposal
    line: JudgedLine | None = None
    """The verdict on its shell line, in plan mode judged without the rules that allow. A command without one is asked
    about, and refused in plan mode.
    """


class Ruling(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules say."""

    decision: Decision
    reason: str
    """For people, a few words."""
    refusal: str = ""
    """For the model, where it is denied."""
    is_fixed: bool = False
    """No rule that could be stored would change it."""


def decide(asked: Asked, situation: Situation) -> Ruling:
    """Whether a call may go ahead. Pure."""
    concerned = [
        one
        for one in situation.rules
        if concerns(one.rule, asked.names) and holds_in(one.rule, situation.roots, asked.proposal.cwd)
    ]
    return (
        _denied(asked, situation, concerned)
        or _guarded(asked)
        or _by_rules(asked, situation, concerned)
        or _by_itself(asked)
        or _by_mode(asked, situation)
        or _by_risk(asked)
    )


def would_allow(rule: ToolRule, asked: Asked, situation: Situation) -> bool:
    """Whether with this rule the call would go ahead; its line must have been judged with the rule among the others."""
    if rule.decision != "allow" or not is_sound(rule) or rule.tool not in asked.names:
        return False
    if (asked.risk == "command") != (rule.command is not None):
        return False
    more = msgspec.structs.replace(situation, rules=(*situation.rules, SourcedRule(rule=rule, source="session")))
    return decide(asked, more).decision == "allow"


def suggestion(asked: Asked, roots: Sequence[str]) -> ToolRule | None:
    """The narrowest rule that is about this call and what is like it, whether or not it would help."""
    name = asked.names[0]
    match asked.risk:
        case "command":
            return asked.line.suggested if asked.line else None
        case "network":
            return ToolRule(tool=name, decision="allow")
        case "server":
            workspace = roots[0] if asked.proposal.of_workspace and roots else None
            return ToolRule(tool=name, decision="allow", workspace=workspace)
        case "edit" | "read" if len(asked.proposal.touched) == 1:
            path = asked.proposal.touched[0].path
            root = next((root for root in roots if path.startswith(root.rstrip("/") + "/")), None)
            below = path[len(root) :].strip("/") if root else ""
            return ToolRule(tool=name, decision="allow", path=pattern_of(below), workspace=root) if below else None
        case _:
            return None


def _denied(asked: Asked, situation: Situation, concerned: Sequence[SourcedRule]) -> Ruling | None:
    if situation.core is not None and asked.risk not in NOT_OF_CORE and situation.core.isdisjoint(asked.names):
        return _deny("it is not among tools.core", "The settings leave this tool out.")
    for one in concerned:
        if one.rule.decision == "deny" and _applies(one.rule, asked, situation.roots):
            words = f"a rule: {text_of(one.rule)} ({one.source})"
            return _deny(words, f"A rule of the settings forbids it: {text_of(one.rule)}.")
    if asked.line is not None and asked.line.decision in ("deny", "refuse"):
        return _deny(asked.line.reason, f"It is refused: {asked.line.reason}.")
    if not situation.trusted and asked.risk not in _UNASKED:
        return _deny("the workspace is not trusted", HOW_TO_TRUST)
    if situation.mode == "plan" and asked.risk == "command":
        return _planning(asked.line)
    if situation.mode == "plan" and asked.risk not in _UNASKED:
        return _deny("plan mode", PLAN_ONLY)
    return None


def _planning(line: JudgedLine | None) -> Ruling | None:
    """What plan mode says of a command, whose line was judged without the rules that allow."""
    if line is not None and line.decision == "allow":
        return None
    why = (line.reason if line is not None else "") or "what it does is not known"
    return _deny(f"plan mode, and the command may do more than read: {why}", PLAN_COMMANDS.format(why=why))


def _guarded(asked: Asked) -> Ruling | None:
    for touched in asked.proposal.touched:
        reason = _guard(touched)
        if reason:
            return Ruling(decision="ask", reason=reason, is_fixed=True)
    return None


def _guard(touched: Touched) -> str:
    """Why a file is asked about whatever is stored."""
    if touched.secret:
        return f"it touches a secret: {touched.secret}"
    if not touched.is_inside:
        return "it reaches outside of the workspace"
    if touched.is_guarded and touched.how != "read":
        return "it changes what decides what runs"
    return ""


def _by_rules(asked: Asked, situation: Situation, concerned: Sequence[SourcedRule]) -> Ruling | None:
    for one in concerned:
        if one.rule.decision == "ask" and _applies(one.rule, asked, situation.roots):
            return Ruling(decision="ask", reason=f"a rule: {text_of(one.rule)} ({one.source})", is_fixed=True)
    if asked.risk == "question":
        return None
    if asked.risk == "command":
        line = asked.line
        if line is None:
            return None
        if line.decision == "allow" and not line.by_rules and (ruling := _by_itself(asked)):
            return ruling
        return Ruling(decision="allow" if line.decision == "allow" else "ask", reason=line.reason)
    allowing = [one for one in concerned if one.rule.decision == "allow" and one.rule.command is None]
    touched = asked.proposal.touched
    if not touched:
        found = next((one for one in allowing if one.rule.path is None), None)
        return _allowed_by(found) if found else None
    by_file = [_first(allowing, each, situation.roots) for each in touched]
    found = by_file[0]
    return _allowed_by(found) if found is not None and all(by_file) else None


def _by_itself(asked: Asked) -> Ruling | None:
    return Ruling(decision="ask", reason=asked.proposal.asks) if asked.proposal.asks else None


def _first(rules: Sequence[SourcedRule], touched: Touched, roots: Sequence[str]) -> SourcedRule | None:
    return next((one for one in rules if concerns_file(one.rule, touched, roots)), None)


def _allowed_by(one: SourcedRule) -> Ruling:
    return Ruling(decision="allow", reason=f"a rule: {text_of(one.rule)} ({one.source})")


def _applies(rule: ToolRule, asked: Asked, roots: Sequence[str]) -> bool:
    """Whether a rule that denies or asks is met. Those for commands are met by whoever judges the line."""
    if rule.command is not None:
        return False
    if rule.path is None and (rule.workspace is None or not asked.proposal.touched):
        return True
    return any(concerns_file(rule, touched, roots) for touched in asked.proposal.touched)


def _by_mode(asked: Asked, situation: Situation) -> Ruling | None:
    touched = asked.proposal.touched
    if situation.mode == "acceptEdits" and asked.risk == "edit" and touched and not any(t.is_unknown for t in touched):
        return Ruling(decision="allow", reason="mode acceptEdits")
    return None


def _by_risk(asked: Asked) -> Ruling:
    match asked.risk:
        case "read":
            return Ruling(decision="allow", reason="it only reads")
        case "note" | "question":
            return Ruling(decision="allow", reason="it changes nothing")
        case "agent":
            return Ruling(decision="allow", reason="each of its calls is judged by itself")
        case "edit":
            return Ruling(decision="ask", reason="it changes files")
        case "network":
            return Ruling(decision="ask", reason="it reaches the network")
        case "command":
            return Ruling(decision="ask", reason="it runs a command")
        case "server":
            return Ruling(decision="ask", reason=f"it asks the MCP server {asked.proposal.server}".rstrip())


def _deny(reason: str, refusal: str) -> Ruling:
    return Ruling(decision="deny", reason=reason, refusal=refusal, is_fixed=True)
