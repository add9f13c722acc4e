"""Runs the hooks of one event, and makes one verdict of their answers."""

from __future__ import annotations

import asyncio
import datetime
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from gemini_companion.engine.hooks.answers import Answer, HookOutput, answer_of
from gemini_companion.engine.hooks.command_line import filled_in
from gemini_companion.engine.hooks.config import Hook, HookOptions
from gemini_companion.engine.hooks.events import HookEvent, HookOutcome
from gemini_companion.engine.hooks.matching import HookPlan, plan_hooks
from gemini_companion.engine.hooks.merging import Verdict, merge_outputs, merged_input, verdict_of
from gemini_companion.sessions.hooks.port import HookRunner
from gemini_companion.sessions.threads import CHARACTERS_A_UNIT, off_loop
from gemini_companion.settings.authority import PERSONAL

logger = logging.getLogger(__name__)

SIDE_BY_SIDE: Final = 8
"""Hooks of one event that run at the same time."""
_FORGETS: Final = "the chat so far is no longer sent"
SLOW_MS: Final = 1_000
"""From here on a hook is slow enough to be told of."""
_FOLDER_NAMES: Final = ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR")


class HookRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a hook, for people."""

    event: HookEvent
    name: str
    outcome: HookOutcome
    duration_ms: int
    message: str = ""
    is_notable: bool = False
    """It had an effect, failed or was slow, and people are to be shown that."""
    at: int = 0
    """When its event was, in ms since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a hook is told of where it runs."""

    session_id: str
    cwd: str
    home: str
    plans: str = ""
    transcript_path: str = ""
    is_trusted: bool = False


def wanted_hooks(options: HookOptions, event: HookEvent, subject: str, *, is_trusted: bool) -> HookPlan:
    """Those of the hooks of an event that are to run. `subject` is what their matchers are about."""
    plan = plan_hooks(filter(options.is_on, options.hooks), event, subject)
    return plan._replace(hooks=tuple(hook for hook in plan.hooks if may_run(hook, is_trusted=is_trusted)))


async def fire(
    options: HookOptions,
    plan: HookPlan,
    runner: HookRunner,
    event: HookEvent,
    fields: Mapping[str, Any],
    where: Surroundings,
    *,
    now_ms: int,
    report: Callable[[Hook, HookRun], None],
    slot: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> Verdict:
    """Run the hooks of an event. `fields` are what its hooks are told beside the common ones.

    Each runs in a `slot`; the wait for it is no part of the hook's own time.
    """
    hooks = plan.hooks
    told = {
        "session_id": where.session_id,
        "transcript_path": where.transcript_path,
        "cwd": where.cwd,
        "hook_event_name": event,
        "timestamp": _iso(now_ms),
        **fields,
    }

    async def one(hook: Hook, stdin: Mapping[str, Any]) -> Answer:
        env = _environment(where)
        async with slot():
            end = await runner.run(
                filled_in(hook.command, env),
                cwd=where.cwd if where.is_trusted else where.home,
                stdin=msgspec.json.encode(stdin),
                env={**hook.passed, **env, **hook.env},
                limit_seconds=hook.timeout_ms / 1000,
                is_own=hook.source in PERSONAL,
            )
        size = (len(end.stdout) + len(end.stderr)) // CHARACTERS_A_UNIT
        answer = await off_loop(size, lambda: answer_of(end, hook.event))
        report(
            hook,
            _run_of(hook, answer, end.duration_ms, at=now_ms, timed_out=end.timed_out, shown=options.notifications),
        )
        return answer

    outputs: list[HookOutput] = []
    if plan.sequential:
        for hook in hooks:
            answer = await one(hook, told)
            if answer.output is not None:
                outputs.append(answer.output)
                told = _told_next(event, told, answer)
    else:
        free = asyncio.Semaphore(SIDE_BY_SIDE)

        async def bounded(hook: Hook) -> Answer:
            async with free:
                return await one(hook, told)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(bounded(hook), name=f"hook {event}") for hook in hooks]
        outputs = [output for task in tasks if (output := task.result().output) is not None]
    return verdict_of(event, merge_outputs(event, outputs))


def may_run(hook: Hook, *, is_trusted: bool) -> bool:
    """Whether a hook runs: in a folder that is not trusted only the user's own, if it does not name that folder."""
    return is_trusted or (hook.source == "user" and not any(name in hook.command for name in _FOLDER_NAMES))


def _environment(where: Surroundings) -> dict[str, str]:
    folders = dict.fromkeys(_FOLDER_NAMES, where.cwd)
    return {**folders, "GEMINI_PLANS_DIR": where.plans, "GEMINI_SESSION_ID": where.session_id}


def _told_next(event: HookEvent, told: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """What the next hook in order is told, if this one did not fail: what it changed."""
    said = verdict_of(event, answer.output)
    if answer.fault:
        return dict(told)
    changed = dict(told)
    if event == "BeforeAgent" and said.context:
        changed["prompt"] = f"{changed.get('prompt', '')}\n\n{said.context}"
    for name, change in (("tool_input", said.tool_input), ("llm_request", said.llm_request)):
        if name in changed and change is not None:
            changed[name] = merged_input(name, changed[name], change)
    return changed


def _run_of(hook: Hook, answer: Answer, duration_ms: int, *, at: int, timed_out: bool, shown: bool) -> HookRun:
    verdict = verdict_of(hook.event, answer.output)
    changes = (
        verdict.context,
        verdict.tool_input,
        verdict.llm_request,
        verdict.llm_response,
        verdict.tool_names,
        verdict.tool_mode != "AUTO",
        verdict.tail,
        verdict.clears,
    )
    outcome: HookOutcome = (
        "timedOut" if timed_out and not verdict.blocks
        else "stopped" if verdict.stops
        else "denied" if verdict.blocks
        else "asked" if verdict.asks
        else "failed" if answer.fault
        else "changed" if any(change not in (None, "", (), False) for change in changes)
        else "ok"
    )  # fmt: skip
    told = (answer.fault if outcome in ("failed", "timedOut") else verdict.reason) if outcome != "ok" else ""
    message = verdict.message or (told if outcome != "changed" else _FORGETS if verdict.clears else "")
    is_silent = verdict.suppresses and outcome in ("ok", "changed")
    if is_silent:
        message = ""
    return HookRun(
        event=hook.event,
        name=hook.label,
        outcome=outcome,
        duration_ms=duration_ms,
        message=message[:500],
        is_notable=shown and not is_silent and (outcome != "ok" or duration_ms >= SLOW_MS or bool(verdict.message)),
        at=at,
    )


def _iso(now_ms: int) -> str:
    moment = datetime.datetime.fromtimestamp(now_ms / 1000, tz=datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
