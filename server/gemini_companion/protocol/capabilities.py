"""What `initialize` answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

PROTOCOL_VERSION: Final = "2"
"""Rises when a client of the version before would misread the wire.

2 renamed ids, events and errors of compressions.
"""

_INCREMENTAL: Final = 2
"""LSP's `TextDocumentSyncKind.Incremental`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerDescription:
    """What a server states about itself. Empty `methods` and `commands` stand for those that are bound by then."""

    name: str
    version: str
    protocol_version: str = PROTOCOL_VERSION
    methods: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    events: tuple[str, ...] = ()


def initialize_result(
    server: ServerDescription,
    *,
    encoding: str,
    methods: Iterable[str],
    commands: Iterable[str],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """The result of `initialize`. `encoding` is the position encoding, `methods` and `commands` are the names that are
    bound, `more` are further capabilities, which are laid over the server's own.
    """
    offered = server.methods or [name for name in methods if name.startswith("gemini/")]
    capabilities: dict[str, Any] = {
        "positionEncoding": encoding,
        "textDocumentSync": {"openClose": True, "change": _INCREMENTAL, "save": {"includeText": False}},
        "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
        "experimental": {
            "geminiCompanion": {
                "protocolVersion": server.protocol_version,
                "methods": sorted(offered),
                "events": list(server.events),
            }
        },
    }
    if names := sorted(server.commands or commands):
        capabilities["executeCommandProvider"] = {"commands": names, "workDoneProgress": True}
    return {"capabilities": _merge(capabilities, more), "serverInfo": {"name": server.name, "version": server.version}}


def _merge(base: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `more` laid over it, object by object."""
    merged = dict(base)
    for key, value in more.items():
        below = merged.get(key)
        both_objects = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = (
            _merge(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value)) if both_objects else value
        )
    return merged
