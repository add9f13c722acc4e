"""Which `.env` files count, and what of them.

The nearest one from the workspace folder upwards, if the workspace is trusted, and then the one of the user's home: a
project's file that has other things in it does not take the user's key away. Nothing of them overrides the process's
environment.

The user's own file may set whatever the environment may. A project's comes with the project, and who trusts that wants
it to build, not to choose who reads along: of it a short list counts. It says which model answers, which sections the
system prompt has, and, only if nothing of the person's says whose key is used, a key or a project, as a whole. Never an
endpoint, a file of credentials, a proxy or certificates, by whatever name. Nothing is read in a workspace that is not
trusted; Gemini CLI takes keys there, so that whoever wrote the repository pays for, and sees, what is asked.
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
_ACCOUNT: Final = frozenset({
    "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE",
    "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
})  # fmt: skip
"""What a project's file may say of whose key is used, all of it or nothing."""
_SAYS_WHOSE: Final = ("GEMINI_API", "GOOGLE_", "GCLOUD_", "CLOUDSDK_", "VERTEX")
"""Beginnings of variables that say whose key or project is used, or at which endpoint: where the person has one of
these, a project's says nothing of it. By beginnings, for a name that we do not know may be one.
"""
_PROMPTS: Final = frozenset({"GEMINI_SYSTEM_MD", "GEMINI_WRITE_SYSTEM_MD"})
_SECTIONS: Final = "GEMINI_PROMPT_"
_CHOOSING: Final = frozenset({"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_APPLICATION_CREDENTIALS"})
"""What is told of, if a project's file says it. Whatever else has no effect is the project's own business."""
_TELEMETRY: Final = ("GEMINI_TELEMETRY_", "OTEL_")
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
    ) -> tuple[Environment, list[InvalidSettings], list[tuple[str, InvalidSettings]]]:
        """The environment with what the files add, what is wrong with them, and what is to be known of them, each with
        a text that stays the same while it does.

        `folder` is the first workspace folder, `layers` are those of the settings, for `advanced.excludedEnvVars` and
        `advanced.ignoreLocalEnv`.
        """
        excluded, ignore_plain = _options(layers)
        problems: list[InvalidSettings] = []
        files: list[EnvFile] = []
        own = next((path for path in (self._home / _OWN, self._home / _PLAIN) if _is_there(path)), None)
        if own is not None:
            taken = self._taken(own, excluded, problems)
            files.append(EnvFile(own, taken, taken, is_own=True))
        project = self._project_file(folder, ignore_plain, problems) if folder and trusted else None
        if project is None:
            return Environment(self._process, files, folder if trusted else None), problems, []
        defined = self._taken(project, excluded, problems)
        refused = [one for one in defined.values() if _oversteps(one)]
        problems += (_refusal(project, one) for one in refused if one.name not in self._process)
        counting = {name: one for name, one in defined.items() if one not in refused and _counts(name)}
        account = {name: one for name, one in counting.items() if name in _ACCOUNT and one.value.strip()}
        mine = Environment(self._process, files)
        whose = sorted(name for name in mine if name.upper().startswith(_SAYS_WHOSE))
        if whose:
            counting = {name: one for name, one in counting.items() if name not in _ACCOUNT}
        files.insert(0, EnvFile(project, counting, defined, is_own=False))
        return Environment(self._process, files, folder), problems, _remarks(project, account, whose)

    def _taken(self, path: Path, excluded: frozenset[str], problems: list[InvalidSettings]) -> dict[str, Variable]:
        """The variables of a file, by name, without those that count in no such file."""
        taken = {one.name: one for one in self._read(path, problems) if "\0" not in one.value}
        if _is_in_gemini_folder(path):
            return taken
        return {name: one for name, one in taken.items() if name not in excluded}

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


def _counts(name: str) -> bool:
    """Whether a project's file may say this."""
    return name in _ACCOUNT or name in _PROMPTS or name == "GEMINI_MODEL" or name.startswith(_SECTIONS)


def _oversteps(variable: Variable) -> bool:
    """Whether a project's file says what it must not, in a way that is worth telling."""
    value = variable.value.strip()
    if variable.name in _CHOOSING or variable.name.startswith(_TELEMETRY):
        return bool(value)
    if variable.name in _PROMPTS:
        return value.lower() not in _SWITCHES
    return variable.name == "GEMINI_MODEL" and is_resource_name(value)


def _remarks(path: Path, account: Mapping[str, Variable], whose: list[str]) -> list[tuple[str, InvalidSettings]]:
    """Whose key is used, where a project's file has one."""
    names = sorted(account)
    if not names or (whose and set(names) <= set(whose)):
        return []  # a person who has the same expects their own to count
    where = f"{shown(path)}:{account[names[0]].line}: {', '.join(names)}"
    if whose:
        told = InvalidSettings(f"{where}: not used, for you have {whose[0]} of your own", hint=_MOVE)
    else:
        hint = "Its owner pays for your prompts, and may see them. Set a key in ~/.gemini/.env to use your own."
        told = InvalidSettings(f"{where}: used, for you have no key of your own", hint=hint)
    return [(f"account {path} {bool(whose)} {' '.join(names)}", told)]


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
