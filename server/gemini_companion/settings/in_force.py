"""Every setting with the value in force, and where that comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from gemini_companion.settings.authority import AUTHORITY, key_path
from gemini_companion.settings.descriptions import descriptions
from gemini_companion.settings.effective import (
    DEFAULT_BOUNDARY_MARKERS,
    DEFAULT_COMPRESSION_THRESHOLD,
)
from gemini_companion.settings.environment import Environment
from gemini_companion.settings.load import LoadedLayer, LoadedSettings
from gemini_companion.settings.masking import masked
from gemini_companion.settings.objects import holds, value_at
from gemini_companion.settings.reading import shown
from gemini_companion.settings.schema import SettingsFile
from gemini_companion.settings.session_retention import DEFAULT_DAYS
from gemini_companion.settings.telemetry import telemetry_of_environment, telemetry_variable

SettingLayer: TypeAlias = Literal[
    "default",
    "experiment",
    "systemDefaults",
    "user",
    "workspace",
    "system",
    "editor",
    "environment",
    "commandLine",
]
"""Where a value comes from, lowest first."""

_THRESHOLD: Final = "model.compressionThreshold"
_DEFAULTS: Final[Mapping[str, Any]] = {
    _THRESHOLD: DEFAULT_COMPRESSION_THRESHOLD,
    "context.memoryBoundaryMarkers": list(DEFAULT_BOUNDARY_MARKERS),
    "companion.tools.mode": "ask",
    "companion.sessions.retentionDays": DEFAULT_DAYS,
}
"""Of keys whose default is not in the schema, since what is not set means more there."""

_SECTION: Final = "companion.prompt."
_UPPER: Final = re.compile(r"(?=[A-Z])")


class SettingInForce(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A setting: its value, and where that comes from."""

    key: str
    """As in `model.name`."""
    value: Any = None
    """The value in force, secrets masked; absent where nothing is set and there is no default."""
    default: Any = None
    """What it would be if nobody had set it."""
    layer: SettingLayer
    """Where the value comes from; of joined lists the highest layer that adds to it."""
    file: str | None = None
    """The layer's file, if it has one; of a variable the `.env` file that sets it."""
    line: int | None = None
    """The key's line in it, from 1, unless the file is broken or has the key under an old name."""
    variable: str | None = None
    """The variable, if it comes from the environment or a `.env` file."""
    also: tuple[SettingLayer, ...] = ()
    """Lower layers that set it too: they count only where lists are joined."""
    description: str = ""
    """What it is for."""


class SettingList(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Every setting, in the order of the schema."""

    settings: list[SettingInForce]
    trusted: bool
    """Whether the workspace is trusted now, and so its settings count."""
    problems: list[str] = []
    """What is wrong with the files and the editor's section, each with its place. What they last held counts on."""


def settings_in_force(loaded: LoadedSettings) -> list[SettingInForce]:
    """Every key of the schema, in its order."""
    env = loaded.environment
    values = msgspec.to_builtins(msgspec.convert(loaded.document, SettingsFile))
    defaults = msgspec.to_builtins(SettingsFile())
    lines = [_lines(layer) for layer in loaded.layers]
    return [_in_force(key, loaded, env, values, defaults, lines) for key in AUTHORITY]


def place_of(setting: SettingInForce) -> str:
    """Where a value comes from in a few words, as in `user, /home/me/.gemini/settings.json:3`."""
    where = (setting.file + (f":{setting.line}" if setting.line else "")) if setting.file else None
    return ", ".join(part for part in (setting.layer, setting.variable, where) if part)


def _in_force(
    key: str,
    loaded: LoadedSettings,
    env: Environment,
    values: dict[str, Any],
    defaults: dict[str, Any],
    lines: list[dict[str, int]],
) -> SettingInForce:
    path = key_path(key)
    default = _DEFAULTS.get(key, value_at(defaults, path))
    value: Any = value_at(values, path)
    setting = SettingInForce(key=key, layer="default", default=default, description=descriptions().get(key, ""))
    setters = [number for number, layer in enumerate(loaded.layers) if holds(layer.values, path)]
    names: tuple[SettingLayer, ...] = tuple(loaded.layers[number].name for number in setters)
    if setters:
        top = loaded.layers[setters[-1]]
        setting = msgspec.structs.replace(
            setting,
            layer=top.name,
            file=shown(top.path) if top.path else None,
            line=lines[setters[-1]].get(key),
            also=names[:-1],
        )
    elif key == _THRESHOLD and loaded.settings.compression_threshold != default:
        setting, value = msgspec.structs.replace(setting, layer="experiment"), loaded.settings.compression_threshold
    elif value is None:
        value = default
    variable = _variable(key, loaded, env)
    if variable:
        place = env.place(variable)
        setting = msgspec.structs.replace(
            setting,
            layer="environment",
            file=shown(place[0]) if place else None,
            line=place[1] if place else None,
            variable=variable,
            also=names,
        )
        if key == "model.name":
            value = loaded.settings.model_name
        elif key.startswith(_SECTION):
            value = _is_on(env[variable])
    return msgspec.structs.replace(setting, value=masked(key, value, env.everything))


def _lines(layer: LoadedLayer) -> dict[str, int]:
    """The lines of the keys that a layer sets."""
    if layer.source is None or not layer.values:
        return {}
    by_path = {key_path(key): key for key in AUTHORITY if holds(layer.values, key_path(key))}
    return {by_path[path]: line for path, line in layer.source.lines(by_path).items()}


def _variable(key: str, loaded: LoadedSettings, env: Mapping[str, str]) -> str | None:
    """The environment's variable that decides a key now."""
    if key == "model.name":
        return "GEMINI_MODEL" if loaded.settings.model_name_source == "GEMINI_MODEL" else None
    if key.startswith("telemetry."):
        ordered = any(layer.name == "commandLine" and holds(layer.values, key_path(key)) for layer in loaded.layers)
        is_read = holds(telemetry_of_environment(env)[0], key_path(key))
        return telemetry_variable(key, env) if is_read and not ordered else None
    if not key.startswith(_SECTION):
        return None
    name = f"GEMINI_PROMPT_{_UPPER.sub('_', key.removeprefix(_SECTION)).upper()}"
    return name if env.get(name, "").strip() else None


def _is_on(text: str) -> bool:
    return text.strip().lower() not in ("0", "false")
