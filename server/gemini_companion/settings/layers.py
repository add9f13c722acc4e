"""The steps from a layer of settings as read to the part of it that applies. All pure.

A layer is a JSON object as it was read. It goes through `tidy` (removes nulls), `admit` (removes what its origin may
not set), `expand` (`$VAR`), `with_model_names` and `without_resource_names`; `unprintable` and `validation.misfits`
check it, and `objects.merge` lays later ones over earlier ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from gemini_companion.engine.tokens.limits import is_resource_name, named_model
from gemini_companion.settings.authority import (
    AUTHORITY,
    MODEL_KEYS,
    PERSONAL,
    LayerName,
    admitted,
    is_admitted,
    key_path,
    may_name_resources,
    refused,
)
from gemini_companion.settings.objects import (
    JsonObject,
    KeyPath,
    holds,
    is_deeper,
    merge,
    nested,
    only,
    spelled,
    value_at,
    without,
)
from gemini_companion.settings.tool_rules import RULES, denials
from gemini_companion.settings.validation import MISFIT_LIMIT, Misfit

DEPTH_LIMIT: Final = 64
EXPANSION_LIMIT: Final = 1 << 20
"""Characters that the variables of one layer may expand to."""

_VARIABLE: Final = re.compile(
    r"\$(?:\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}]*+))?+\}|(?P<bare>[A-Za-z_][A-Za-z0-9_]*))"
)
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")


class UnusableLayer(ValueError):
    """A layer that cannot be used at all; `misfit` has the reason."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.misfit = Misfit((), what)


def tidy(value: object) -> JsonObject:
    """The layer without keys that are null.

    Raises `UnusableLayer` if it is no object or nested too deep.
    """
    if not isinstance(value, dict):
        raise UnusableLayer("expected an object with settings")
    if is_deeper(cast("JsonObject", value), DEPTH_LIMIT):
        raise UnusableLayer(f"nested deeper than {DEPTH_LIMIT} levels")
    return _tidied(cast("JsonObject", value))


def admit(layer: JsonObject, name: LayerName, *, trusted: bool) -> JsonObject:
    """The part of a layer that it may set; see `authority`. Unknown keys are not taken from an untrusted workspace.

    Rules that deny are taken from everybody.
    """
    if name == "workspace" and not trusted:
        return merge(only(layer, admitted(name, trusted=trusted)), denials(layer))
    kept = layer
    for path in refused(name, trusted=trusted):
        kept = without(kept, path)
    return kept if is_admitted(spelled(RULES), name, trusted=trusted) else merge(kept, denials(layer))


def unprintable(layer: JsonObject) -> list[Misfit]:
    """Where a layer has a key or a text that no file and no message can hold."""
    found: list[Misfit] = []
    reason = "holds half of a surrogate pair or a NUL, which no text may"

    def look(value: object, path: KeyPath) -> None:
        if isinstance(value, str):
            if _NO_TEXT.search(value):
                found.append(Misfit(path, reason))
        elif isinstance(value, dict):
            for key, held in cast("JsonObject", value).items():
                if _NO_TEXT.search(key):
                    found.append(Misfit((*path, key), reason))
                else:
                    look(held, (*path, key))
        elif isinstance(value, list):
            for index, held in enumerate(cast("list[object]", value)):
                look(held, (*path, index))

    look(layer, ())
    return found[:MISFIT_LIMIT]


def with_model_names(layer: JsonObject) -> JsonObject:
    """The layer with its models' names trimmed; where a text names none (blank, `none`), the key is not set."""
    for path in MODEL_KEYS:
        text = value_at(layer, path)
        if isinstance(text, str):
            name = named_model(text)
            layer = without(layer, path) if name is None else merge(layer, nested(path, name))
    return layer


def without_resource_names(layer: JsonObject, name: LayerName, *, trusted: bool) -> tuple[JsonObject, list[Misfit]]:
    """The layer without models' names that it may not choose, and which they were."""
    taken: list[Misfit] = []
    if may_name_resources(name, trusted=trusted):
        return layer, taken
    for path in MODEL_KEYS:
        text = value_at(layer, path)
        if isinstance(text, str) and is_resource_name(text):
            layer = without(layer, path)
            reason = "a name with a path in it chooses who gets the conversation, and is ignored here"
            taken.append(Misfit(path, reason))
    return layer, taken


def overreach(layer: JsonObject, name: LayerName) -> list[Misfit]:
    """The keys of a layer that only the user's own file may set."""
    if name in PERSONAL:
        return []
    return [
        Misfit(key_path(key), "counts only in the user's own settings file and is ignored here")
        for key, authority in AUTHORITY.items()
        if authority == "user" and holds(layer, key_path(key))
    ]


def may_expand(name: LayerName, *, trusted: bool) -> bool:
    """Whether a layer's texts may contain variables: an untrusted workspace must not read the environment."""
    return trusted or name in PERSONAL


def expand(layer: JsonObject, env: Mapping[str, str]) -> JsonObject:
    """The layer with `$NAME`, `${NAME}` and `${NAME:-default}` in its texts replaced by the environment's values, once.

    Unknown names without a default stay as written; an empty value counts. Raises `UnusableLayer` if the values have
    more than `EXPANSION_LIMIT` characters.
    """
    left = EXPANSION_LIMIT

    def value_of(match: re.Match[str]) -> str:
        nonlocal left
        found = env.get(match.group("braced") or match.group("bare"))
        if found is None:
            default: str | None = match.group("default")
            return match.group() if default is None else default
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
    if isinstance(value, dict):
        return {key: _tidied(held) for key, held in cast("JsonObject", value).items() if held is not None}
    if isinstance(value, list):
        return [_tidied(held) for held in cast("list[object]", value)]
    return value


def _printable(text: str) -> str:
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)
