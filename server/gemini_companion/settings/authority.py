"""Who may decide what: which layers each key of the settings is taken from.

A repository's file is written by whoever wrote the repository. Untrusted, it decides nothing that leaves this machine,
costs money, or keeps a person from working. An editor mixes what the folder says into its section, unless it leaves
that out as long as the folder is not trusted (the VS Code extension does); so what runs or sends something by itself
needs trust there too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from gemini_companion.settings.objects import KeyPath
from gemini_companion.settings.schema import SettingsFile

LayerName: TypeAlias = Literal["systemDefaults", "user", "workspace", "system", "editor", "commandLine"]
"""Lowest first. The two of the system are files of whoever keeps the machine."""

PERSONAL: Final[frozenset[LayerName]] = frozenset({"systemDefaults", "user", "system", "commandLine"})
"""Layers that the user or who keeps the machine wrote: they may set everything."""

Authority: TypeAlias = Literal["everybody", "editor", "trusted", "user"]
"""Who may set a key beside the user's own file, the system's files and the command line.

`everybody`: an untrusted workspace too. `editor`: a trusted workspace, and the editor in any. `trusted`: a trusted
workspace, and the editor in one. `user`: nobody else.
"""

AUTHORITY: Final[Mapping[str, Authority]] = {
    "general.defaultApprovalMode": "trusted",
    "general.maxAttempts": "editor",
    "general.plan.enabled": "editor",
    "general.sessionRetention.enabled": "editor",
    "general.sessionRetention.maxAge": "editor",
    "general.sessionRetention.maxCount": "editor",
    "general.sessionRetention.minRetention": "editor",
    "model.name": "editor",
    "model.local": "user",
    "model.compressionThreshold": "editor",
    "model.compressionTokenCap": "editor",
    "model.tokenLimit": "editor",
    "model.maxSessionTurns": "editor",
    "model.disableLoopDetection": "trusted",
    "model.summarizeToolOutput": "trusted",
    "context.fileName": "editor",
    "context.importFormat": "everybody",
    "context.discoveryMaxDirs": "editor",
    "context.memoryBoundaryMarkers": "trusted",
    "context.includeDirectoryTree": "editor",
    "tools.core": "trusted",
    "tools.allowed": "trusted",
    "tools.exclude": "everybody",
    "tools.confirmationRequired": "trusted",
    "tools.shell.inactivityTimeout": "editor",
    "tools.truncateToolOutputThreshold": "trusted",
    "mcpServers": "trusted",
    "mcp.allowed": "trusted",
    "mcp.excluded": "trusted",
    "hooks": "trusted",
    "hooksConfig.enabled": "trusted",
    "hooksConfig.disabled": "trusted",
    "hooksConfig.notifications": "editor",
    "agents.overrides": "trusted",
    "experimental.enableAgents": "editor",
    "skills.enabled": "trusted",
    "skills.disabled": "trusted",
    "telemetry.enabled": "trusted",
    "telemetry.target": "trusted",
    "telemetry.otlpEndpoint": "trusted",
    "telemetry.otlpProtocol": "trusted",
    "telemetry.logPrompts": "trusted",
    "telemetry.outfile": "trusted",
    "security.disableYoloMode": "everybody",
    "security.disableAlwaysAllow": "everybody",
    "security.environmentVariableRedaction.allowed": "user",
    "security.environmentVariableRedaction.blocked": "user",
    "advanced.excludedEnvVars": "trusted",
    "advanced.ignoreLocalEnv": "trusted",
    "companion.ide.maxOpenFiles": "editor",
    "companion.ide.activeFileCharacters": "editor",
    "companion.compression.model": "editor",
    "companion.compression.gate": "editor",
    "companion.compression.retentionFloor": "editor",
    "companion.compression.ownWords": "editor",
    "companion.compression.builtInFallback": "editor",
    "companion.compression.strategy": "editor",
    "companion.compression.mode": "editor",
    "companion.compression.background": "editor",
    "companion.compression.adaptive": "editor",
    "companion.compression.constraints": "editor",
    "companion.compression.compare": "editor",
    "companion.tools.enabled": "editor",
    "companion.tools.mode": "trusted",
    "companion.tools.rules": "trusted",
    "companion.tools.sandbox": "trusted",
    "companion.tools.network": "trusted",
    "companion.tools.environment": "user",
    "companion.tools.sockets": "user",
    "companion.tools.commandSeconds": "editor",
    "companion.tools.questionSeconds": "editor",
    "companion.tools.maxRounds": "editor",
    "companion.limits.modelCalls": "user",
    "companion.limits.processes": "user",
    "companion.recall.embeddings": "user",
    "companion.sessions.retentionDays": "editor",
    "companion.sessions.maxSessions": "editor",
    "companion.sessions.maxBytes": "editor",
    "companion.prompt.preamble": "trusted",
    "companion.prompt.coreMandates": "trusted",
    "companion.prompt.tools": "trusted",
    "companion.prompt.subagents": "trusted",
    "companion.prompt.skills": "trusted",
    "companion.prompt.workflows": "trusted",
    "companion.prompt.editorContext": "trusted",
    "companion.prompt.compressionNotice": "trusted",
    "companion.prompt.operationalGuidelines": "trusted",
    "companion.prompt.trust": "trusted",
    "companion.prompt.memory": "trusted",
    "companion.prompt.gitState": "trusted",
    "companion.prompt.finalReminder": "trusted",
    "companion.prompt.identity": "trusted",
    "companion.prompt.mandates": "trusted",
    "companion.prompt.style": "trusted",
    "companion.prompt.safety": "trusted",
    "companion.routing.fallback": "editor",
    "companion.budget.sessionTokens": "user",
    "companion.budget.sessionCost": "user",
    "companion.budget.dayTokens": "user",
    "companion.budget.dayCost": "user",
    "companion.redaction": "user",
    "companion.trustedFolders": "user",
}
"""Every key of the settings; a test compares it with the schema. Of `companion.tools.rules` those that deny count from
everybody.
"""

MODEL_KEYS: Final[tuple[KeyPath, ...]] = (("model", "name"), ("companion", "compression", "model"))
"""Keys that name a model. A resource name (`projects/…`), which chooses an endpoint, is taken from less: the user's own
file, GEMINI_MODEL, a client's request, and the editor in a trusted workspace.
"""

WITHOUT_EFFECT: Final[tuple[str, ...]] = ()
"""Keys, and sections, that are accepted since Gemini CLI has them, and that nothing uses yet."""


def key_path(key: str) -> KeyPath:
    """The path of a key of the schema."""
    return tuple(key.split("."))


def is_admitted(key: str, layer: LayerName, *, trusted: bool) -> bool:
    """Whether a layer may set a key."""
    match layer:
        case "systemDefaults" | "user" | "system" | "commandLine":
            return True
        case "workspace":
            return AUTHORITY[key] == "everybody" or (trusted and AUTHORITY[key] != "user")
        case "editor":
            return AUTHORITY[key] in ("everybody", "editor") or (trusted and AUTHORITY[key] != "user")


def may_name_resources(layer: LayerName, *, trusted: bool) -> bool:
    """Whether a layer may name a model by a path, and so choose an endpoint."""
    return layer in PERSONAL or (layer == "editor" and trusted)


def refused(layer: LayerName, *, trusted: bool) -> list[KeyPath]:
    """The paths that a layer may not set; a section in place of its keys where that holds for all of them."""
    if layer in PERSONAL:
        return []
    return [path for path, keys in _all_sections() if not _any_admitted(keys, layer, trusted)]


def admitted(layer: LayerName, *, trusted: bool) -> list[KeyPath]:
    """The paths of the keys that a layer may set."""
    return [key_path(key) for key in AUTHORITY if is_admitted(key, layer, trusted=trusted)]


def keys_of(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    """The keys of the schema that are no sections, in its order."""
    for field in msgspec.structs.fields(struct):
        name, section = prefix + field.encode_name, _section_of(field.type)
        if section is None:
            yield name
        else:
            yield from keys_of(section, f"{name}.")


@functools.cache
def _all_sections() -> tuple[tuple[KeyPath, list[str]], ...]:
    """The sections of the whole schema; msgspec evaluates every annotation anew when asked for fields."""
    return tuple(_sections(SettingsFile))


def _sections(struct: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[KeyPath, list[str]]]:
    """Every section and key of the schema, outer ones first, with the keys below."""
    for field in msgspec.structs.fields(struct):
        name, section = prefix + field.encode_name, _section_of(field.type)
        if section is None:
            yield key_path(name), [name]
        else:
            yield key_path(name), list(keys_of(section, f"{name}."))
            yield from _sections(section, f"{name}.")


def _section_of(kind: object) -> type[msgspec.Struct] | None:
    return kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else None


def _any_admitted(keys: list[str], layer: LayerName, trusted: bool) -> bool:
    return any(is_admitted(key, layer, trusted=trusted) for key in keys)
