"""Tools that ask the network, through the model's own service: the daemon opens no address itself."""

from __future__ import annotations

from typing import Final

NAMES: Final = frozenset({"google_web_search", "web_fetch"})
"""Of all of them, known without loading them: they are offered only where `Ports.grounding` would be."""
