"""Which `.env` files count, and what of them.

The nearest one from the workspace folder upwards, if the workspace is trusted, and then the one of the user's home: a
project's file that has other things in it does not take the user's key away. Nothing of them overrides the process's
environment.

The user's own file may set whatever the environment may. A project's may not say where conversations go, nor make a
file from elsewhere the system prompt: it comes with the project, and who trusts that wants it to build, not to choose
who reads along. Nothing is read in a workspace that is not trusted; Gemini CLI takes keys there, so that whoever wrote
the repository pays for, and sees, what is asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, cast

from gemini_companion.engine.errors import InvalidSettings
from gemini_companion.engine.tokens.limits import is_resource_name
from gemini_companion.settings.dotenv import Variable, parse_env
from gemini_companion.settings.environment import EnvFile, Environment
from gemini_companion.settings.objects import JsonObject
from gemini_companion.settings.places import why_unsafe
from gemini_companion.settings.reading import read_text, shown

EXCLUDED: Final = (
    "DEBUG",
    "DEBUG_MODE",
    "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND",
    "GEMINI_CLI_IDE_SERVER_STDIO_ARGS",
)
"""What counts in no such file outside a `.gemini` folder, beside what `advanced.excludedEnvVars` adds."""

_OWN: Final = Path(".gemini", ".env")
_PLAIN: Final = Path(".env")
_ADDRESSES: Final = frozenset({"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"})
_PROMPTS: Final = frozenset({"GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD"})
_SWITCHES: Final = frozenset({"", "0", "1", "true", "false"})
_KEPT: Final = "Correct it and save; until then what it last held counts."
_IGNORED: Final = "Correct it and save; until then it is passed over."
_MOVE: Final = "Set it in ~/.gemini/.env or in the environment, if you want it."


class EnvFiles:
    """The `.env` files of one home. Blocks on small files; for one thread at a time."""

    def __init__(self, home: Path, process: Mapping[str, str]) -> None:
        self._home = home
        self._process = process
        self._last_good: dict[Path, list[Variable]] = {}

    def watched(self, folder: Path | None) -> tuple[Path, ...]:
        """Where files are looked for that may come, go and change while a workspace is open."""
        folders = (self._home, folder) if folder else (self._home,)
        return tuple(place / name for place in folders for name in (_OWN, _PLAIN))

    def load(
        self, folder: Path | None, layers: Iterable[JsonObject], *, trusted: bool
    ) -> tuple[Environment, list[InvalidSettings]]:
        """The environment with what the files add, and what is wrong with them.

        `folder` is the first workspace folder, `layers` are those of the settings, for `advanced.excludedEnvVars` and
        `advanced.ignoreLocalEnv`.
        """
        excluded, ignore_plain = _options(layers)
        problems: list[InvalidSettings] = []
        files: list[EnvFile] = []
        project = self._project_file(folder, ignore_plain, problems) if folder and trusted else None
        own = next((path for path in (self._home / _OWN, self._home / _PLAIN) if _is_there(path)), None)
        for path, is_project in ((project, True), (own, False)):
            if path is None:
                continue
            taken = {one.name: one for one in self._read(path, problems) if "\0" not in one.value}
            if not _is_in_gemini_folder(path):
                taken = {name: one for name, one in taken.items() if name not in excluded}
            if is_project:
                refused = [one for one in taken.values() if _oversteps(one)]
                taken = {name: one for name, one in taken.items() if one not in refused}
                problems += (_refusal(path, one) for one in refused if one.name not in self._process)
            files.append(EnvFile(path, taken))
        return Environment(self._process, files), problems

    def _project_file(self, folder: Path, ignore_plain: bool, problems: list[InvalidSettings]) -> Path | None:
        """The nearest file from the workspace folder upwards; the home folder's is the user's own."""
        try:
            start, home = Path(os.path.realpath(folder)), Path(os.path.realpath(self._home))
        except (OSError, ValueError):
            return None
        for place in (start, *start.parents):
            if place == home:
                return None
            for name in (_OWN,) if ignore_plain else (_OWN, _PLAIN):
                path = place / name
                if not _is_there(path):
                    continue
                reason = _why_others_may_write(path) if place != start else None
                if reason is None:
                    return path
                hint = "Only root or you may be able to write it (chmod go-w); it is passed over."
                problems.append(InvalidSettings(f"{shown(path)}: is skipped, for {reason}", hint=hint))
        return None

    def _read(self, path: Path, problems: list[InvalidSettings]) -> list[Variable]:
        try:
            variables = parse_env(read_text(path) or "")
        except InvalidSettings as fault:
            kept = self._last_good.get(path, [])
            fault.hint = _KEPT if kept else _IGNORED
            problems.append(fault)
            return kept
        self._last_good[path] = variables
        return variables


_TELEMETRY: Final = ("GEMINI_TELEMETRY_", "OTEL_")
"""Beginnings of variables that decide what is told to whom."""


def _options(layers: Iterable[JsonObject]) -> tuple[frozenset[str], bool]:
    """The names that do not count in a file outside a `.gemini` folder, and whether those of projects count at all."""
    names: list[object] = [*EXCLUDED]
    ignore = False
    for layer in layers:
        advanced: Any = layer.get("advanced")
        if not isinstance(advanced, dict):
            continue
        held = cast("JsonObject", advanced)
        if isinstance(listed := held.get("excludedEnvVars"), list):
            names += cast("list[object]", listed)
        if isinstance(wish := held.get("ignoreLocalEnv"), bool):
            ignore = wish
    return frozenset(name for name in names if isinstance(name, str)), ignore


def _oversteps(variable: Variable) -> bool:
    """Whether a project's file must not say this."""
    value = variable.value.strip()
    if variable.name in _ADDRESSES or variable.name.startswith(_TELEMETRY):
        return bool(value)
    if variable.name in _PROMPTS:
        return value.lower() not in _SWITCHES
    return variable.name == "GEMINI_MODEL" and is_resource_name(value)


def _refusal(path: Path, variable: Variable) -> InvalidSettings:
    what = (
        "names a file, and a project's .env may only say 1 or 0"
        if variable.name in _PROMPTS
        else "chooses who gets the conversation, and is not taken from a project's .env"
    )
    return InvalidSettings(f"{shown(path)}:{variable.line}: {variable.name}: {what}", hint=_MOVE)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_in_gemini_folder(path: Path) -> bool:
    return path.parent.name == _OWN.parent.name


def _why_others_may_write(path: Path) -> str | None:
    try:
        return why_unsafe(path.stat(), path.parent)
    except OSError:
        return "it cannot be examined"
