"""How good compressions were in real use: read from logs, week by week and strategy by strategy."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median

import msgspec

from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    CompressionResult,
    Entry,
    RatingEntry,
    UndoEntry,
)

UNNAMED = "split"
"""The strategy of compressions from before strategies had names."""


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One compression in real use."""

    id: str
    time: int
    """Milliseconds since 1970 (UTC)."""
    result: CompressionResult
    is_installed: bool
    is_undone: bool = False
    rating: int | None = None
    """The newest one, 1 to 5."""

    @property
    def strategy(self) -> str:
        """Its strategy; tool outputs alone are shortened by none."""
        if self.result.status == "CONTENT_TRUNCATED":
            return "outputs only"
        return self.result.strategy or UNNAMED

    @property
    def week(self) -> str:
        """The ISO week in UTC, `2026-W47`; `unknown` for a time that no calendar has."""
        try:
            year, week, _ = datetime.datetime.fromtimestamp(self.time / 1000, datetime.UTC).isocalendar()
        except (OverflowError, OSError, ValueError):
            return "unknown"
        return f"{year}-W{week:02d}"


class Quality(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The numbers of some compressions. A mean is absent where nothing was measured."""

    name: str
    """A week, a strategy, a way to begin, or `all`."""
    compressions: int
    """Installed."""
    failed: int
    """Tried, and nothing was installed."""
    undone: int
    ratings: int
    rating: float | None = None
    """Mean of 1 to 5."""
    retention: float | None = None
    """Mean share of the facts that survived."""
    ratio: float | None = None
    """Mean size of the request afterwards, as a share of before."""
    seconds: float | None = None
    """Median duration."""
    model_calls: float | None = None


class QualityReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All of it."""

    sessions: int
    total: Quality
    by_strategy: tuple[Quality, ...]
    by_strategy_automatic: tuple[Quality, ...]
    """Automatic ones only: what `companion.compression.compare` compares."""
    by_week: tuple[Quality, ...]


def quality_of(logs: Iterable[Sequence[Entry]]) -> QualityReport:
    """The report on some sessions' logs. What a fork has copied counts once."""
    uses: dict[str, Use] = {}
    sessions = 0
    for log in logs:
        sessions += 1
        for use in uses_of(log):
            known = uses.get(use.id)
            uses[use.id] = use if known is None else _merged(known, use)
    everything = sorted(uses.values(), key=lambda use: (use.time, use.id))
    automatic = [use for use in everything if use.result.trigger != "manual"]
    return QualityReport(
        sessions=sessions,
        total=numbers_of("all", everything),
        by_strategy=_grouped(everything, lambda use: use.strategy),
        by_strategy_automatic=_grouped(automatic, lambda use: use.strategy),
        by_week=_grouped(everything, lambda use: use.week),
    )


def uses_of(log: Sequence[Entry]) -> list[Use]:
    """The compressions of one log that were run here, and what people said and did about them."""
    undone = {name for entry in log if isinstance(entry, UndoEntry) for name in entry.undone}
    ratings = {entry.compression_id: entry.rating for entry in log if isinstance(entry, RatingEntry)}
    uses: list[Use] = []
    for entry in log:
        if isinstance(entry, CompressionEntry) and not entry.from_file:
            name = entry.compression_id
            uses.append(
                Use(
                    id=name,
                    time=entry.time,
                    result=entry.result,
                    is_installed=True,
                    is_undone=name in undone,
                    rating=ratings.get(name),
                )
            )
        elif isinstance(entry, AttemptEntry):
            uses.append(Use(id=entry.id, time=entry.time, result=entry.result, is_installed=False))
    return uses


def numbers_of(name: str, uses: Sequence[Use]) -> Quality:
    """The numbers of some compressions."""
    installed = [use for use in uses if use.is_installed]
    ratings = [use.rating for use in installed if use.rating is not None]
    retention = [use.result.retention.score for use in installed if use.result.retention is not None]
    sizes = [use.result.new_token_count / max(1, use.result.original_token_count) for use in installed]
    return Quality(
        name=name,
        compressions=len(installed),
        failed=len(uses) - len(installed),
        undone=sum(use.is_undone for use in installed),
        ratings=len(ratings),
        rating=_mean(ratings),
        retention=_mean(retention),
        ratio=_mean(sizes),
        seconds=round(median(use.result.duration_ms for use in installed) / 1000, 3) if installed else None,
        model_calls=_mean([use.result.model_calls for use in installed]),
    )


def _merged(known: Use, other: Use) -> Use:
    """One compression in two logs: undone or rated in either."""
    rating = other.rating if other.rating is not None else known.rating
    return msgspec.structs.replace(known, is_undone=known.is_undone or other.is_undone, rating=rating)


def _grouped(uses: Sequence[Use], key: Callable[[Use], str]) -> tuple[Quality, ...]:
    groups: dict[str, list[Use]] = {}
    for use in uses:
        groups.setdefault(key(use), []).append(use)
    return tuple(numbers_of(name, groups[name]) for name in sorted(groups))


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None
