"""`gemini-companion config`: what is in force and where from, and changing it."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from gemini_companion.cli.files import aside
from gemini_companion.cli.terminal import harmless, on_one_line
from gemini_companion.engine.errors import InvalidInput, InvalidSettings
from gemini_companion.settings.authority import AUTHORITY, is_admitted, key_path
from gemini_companion.settings.in_force import place_of, settings_in_force
from gemini_companion.settings.load import LoadedSettings, SettingsLoader
from gemini_companion.settings.objects import merge, nested
from gemini_companion.settings.own_file import OwnSettings
from gemini_companion.settings.places import SETTINGS_FILE
from gemini_companion.settings.reading import shown
from gemini_companion.settings.trust import is_trusted, real_paths
from gemini_companion.settings.validation import misfits

_UNTRUSTED: Final = "This folder is not trusted, so its settings count for little: add it to companion.trustedFolders."
_OPEN: Final = ("mcpServers", "hooks", "model.summarizeToolOutput")
"""Keys whose members have names of the person's own."""


def config(env: Mapping[str, str], options: argparse.Namespace) -> int:
    """Run `config ACTION`. Returns 0, or 1 for a key that was not set. Raises `CompanionError`."""
    desk = _Desk(env)
    match options.action:
        case "list":
            return desk.list_(as_json=options.json)
        case "get":
            return desk.get(options.key, as_json=options.json)
        case "set":
            return desk.set(options.key, options.value, in_workspace=options.workspace)
        case "unset":
            return desk.unset(options.key, in_workspace=options.workspace)
        case _:
            return desk.path(as_json=options.json)


def load_here(env: Mapping[str, str]) -> tuple[SettingsLoader, LoadedSettings, bool]:
    """The settings for the current folder, and whether the user's own file trusts it."""
    from gemini_companion.settings.last_good import LastGood
    from gemini_companion.wiring.places import data_directory, home_directory

    folder = os.getcwd()
    last_good = LastGood(data_directory(env) / "settings", env)
    loader = SettingsLoader(home_directory(env), (folder,), env, last_good=last_good)
    loaded = loader.reload(trusted=False)
    trusted = is_trusted(None, real_paths(loaded.settings.trusted_folders), real_paths([folder]))
    return loader, loader.reload(trusted=True) if trusted else loaded, trusted


def command_line_of(assignments: Sequence[str]) -> dict[str, Any]:
    """The settings of `KEY=VALUE` texts as one layer. Raises `InvalidInput`, `InvalidSettings`."""
    layer: dict[str, Any] = {}
    for text in assignments:
        key, _, value = text.partition("=")
        path, checked = _checked(key.strip(), value)
        layer = merge(layer, nested(path, checked))
    return layer


class _Desk:
    """The settings for the current folder."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._loader, self._loaded, self._trusted = load_here(env)

    def list_(self, *, as_json: bool) -> int:
        settings = settings_in_force(self._loaded)
        if as_json:
            _print_json({"trusted": self._trusted, "settings": settings, "problems": self._problems()})
        else:
            width = max(len(setting.key) for setting in settings)
            for setting in settings:
                print(f"{setting.key:<{width}}  {shown_value(setting.value)}  ({on_one_line(place_of(setting))})")
        self._warn()
        return 0

    def get(self, key: str, *, as_json: bool) -> int:
        found = [one for one in settings_in_force(self._loaded) if f"{one.key}.".startswith(f"{key}.")]
        if not found:
            raise _unknown(key)
        if as_json:
            _print_json(found[0] if found[0].key == key else found)
        elif found[0].key == key:
            print(shown_value(found[0].value))
            print(on_one_line(place_of(found[0])), file=sys.stderr)
        else:
            for setting in found:
                print(f"{setting.key}  {shown_value(setting.value)}  ({on_one_line(place_of(setting))})")
        self._warn()
        return 0

    def set(self, key: str, text: str, *, in_workspace: bool) -> int:
        path, value = _checked(key, text)
        file = self._file(key, in_workspace=in_workspace)
        OwnSettings(file, aside(self._env)).set(path, value)
        return self._report(file, f"{key} is set", key)

    def unset(self, key: str, *, in_workspace: bool) -> int:
        path = key_path(_known(key))
        file = self._file(key, in_workspace=in_workspace)
        if not OwnSettings(file, aside(self._env)).unset(tuple(map(str, path))):
            print(f"{key} is not set in {harmless(shown(file))}.")
            return 1
        return self._report(file, f"{key} is no longer set", key)

    def path(self, *, as_json: bool) -> int:
        files = [
            {"layer": layer.name, "file": shown(layer.path), "exists": layer.path.exists()}
            for layer in self._loaded.layers
            if layer.path is not None
        ]
        if as_json:
            _print_json(files)
        else:
            for one in files:
                print(f"{one['layer']:<14}  {harmless(str(one['file']))}{'' if one['exists'] else '  (not there)'}")
        return 0

    def _file(self, key: str, *, in_workspace: bool) -> Path:
        """The file to change. Raises `InvalidInput` for a workspace's where it would not count or not be there."""
        if not in_workspace:
            return self._loader.user_file
        file = self._loader.workspace_file
        if file is None:
            raise InvalidInput("This folder's settings are your own file.", hint="Leave --workspace out.")
        if not is_admitted(_known(key), "workspace", trusted=True):
            raise InvalidInput(f"{key} counts only in your own file.", hint="Leave --workspace out.")
        folder = os.path.realpath(os.getcwd())
        if os.path.realpath(file) != os.path.join(folder, SETTINGS_FILE):
            raise InvalidInput(
                f"{shown(file)} leads out of its place by a link.", hint="Change the file that it leads to by hand."
            )
        return file

    def _report(self, file: Path, what: str, key: str) -> int:
        """Say what was done, and what is in force now, which another layer may decide."""
        print(f"{what} in {harmless(shown(file))}.")
        _, self._loaded, _ = load_here(self._env)
        now = next(one for one in settings_in_force(self._loaded) if one.key == _known(key))
        if now.layer != "default" and now.file != shown(file):
            print(f"In force is {shown_value(now.value)} ({on_one_line(place_of(now))}).")
        self._warn()
        return 0

    def _problems(self) -> list[str]:
        return [problem.message for problem in self._loaded.problems]

    def _warn(self) -> None:
        """Tell on stderr what is broken, and that a folder's file hardly counts."""
        for problem in self._loaded.problems:
            print(harmless(problem.message_with_hint), file=sys.stderr)
        file = self._loader.workspace_file
        if file is not None and not self._trusted and file.is_file():
            print(_UNTRUSTED, file=sys.stderr)


def _known(key: str) -> str:
    """The schema's key that a key is, or lies in. Raises `InvalidInput`."""
    found = key if key in AUTHORITY else next((one for one in _OPEN if key.startswith(f"{one}.")), None)
    if found is None or "" in key.split("."):
        raise _unknown(key)
    return found


def _unknown(key: str) -> InvalidInput:
    near = difflib.get_close_matches(key, AUTHORITY, n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`gemini-companion config list` shows all keys."
    return InvalidInput(f"There is no setting {key[:200]}.", hint=hint)


def _checked(key: str, text: str) -> tuple[tuple[str, ...], Any]:
    """The path and the value of a key. Raises `InvalidInput`, `InvalidSettings` for a value that does not fit.

    A text that is not JSON stands for itself, as does one that does not fit as JSON: `007` may be a name.
    """
    _known(key)
    path = tuple(key.split("."))
    try:
        candidates: list[Any] = [json.loads(text), text]
    except (ValueError, RecursionError):
        candidates = [text]
    if candidates[0] is None:
        raise InvalidInput("null sets nothing.", hint=f"gemini-companion config unset {key}")
    for value in candidates:
        if not misfits(nested(path, value)):
            return path, value
    fault = misfits(nested(path, candidates[0]))[0]
    raise InvalidSettings(f"{fault.key or key}: {fault.what}", hint="Nothing was written.")


def shown_value(value: Any) -> str:
    """A value on one line: texts as they are, everything else as JSON."""
    if value is None:
        return "-"
    return on_one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
