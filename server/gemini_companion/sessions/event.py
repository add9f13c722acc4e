"""What every event of a session is."""

from __future__ import annotations

import msgspec


class SessionEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="type", omit_defaults=True):
    """Something that happened in a session, tagged by `type`."""
