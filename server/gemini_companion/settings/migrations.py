"""Keys that Gemini CLI has renamed: files that still have the old ones count as if they had the new ones.

Nothing is written back: the person's file stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from gemini_companion.settings.objects import JsonObject, KeyPath, holds, merge, nested, value_at, without

_NEGATED: Final[tuple[tuple[str, str], ...]] = (
    ("general.disableAutoUpdate", "general.enableAutoUpdate"),
    ("general.disableUpdateNag", "general.enableAutoUpdateNotification"),
    ("ui.accessibility.disableLoadingPhrases", "ui.accessibility.enableLoadingPhrases"),
    ("context.fileFiltering.disableFuzzySearch", "context.fileFiltering.enableFuzzySearch"),
)
_RENAMED: Final[tuple[tuple[str, str, Callable[[Any], Any]], ...]] = (
    *((old, new, lambda value: not value) for old, new in _NEGATED),
    ("experimental.plan", "general.plan.enabled", lambda value: value),
)


def migrated(layer: JsonObject) -> JsonObject:
    """The layer with old keys under their new names; where both are set the new one counts, as in Gemini CLI.

    An old value of another type than it had is left where it is.
    """
    for old, new, convert in _RENAMED:
        held = value_at(layer, _path(old))
        if isinstance(held, bool):
            layer = _moved(layer, old, new, convert(held))
    mode = value_at(layer, _path("tools.approvalMode"))
    if isinstance(mode, str):
        layer = _moved(layer, "tools.approvalMode", "general.defaultApprovalMode", mode)
    if value_at(layer, _path("ui.accessibility.enableLoadingPhrases")) is False:
        layer = _defaulted(layer, "ui.loadingPhrases", "off")
    investigator = value_at(layer, _path("experimental.codebaseInvestigatorSettings"))
    if isinstance(investigator, dict):
        layer = _moved(
            layer,
            "experimental.codebaseInvestigatorSettings",
            "agents.overrides.codebase_investigator",
            _override(cast("JsonObject", investigator)),
        )
    return layer


def _override(old: JsonObject) -> JsonObject:
    """The investigator's old settings in the form of every subagent's."""
    enabled, turns = old.get("enabled"), old.get("maxNumTurns")
    return {
        **({} if enabled is None else {"enabled": enabled}),
        **({} if turns is None else {"runConfig": {"maxTurns": turns}}),
    }


def _moved(layer: JsonObject, old: str, new: str, value: object) -> JsonObject:
    return _defaulted(without(layer, _path(old)), new, value)


def _defaulted(layer: JsonObject, key: str, value: object) -> JsonObject:
    """The layer with a value for a key that it does not have, unless something else stands in its way."""
    path = _path(key)
    steps = [path[:length] for length in range(1, len(path))]
    if holds(layer, path) or any(holds(layer, step) and not isinstance(value_at(layer, step), dict) for step in steps):
        return layer
    return merge(layer, nested(path, value))


def _path(key: str) -> KeyPath:
    return tuple(key.split("."))
