"""How many examples a property is tried with: `make test` takes a fifth of them, `make thorough` all."""

from __future__ import annotations

import os
from typing import Final

SHARE: Final = float(os.environ.get("COMPANION_EXAMPLES") or 0.2)
"""Of the full number; more than 1 looks longer than anybody asks for."""
_FEWEST: Final = 5


def examples(full: int) -> int:
    """The number of examples for a property whose full number this is."""
    return max(_FEWEST, round(full * SHARE))
