"""What the report of one session says, out of the session itself; nothing of it is asked of a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from gemini_companion.engine.history.content import visible_text_of
from gemini_companion.engine.history.log import PromptEntry, ReplyEntry, ToolResultEntry, TurnEndEntry
from gemini_companion.engine.ide_context.secrets import mask_secrets
from gemini_companion.engine.statistics.tally import Tally
from gemini_companion.engine.tokens.ledger import RequestParts
from gemini_companion.sessions.application import Application
from gemini_companion.sessions.results import CompressionInfo
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.statistics.answers import request_points
from gemini_companion.sessions.statistics.shapes import CompressionSums, RequestPoint, Stats
from gemini_companion.sessions.transcript.inspection import compression_list, context_report

_SURROUNDINGS = ("system_instruction", "tools", "environment", "memory")

MOST_POINTS = 240
MOST_TURNS = 1_000
MOST_CHARACTERS = 2_000
"""Of a prompt."""
_LOOKED_THROUGH = MOST_CHARACTERS + 8_192
"""Half of a secret is not known for what it is: a text is masked before it is cut."""


@dataclass(slots=True, kw_only=True)
class TurnRow:
    """One turn."""

    number: int
    time: int
    duration_ms: int | None = None
    outcome: str = "open"
    requests: int = 0
    prompt_tokens: int = 0
    """Over all its requests."""
    output_tokens: int = 0
    tools: int = 0
    cost: float | None = None
    """US dollars for all requests while it ran; `None` where that is not known."""
    text: str = ""
    """The prompt, masked; only if it is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReport:
    """Everything that the page shows. Texts are masked, and not escaped."""

    session_id: str
    title: str
    now: RequestParts
    """The next request: the conversation as `gemini/context` counts it, with what surrounded the last request."""
    token_limit: int
    compression_at: int | None
    stats: Stats
    points: list[RequestPoint]
    compressions: list[tuple[CompressionSums, CompressionInfo | None]]
    """Oldest first; with its details, if it was installed."""
    turns: list[TurnRow]
    turns_left_out: int = 0
    with_text: bool = False
    masked: int = field(default=0)
    """Secrets that were masked."""


async def report_of(app: Application, session: Session, *, with_text: bool) -> SessionReport:
    """The report of a session as it is now."""
    stats = await app.statistics.of_session(session)
    tally = await app.statistics.tally(session)
    installed = {info.compression_id: info for info in compression_list(session).compressions}
    rows = _turns(session, tally, with_text=with_text)
    title, masked = mask_secrets(session.meta.title or "Untitled chat")
    for row in rows[-MOST_TURNS:]:
        text, count = mask_secrets(row.text)
        row.text = text[:MOST_CHARACTERS]
        masked += count
    context = context_report(session)
    now, limit, starts = context.by_part, context.token_limit, context.compression_at
    if tally.sent:  # this process may have another model, or none, and tells it of other tools
        last = request_points(tally.sent[-1:])[0]
        now = msgspec.structs.replace(now, **{name: getattr(last.by_part, name) for name in _SURROUNDINGS})
        limit, starts = last.token_limit, last.compression_at
    return SessionReport(
        session_id=session.session_id,
        title=title,
        now=now,
        token_limit=limit,
        compression_at=starts if isinstance(starts, int) else None,
        stats=stats,
        points=request_points(tally.sent, MOST_POINTS),
        compressions=[(one, installed.get(one.compression_id or "")) for one in stats.compression_list],
        turns=rows[-MOST_TURNS:],
        turns_left_out=max(0, len(rows) - MOST_TURNS),
        with_text=with_text,
        masked=masked,
    )


def _turns(session: Session, tally: Tally, *, with_text: bool) -> list[TurnRow]:
    rows: dict[str, TurnRow] = {}
    for entry in session.history.entries:
        match entry:
            case PromptEntry():
                text = visible_text_of(entry.own_parts)[:_LOOKED_THROUGH] if with_text else ""
                rows.setdefault(entry.turn_id, TurnRow(number=len(rows) + 1, time=entry.time, text=text))
            case ReplyEntry() if row := rows.get(entry.turn_id):
                row.requests += 1
                if entry.usage is not None:
                    row.prompt_tokens += max(0, entry.usage.prompt_tokens)
                    row.output_tokens += max(0, entry.usage.output_tokens) + max(0, entry.usage.thought_tokens)
            case ToolResultEntry() if row := rows.get(entry.turn_id):
                row.tools += len(entry.calls) or len(entry.content.parts)
            case TurnEndEntry() if row := rows.get(entry.turn_id):
                row.outcome = entry.outcome
                row.duration_ms = entry.duration_ms if entry.duration_ms is not None else row.duration_ms
            case _:
                pass
    for turn_id, row in rows.items():
        use = tally.by_turn.get(turn_id)
        row.cost = use.cost if use is not None and use.is_cost_complete else None
    return list(rows.values())
