"""Which hooks run at an event, and whether one after another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from gemini_companion.engine.hooks.config import Hook
from gemini_companion.engine.hooks.events import TOOL_EVENTS, WORD_EVENTS, HookEvent

LONGEST_NAME: Final = 200
"""Characters of a tool's name that a pattern is tried on."""
_LONGEST_PATTERN: Final = 1_000
_MOST_REPEATS: Final = 3
_NAMED_GROUP: Final = re.compile(r"\(\?<(?![=!])")


class HookPlan(NamedTuple):
    """The hooks of one event."""

    hooks: tuple[Hook, ...]
    sequential: bool


def plan_hooks(hooks: Iterable[Hook], event: HookEvent, subject: str = "") -> HookPlan:
    """Those of `hooks` that run at an event, each once, in the given order.

    `subject` is what matchers are about: the tool's name, the trigger, the source or the reason.
    """
    chosen: dict[tuple[str, str], Hook] = {}
    sequential = False
    for hook in hooks:
        if hook.event == event and _matches(hook, subject):
            chosen.setdefault((hook.name, hook.command), hook)
            sequential = sequential or hook.sequential
    return HookPlan(tuple(chosen.values()), sequential)


def _matches(hook: Hook, subject: str) -> bool:
    pattern = hook.matcher.strip()
    if pattern in ("", "*"):
        return True
    if hook.event in TOOL_EVENTS:
        compiled = _compiled(hook.matcher)
        return bool(compiled.search(subject[:LONGEST_NAME])) if compiled else subject == hook.matcher
    return hook.event not in WORD_EVENTS or subject == hook.matcher


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """The expression; `None` if it is invalid, or could take for ever: then it is a name."""
    if not is_quick(pattern):
        return None
    try:
        return re.compile(_NAMED_GROUP.sub("(?P<", pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def is_quick(pattern: str) -> bool:
    """Whether an expression takes no more than a moment on any tool's name.

    It may repeat little, and no group that is repeated may have a repeat or a choice of its own: that is what makes
    the engine try exponentially many ways.
    """
    if len(pattern) > _LONGEST_PATTERN:
        return False
    repeats, open_groups, closed_is_rich, at = 0, [False], False, 0
    while at < len(pattern):
        one = pattern[at]
        after_group = closed_is_rich
        closed_is_rich = False
        if one == "\\":
            if pattern[at + 1 : at + 2].isdigit() or pattern[at + 1 : at + 2] == "k":
                return False  # what a group found, again
            at += 1
        elif one == "[":
            at = _end_of_class(pattern, at)
        elif one == "(":
            open_groups.append(False)
            if pattern[at + 1 : at + 2] == "?":
                at += 1
        elif one == ")" and len(open_groups) > 1:
            closed_is_rich = open_groups.pop()
            open_groups[-1] = open_groups[-1] or closed_is_rich
        elif one == "|":
            open_groups[-1] = True
        elif one in "*+{":
            repeats += 1
            if after_group or repeats > _MOST_REPEATS:
                return False
            open_groups[-1] = True
        elif one == "?":
            open_groups[-1] = True
        at += 1
    return True


def _end_of_class(pattern: str, at: int) -> int:
    at += 1
    if pattern[at : at + 1] == "^":
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at
