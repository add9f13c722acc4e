"""From what a layer says to what counts of it: tidied, admitted, expanded, checked, merged. All pure.

A layer is a JSON object as it was read. It goes through `tidy` (nulls away), `admit` (what its place may say), `expand` (`$VAR`)
and `misfits` (what is wrong with it), and `merge` lays the later ones over the earlier.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

import msgspec

from gemini_companion.settings.jsonc import KeyPath
from gemini_companion.settings.schema import EXPECTED, SettingsFile

JsonObject: TypeAlias = dict[str, Any]
Place: TypeAlias = Literal["user", "workspace", "editor"]

PLACES: Final[tuple[Place, ...]] = ("user", "workspace", "editor")
"""Lowest first."""
DEPTH_LIMIT: Final = 64
EXPANSION_LIMIT: Final = 1 << 20
"""Characters that the variables of one layer may bring in."""
_MISFIT_LIMIT: Final = 20

_USER_ONLY: Final[tuple[KeyPath, ...]] = (("companion", "trustedFolders"),)
_HARMLESS: Final[tuple[KeyPath, ...]] = (("model",), ("context", "fileName"), ("companion", "ide"))
# An editor mixes the folder's own settings into its section, so what runs or sends something waits for trust there too.
_HARMFUL: Final[tuple[KeyPath, ...]] = (("hooks",), ("mcpServers",), ("tools",), ("telemetry",))

_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_STEP: Final = re.compile(r"\.(?P<key>\w+)|\[(?P<index>\d+)\]|(?P<any>\[\.\.\.\])")
_WORDS: Final[Mapping[str, str]] = {
    "float": "a number",
    "int": "a whole number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


class Misfit(NamedTuple):
    """A key whose value cannot be used, and why."""

    path: KeyPath
    what: str

    @property
    def key(self) -> str:
        """The key as people write it, as in `context.fileName[1]`; empty for the whole layer."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return "".join(steps).removeprefix(".")


class Unusable(ValueError):
    """A layer that cannot be used as a whole."""

    def __init__(self, misfit: Misfit) -> None:
        super().__init__(misfit.what)
        self.misfit = misfit


def tidy(value: object) -> JsonObject:
    """The layer without keys that are null and without lone surrogates. Raises `Unusable` if it is no object or too deep."""
    if not isinstance(value, dict):
        raise Unusable(Misfit((), "expected an object at the top"))
    if _is_deeper(value, DEPTH_LIMIT):
        raise Unusable(Misfit((), f"nested deeper than {DEPTH_LIMIT} levels"))
    return _tidied(value)


def admit(layer: JsonObject, place: Place, *, trusted: bool) -> JsonObject:
    """What a layer may say in its place: only the user's own file vouches for folders, an untrusted workspace sets only harmless keys."""
    if place == "user":
        return layer
    if not trusted:
        layer = _without(layer, _HARMFUL) if place == "editor" else _only(layer, _HARMLESS)
    return _without(layer, _USER_ONLY)


def overreach(layer: JsonObject, place: Place) -> list[Misfit]:
    """The keys of a layer that only the user's own file may set."""
    if place == "user":
        return []
    return [Misfit(path, "counts only in the user's own settings file and is ignored here") for path in _USER_ONLY if _holds(layer, path)]


def expand(layer: JsonObject, env: Mapping[str, str]) -> JsonObject:
    """The layer with `$NAME` and `${NAME}` in its texts replaced, once, by the environment's; unknown names stay as written.

    Raises `Unusable` where that brings in more than `EXPANSION_LIMIT` characters.
    """
    room = EXPANSION_LIMIT

    def value_of(match: re.Match[str]) -> str:
        nonlocal room
        found = env.get(match.group("braced") or match.group("bare"))
        if found is None:
            return match.group()
        room -= len(found)
        if room < 0:
            raise Unusable(Misfit((), f"its variables bring in more than {EXPANSION_LIMIT:,} characters"))
        return _printable(found)

    def expanded(value: object) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(value_of, value) if "$" in value else value
        if isinstance(value, dict):
            return {key: expanded(held) for key, held in cast("JsonObject", value).items()}
        if isinstance(value, list):
            return [expanded(held) for held in cast("list[object]", value)]
        return value

    return expanded(layer)


def misfits(layer: JsonObject) -> list[Misfit]:
    """What is wrong with a layer, key by key, at most twenty; empty if all of it can be used."""
    found = _not_finite(layer)
    while len(found) < _MISFIT_LIMIT:
        try:
            msgspec.convert(layer, SettingsFile)
        except msgspec.ValidationError as fault:
            text, _, place = str(fault).partition(" - at ")
            path = _path(layer, place.strip("`"))
            misfit = Misfit(path, _plainly(text, path))
        else:
            break
        found.append(misfit)
        if not misfit.path:
            break
        layer = _without(layer, (misfit.path,))
    return found[:_MISFIT_LIMIT]


def merge(lower: JsonObject, upper: JsonObject, path: KeyPath = ()) -> JsonObject:
    """`upper` over `lower`, key by key; lists replace each other, but for those of `hooks`, which are joined."""
    merged = dict(lower)
    for key, value in upper.items():
        below = lower.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            merged[key] = merge(cast("JsonObject", below), cast("JsonObject", value), (*path, key))
        elif isinstance(value, list) and isinstance(below, list) and path[:1] == ("hooks",):
            merged[key] = [*cast("list[object]", below), *cast("list[object]", value)]
        else:
            merged[key] = value
    return merged


def _is_deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [held for outer in level for held in _held(outer) if isinstance(held, dict | list)]
        if not level:
            return False
    return True


def _held(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("JsonObject", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


def _tidied(value: object) -> Any:
    if isinstance(value, str):
        return _printable(value)
    if isinstance(value, dict):
        return {_printable(key): _tidied(held) for key, held in cast("JsonObject", value).items() if held is not None}
    if isinstance(value, list):
        return [_tidied(held) for held in cast("list[object]", value)]
    return value


def _printable(text: str) -> str:
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def _not_finite(value: object, path: KeyPath = ()) -> list[Misfit]:
    if isinstance(value, float):
        return [] if math.isfinite(value) else [Misfit(path, "expected a finite number")]
    pairs: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        pairs = list(cast("JsonObject", value).items())
    elif isinstance(value, list):
        pairs = list(enumerate(cast("list[object]", value)))
    return [misfit for step, held in pairs for misfit in _not_finite(held, (*path, step))]


def _holds(layer: JsonObject, path: KeyPath) -> bool:
    value: object = layer
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return False
        value = cast("JsonObject", value)[cast("str", step)]
    return True


def _only(layer: JsonObject, paths: tuple[KeyPath, ...]) -> JsonObject:
    kept: JsonObject = {}
    for path in paths:
        if _holds(layer, path):
            value: Any = layer
            for step in path:
                value = value[step]
            for step in reversed(path):
                value = {step: value}
            kept = merge(kept, value)
    return kept


def _without(layer: JsonObject, paths: tuple[KeyPath, ...]) -> JsonObject:
    for path in paths:
        layer = _cut(layer, path)
    return layer


def _cut(value: Any, path: KeyPath) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        held = cast("list[Any]", value)
        changed = [_cut(held[step], rest)] if rest else []
        return [*held[:step], *changed, *held[step + 1 :]]
    if isinstance(value, dict) and step in value:
        fields = cast("JsonObject", value)
        if rest:
            return {**fields, cast("str", step): _cut(fields[cast("str", step)], rest)}
        return {key: held for key, held in fields.items() if key != step}
    return value


def _path(layer: JsonObject, place: str) -> KeyPath:
    """The steps of a msgspec path such as `$.a[...].b[0]`, where `[...]` stands for a key that it does not name."""
    path: KeyPath = ()
    value: Any = layer
    for step in _STEP.finditer(place):
        if step.group("any"):
            name = _culprit(layer, path, value)
            if name is None:
                break
            path = (*path, name)
        else:
            path = (*path, int(step.group("index")) if step.group("index") else step.group("key"))
        value = value[path[-1]]
    return path


def _culprit(layer: JsonObject, path: KeyPath, fields: JsonObject) -> str | None:
    for name in fields:
        alone: Any = {name: fields[name]}
        for step in reversed(path):
            alone = {step: alone}
        try:
            msgspec.convert(alone, SettingsFile)
        except msgspec.ValidationError:
            return name
    return None


def _plainly(text: str, path: KeyPath) -> str:
    expected = EXPECTED.get(".".join(step for step in path if isinstance(step, str)))
    if expected and ("matching regex" in text or text.startswith("Invalid enum")):
        return f"expected {expected}"
    text = re.sub(r"`([a-z |]+)`", lambda match: " or ".join(_WORDS.get(word, word) for word in match.group(1).split(" | ") if word != "null"), text)
    return text[:1].lower() + text[1:]
