"""Reading and merging nested JSON objects. Nothing here changes its arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias, cast

JsonObject: TypeAlias = dict[str, Any]
KeyPath: TypeAlias = tuple[str | int, ...]
"""The path to a value: a key for each object, an index for each list."""


_JOINED: Final[frozenset[KeyPath]] = frozenset({("companion", "tools", "rules"), ("context", "includeDirectories")})
_UNITED: Final[frozenset[KeyPath]] = frozenset(
    {
        ("adminPolicyPaths",),
        ("advanced", "excludedEnvVars"),
        ("excludeMCPServers",),  # this, and two others here, by the names of earlier versions of Gemini CLI
        ("excludeTools",),
        ("excludedProjectEnvVars",),
        ("extensions", "disabled"),
        ("hooksConfig", "disabled"),
        ("mcp", "excluded"),
        ("policyPaths",),
        ("skills", "disabled"),
        ("tools", "exclude"),
    }
)
_FORBIDDING: Final[frozenset[KeyPath]] = frozenset(
    {("security", "disableYoloMode"), ("security", "disableAlwaysAllow")}
)
"""What no layer can allow again once one has forbidden it."""
_WHOLE: Final[KeyPath] = ("mcpServers",)
"""An object whose members replace each other: half of one server with half of another is neither."""


def spelled(path: KeyPath) -> str:
    """A path in dotted form, as in `context.fileName[1]`; empty for the top."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def nested(path: Iterable[str | int], value: object) -> Any:
    """An object with `value` at `path` and nothing else."""
    for step in reversed(tuple(path)):
        value = {step: value}
    return value


def holds(fields: JsonObject, path: KeyPath) -> bool:
    """True if there is a value at `path`."""
    value: object = fields
    for step in path:
        inner = cast("dict[object, object]", value) if isinstance(value, dict) else {}
        if step not in inner:
            return False
        value = inner[step]
    return True


def value_at(fields: JsonObject, path: KeyPath) -> object:
    """The value at `path`, `None` if there is none."""
    value: object = fields
    for step in path:
        value = cast("dict[object, object]", value).get(step) if isinstance(value, dict) else None
    return value


def only(fields: JsonObject, paths: Iterable[KeyPath]) -> JsonObject:
    """The object reduced to the values at `paths`."""
    kept: JsonObject = {}
    for path in paths:
        if holds(fields, path):
            value: Any = fields
            for step in path:
                value = value[step]
            kept = merge(kept, nested(path, value))
    return kept


def without(fields: JsonObject, path: KeyPath) -> JsonObject:
    """The object without the value at `path`, which leads through objects only."""
    if not holds(fields, path):
        return fields
    step = cast("str", path[0])
    if path[1:]:
        return {**fields, step: without(fields[step], path[1:])}
    return {key: held for key, held in fields.items() if key != step}


def merge(lower: JsonObject, upper: JsonObject, path: KeyPath = ()) -> JsonObject:
    """`upper` over `lower`, key by key, as Gemini CLI does it.

    Lists replace each other; those under `hooks`, rules of consent and included folders are joined, and lists of what
    is excluded or disabled united. Of `mcpServers` each server is one value. What one layer forbids stays forbidden.
    """
    merged = dict(lower)
    for key, value in upper.items():
        below, here = lower.get(key), (*path, key)
        if isinstance(value, dict) and isinstance(below, dict) and path != _WHOLE:
            merged[key] = merge(cast("JsonObject", below), cast("JsonObject", value), here)
        elif isinstance(value, list) and isinstance(below, list) and (path[:1] == ("hooks",) or here in _JOINED):
            merged[key] = [*cast("list[object]", below), *cast("list[object]", value)]
        elif isinstance(value, list) and isinstance(below, list) and here in _UNITED:
            merged[key] = _united(cast("list[object]", below), cast("list[object]", value))
        elif here not in _FORBIDDING or below is not True or not isinstance(value, bool):
            merged[key] = value
    return merged


def adds_up(lower: object, upper: object, path: KeyPath) -> bool:
    """True if `merge` keeps both of two values at a path, or lays one object over the other."""
    if isinstance(lower, dict) and isinstance(upper, dict):
        return path[:-1] != _WHOLE
    if isinstance(lower, list) and isinstance(upper, list):
        return path[:1] == ("hooks",) or path in _JOINED or path in _UNITED
    return path in _FORBIDDING and isinstance(lower, bool) and isinstance(upper, bool)


def is_deeper(value: object, limit: int) -> bool:
    """True if objects and lists are nested more than `limit` deep. Not recursive."""
    level: list[object] = [value]
    for _ in range(limit + 1):
        level = [member for outer in level for member in _members(outer)]
    return bool(level)


def _united(lower: list[object], upper: list[object]) -> list[object]:
    united: list[object] = []
    known: set[str] = set()
    for element in (*lower, *upper):
        if (spelt := repr(element)) not in known:
            known.add(spelt)
            united.append(element)
    return united


def _members(value: object) -> Iterable[object]:
    """The members of an object or a list; one `None` if it is empty, so that it still counts as a level."""
    if isinstance(value, dict):
        return cast("JsonObject", value).values() or (None,)
    if isinstance(value, list):
        return cast("list[object]", value) or (None,)
    return ()
