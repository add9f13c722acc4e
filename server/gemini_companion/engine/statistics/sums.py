"""What a session did and cost, as few numbers, kept so that its log need not be read again for a project's sums."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

import msgspec

from gemini_companion.engine.history.model_call import CallPurpose
from gemini_companion.engine.statistics.tally import Tally, UseKey
from gemini_companion.engine.statistics.uses import SAMPLES, ModelUse, ToolUse
from gemini_companion.engine.tokens.rates import price_table

_FORM: Final = 4
"""Rises when sums mean something else, or when more of a log is counted: what was kept before counts no more."""

_COUNTS: Final = ("calls", "failures", "prompt", "cached", "thoughts", "output", "uncounted", "unpriced")
_TOOL_COUNTS: Final = ("calls", "ok", "declined", "failed", "duration_ms")


class _Use(msgspec.Struct, frozen=True, array_like=True):
    model: str
    purpose: CallPurpose
    counts: tuple[int, int, int, int, int, int, int, int]
    is_paid: bool
    cost: float
    first_ms: list[int]
    whole_ms: list[int]


class _Tool(msgspec.Struct, frozen=True, array_like=True):
    name: str
    counts: tuple[int, int, int, int, int]


class Sums(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one session. Without texts but names of models and tools."""

    made_by: str
    """The form and the prices of which they are."""
    uses: tuple[_Use, ...]
    tools: tuple[_Tool, ...]
    turns: int
    loops: int
    compressions: int
    tokens_saved: int
    started_at: int | None
    ended_at: int | None

    def add_to(self, uses: dict[UseKey, ModelUse], tools: dict[str, ToolUse]) -> None:
        """Add the sums of models and tools to those of others."""
        for use in self.uses:
            into = uses.setdefault((use.model, use.purpose), ModelUse())
            for name, count in zip(_COUNTS, use.counts, strict=True):
                setattr(into, name, getattr(into, name) + count)
            into.is_paid = into.is_paid or use.is_paid
            into.cost += use.cost
            into.first_ms.extend(use.first_ms)
            into.whole_ms.extend(use.whole_ms)
        for tool in self.tools:
            used = tools.setdefault(tool.name, ToolUse())
            for name, count in zip(_TOOL_COUNTS, tool.counts, strict=True):
                setattr(used, name, getattr(used, name) + count)


def sums_of(tally: Tally) -> Sums:
    """The sums of a tally, as of now."""
    return Sums(
        made_by=_made_by(),
        uses=tuple(
            _Use(
                model,
                purpose,
                (
                    use.calls,
                    use.failures,
                    use.prompt,
                    use.cached,
                    use.thoughts,
                    use.output,
                    use.uncounted,
                    use.unpriced,
                ),
                use.is_paid,
                use.cost,
                list(use.first_ms)[-SAMPLES:],
                list(use.whole_ms)[-SAMPLES:],
            )
            for (model, purpose), use in tally.uses.items()
        ),
        tools=tuple(
            _Tool(name, (use.calls, use.ok, use.declined, use.failed, use.duration_ms))
            for name, use in tally.tools.items()
        ),
        turns=tally.turns,
        loops=tally.loops,
        compressions=len(tally.installed),
        tokens_saved=tally.tokens_saved,
        started_at=tally.started_at,
        ended_at=tally.ended_at,
    )


def encoded(sums: Sums) -> bytes:
    """Sums as they are kept."""
    return msgspec.json.encode(sums)


def decoded(data: bytes) -> Sums | None:
    """Sums that were kept; `None` if they are of another form or other prices, or damaged."""
    try:
        sums = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return sums if sums.made_by == _made_by() else None


_DECODER: Final = msgspec.json.Decoder(Sums)


def _made_by() -> str:
    return f"{_FORM}-{_checksum(price_table()):08x}"


def _checksum(table: Mapping[str, object]) -> int:
    return zlib.crc32(repr(sorted(table.items())).encode())
