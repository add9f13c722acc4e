"""What fits into a window: how long an output may be, and views whose parts are too large for any compression."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from gemini_companion.engine.compression.truncate import MINIMUM_OUTPUT_CHARACTERS
from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import PromptEntry
from gemini_companion.engine.history.tool_entries import MaskEntry, SteerEntry
from gemini_companion.engine.tool_output.cutting import OutputShape
from gemini_companion.engine.tool_output.fitting import newest_round, plan_fit
from gemini_companion.engine.tool_output.places import entry_at, reference_to
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop
from gemini_companion.sessions.tool_events import OutputsMasked

logger = logging.getLogger(__name__)

_NO_LIMIT: Final = 1 << 40

ROUND_SHARE: Final = 0.5
"""Share of the window that one round may have. Compressions keep the newest round whole."""


def limit_of(session: Session) -> int:
    """Characters that an output may have: the setting, and never more than a quarter of what is left of the window."""
    threshold = session.services.settings().truncate_tool_output_threshold
    choice = session.choice()
    left = session.limit(choice) - session.token_count(choice).tokens
    return max(MINIMUM_OUTPUT_CHARACTERS, min(_NO_LIMIT if threshold is None else threshold, left))


async def fit_round(session: Session) -> bool:
    """Shorten the newest round, its calls and their results, if it takes more than its share of the window; whether it
    was. Raises nothing.
    """
    items = session.history.curated()
    seqs = newest_round(items)
    newest = list(takewhile(lambda item: item.seq in seqs, reversed(items)))[::-1]
    return await _fit(session, newest, int(ROUND_SHARE * session.limit(session.choice())), texts=False)


async def fit_view(session: Session, room: int, *, texts: bool) -> bool:
    """Shorten what is largest in the view until it takes at most `room` tokens, as far as that goes; whether it was.

    What a person wrote stays; what the model said is shortened with `texts` alone. Raises nothing.
    """
    return await _fit(session, session.history.curated(), room, texts=texts)


async def _fit(session: Session, items: Sequence[Item], room: int, *, texts: bool) -> bool:
    if sum(item.measure.tokens for item in items) <= room:
        return False
    history = session.history
    shapes: dict[str, OutputShape] = {tool.name: tool.shape for tool in session.tools}

    def refer_to(item: Item, number: int) -> str:
        return reference_to(history.entries, item.seq, item.entry_id, number)

    def shape_of(name: str) -> OutputShape:
        return shapes.get(name, "text")

    def may_shorten(item: Item, number: int) -> bool:
        if item.content.role == "model":
            return texts
        entry = entry_at(history.entries, item.seq)
        return isinstance(entry, PromptEntry | SteerEntry) and number >= len(entry.own_parts)

    def plan() -> tuple[Cut, ...]:
        return plan_fit(
            items,
            history.masks,
            room=room,
            measure=session.ledger.measure,
            refer_to=refer_to,
            shape_of=shape_of,
            may_shorten=may_shorten,
        )

    cuts = await off_loop(len(items), plan)
    if not cuts:
        return False
    stamp = session.stamp()
    try:
        await session.append(lambda seq: MaskEntry(**stamp, seq=seq, cuts=cuts))
    except CompanionError as fault:
        logger.warning("What is too large for the window stays whole: %s", fault.message)
        return False
    session.emit(OutputsMasked(outputs=len(cuts), tokens_saved=sum(cut.tokens_saved for cut in cuts)))
    session.notify_usage()
    return True
