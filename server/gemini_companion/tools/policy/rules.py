"""Rules of consent as a list with their origins, and in words."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.history.tool_entries import ToolRule
from gemini_companion.tools.policy.patterns import MAX_PATTERN, is_pattern, matches
from gemini_companion.tools.tool import Touched

RuleSource: TypeAlias = Literal["default", "user", "workspace", "system", "editor", "session"]

MAX_TOKENS: Final = 32
"""Words of a command's rule."""
_MAX_FOLDER: Final = 4_096
_VERBS: Final = {"allow": "Allow", "ask": "Ask before", "deny": "Never"}
_ORDER: Final = {"deny": 0, "ask": 1, "allow": 2}
_SOURCES: Final = {"session": 0, "editor": 1, "system": 2, "workspace": 3, "user": 4, "default": 5}


class SourcedRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule, and where it comes from."""

    rule: ToolRule
    source: RuleSource
    rule_id: str | None = None
    """By which it can be taken back."""


def in_order(rules: Iterable[SourcedRule]) -> tuple[SourcedRule, ...]:
    """Those first that are asked first: what denies, then what asks, then what allows; the nearest first."""
    return tuple(sorted(rules, key=lambda one: (_ORDER[one.rule.decision], _SOURCES[one.source])))


def is_sound(rule: ToolRule) -> bool:
    """Whether a rule can be kept: its pattern is one, its words are words, and it does not ask for both."""
    words = rule.command
    return (
        0 < len(rule.tool) <= 128
        and not (rule.path is not None and words is not None)
        and (rule.path is None or is_pattern(rule.path))
        and (rule.workspace is None or (0 < len(rule.workspace) <= _MAX_FOLDER and "\0" not in rule.workspace))
        and (
            words is None
            or (
                0 < len(words) <= MAX_TOKENS
                and all(0 < len(word) <= MAX_PATTERN and word.isprintable() for word in words)
            )
        )
    )


def concerns(rule: ToolRule, names: Sequence[str]) -> bool:
    """Whether a rule is about the tool with these names."""
    return rule.tool == "*" or rule.tool in names


def holds_in(rule: ToolRule, roots: Sequence[str], cwd: str | None = None) -> bool:
    """Whether a rule holds among these workspace folders. What allows commands does so for those that start in its
    folder: `cwd`.
    """
    if rule.workspace is None:
        return True
    if rule.workspace not in roots:
        return False
    return rule.decision != "allow" or cwd is None or _is_below(cwd, rule.workspace)


def concerns_file(rule: ToolRule, touched: Touched, roots: Sequence[str]) -> bool:
    """Whether a rule's pattern matches a file. What forbids is compared without regard to case, and outside too."""
    if rule.workspace is not None:
        roots = [root for root in roots if root == rule.workspace]
        if not any(_is_below(touched.path, root) for root in roots):
            return False
    if rule.path is None:
        return True
    is_loose = rule.decision != "allow"
    if is_loose and not is_pattern(rule.path):
        return True
    below = [touched.path[len(root) :].strip("/") for root in roots if _is_below(touched.path, root)]
    if any(matches(rule.path, path, is_loose=is_loose) for path in below):
        return True
    # Outside there is no folder that a pattern is relative to: names alone count, and only against the call.
    return (
        is_loose and not below and "/" not in rule.path.rstrip("/") and matches(rule.path, touched.path, is_loose=True)
    )


def text_of(rule: ToolRule) -> str:
    """The rule in words: `Allow run_shell_command: npm test …`; without the dots for these words alone."""
    what = "any tool" if rule.tool == "*" else rule.tool
    if rule.command is not None:
        what += f": {shlex.join(rule.command)}{'' if rule.exact else ' …'}"
    if rule.path is not None:
        what += f" on {rule.path}"
    if rule.workspace is not None:
        what += f" in {rule.workspace}"
    return f"{_VERBS[rule.decision]} {what}"


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
