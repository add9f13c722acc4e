"""Areas as SVG: tokens of requests by part, one request after the other, with the marks of compressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Final, NamedTuple

_WIDTH: Final = 960
_HEIGHT: Final = 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 24, 12, 28
_CLOSE: Final = 3.0
"""A threshold is drawn where the chart would not shrink more than this for it."""


class Area(NamedTuple):
    """One part of every request; `place` is its colour."""

    label: str
    place: int
    tokens: Sequence[int]


class Mark(NamedTuple):
    """Something between two requests: behind so many of them."""

    behind: int
    label: str
    told: str
    """In a sentence, for whoever points at it."""


def areas(
    parts: Sequence[Area],
    *,
    told: str,
    marks: Sequence[Mark] = (),
    threshold: Sequence[int | None] = (),
    ends: str = "",
) -> str:
    """Areas on top of each other, with a legend. `threshold` is a value at each request; `ends` says from when to when.

    All of `parts` are equally long.
    """
    count = len(parts[0].tokens) if parts else 0
    sums = [sum(part.tokens[number] for part in parts) for number in range(count)]
    if not any(sums):
        return "<p>Nothing to show.</p>"
    lines = [value for value in threshold if value is not None]
    most = max(sums)
    is_shown = bool(lines) and max(lines) <= most * _CLOSE
    top = max(most, max(lines)) * 1.06 if is_shown else most * 1.06
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(place: float) -> float:
        return _LEFT + (width * place / (count - 1) if count > 1 else width * min(1.0, max(0.0, place)))

    def y(tokens: float) -> float:
        return _TOP + height * (1 - tokens / top)

    drawn = [
        f"<svg class='chart wide' viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='{escape(told, quote=True)}'>"
    ]
    drawn += [
        f"<path class='grid' d='M{_LEFT} {y(value):.1f}H{_WIDTH - _RIGHT}'/><text class='axis' x='{_LEFT - 6}'"
        f" y='{y(value) + 4:.1f}' text-anchor='end'>{short_count(value)}</text>"
        for value in _ticks(top)
    ]
    numbers = range(count) if count > 1 else (0, 0)
    places = [x(number) for number in range(count)] if count > 1 else [float(_LEFT), float(_WIDTH - _RIGHT)]
    low = [0] * len(places)
    for part in parts:
        high = [below + part.tokens[number] for below, number in zip(low, numbers, strict=True)]
        if any(part.tokens):
            over = "L".join(f"{place:.1f} {y(value):.1f}" for place, value in zip(places, high, strict=True))
            under = "L".join(
                f"{place:.1f} {y(value):.1f}" for place, value in zip(reversed(places), reversed(low), strict=True)
            )
            drawn.append(f"<path class='area s{part.place}' d='M{over}L{under}Z'/>")
        low = high
    if is_shown:
        drawn.append(f"<path class='limit' d='{_steps(threshold, places, y)}'/>")
    for mark in marks:
        place = x(max(0.0, min(count - 1.0, mark.behind - 0.5)))
        drawn.append(
            f"<g><title>{escape(mark.told)}</title><path class='mark' d='M{place:.1f} {_TOP - 8}V{_HEIGHT - _BOTTOM}'/>"
            f"<text class='value' x='{place:.1f}' y='{_TOP - 11}' text-anchor='middle'>{escape(mark.label)}</text></g>"
        )
    drawn.append(f"<text class='axis' x='{_LEFT}' y='{_HEIGHT - 8}'>{escape(ends)}</text></svg><ul class='legend'>")
    drawn += [
        f"<li><svg viewBox='0 0 10 10' class='swatch' aria-hidden='true'><rect class='bar s{part.place}' width='10'"
        f" height='10' rx='2'/></svg>{escape(part.label)}</li>"
        for part in parts
        if any(part.tokens)
    ]
    if is_shown:
        drawn.append(
            "<li><svg viewBox='0 0 26 10' class='key' aria-hidden='true'><path class='limit' d='M1 5H25'/></svg>"
            "where compression starts</li>"
        )
    elif lines:
        drawn.append(f"<li>compression starts far above, at {lines[-1]:,} tokens</li>")
    return "".join([*drawn, "</ul>"])


def short_count(value: float) -> str:
    """A count for an axis: `812`, `12k`, `1.2M`."""
    if value < 1_000:
        return f"{value:.0f}"
    return f"{value / 1_000:.3g}k" if value < 999_500 else f"{value / 1_000_000:.3g}M"


def _ticks(top: float) -> list[float]:
    """Three to six round values from 0 on."""
    size = 10.0 ** (len(str(int(top))) - 1)
    step = next(size * share for share in (0.1, 0.2, 0.5, 1, 2, 5) if top / (size * share) <= 6)
    return [step * number for number in range(int(top / step) + 1)]


def _steps(threshold: Sequence[int | None], places: Sequence[float], height: Callable[[float], float]) -> str:
    path: list[str] = []
    begins = True
    values = threshold if len(threshold) == len(places) else [threshold[0]] * len(places)
    for place, value in zip(places, values, strict=True):
        if value is None:
            begins = True
            continue
        path.append(f"{'M' if begins else 'L'}{place:.1f} {height(value):.1f}")
        begins = False
    return "".join(path)
