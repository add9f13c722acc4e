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


_AT_THE_TOP: Final[tuple[tuple[str, str], ...]] = (
    ("allowMCPServers", "mcp.allowed"),
    ("allowedTools", "tools.allowed"),
    ("contextFileName", "context.fileName"),
    ("coreTools", "tools.core"),
    ("excludeMCPServers", "mcp.excluded"),
    ("excludeTools", "tools.exclude"),
    ("excludedProjectEnvVars", "advanced.excludedEnvVars"),
    ("maxSessionTurns", "model.maxSessionTurns"),
    ("memoryDiscoveryMaxDirs", "context.discoveryMaxDirs"),
    ("memoryImportFormat", "context.importFormat"),
    ("summarizeToolOutput", "model.summarizeToolOutput"),
)
"""Keys of the time before there were sections. A value of another type is moved, too: it may restrict, and is told."""
OLD_NAMES: Final = tuple(old for old, _ in _AT_THE_TOP)
_UNITED: Final = frozenset({"mcp.excluded", "tools.exclude", "advanced.excludedEnvVars"})
"""Lists of what is excluded: both count."""

_SUBAGENTS: Final[tuple[tuple[str, str], ...]] = (
    ("experimental.codebaseInvestigatorSettings", "codebase_investigator"),
    ("experimental.cliHelpAgentSettings", "cli_help"),
)
_OVERRIDES: Final[tuple[tuple[str, str], ...]] = (
    ("enabled", "enabled"),
    ("maxNumTurns", "runConfig.maxTurns"),
    ("maxTimeMinutes", "runConfig.maxTimeMinutes"),
    ("model", "modelConfig.model"),
    ("thinkingBudget", "modelConfig.generateContentConfig.thinkingConfig.thinkingBudget"),
)
"""Keys of a subagent's old settings, and where they stand in every subagent's."""


def migrated(layer: JsonObject) -> JsonObject:
    """The layer with old keys under their new names; where both are set the new one counts, as in Gemini CLI.

    Of lists that exclude both count. An old value of another type than it had is left where it is.
    """
    for old, new in _AT_THE_TOP:
        held: Any = value_at(layer, _path(old))
        there: Any = value_at(layer, _path(new))
        if held is None:
            continue
        if new in _UNITED and all(isinstance(one, list) for one in (held, there)):
            layer = merge(without(layer, _path(old)), nested(_path(new), held))
        else:
            layer = _moved(layer, old, new, held)
    for old, new, convert in _RENAMED:
        held = value_at(layer, _path(old))
        if isinstance(held, bool):
            layer = _moved(layer, old, new, convert(held))
    mode = value_at(layer, _path("tools.approvalMode"))
    if isinstance(mode, str):
        layer = _moved(layer, "tools.approvalMode", "general.defaultApprovalMode", mode)
    if value_at(layer, _path("ui.accessibility.enableLoadingPhrases")) is False:
        layer = _defaulted(layer, "ui.loadingPhrases", "off")
    for old, agent in _SUBAGENTS:
        held = value_at(layer, _path(old))
        if isinstance(held, dict):
            layer = _moved(layer, old, f"agents.overrides.{agent}", _override(cast("JsonObject", held)))
    return layer


def _override(old: JsonObject) -> JsonObject:
    """A subagent's old settings in the form of every subagent's."""
    override: JsonObject = {}
    for key, new in _OVERRIDES:
        if old.get(key) is not None:
            override = merge(override, nested(_path(new), old[key]))
    return override


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
