"""The events that hooks are run at."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

HookEvent: TypeAlias = Literal[
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeTool",
    "AfterTool",
    "BeforeToolSelection",
    "PreCompress",
    "PostCompress",
    "SessionStart",
    "SessionEnd",
    "Notification",
]
"""Gemini CLI's, and `PostCompress`, which is ours."""

HookOutcome: TypeAlias = Literal["ok", "changed", "asked", "denied", "stopped", "failed", "timedOut"]
"""How one run of a hook ended."""

EVENTS: Final[tuple[HookEvent, ...]] = get_args(HookEvent)
TOOL_EVENTS: Final[frozenset[HookEvent]] = frozenset({"BeforeTool", "AfterTool"})
"""Their matchers are regular expressions on the tool's name."""
WORD_EVENTS: Final[frozenset[HookEvent]] = frozenset({"SessionStart", "SessionEnd", "PreCompress", "PostCompress"})
"""Their matchers are one word: the source, the reason, the trigger. Matchers of the others are not looked at."""
DECIDING: Final[frozenset[HookEvent]] = frozenset(
    {"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SessionStart"}
)
"""Of several answers the strictest counts, and their texts are joined."""
