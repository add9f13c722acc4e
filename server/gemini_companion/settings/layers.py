"""The steps from a layer of settings as read to the part of it that applies. All pure.

A layer is a JSON object as it was read. It goes through `tidy` (removes nulls), `admit` (removes what its origin may
not set), `expand` (`$VAR`), `with_model_names` and `without_resource_names`; `unprintable` and `validation.misfits`
check it, and `objects.merge` lays later ones over earlier ones.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any, Final, cast

from gemini_companion.engine.tokens.limits import is_resource_name, named_model
from gemini_companion.engine.variables import filled_in, names_in
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
        paths = admitted(name, trusted=trusted)
        kept = merge(only(layer, paths), denials(layer))
        for path in [*paths, RULES]:  # what stands where a section should be is told, and the strictest holds
            kept = merge(kept, no_section(layer, path))
        return kept
    kept = layer
    for path in refused(name, trusted=trusted):
        kept = without(kept, path)
    return kept if is_admitted(spelled(RULES), name, trusted=trusted) else merge(kept, denials(layer))


def no_section(layer: JsonObject, path: KeyPath) -> JsonObject:
    """The value that stands in the way to `path` and is no object, at its place; an empty object if there is none."""
    for length in range(1, len(path)):
        held = value_at(layer, path[:length])
        if held is not None and not isinstance(held, dict):
            return cast("JsonObject", nested(path[:length], held))
    return {}


def unprintable(layer: JsonObject) -> list[Misfit]:
    """Where a layer has a key or a text that no file and no message can hold."""
    reason = "holds half of a surrogate pair or a NUL, which no text may"
    return [Misfit(path, reason) for path, text in texts_of(layer) if _NO_TEXT.search(text)]


def texts_of(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """The keys and texts of a layer, each with its path; below a key with a bad text there is nothing to see."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, held in cast("JsonObject", value).items():
            if _NO_TEXT.search(key):
                yield (*path, key), key
            else:
                yield from texts_of(held, (*path, key))
    elif isinstance(value, list):
        for index, held in enumerate(cast("list[object]", value)):
            yield from texts_of(held, (*path, index))


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
    """Whether a layer's texts may contain variables; which, is another matter (`Environment.of_workspace`)."""
    return trusted or name in PERSONAL


def expand(
    layer: JsonObject, env: Mapping[str, str], *, personal: bool = True, beyond: Container[str] = ()
) -> JsonObject:
    """The layer with the variables in its texts replaced by the environment's values; those `beyond` it stay as
    written, whatever their default.

    A hook's command stays as written, for its shell has the environment: put into the line, a value would be read as
    code, and stand in the arguments of processes. So do the servers of a `personal` layer, which are filled in when
    they are read (`engine.mcp.config`). Raises `UnusableLayer` if the values have more than `EXPANSION_LIMIT`
    characters.
    """
    left = EXPANSION_LIMIT

    def value_of(name: str) -> str | None:
        nonlocal left
        found = env.get(name)
        if found is None:
            return None
        left -= len(found)
        if left < 0:
            raise UnusableLayer(f"its variables bring in more than {EXPANSION_LIMIT:,} characters")
        return printable(found)

    def expanded(value: object, path: KeyPath) -> Any:
        if _is_left(path, personal=personal):
            return value
        if isinstance(value, str):
            return filled_in(value, value_of, lambda name: name in beyond)
        if isinstance(value, dict):
            return {key: expanded(held, (*path, key)) for key, held in cast("JsonObject", value).items()}
        if isinstance(value, list):
            return [expanded(held, (*path, at)) for at, held in enumerate(cast("list[object]", value))]
        return value

    return expanded(layer, ())


def overreaching(layer: JsonObject, beyond: Container[str]) -> list[Misfit]:
    """Where a workspace's layer refers to variables that are the person's."""
    found: list[Misfit] = []

    def look(value: object, path: KeyPath) -> None:
        if _is_left(path, personal=False) or len(found) >= MISFIT_LIMIT:
            return
        if isinstance(value, str):
            names = (name for name in names_in(value) if name in beyond)
            found.extend(Misfit(path, f"only your own settings may refer to ${name}") for name in names)
        elif isinstance(value, dict):
            for key, held in cast("JsonObject", value).items():
                look(held, (*path, key))
        elif isinstance(value, list):
            for at, held in enumerate(cast("list[object]", value)):
                look(held, (*path, at))

    look(layer, ())
    return found[:MISFIT_LIMIT]


def without_setting(layer: JsonObject, path: KeyPath) -> JsonObject:
    """The layer without a setting that stands there: better off than with half a value.

    What stands in a list, such as a rule, stays as it is written, with its neighbours. A server is told of by itself,
    and a hook's shell finds such a variable empty.
    """
    names = tuple(step for step in path if isinstance(step, str))
    return layer if names != path or path[0] == "mcpServers" else without(layer, names)


def _is_left(path: KeyPath, *, personal: bool) -> bool:
    """Whether a text there is filled in elsewhere."""
    if path[:1] == ("mcpServers",):
        return personal
    return path[:1] == ("hooks",) and len(path) > 3 and path[-1] == "command"


def _tidied(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _tidied(held) for key, held in cast("JsonObject", value).items() if held is not None}
    if isinstance(value, list):
        return [_tidied(held) for held in cast("list[object]", value)]
    return value


def printable(text: str) -> str:
    """The text without halves of surrogate pairs, which no file and no message can hold."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)
