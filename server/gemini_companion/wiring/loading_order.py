"""What a connection needs, in steps that are short: between them the event loop answers and hears signals."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Final

from gemini_companion.protocol.loading import loading

STEPS: Final = (
    *("engine.history.log", "sessions.tool_events", "sessions.events", "engine.history.view", "sessions.ports"),
    *("engine.ide_context", "sessions.clients", "sessions.compression_state", "settings.effective"),
    *("sessions.commands.registry", "sessions.hooks.service"),
    *("sessions.services", "sessions.session", "sessions.turn.titles", "sessions.registry", "sessions.application"),
    *("settings.service", "protocol.host", "protocol.binding", "adapters.vault.sealing", "engine.recall.ranking"),
    *("engine.recall.excerpt", "adapters.storage"),
    *("adapters.vault.vault", "adapters.offline.registration", "adapters.local.registration"),
    *("adapters.gemini.registration", "sessions.tools.editor"),
)
"""Modules in the order in which one needs another, none of which brings many along."""


def load_in_steps() -> Iterator[None]:
    """Import one after the other, one with each step. What one raises is for whoever needs it to meet again."""
    for name in STEPS:
        with loading():
            importlib.import_module(f"gemini_companion.{name}")
        yield
