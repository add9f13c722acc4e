"""What of a prompt's files went along with it, and what did not."""

from __future__ import annotations

import msgspec


class Attachment(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A file or a folder that a prompt names, as it was attached."""

    path: str
    """Absolute; a folder's ends in a slash."""
    lines: tuple[int, int] | None = None
    """First and last attached line, from 1; absent for a folder and for an empty file."""
    truncated: bool = False
    """There is more than was attached."""


class Withheld(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that may not be shown to a model. For the client, never for a model."""

    name: str
    """Its base name only."""
    reason: str
    """Why, in a few words."""
