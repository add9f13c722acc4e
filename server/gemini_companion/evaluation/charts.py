"""Bars and lines as SVG: the colours are the page's, the text grows with it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

_WIDTH: Final = 420
_ROW: Final = 26
_LABEL: Final = 150
_RIGHT: Final = 54
_HEIGHT: Final = 200
_MARGIN: Final = (34, 10, 10, 24)
"""Left, top, right, bottom of a line chart."""
_DASHES: Final = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 4", "12 4", "6 2 1 2")
COLOURS: Final = 8


class Bar(NamedTuple):
    """A share with its interval, all from 0 on, and how it is written."""

    label: str
    value: float
    low: float
    high: float
    text: str


class Line(NamedTuple):
    """A share over numbers. `place` decides colour and dash, so that a thing looks alike in every chart."""

    label: str
    place: int
    points: tuple[tuple[int, float], ...]


def bars(entries: Sequence[Bar]) -> str:
    """Horizontal bars from 0 to 1, or to the largest where one is above."""
    if not entries:
        return "<p>Nothing to show.</p>"
    most = max(1.0, *(entry.high for entry in entries))
    width = _WIDTH - _LABEL - _RIGHT
    height = _ROW * len(entries) + 6
    drawn = [_opened(_WIDTH, height, ", ".join(f"{entry.label} {entry.text}" for entry in entries))]
    for number, entry in enumerate(entries):
        top = number * _ROW + 4
        middle = top + 9
        left, right = (_LABEL + width * share / most for share in (entry.low, entry.high))
        drawn.append(
            f"<text class='label' x='{_LABEL - 8}' y='{middle + 4}' text-anchor='end'>"
            f"{escape(_short(entry.label))}</text>"
            f"<rect class='track' x='{_LABEL}' y='{top}' width='{width}' height='18' rx='3'/>"
            f"<rect class='bar s0' x='{_LABEL}' y='{top}' width='{width * entry.value / most:.1f}' height='18' rx='3'/>"
            f"<path class='interval' d='M{left:.1f} {middle}H{right:.1f}M{left:.1f} {middle - 4}v8M{right:.1f}"
            f" {middle - 4}v8'/>"
            f"<text class='value' x='{_WIDTH - 4}' y='{middle + 4}' text-anchor='end'>{escape(entry.text)}</text>"
        )
    return "".join([*drawn, "</svg>"])


def lines(entries: Sequence[Line]) -> str:
    """Lines from 0 to 1 over the numbers, with a legend; each differs in colour, dash and mark."""
    if not entries:
        return "<p>Nothing to show.</p>"
    left, top, right, bottom = _MARGIN
    numbers = sorted({number for entry in entries for number, _ in entry.points})
    width, height = _WIDTH - left - right, _HEIGHT - top - bottom
    spread = max(1, numbers[-1] - numbers[0])

    def x(number: int) -> float:
        return left + width * (number - numbers[0]) / spread

    def y(share: float) -> float:
        return top + height * (1 - share)

    told = "; ".join(f"{entry.label}: {entry.points[-1][1]:.0%} at {entry.points[-1][0]}" for entry in entries)
    drawn = [_opened(_WIDTH, _HEIGHT, told)]
    drawn += [
        f"<path class='grid' d='M{left} {y(share):.1f}H{_WIDTH - right}'/>"
        f"<text class='axis' x='{left - 6}' y='{y(share) + 4:.1f}' text-anchor='end'>{share:.0%}</text>"
        for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    drawn += [
        f"<text class='axis' x='{x(number):.1f}' y='{_HEIGHT - 6}' text-anchor='middle'>{number}</text>"
        for number in numbers
    ]
    for entry in entries:
        style = f"s{entry.place % COLOURS}"
        path = "L".join(f"{x(number):.1f} {y(share):.1f}" for number, share in entry.points)
        drawn.append(f"<path class='line {style}' stroke-dasharray='{_DASHES[entry.place % COLOURS]}' d='M{path}'/>")
        drawn += [
            f"<circle class='dot {style}' cx='{x(number):.1f}' cy='{y(share):.1f}' r='3'><title>{escape(entry.label)},"
            f" {number}: {share:.1%}</title></circle>"
            for number, share in entry.points
        ]
    legend = "".join(
        f"<li><svg viewBox='0 0 26 10' class='key' aria-hidden='true'><path class='line s{entry.place % COLOURS}'"
        f" stroke-dasharray='{_DASHES[entry.place % COLOURS]}' d='M1 5H25'/></svg>{escape(entry.label)}"
        f" <b>{entry.points[-1][1]:.0%}</b></li>"
        for entry in entries
    )
    return "".join([*drawn, f"</svg><ul class='legend'>{legend}</ul>"])


def _opened(width: int, height: int, told: str) -> str:
    return f"<svg class='chart' viewBox='0 0 {width} {height}' role='img' aria-label='{escape(told, quote=True)}'>"


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:23]}…"
