"""The generated files, and the functions that render them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from gemini_companion import __version__
from gemini_companion.engine.hooks.schema import HookFiles
from gemini_companion.protocol.commands import COMMANDS
from gemini_companion.protocol.options import InitializationOptions
from gemini_companion.protocol.table import NOTIFICATIONS, REQUESTS
from gemini_companion.protocol.to_client import METHODS
from gemini_companion.sessions.events import EVENTS
from gemini_companion.sessions.interchange import SessionExport
from gemini_companion.settings.schema import SettingsFile
from schemas.generate.json_schema import document
from schemas.generate.names import names_module
from schemas.generate.openrpc import openrpc_document
from schemas.generate.typescript import typescript_module
from schemas.generate.valibot import valibot_module

ROOT: Final = Path(__file__).parents[2]


def _openrpc() -> str:
    return _json(
        openrpc_document(
            METHODS, EVENTS, version=__version__, commands=COMMANDS, initialization_options=InitializationOptions
        )
    )


def _typescript() -> str:
    return typescript_module(METHODS, EVENTS, commands=COMMANDS, initialization_options=InitializationOptions)


def _valibot() -> str:
    return valibot_module(METHODS, commands=COMMANDS, initialization_options=InitializationOptions)


def _settings() -> str:
    return _json(document(SettingsFile, "Settings of Gemini Companion"))


def _session_export() -> str:
    return _json(document(SessionExport, "A session, exported by Gemini Companion"))


def _hooks() -> str:
    return _json(document(HookFiles, "What a hook of Gemini Companion reads and writes"))


def _names() -> str:
    return names_module(
        methods=[method.name for method in (*REQUESTS, *NOTIFICATIONS)],
        commands=COMMANDS,
        events=[str(event.__struct_config__.tag) for event in EVENTS],
    )


OUTPUTS: Final[Mapping[str, Callable[[], str]]] = {
    "schemas/openrpc.json": _openrpc,
    "schemas/settings.schema.json": _settings,
    "schemas/session-export.schema.json": _session_export,
    "schemas/hooks.schema.json": _hooks,
    "client-vscode/src/protocol.gen.ts": _typescript,
    "client-vscode/src/protocol.schemas.gen.ts": _valibot,
    "server/gemini_companion/protocol/names.py": _names,
}
"""Path below `ROOT` to the function that renders the file's text."""


def stale() -> list[str]:
    """The paths of the files that differ from what is generated now."""
    return [path for path, render in OUTPUTS.items() if _text_of(ROOT / path) != render()]


def write() -> list[str]:
    """Write the stale files; returns their paths."""
    written = stale()
    for path in written:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(OUTPUTS[path](), encoding="utf-8", newline="\n")
    return written


def _text_of(path: Path) -> str | None:
    return path.read_bytes().decode() if path.exists() else None


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
