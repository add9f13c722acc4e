"""The vault of the data directory, with what it needs of the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gemini_companion.wiring.places import data_directory

if TYPE_CHECKING:
    from gemini_companion.adapters.vault.vault import Vault
    from gemini_companion.settings.effective import Settings


def build_vault(
    env: Mapping[str, str],
    settings: Callable[[], Settings],
    *,
    notify: Callable[[str], None] = lambda message: None,
) -> Vault:
    """The vault that the processes of one data directory share. `notify` gets a sentence for people, on any thread."""
    from gemini_companion.adapters.vault.vault import Vault

    return Vault(data_directory(env), is_on=lambda: settings().redaction, notify=notify)
