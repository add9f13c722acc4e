"""What `gemini/stats` answers. Counts are tokens, times milliseconds since 1970 (UTC), costs US dollars."""

from __future__ import annotations

import msgspec

from gemini_companion.engine.history.log import CompressionStatus
from gemini_companion.engine.history.model_call import CallPurpose
from gemini_companion.engine.tokens.ledger import RequestParts


class Latency(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How long requests took in milliseconds, out of the newest 2,000."""

    median: int
    p95: int
    calls: int


class ModelSums(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The requests to one model for one purpose."""

    model: str
    """`""` where the log does not say."""
    purpose: CallPurpose
    calls: int
    failures: int
    """Calls that failed or were cancelled."""
    prompt_tokens: int
    cached_tokens: int
    """Part of `promptTokens`."""
    thought_tokens: int
    output_tokens: int
    uncounted: int
    """Calls whose tokens nobody counted."""
    cost: float | None = None
    """By list prices; absent where a call's price is not known. A model on this machine costs nothing."""
    first: Latency | None = None
    """Until the first piece of an answer."""
    whole: Latency | None = None


class ToolSums(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The calls of one tool."""

    name: str
    calls: int
    ok: int
    declined: int
    failed: int
    duration_ms: int
    """Of all calls, without the time that questions waited."""
    tokens: int | None = None
    """Estimated tokens that its calls and results have in what the model gets now; of one session."""


class CompressionSums(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One compression, or an attempt at one."""

    time: int
    status: CompressionStatus
    tokens_before: int
    tokens_after: int
    model_calls: int
    duration_ms: int
    cost: float
    """As far as prices are known."""
    compression_id: str | None = None
    """Absent if nothing was installed."""
    is_undone: bool = False


class TurnSums(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The requests of one turn: for its answers, and for what was condensed, searched or compressed while it ran."""

    turn_id: str
    time: int
    calls: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    """Thoughts included."""
    cost: float
    """By list prices, of the calls whose price is known."""
    is_cost_complete: bool
    """As of the whole session."""


class RequestPoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One request for an answer, as it was sent."""

    time: int
    turn_id: str
    tokens: int
    cached_tokens: int
    by_part: RequestParts
    """Adds up to `tokens`."""
    token_limit: int
    compression_at: int | None = None


class Stats(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What a session, or all of a project, did and cost.

    The sums are over all requests to models. A session that was forked begins at nothing, and a project counts
    of an imported one what was done since.
    """

    session_id: str | None = None
    """Absent for a whole project."""
    sessions: int = 1
    unreadable: int = 0
    """Sessions of the project that could not be read and are left out."""
    turns: int
    loops: int = 0
    """Times that a model went round in circles."""
    calls: int
    failures: int
    prompt_tokens: int
    cached_tokens: int
    thought_tokens: int
    output_tokens: int
    cached_share: float
    """Of what was sent, the share that the provider had in its cache, 0 to 1."""
    compressions: int
    """Those that were installed, undone ones too."""
    tokens_saved: int
    """By the compressions in force."""
    cost: float
    """By list prices, of the calls whose price is known."""
    is_cost_complete: bool
    """False where tokens were not counted, or a model is not in the price table."""
    compression_cost: float
    """Part of `cost`."""
    prices_as_of: str
    """Year and month of the price table, as in `2026-10`."""
    started_at: int | None = None
    ended_at: int | None = None
    models: tuple[ModelSums, ...] = ()
    """By model and purpose, the most tokens first."""
    tools: tuple[ToolSums, ...] = ()
    """The most calls first."""
    compression_list: tuple[CompressionSums, ...] = ()
    """The newest, oldest first; of one session."""
    turn_list: tuple[TurnSums, ...] = ()
    """The newest, oldest first; of one session."""
    requests: tuple[RequestPoint, ...] = ()
    """Some of them in order, the first and the last among them; of one session."""
