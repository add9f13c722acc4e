"""The hooks that a settings file names. What is malformed is left out and told; it never makes the file unreadable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from gemini_companion.engine.hooks.events import EVENTS, HookEvent

DEFAULT_TIMEOUT_MS: Final = 60_000
LONGEST_TIMEOUT_MS: Final = 600_000
MOST_HOOKS: Final = 200
"""Hooks of one file that are taken."""
LONGEST_COMMAND: Final = 20_000
_LONGEST_LABEL: Final = 80


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One command for one event."""

    event: HookEvent
    command: str
    name: str = ""
    matcher: str = ""
    sequential: bool = False
    """The hooks of its event run one after another."""
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    env: Mapping[str, str] = {}
    passed: Mapping[str, str] = {}
    """Variables of the person's own that its command refers to: a personal hook gets them though they be secrets."""
    source: str = "user"
    """The layer of the settings that it is from."""
    place: tuple[int, int] = (0, 0)
    """Its definition among those of its event in that layer, and its place in that, from 0."""

    @property
    def key(self) -> str:
        """What it is disabled by: its name, else its command."""
        return self.name or self.command

    @property
    def label(self) -> str:
        """What people are shown: its name, else the beginning of its command's first line."""
        line = self.key.strip().partition("\n")[0]
        return line if len(line) <= _LONGEST_LABEL else line[: _LONGEST_LABEL - 1] + "…"


class HookOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The hooks of all layers, lowest layer first."""

    hooks: tuple[Hook, ...] = ()
    problems: tuple[str, ...] = ()
    """What was left out, and why; one sentence each."""
    enabled: bool = True
    disabled: frozenset[str] = frozenset()
    """Names, or commands of hooks without one."""
    notifications: bool = True
    """People are shown hooks that had an effect."""

    def is_on(self, hook: Hook) -> bool:
        """Whether this one may run."""
        return self.enabled and hook.key not in self.disabled


def read_hooks(value: Mapping[str, Any], source: str) -> tuple[list[Hook], list[str]]:
    """The hooks under a file's `hooks`, and what is wrong with the others."""
    problems: list[str] = []
    hooks = list(_hooks(value, source, problems))
    if len(hooks) > MOST_HOOKS:
        problems.append(f"Only the first {MOST_HOOKS} of its {len(hooks)} hooks are taken.")
    return hooks[:MOST_HOOKS], problems


def _hooks(value: Mapping[str, Any], source: str, problems: list[str]) -> Iterator[Hook]:
    for event, definitions in value.items():
        if event not in EVENTS:
            problems.append(f"hooks.{event[:80]}: there is no such event.")
            continue
        for number, definition in enumerate(_listed(definitions, f"hooks.{event}", problems)):
            where = f"hooks.{event}[{number}]"
            if not isinstance(definition, dict):
                problems.append(f"{where}: it must be an object with `hooks`.")
                continue
            fields = cast("dict[str, Any]", definition)
            matcher = fields.get("matcher", "")
            if not isinstance(matcher, str):
                problems.append(f"{where}.matcher: it must be a text.")
                continue
            for place, one in enumerate(_listed(fields.get("hooks"), f"{where}.hooks", problems)):
                hook = _hook(one, f"{where}.hooks[{place}]", problems)
                if hook is not None:
                    yield msgspec.structs.replace(
                        hook,
                        event=event,
                        matcher=matcher,
                        sequential=fields.get("sequential") is True,
                        source=source,
                        place=(number, place),
                    )


def _hook(value: object, where: str, problems: list[str]) -> Hook | None:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    command, name = fields.get("command"), fields.get("name", "")
    if fields.get("type") != "command" or not isinstance(command, str) or not command.strip():
        problems.append(f'{where}: it must have `"type": "command"` and a `command`.')
        return None
    if len(command) > LONGEST_COMMAND or "\0" in command:
        problems.append(f"{where}: its command is too long, or has a NUL in it.")
        return None
    timeout = fields.get("timeout", DEFAULT_TIMEOUT_MS)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout <= LONGEST_TIMEOUT_MS:
        problems.append(f"{where}.timeout: milliseconds up to {LONGEST_TIMEOUT_MS:,}; {DEFAULT_TIMEOUT_MS:,} are used.")
        timeout = DEFAULT_TIMEOUT_MS
    env = fields.get("env", {})
    return Hook(
        event="BeforeAgent",
        command=command,
        name=name[:200] if isinstance(name, str) else "",
        timeout_ms=max(1, round(timeout)),
        env=_texts(cast("dict[object, object]", env)) if isinstance(env, dict) else {},
    )


def _texts(env: Mapping[object, object]) -> dict[str, str]:
    """The variables that an environment can have."""
    return {
        name: text
        for name, text in env.items()
        if isinstance(name, str) and isinstance(text, str) and name and not {"=", "\0"} & set(name) and "\0" not in text
    }


def _listed(value: object, where: str, problems: list[str]) -> Sequence[object]:
    if isinstance(value, list):
        return cast("list[object]", value)
    problems.append(f"{where}: it must be a list.")
    return ()
