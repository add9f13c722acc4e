"""What becomes of a layer in which something is wrong: a wrong value costs its key, and nothing else.

Where the key restricts, a default in its place would let through what somebody forbade. So each key of the schema
either has a strictest value, which holds until the fault is mended, or is known to restrict nothing (`HARMLESS`). A
test does not pass while a key is neither. All pure.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from gemini_companion.settings.authority import AUTHORITY, key_path
from gemini_companion.settings.layers import texts_of, unprintable
from gemini_companion.settings.masking import MASK
from gemini_companion.settings.migrations import OLD_NAMES
from gemini_companion.settings.objects import JsonObject, KeyPath, holds, nested, spelled, value_at, without
from gemini_companion.settings.schema import SettingsFile
from gemini_companion.settings.tool_rules import RULES
from gemini_companion.settings.validation import Misfit, first_misfit, up_to_a_list

MOST_FAULTS: Final = 100
"""More of them, and a layer counts as one that cannot be read."""

_MOST_NAMED: Final = 3

_ASK_ALL: Final = ("tools.confirmationRequired", ["*"])
_NO_HOOKS: Final = (("hooksConfig.enabled", False), _ASK_ALL)
_NO_COMMANDS: Final = (("tools.exclude", ["run_shell_command"]),)
_NO_TELEMETRY: Final = (("telemetry.enabled", False),)
_NO_LOCAL_ENV: Final = (("advanced.ignoreLocalEnv", True),)
_KEEP_SESSIONS: Final = (
    ("general.sessionRetention.enabled", False),
    ("companion.sessions.retentionDays", 0),
)

STRICTEST: Final[Mapping[str, tuple[tuple[str, Any], ...]]] = {
    "general.defaultApprovalMode": (("general.defaultApprovalMode", "plan"),),
    "general.sessionRetention.enabled": _KEEP_SESSIONS,
    "general.sessionRetention.maxAge": _KEEP_SESSIONS,
    "general.sessionRetention.maxCount": _KEEP_SESSIONS,
    "general.sessionRetention.minRetention": _KEEP_SESSIONS,
    "model.maxSessionTurns": (("model.maxSessionTurns", 1),),
    "context.memoryBoundaryMarkers": (("context.memoryBoundaryMarkers", []),),
    "context.includeDirectoryTree": (("context.includeDirectoryTree", False),),
    "tools.core": (("tools.core", []),),
    "tools.allowed": (("tools.allowed", []),),
    "tools.exclude": (("tools.exclude", ["*"]),),
    "tools.confirmationRequired": (_ASK_ALL,),
    "mcp.allowed": (("mcp.allowed", []),),
    "mcp.excluded": (("mcp.allowed", []),),
    # Hooks may forbid. Without them everything is asked about.
    "hooks": (_ASK_ALL,),
    "hooksConfig.enabled": _NO_HOOKS,
    "hooksConfig.disabled": _NO_HOOKS,
    "agents.overrides": (("experimental.enableAgents", False),),
    "experimental.enableAgents": (("experimental.enableAgents", False),),
    "skills.enabled": (("skills.enabled", False),),
    "skills.disabled": (("skills.enabled", False),),
    "telemetry.enabled": _NO_TELEMETRY,
    "telemetry.target": _NO_TELEMETRY,
    "telemetry.otlpEndpoint": _NO_TELEMETRY,
    "telemetry.otlpProtocol": _NO_TELEMETRY,
    "telemetry.logPrompts": (("telemetry.logPrompts", False),),
    "telemetry.outfile": _NO_TELEMETRY,
    "security.disableYoloMode": (("security.disableYoloMode", True),),
    "security.disableAlwaysAllow": (("security.disableAlwaysAllow", True),),
    "security.environmentVariableRedaction.allowed": (("security.environmentVariableRedaction.allowed", []),),
    "security.environmentVariableRedaction.blocked": _NO_COMMANDS,
    "advanced.excludedEnvVars": _NO_LOCAL_ENV,
    "advanced.ignoreLocalEnv": _NO_LOCAL_ENV,
    "companion.ide.maxOpenFiles": (("companion.ide.maxOpenFiles", 0),),
    "companion.ide.activeFileCharacters": (("companion.ide.activeFileCharacters", 0),),
    "companion.tools.enabled": (("companion.tools.enabled", False),),
    "companion.tools.mode": (("companion.tools.mode", "plan"),),
    "companion.tools.rules": (("companion.tools.rules", [{"tool": "*", "decision": "deny"}]),),
    "companion.tools.sandbox": (("companion.tools.sandbox", "required"),),
    "companion.tools.network": (("companion.tools.network", False),),
    "companion.tools.environment": (("companion.tools.environment", []),),
    "companion.tools.sockets": (("companion.tools.sockets", []),),
    "companion.tools.maxRounds": (("companion.tools.maxRounds", 1),),
    "companion.limits.modelCalls": (("companion.limits.modelCalls", 1),),
    "companion.limits.processes": (("companion.limits.processes", 1),),
    "companion.recall.embeddings": (("companion.recall.embeddings", False),),
    "companion.sessions.retentionDays": _KEEP_SESSIONS,
    "companion.sessions.maxSessions": _KEEP_SESSIONS,
    "companion.sessions.maxBytes": _KEEP_SESSIONS,
    # What is left of these pays for nothing: 0 would be no limit.
    "companion.budget.sessionTokens": (("companion.budget.sessionTokens", 1),),
    "companion.budget.sessionCost": (("companion.budget.sessionCost", 0.000001),),
    "companion.budget.dayTokens": (("companion.budget.dayTokens", 1),),
    "companion.budget.dayCost": (("companion.budget.dayCost", 0.000001),),
    "companion.redaction": (("companion.redaction", "on"),),
    "companion.trustedFolders": (("companion.trustedFolders", []),),
}
"""By key: what is set while its value cannot be used."""

HARMLESS: Final = frozenset(
    {
        "general.maxAttempts",
        "general.plan.enabled",  # its default is the stricter one
        "model.name",
        "model.local",
        "model.compressionThreshold",
        "model.compressionTokenCap",
        "model.tokenLimit",
        "model.disableLoopDetection",
        "model.summarizeToolOutput",
        "context.fileName",
        "context.importFormat",
        "context.discoveryMaxDirs",
        "tools.shell.inactivityTimeout",
        "tools.truncateToolOutputThreshold",
        "mcpServers",  # a server that cannot be read is left out
        "hooksConfig.notifications",
        "companion.compression.model",
        "companion.compression.gate",
        "companion.compression.retentionFloor",
        "companion.compression.ownWords",
        "companion.compression.builtInFallback",
        "companion.compression.strategy",
        "companion.compression.mode",
        "companion.compression.background",
        "companion.compression.adaptive",
        "companion.compression.constraints",
        "companion.compression.compare",
        "companion.tools.commandSeconds",
        "companion.tools.questionSeconds",
        *(key for key in AUTHORITY if key.startswith("companion.prompt.")),
        "companion.routing.fallback",
    }
)
"""Keys whose lower layer, or default, lets nothing through that a value of theirs would not."""

HELD: Final[JsonObject] = {
    "tools": {"confirmationRequired": ["*"]},
    "security": {"disableYoloMode": True, "disableAlwaysAllow": True},
    "companion": {"tools": {"rules": [{"tool": "*", "decision": "ask"}]}},
}
"""What holds in the place of a layer that cannot be read and never could: everything is asked about."""

_JOINED: Final = (RULES, ("tools", "exclude"), ("tools", "confirmationRequired"))
_NEEDS_ALL: Final = frozenset(
    {
        "mcp.excluded",
        "hooksConfig.disabled",
        "skills.disabled",
        "security.environmentVariableRedaction.blocked",
        "advanced.excludedEnvVars",
        "context.memoryBoundaryMarkers",
    }
)
"""Lists of which no element may be missing: one that cannot be used has the key's strictest value hold."""
_ALIKE: Final = 0.85
"""How much alike two keys are of which one is meant for the other."""
_BLANKS: Final = re.compile(r"[\s_-]+")
_WHOLE_NUMBER: Final = re.compile(r"\d{1,9}")


def is_known(path: KeyPath) -> bool:
    """Whether a path leads to a setting, into one or to a section of them."""
    return any(key_path(key)[: len(path)] == path[: len(key_path(key))] for key in AUTHORITY)


def is_harmless(path: KeyPath) -> bool:
    """Whether a path leads into a setting that restricts nothing whatever its value is; a server may restrict."""
    return path[:1] != ("mcpServers",) and any(path[: len(key_path(key))] == key_path(key) for key in HARMLESS)


def with_nothing_usable(value: object, path: KeyPath) -> Any:
    """The value with something at a path that no setting can be, so that the strictest one holds there."""
    if not path:
        return [[]]
    if isinstance(value, list):
        elements = enumerate(cast("list[object]", value))
        return [with_nothing_usable(held, path[1:]) if at == path[0] else held for at, held in elements]
    fields = cast("JsonObject", value)
    return {key: with_nothing_usable(held, path[1:]) if key == path[0] else held for key, held in fields.items()}


def miswritten(layer: JsonObject) -> list[Misfit]:
    """Keys that nobody knows: all in our own section; elsewhere, where Gemini CLI has more, what looks like one."""
    found: list[Misfit] = []
    for section, names in _sections(SettingsFile):
        known = {_plain(name): name for name in (*names, *(OLD_NAMES if not section else ()))}
        held = value_at(layer, section)
        for key in cast("JsonObject", held) if isinstance(held, dict) else ():
            if key in known.values() or unprintable({key: None}):  # told already
                continue
            near = difflib.get_close_matches(_plain(key), known, n=1, cutoff=_ALIKE)
            if (meant := known.get(_plain(key))) is not None:
                found.append(Misfit((*section, key), f"has no effect, since it is spelled otherwise: {meant}"))
            elif near:
                found.append(Misfit((*section, key), f"has no effect; perhaps {known[near[0]]} is meant"))
            elif section[:1] == ("companion",):
                found.append(Misfit((*section, key), f"has no effect: there is no such key in {spelled(section)}"))
    return found


def _sections(struct: type[msgspec.Struct], path: KeyPath = ()) -> Iterator[tuple[KeyPath, list[str]]]:
    fields = msgspec.structs.fields(struct)
    yield path, [field.encode_name for field in fields]
    for field in fields:
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _sections(field.type, (*path, field.encode_name))


def _plain(key: str) -> str:
    return _BLANKS.sub("", key).casefold()


class TooManyFaults(ValueError):
    """A layer in which hardly anything can be used."""


def mended(
    layer: JsonObject,
    known: Iterable[Misfit] = (),
    *,
    before: JsonObject | None = None,
    admits: Callable[[str], bool] = lambda key: True,
) -> tuple[JsonObject, list[Misfit]]:
    """The layer without what cannot be used, and what that was, of each list only the first; what restricts has its
    strictest value instead.

    `known` is wrong already, whatever the schema says; `before` is the layer as it was, whose harmless values stay;
    `admits` says whether the layer may set a key. Raises `TooManyFaults`.
    """
    found: list[Misfit] = []
    pending, strict = list(known), cast("JsonObject", {})
    while fault := pending.pop(0) if pending else first_misfit(layer):
        if len(found) == MOST_FAULTS or not fault.path:
            raise TooManyFaults
        layer, keys, replaced = _without(layer, fault, bool(known))
        here = {key: value for one in keys for key, value in _strictest(one, replaced)}
        here = {key: value for key, value in here.items() if admits(key) or key_path(key) == RULES}
        strict.update(here)
        found.append(_told(fault, here))
        for key in keys:
            if before is not None and key not in STRICTEST and admits(key) and holds(before, key_path(key)):
                layer = _put(layer, key_path(key), value_at(before, key_path(key)))
    for key, value in strict.items():
        layer = _put(layer, key_path(key), value)
    return layer, found


def _without(layer: JsonObject, fault: Misfit, looks_at_texts: bool) -> tuple[JsonObject, list[str], object]:
    """The layer without a fault, the keys whose strictest values are to hold for it, and the value that was there."""
    path = up_to_a_list(fault.path)
    key = next((one for one in AUTHORITY if path[: len(key_path(one))] == key_path(one)), None)
    if key is None:  # a section, or what nobody knows
        return without(layer, path), [one for one in AUTHORITY if key_path(one)[: len(path)] == path], None
    top, held = key_path(key), value_at(layer, path)
    if path == top and path != fault.path and isinstance(held, list):
        return _without_elements(layer, key, cast("list[object]", held), looks_at_texts)
    if key == "mcpServers" and path != top:
        return without(layer, path[:2]), [], None
    if key == "agents.overrides" and path != top:
        return _put(layer, path[:3], {"enabled": False}), [], None
    if key == "hooks" and path != top:
        return without(layer, path[:2]), [key], None
    return without(layer, path), [key], held


def _without_elements(
    layer: JsonObject, key: str, held: list[object], looks_at_texts: bool
) -> tuple[JsonObject, list[str], object]:
    path, kept, is_enough = key_path(key), cast("list[object]", []), key not in _NEEDS_ALL
    for element in held:
        if _fits(path, element, looks_at_texts):
            kept.append(element)
        elif path == RULES:
            kept += _strict_rule(element, looks_at_texts)
        elif path in _JOINED and element != "" and "*" not in kept:  # excluded, or asked about: whatever it was
            kept.append("*")
    return _put(without(layer, path), path, kept), [] if is_enough else [key], None


def _fits(path: KeyPath, element: object, looks_at_texts: bool) -> bool:
    alone = cast("JsonObject", nested(path, [element]))
    return first_misfit(alone) is None and not (looks_at_texts and (unprintable(alone) or masked_texts(alone)))


def _strict_rule(element: object, looks_at_texts: bool) -> list[object]:
    """What stands in the place of a rule that cannot be used: what of it can be read, and so more than it said."""
    fields = cast("JsonObject", element) if isinstance(element, dict) else {}
    decision = fields.get("decision")
    if decision == "allow":
        return []
    rule: JsonObject = {"tool": "*", "decision": "ask" if decision == "ask" else "deny"}
    for name in ("tool", "path", "command", "workspace"):
        if name in fields and _fits(RULES, rule | {name: fields[name]}, looks_at_texts):
            rule[name] = fields[name]
    return [rule]


def _strictest(key: str, held: object) -> tuple[tuple[str, Any], ...]:
    if key == "model.maxSessionTurns" and isinstance(held, str) and _WHOLE_NUMBER.fullmatch(held) and int(held):
        return ((key, int(held)),)  # there is no doubt about what was meant
    if key == "general.defaultApprovalMode" and held == "yolo":
        return ((key, "default"),)  # nor of this; no file can let everything run unasked
    return STRICTEST.get(key, ())


def _told(fault: Misfit, strict: Mapping[str, Any]) -> Misfit:
    if not strict:
        return fault
    if len(strict) > _MOST_NAMED:
        return fault._replace(what=f"{fault.what}; until it is mended, the strictest values hold in its place")
    values = ", ".join(f"{key} is {msgspec.json.encode(value).decode()}" for key, value in strict.items())
    return fault._replace(what=f"{fault.what}; until it is mended, {values}")


def masked_texts(layer: JsonObject) -> list[Misfit]:
    """Where a private copy of a layer has a mark in the place of a secret."""
    return [
        Misfit(path, "holds a secret, of which the private copy has only a mark")
        for path, text in texts_of(layer)
        if MASK in text
    ]


def _put(fields: JsonObject, path: KeyPath, value: Any) -> JsonObject:
    """The object with a value at a path, in the place of what is there; of lists that are joined, behind it."""
    inner = fields
    for step in path[:-1]:
        below = inner.get(cast("str", step))
        inner = cast("JsonObject", below) if isinstance(below, dict) else {}
    held = inner.get(cast("str", path[-1]))
    if path in _JOINED and isinstance(held, list):
        value = [*cast("list[Any]", held), *(one for one in value if one not in held)]
    return _placed(fields, path, value)


def _placed(fields: JsonObject, path: KeyPath, value: Any) -> JsonObject:
    step = cast("str", path[0])
    if len(path) == 1:
        return {**fields, step: value}
    below = fields.get(step)
    return {**fields, step: _placed(cast("JsonObject", below) if isinstance(below, dict) else {}, path[1:], value)}
