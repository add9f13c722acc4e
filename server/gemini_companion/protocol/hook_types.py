"""The parameters of `gemini/hooks/set`."""

from __future__ import annotations

from typing import Annotated

import msgspec


class SetHookParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whether the hooks of a name are to run. That is written into the user's own settings file."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
    """As in the list: the hook's name, else its command."""
    enabled: bool
