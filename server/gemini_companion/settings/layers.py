"""The steps from a layer of settings as read to the part of it that applies. All pure.

A layer is a JSON object as it was read. It goes through `tidy` (removes nulls), `admit` (removes what its origin may
not set) and `expand` (`$VAR`); `validation.misfits` checks it, and `objects.merge` lays later ones over earlier ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, cast

from gemini_companion.settings.objects import JsonObject, KeyPath, holds, is_deeper, only, without
from gemini_companion.settings.validation import Misfit

LayerName: TypeAlias = Literal["user", "workspace", "editor"]
"""Lowest first."""

DEPTH_LIMIT: Final = 64
EXPANSION_LIMIT: Final = 1 << 20
"""Characters that the variables of one layer may expand to."""

_USER_ONLY: Final[tuple[KeyPath, ...]] = (("companion", "trustedFolders"),)
_HARMLESS: Final[tuple[KeyPath, ...]] = (("model",), ("context", "fileName"), ("companion", "ide"))
# An editor mixes the folder's own settings into its section, so what runs or sends something needs trust there too.
_HARMFUL: Final[tuple[KeyPath, ...]] = (("hooks",), ("mcpServers",), ("tools",), ("telemetry",))

_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class UnusableLayer(ValueError):
    """A layer that cannot be used at all; `misfit` has the reason."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.misfit = Misfit((), what)


def tidy(value: object) -> JsonObject:
    """The layer without keys that are null and without lone surrogates.

    Raises `UnusableLayer` if it is no object or nested too deep.
    """
    if not isinstance(value, dict):
        raise UnusableLayer("expected an object with settings")
    if is_deeper(cast("JsonObject", value), DEPTH_LIMIT):
        raise UnusableLayer(f"nested deeper than {DEPTH_LIMIT} levels")
    return _tidied(cast("JsonObject", value))


def admit(layer: JsonObject, name: LayerName, *, trusted: bool) -> JsonObject:
    """The part of a layer that it may set: only the user's own file may trust folders, an untrusted workspace sets
    harmless keys only.
    """
    if name == "user":
        return layer
    if not trusted and name == "workspace":
        layer = only(layer, _HARMLESS)
    for path in _USER_ONLY if trusted else _USER_ONLY + _HARMFUL:
        layer = without(layer, path)
    return layer


def overreach(layer: JsonObject, name: LayerName) -> list[Misfit]:
    """The keys of a layer that only the user's own file may set."""
    if name == "user":
        return []
    return [
        Misfit(path, "counts only in the user's own settings file and is ignored here")
        for path in _USER_ONLY
        if holds(layer, path)
    ]


def may_expand(name: LayerName, *, trusted: bool) -> bool:
    """Whether a layer's texts may contain variables: an untrusted workspace must not read the environment."""
    return trusted or name == "user"


def expand(layer: JsonObject, env: Mapping[str, str]) -> JsonObject:
    """The layer with `$NAME` and `${NAME}` in its texts replaced, once, by the environment's values.

    Unknown names stay as written. Raises `UnusableLayer` if the values have more than `EXPANSION_LIMIT` characters.
    """
    left = EXPANSION_LIMIT

    def value_of(match: re.Match[str]) -> str:
        nonlocal left
        found = env.get(match.group("braced") or match.group("bare"))
        if found is None:
            return match.group()
        left -= len(found)
        if left < 0:
            raise UnusableLayer(f"its variables bring in more than {EXPANSION_LIMIT:,} characters")
        return _printable(found)

    def expanded(value: object) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(value_of, value)
        if isinstance(value, dict):
            return {key: expanded(held) for key, held in cast("JsonObject", value).items()}
        if isinstance(value, list):
            return [expanded(held) for held in cast("list[object]", value)]
        return value

    return expanded(layer)


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
