"""Reads what version 0.1 wrote. There a compression was a "compaction": a tag, the keys of ids, the events' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

MARK: Final = b'"compaction'
"""Occurs in every entry and event that has to be renamed, and hardly ever in another one."""

_KEYS: Final = {"compactionId": "compressionId", "compaction": "compression"}


def upgraded_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry's JSON object with today's names; one that has them already comes back equal.

    Names stand in the entry, in a preview's compression, and in the result of either, nowhere else: what people and
    models wrote stays as it is. Version 0.1 measured no retention.
    """
    upgraded = _renamed(entry)
    if upgraded.get("type") == "compaction":
        upgraded["type"] = "compression"
    inner = upgraded.get("compression")
    if isinstance(inner, dict):
        planned = _with_result(_renamed(cast("dict[str, Any]", inner)))
        if planned.get("type") == "compaction":
            planned["type"] = "compression"
        upgraded["compression"] = planned
    return _with_result(upgraded)


def upgraded_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event's JSON object with today's names: `compactionStarted` is `compressionStarted`, and so on."""
    upgraded = _with_result(_renamed(event))
    kind = upgraded.get("type")
    if isinstance(kind, str) and kind.startswith("compaction"):
        upgraded["type"] = "compression" + kind.removeprefix("compaction")
    return upgraded


def _with_result(fields: dict[str, Any]) -> dict[str, Any]:
    result = fields.get("result")
    if isinstance(result, dict):
        renamed = _renamed(cast("dict[str, Any]", result))
        renamed.pop("retention", None)
        fields["result"] = renamed
    return fields


def _renamed(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {_KEYS.get(key, key): value for key, value in fields.items()}
