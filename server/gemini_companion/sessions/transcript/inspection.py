"""Reports on a session that do not wait for its jobs: listings, the tokens by part, sums."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.history.log import CompressionEntry, RatingEntry
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.models.results import ModelInfo, ModelReport
from gemini_companion.sessions.ports import StoredEvent
from gemini_companion.sessions.results import (
    CompressionInfo,
    CompressionList,
    ContextReport,
    EventPage,
    Pin,
    PinList,
)
from gemini_companion.sessions.services import Services
from gemini_companion.sessions.session import Session

_REPLAYED: Final = 10_000
"""Most events in one answer."""
_BETWEEN_ANSWERS: Final = ("messageDiscarded", "toolCallStarted", "turnStarted", "usageUpdated")
"""Events of a turn that no delta of one and the same answer stands both before and behind of."""


def compression_list(session: Session) -> CompressionList:
    """Every compression, newest first, the open preview included."""
    history = session.history
    ratings = {entry.compression_id: entry for entry in history.entries.of(RatingEntry)}
    outermost = {compression.compression_id for compression in history.in_force.outermost}
    begun = _turn_starts(history)
    listed = [
        _compression(
            entry,
            "undone" if key not in history.in_force else "inForce" if key in outermost else "covered",
            ratings.get(key),
            begun,
        )
        for key, entry in history.compressions.items()
    ]
    if history.preview is not None:
        preview = msgspec.structs.replace(history.preview.compression, seq=history.preview.seq)
        is_outdated = is_stale(history, preview, history.preview.base_seq)
        listed.append(_compression(preview, "outdated" if is_outdated else "preview", None, begun))
    return CompressionList(compressions=tuple(reversed(listed)))


def _turn_starts(history: History) -> list[int]:
    """The sequence numbers of the first contents of all turns, rising."""
    starts: dict[str, int] = {}
    for seq, turn_id, kind in history.sources.places():
        if kind != "ide":
            starts.setdefault(turn_id, seq)
    return list(starts.values())


def _compression(
    entry: CompressionEntry,
    state: Literal["inForce", "covered", "undone", "preview", "outdated"],
    rating: RatingEntry | None,
    turn_starts: Sequence[int],
) -> CompressionInfo:
    result = entry.result
    first, last = entry.hides or (1, 0)
    return CompressionInfo(
        compression_id=entry.compression_id,
        status="PREVIEW" if state in ("preview", "outdated") else result.status,
        trigger=result.trigger,
        time=entry.time,
        original_token_count=result.original_token_count,
        new_token_count=result.new_token_count,
        token_count_source=result.token_count_source,
        state=state,
        seq=entry.seq,
        hides=entry.hides,
        hidden_turns=bisect_right(turn_starts, last) - bisect_left(turn_starts, first),
        message=result.message,
        covers=entry.covers,
        cuts=len(entry.cuts),
        snapshot=result.snapshot,
        appendix=result.appendix,
        retention=result.retention,
        strategy=result.strategy,
        rating=rating.rating if rating else None,
        note=(rating.note or None) if rating else None,
        from_file=entry.from_file,
    )


def context_report(session: Session) -> ContextReport:
    """The session's tokens by part."""
    choice = session.choice()
    status = session.status(None, choice)
    return ContextReport(
        session_id=session.session_id,
        model=choice.name,
        token_count=status.token_count,
        token_count_source=status.token_count_source,
        token_limit=status.token_limit,
        by_part=session.ledger.scaled(session.parts(), status.token_count),
        free=max(0, status.token_limit - status.token_count),
        threshold=status.threshold,
        tokens_until_compression=status.tokens_until_compression,
        compression_at=status.compression_at,
    )


def pin_list(session: Session) -> PinList:
    """The pins, oldest first."""
    return PinList(
        pins=tuple(
            Pin(pin_id=entry.pin_id, text=entry.text, created_at=entry.time, turn_id=entry.turn_id)
            for entry in session.history.pins.values()
        )
    )


def model_report(services: Services, choice: ModelChoice) -> ModelReport:
    """The models to choose from, the one that answers, and why."""
    default = services.models.choose(services.settings())
    return ModelReport(
        models=tuple(
            ModelInfo(name=model.name, token_limit=model.token_limit, description=model.title)
            for model in services.models.models
        ),
        current=choice.name,
        default=default.instead_of or default.name,
        provider=choice.provider.name,
        is_local=choice.provider.capabilities.runs_here,
        reason=f"{choice.instead_of} cannot answer at the moment" if choice.instead_of else choice.reason,
        unread=services.settings().unread or None,
        hint=choice.remedy,
    )


async def event_page(session: Session, after_seq: int) -> EventPage:
    """The events after a number, as clients get them.

    Of a turn that has ended the deltas of each answer are joined into one, in the place of the last.
    """
    pending = session.channel.pending()
    stored = await session.services.store.events(session.session_id, after_seq, _REPLAYED)
    events = _one_by_one(stored.events, pending, after_seq)
    events = _with_deltas_joined(events, session.lane.current.job_id if session.lane.current else "")
    return EventPage(events=tuple(msgspec.to_builtins(event) for event in events), truncated=stored.truncated)


def _one_by_one(stored: Sequence[StoredEvent], pending: Sequence[StoredEvent], after_seq: int) -> Sequence[StoredEvent]:
    """What is stored, but of the deltas under way each, in place of the pieces that they are stored in."""
    if not pending:
        return stored
    first, last = pending[0].seq, pending[-1].seq
    before = [event for event in stored if event.seq < first]
    pieces = [event for event in stored if first <= event.seq <= last]
    behind = [event for event in stored if event.seq > last]  # they have what no piece had then
    is_cut = bool(behind) or len(stored) == _REPLAYED
    to = max((event.seq for event in pieces), default=0) if is_cut else last
    return [*before, *(event for event in pending if after_seq < event.seq <= to), *behind]


def _with_deltas_joined(events: Sequence[StoredEvent], running: str) -> list[StoredEvent]:
    runs: dict[str | None, dict[tuple[Any, ...], list[str]]] = {}
    """By turn, texts of the answer that is gone through, from its end."""
    joined: list[tuple[StoredEvent, list[str]]] = []
    for stored in reversed(events):
        kind, turn_id = stored.event.get("type"), stored.turn_id
        if kind in ("messageDelta", "thoughtDelta") and turn_id != running:
            answer, run = runs.setdefault(turn_id, {}), (kind, str(stored.event.get("attempt")))
            if run not in answer:
                answer[run] = []
                joined.append((stored, answer[run]))
            answer[run].append(str(stored.event.get("text", "")))
        else:
            if kind in _BETWEEN_ANSWERS:
                runs.pop(turn_id, None)
            joined.append((stored, []))
    return [_with_text(stored, texts) for stored, texts in reversed(joined)]


def _with_text(stored: StoredEvent, texts: Sequence[str]) -> StoredEvent:
    if not texts:
        return stored
    return msgspec.structs.replace(stored, event={**stored.event, "text": "".join(reversed(texts))})
