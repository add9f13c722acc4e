"""The answers of all hooks of one event as one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec

from gemini_companion.engine.hooks.answers import HookOutput
from gemini_companion.engine.hooks.events import DECIDING, HookEvent

NO_REASON: Final = "No reason was given."
MAX_TEXT: Final = 100_000
"""Characters of a reason or a context that are taken."""
_RANKS: Final = {"allow": 1, "ask": 2, "deny": 3, "block": 3}
_OWN_TAG: Final = re.compile(r"<(?=\s*+/?\s*+hook_context\b)", re.IGNORECASE)
_MODES: Final = ("AUTO", "ANY", "NONE")
_SPECIFIC: Final = "hookSpecificOutput"
_MERGED_INPUTS: Final = ("tool_input", "llm_request")


class TailCall(NamedTuple):
    """A call that a hook wants made behind another one."""

    name: str
    args: Mapping[str, Any]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the hooks of an event want, as far as it could be understood."""

    blocks: bool = False
    asks: bool = False
    """A person is to be asked whatever the rules say."""
    stops: bool = False
    """The turn is to end."""
    reason: str = NO_REASON
    message: str = ""
    """For people."""
    context: str = ""
    """For the model, as the hooks wrote it."""
    tool_input: Mapping[str, Any] | None = None
    llm_request: Mapping[str, Any] | None = None
    llm_response: Mapping[str, Any] | None = None
    tool_mode: str = "AUTO"
    tool_names: tuple[str, ...] = ()
    clears: bool = False
    """The model is to forget the chat so far."""
    tail: TailCall | None = None
    """A call whose result is to stand in place of this one's."""
    suppresses: bool = False
    """People are not to be shown that it ran."""


NOTHING: Final = Verdict()


def merge_outputs(event: HookEvent, outputs: Sequence[HookOutput]) -> HookOutput | None:
    """One output of several; `None` of none. What changes an input is merged one level deep, the later over the
    earlier.
    """
    if not outputs:
        return None
    if event in DECIDING:
        merged = _strictest(outputs)
    elif event in ("BeforeModel", "AfterModel"):
        merged: HookOutput = {_SPECIFIC: {}}
        for output in outputs:
            merged |= {**output, _SPECIFIC: {**merged[_SPECIFIC], **_specific(output)}}
    elif event == "BeforeToolSelection":
        return {_SPECIFIC: {"hookEventName": event, "toolConfig": _tool_config(outputs)}}
    else:
        merged = {}
        for output in outputs:
            merged |= output
        return merged
    for name in _MERGED_INPUTS:
        changes = [change for output in outputs if (change := _object(_specific(output), name)) is not None]
        if changes:
            whole: dict[str, Any] = {}
            for change in changes:
                whole = merged_input(name, whole, change)
            merged[_SPECIFIC] = {**merged[_SPECIFIC], name: whole}
    return merged


def merged_input(name: str, before: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """An input with a hook's change. The values of a request's `config` are its own: those left out stay."""
    merged = {**before, **change}
    if name == "llm_request" and isinstance(before.get("config"), dict) and isinstance(change.get("config"), dict):
        merged["config"] = {**before["config"], **change["config"]}
    return merged


def verdict_of(event: HookEvent, merged: HookOutput | None) -> Verdict:
    """What a merged output asks for. What has the wrong type is as if it were not there."""
    if merged is None:
        return NOTHING
    specific, decision = _specific(merged), merged.get("decision")
    stops = merged.get("continue") is False
    config = specific.get("toolConfig")
    named = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    return Verdict(
        blocks=decision in ("deny", "block"),
        asks=decision == "ask",
        stops=stops,
        reason=_text(merged, "stopReason") or _text(merged, "reason") or NO_REASON,
        message=_text(merged, "systemMessage"),
        context=_text(specific, "additionalContext"),
        tool_input=_object(specific, "tool_input"),
        llm_request=_object(specific, "llm_request"),
        llm_response=_object(specific, "llm_response"),
        tool_mode=named.get("mode", "AUTO") if named.get("mode") in _MODES else "AUTO",
        tool_names=tuple(_names(named)),
        clears=event == "AfterAgent" and specific.get("clearContext") is True,
        tail=_tail(specific) if event == "AfterTool" else None,
        suppresses=merged.get("suppressOutput") is True,
    )


def hook_context(text: str) -> str:
    """A context as the model gets it, word for word: nothing in it can end its element."""
    return f"<hook_context>{_OWN_TAG.sub('&lt;', text)}</hook_context>"


def _strictest(outputs: Sequence[HookOutput]) -> HookOutput:
    merged: HookOutput = {"continue": True, "suppressOutput": False, "decision": "allow"}
    joined: dict[str, list[str]] = {}
    specific: dict[str, Any] = {}
    contexts: list[str] = []
    for output in outputs:
        decision = output.get("decision")
        if isinstance(decision, str) and _RANKS.get(decision, 0) >= _RANKS[merged["decision"]]:
            merged["decision"] = decision
        merged["continue"] = merged["continue"] and output.get("continue") is not False
        merged["suppressOutput"] = merged["suppressOutput"] or output.get("suppressOutput") is True
        for key in ("reason", "systemMessage", *(("stopReason",) if output.get("continue") is False else ())):
            if text := _text(output, key):
                joined.setdefault(key, []).append(text)
        for key, value in _specific(output).items():
            if key == "additionalContext":
                contexts += [value] if isinstance(value, str) else []
            elif key != "clearContext" or specific.get(key) is not True:
                specific[key] = value
    if not merged["continue"] and merged["decision"] == "allow":
        del merged["decision"]
    if contexts:
        specific["additionalContext"] = "\n".join(contexts)
    merged |= {key: "\n".join(texts) for key, texts in joined.items()}
    return merged | ({_SPECIFIC: specific} if specific else {})


def _tail(specific: Mapping[str, Any]) -> TailCall | None:
    fields = _object(specific, "tailToolCallRequest") or {}
    name = _text(fields, "name").strip()
    return TailCall(name, _object(fields, "args") or {}) if name else None


def _tool_config(outputs: Sequence[HookOutput]) -> dict[str, Any]:
    mode, names = "AUTO", set[str]()
    for output in outputs:
        config = _object(_specific(output), "toolConfig") or {}
        wished = config.get("mode")
        if wished in _MODES and _MODES.index(wished) > _MODES.index(mode):
            mode = wished
        names.update(_names(config))
    return {"mode": mode, "allowedFunctionNames": [] if mode == "NONE" else sorted(names)}


def _names(config: Mapping[str, Any]) -> list[str]:
    names = config.get("allowedFunctionNames")
    return [name for name in cast("list[object]", names) if isinstance(name, str)] if isinstance(names, list) else []


def _specific(output: Mapping[str, Any]) -> dict[str, Any]:
    return _object(output, _SPECIFIC) or {}


def _object(fields: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    value = fields.get(key)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    return value[:MAX_TEXT] if isinstance(value, str) else ""
