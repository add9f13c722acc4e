"""The hooks of the settings, for people."""

from __future__ import annotations

from typing import Literal

import msgspec

from gemini_companion.engine.hooks.config import HookOptions
from gemini_companion.engine.hooks.events import HookEvent
from gemini_companion.sessions.hooks.firing import may_run


class ListedHook(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One hook."""

    event: HookEvent
    name: str
    """What `hooksConfig.disabled` knows it by: its name, else its command."""
    command: str
    matcher: str
    sequential: bool
    timeout_ms: int
    source: str
    """The layer of the settings that it is from: `user`, `workspace` or `editor`."""
    state: Literal["on", "off", "withheld"]
    """`off`: the settings turn it off. `withheld`: not in a workspace that is not trusted."""


class HookList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The hooks in force."""

    enabled: bool
    hooks: tuple[ListedHook, ...]
    problems: tuple[str, ...]
    """What of the settings' hooks was left out, and why; a sentence each."""


def listed_hooks(options: HookOptions, *, is_trusted: bool) -> HookList:
    """Every hook with its source and state, in the order in which they run."""
    hooks = tuple(
        ListedHook(
            event=hook.event,
            name=hook.key,
            command=hook.command,
            matcher=hook.matcher,
            sequential=hook.sequential,
            timeout_ms=hook.timeout_ms,
            source=hook.source,
            state="off" if not options.is_on(hook) else "on" if may_run(hook, is_trusted=is_trusted) else "withheld",
        )
        for hook in options.hooks
    )
    return HookList(enabled=options.enabled, hooks=hooks, problems=options.problems)
