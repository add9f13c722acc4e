"""Calls and situations for the policy of consent."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from gemini_companion.engine.history.tool_entries import Decision, Mode, ToolRule
from gemini_companion.tools.policy.decide import Asked, Situation, decide
from gemini_companion.tools.policy.rules import RuleSource, SourcedRule
from gemini_companion.tools.tool import Proposal, Risk, Touched

ROOTS = ("/project/app",)
RISKS: tuple[Risk, ...] = get_args(Risk)
MODES: tuple[Mode, ...] = get_args(Mode)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict on a line, as the shell's judge gives it."""

    decision: Any
    reason: str = "of its parts"
    parts: tuple[Any, ...] = ()
    suggested: ToolRule | None = None
    looks_in: str = ""
    by_rules: bool = False


def rule(decision: Decision, tool: str = "*", *, source: RuleSource = "user", **more: Any) -> SourcedRule:
    return SourcedRule(rule=ToolRule(tool=tool, decision=decision, **more), source=source)


def file(path: str = "/project/app/src/a.py", how: Any = "write", **more: Any) -> Touched:
    return Touched(path=path, how=how, **more)


def asked(risk: Risk = "edit", *touched: Touched, name: str = "write_file", line: Any = None) -> Asked:
    return Asked(names=(name,), risk=risk, proposal=Proposal(title="Do it", touched=touched), line=line)


def situation(
    *rules: SourcedRule, mode: Mode = "ask", trusted: bool = True, roots: tuple[str, ...] = ROOTS, **more: Any
) -> Situation:
    return Situation(rules=rules, mode=mode, trusted=trusted, roots=roots, **more)


def decision(one: Asked, where: Situation) -> Decision:
    return decide(one, where).decision


GUARDED = [
    file("/etc/hosts", is_inside=False),
    file("/etc/hosts", "read", is_inside=False),
    file("/project/app/.env", "read", secret="a secret by its name"),
    file("/project/app/Makefile", is_guarded=True),
    file("/project/app/Makefile", "delete", is_guarded=True),
]
