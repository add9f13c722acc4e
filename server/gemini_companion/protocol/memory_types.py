"""The parameters of `gemini/memory/*`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gemini_companion.sessions.memory.port import SavedScope


class AddMemoryParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A fact to be kept, in a sentence; `global` for every project."""

    fact: Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
    scope: SavedScope
