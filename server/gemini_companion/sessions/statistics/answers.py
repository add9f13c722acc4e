"""A tally as clients get it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.statistics.tally import Sent, Tally, UseKey
from gemini_companion.engine.statistics.uses import ModelUse, ToolUse
from gemini_companion.engine.tokens.ledger import RequestParts
from gemini_companion.engine.tokens.rates import PRICES_AS_OF
from gemini_companion.sessions.statistics.shapes import (
    CompressionSums,
    Latency,
    ModelSums,
    RequestPoint,
    Stats,
    ToolSums,
    TurnSums,
)

_COMPRESSING: Final = ("compression", "preparing")
MOST_TOOLS: Final = 100
MOST_MODELS: Final = 100
MOST_COMPRESSIONS: Final = 100
MOST_POINTS: Final = 120
MOST_TURNS: Final = 100


def stats_of(
    uses: Mapping[UseKey, ModelUse],
    tools: Mapping[str, ToolUse],
    *,
    turns: int,
    loops: int,
    compressions: int,
    tokens_saved: int,
    span: tuple[int | None, int | None],
    session_id: str | None = None,
    sessions: int = 1,
    unreadable: int = 0,
    tool_tokens: Mapping[str, int] | None = None,
    compression_list: Sequence[CompressionSums] = (),
    requests: Sequence[RequestPoint] = (),
    turn_list: Sequence[TurnSums] = (),
) -> Stats:
    """The sums with their parts."""
    all_uses = ModelUse()
    for use in uses.values():
        all_uses.add(use)
    return Stats(
        session_id=session_id,
        sessions=sessions,
        unreadable=unreadable,
        turns=turns,
        loops=loops,
        calls=all_uses.calls,
        failures=all_uses.failures,
        prompt_tokens=all_uses.prompt,
        cached_tokens=all_uses.cached,
        thought_tokens=all_uses.thoughts,
        output_tokens=all_uses.output,
        cached_share=round(min(1.0, all_uses.cached / all_uses.prompt), 4) if all_uses.prompt else 0.0,
        compressions=compressions,
        tokens_saved=tokens_saved,
        cost=round(all_uses.cost, 6),
        is_cost_complete=not any(use.unpriced or _unknown(use) for use in uses.values()),
        compression_cost=round(sum(use.cost for (_, purpose), use in uses.items() if purpose in _COMPRESSING), 6),
        prices_as_of=PRICES_AS_OF,
        started_at=span[0],
        ended_at=span[1],
        models=_models(uses),
        tools=_tools(tools, tool_tokens),
        compression_list=tuple(compression_list),
        requests=tuple(requests),
        turn_list=tuple(turn_list),
    )


def compression_sums(tally: Tally) -> list[CompressionSums]:
    """The newest compressions and attempts, oldest first."""
    return [
        CompressionSums(
            compression_id=one.compression_id or None,
            time=one.time,
            status=one.result.status,
            tokens_before=one.result.original_token_count,
            tokens_after=one.result.new_token_count,
            model_calls=one.calls,
            duration_ms=one.result.duration_ms,
            cost=round(one.cost, 6),
            is_undone=one.compression_id in tally.undone,
        )
        for one in tally.compressions[-MOST_COMPRESSIONS:]
    ]


def turn_sums(tally: Tally) -> list[TurnSums]:
    """The newest turns that asked a model, oldest first."""
    return [
        TurnSums(
            turn_id=turn_id,
            time=use.time,
            calls=use.calls,
            prompt_tokens=use.prompt,
            cached_tokens=use.cached,
            output_tokens=use.written,
            cost=round(use.cost, 6),
            is_cost_complete=use.is_cost_complete,
        )
        for turn_id, use in list(tally.by_turn.items())[-MOST_TURNS:]
    ]


def request_points(sent: Sequence[Sent], most: int = MOST_POINTS) -> list[RequestPoint]:
    """At most so many of the requests, evenly over all, the first and the last among them."""
    if len(sent) > most:
        sent = [sent[number * (len(sent) - 1) // (most - 1)] for number in range(most)]
    return [
        RequestPoint(
            time=one.time,
            turn_id=one.turn_id,
            tokens=one.tokens,
            cached_tokens=one.cached,
            by_part=msgspec.convert(one.by_part, RequestParts),
            token_limit=one.token_limit,
            compression_at=one.compression_at,
        )
        for one in sent
    ]


def latency_of(samples: Sequence[int]) -> Latency | None:
    """Median and 95th percentile, by nearest rank; `None` of nothing."""
    if not samples:
        return None
    ordered = sorted(samples)
    count = len(ordered)
    return Latency(median=ordered[(count - 1) // 2], p95=ordered[-(-count * 95 // 100) - 1], calls=count)


def _unknown(use: ModelUse) -> bool:
    """Whether an answer was paid for and nobody knows its tokens."""
    return use.uncounted > use.failures and use.is_paid


def _models(uses: Mapping[UseKey, ModelUse]) -> tuple[ModelSums, ...]:
    found = [
        ModelSums(
            model=model,
            purpose=purpose,
            calls=use.calls,
            failures=use.failures,
            prompt_tokens=use.prompt,
            cached_tokens=use.cached,
            thought_tokens=use.thoughts,
            output_tokens=use.output,
            uncounted=use.uncounted,
            cost=None if use.unpriced or _unknown(use) else round(use.cost, 6),
            first=latency_of(tuple(use.first_ms)),
            whole=latency_of(tuple(use.whole_ms)),
        )
        for (model, purpose), use in uses.items()
    ]
    found.sort(key=lambda row: (-(row.prompt_tokens + row.output_tokens), -row.calls, row.model, row.purpose))
    return tuple(found[:MOST_MODELS])


def _tools(tools: Mapping[str, ToolUse], tokens: Mapping[str, int] | None) -> tuple[ToolSums, ...]:
    found = [
        ToolSums(
            name=name,
            calls=use.calls,
            ok=use.ok,
            declined=use.declined,
            failed=use.failed,
            duration_ms=use.duration_ms,
            tokens=tokens.get(name, 0) if tokens is not None else None,
        )
        for name, use in tools.items()
    ]
    found.sort(key=lambda row: (-row.calls, row.name))
    return tuple(found[:MOST_TOOLS])
