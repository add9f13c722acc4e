"""The hooks of the settings, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from gemini_companion.engine.hooks.config import Hook, HookOptions
from gemini_companion.engine.hooks.events import HookEvent, HookOutcome
from gemini_companion.sessions.hooks.firing import HookRun, may_run


class LastRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How a hook last ran in this process, in whatever session."""

    at: int
    """When, in ms since 1970."""
    outcome: HookOutcome
    duration_ms: int
    message: str = ""
    """Why it refused or failed, or what it said; for people."""


HookKey: TypeAlias = tuple[str, HookEvent, tuple[int, int]]
"""Layer, event and place in it."""


def key_of(hook: Hook) -> HookKey:
    """By which a hook is told apart from all others of the settings."""
    return hook.source, hook.event, hook.place


class HookPlace(NamedTuple):
    """Where a hook is set."""

    file: str
    line: int | None


class ListedHook(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
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
    file: str | None = None
    """The settings file that has it, unless it comes from the editor or the command line."""
    line: int | None = None
    """Its line in it, from 1."""
    last_run: LastRun | None = None


class HookList(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The hooks in force."""

    enabled: bool
    hooks: tuple[ListedHook, ...]
    problems: tuple[str, ...]
    """What of the settings' hooks was left out, and why; a sentence each."""


def listed_hooks(
    options: HookOptions,
    *,
    is_trusted: bool,
    latest: Mapping[tuple[str, str, str], HookRun],
    places: Mapping[HookKey, HookPlace],
) -> HookList:
    """Every hook with its source, state and last run, in the order in which they run."""

    def last_run(hook: Hook) -> LastRun | None:
        run = latest.get((hook.event, hook.name, hook.command))
        if run is None:
            return None
        return LastRun(at=run.at, outcome=run.outcome, duration_ms=run.duration_ms, message=run.message)

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
            file=place.file if (place := places.get(key_of(hook))) else None,
            line=place.line if place else None,
            last_run=last_run(hook),
        )
        for hook in options.hooks
    )
    return HookList(enabled=options.enabled, hooks=hooks, problems=options.problems)
