"""Keeping the sizes of a session's contents, so that it is opened again without measuring them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from zlib import crc32

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.counting import Counting, Fresh
from gemini_companion.engine.history.log import encode_entry
from gemini_companion.sessions.kept_counts import KeptCount
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop

_AT_ONCE: Final = 1_000
"""Contents whose sizes are stored in one go, so that nobody waits long for the store."""
_WORTH_A_THREAD: Final = 20
"""How many times the work on one content is that of folding one, for `off_loop`."""


async def keep_counts(session: Session) -> None:
    """Keep what was measured since the last call. What cannot be kept is measured again when it is opened next."""
    counting = session.history.counting
    with suppress(CompanionError):
        while fresh := counting.take_fresh(_AT_ONCE):
            kept = await off_loop(_WORTH_A_THREAD * len(fresh), lambda fresh=fresh: _kept(counting, fresh))
            await session.services.store.save_counts(session.session_id, kept)


def _kept(counting: Counting, fresh: Sequence[Fresh]) -> list[KeptCount]:
    return [
        KeptCount(
            one.entry.seq,
            crc32(encode_entry(one.entry)) if one.checksum is None else one.checksum,
            counting.counted(one.item),
        )
        for one in fresh
    ]
