"""The local model among the model adapters: it answers where the settings name a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gemini_companion.adapters.local.catalogue import LocalCatalogue
from gemini_companion.adapters.local.file import HINT, LocalFile, LocalOptions
from gemini_companion.adapters.local.provider import LocalProvider
from gemini_companion.sessions.models.registry import Registration


def register(env: Mapping[str, str], options: Callable[[], LocalOptions]) -> Registration:
    """The adapter's registration; `options` is called anew for each request, so that a change takes effect at once."""
    file = LocalFile(options)
    return Registration(
        catalogue=LocalCatalogue(file),
        provider=LocalProvider(file, env),
        missing="no model for this machine is set",
        remedy=HINT,
        is_set_up=lambda: file.is_set,
    )
