"""Curves over the length of a chat as a picture: an SVG of small charts, both axes logarithmic, for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

from tests.performance.curves import Curve, Point

_COLUMNS: Final = 3
_WIDTH, _HEIGHT = 300, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 28, 34, 34
_STYLE: Final = """
    text { font: 11px system-ui, sans-serif; fill: #24292f; }
    .title { font-weight: 600; font-size: 13px; }
    .grid { stroke: #d0d7de; stroke-width: 1; }
    .ours { stroke: #0969da; fill: none; stroke-width: 2; }
    .peer { stroke: #9a6700; fill: none; stroke-width: 2; stroke-dasharray: 5 4; }
    .dot { fill: #0969da; }
    .peerDot { fill: #9a6700; }
    .page { fill: #ffffff; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .grid { stroke: #30363d; }
      .ours { stroke: #58a6ff; }
      .peer { stroke: #d29922; }
      .dot { fill: #58a6ff; }
      .peerDot { fill: #d29922; }
      .page { fill: #0d1117; }
    }
  """


def drawn(curves: Sequence[Curve], *, peer: str) -> str:
    """The picture. `peer` is the name of what is dashed."""
    shown = [curve for curve in curves if any(point.ours > 0 for point in curve.points)]
    rows = math.ceil(len(shown) / _COLUMNS)
    sizes = sorted({point.contents for curve in shown for point in curve.points})
    width, height = _COLUMNS * _WIDTH, max(1, rows) * _HEIGHT + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"  <title>{escape('Time over the length of a chat: ' + ', '.join(curve.title for curve in shown))}</title>",
        f"  <style>{_STYLE}</style>",
        f'  <rect class="page" width="{width}" height="{height}"/>',
        *_legend(peer),
    ]
    for number, curve in enumerate(shown):
        lines.append(f'  <g transform="translate({number % _COLUMNS * _WIDTH} {number // _COLUMNS * _HEIGHT + 30})">')
        lines += (f"    {line}" for line in _chart(curve, sizes))
        lines.append("  </g>")
    return "\n".join([*lines, "</svg>", ""])


def spoken(ms: float) -> str:
    """Milliseconds as people say them."""
    if ms >= 1_000:
        return f"{ms / 1_000:.3g} s"
    return f"{ms:.3g} ms" if ms >= 1 else f"{ms * 1_000:.3g} µs"


def _legend(peer: str) -> Iterator[str]:
    yield f'  <path class="ours" d="M{_LEFT} 17h28"/><text x="{_LEFT + 36}" y="21">Gemini Companion</text>'
    yield f'  <path class="peer" d="M{_LEFT + 170} 17h28"/><text x="{_LEFT + 206}" y="21">{escape(peer)}</text>'


def _chart(curve: Curve, sizes: Sequence[int]) -> Iterator[str]:
    values = [value for point in curve.points for value in (point.ours, point.peer) if value]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])
    last = max(last, first + 1)

    def across(contents: int) -> float:
        return round(_LEFT + (math.log10(contents) - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT), 1)

    def down(ms: float) -> float:
        return round(_HEIGHT - _BOTTOM - (math.log10(ms) - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM), 1)

    yield f'<text class="title" x="{_LEFT}" y="20">{escape(curve.title)}</text>'
    for power in range(low, high + 1):
        y = down(10.0**power)
        yield f'<path class="grid" d="M{_LEFT} {y}H{_WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{spoken(10.0**power)}</text>'
    for size in sizes:
        x = across(size)
        yield f'<text x="{x}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{size:,}</text>'
    peers = [Point(point.contents, point.peer, None) for point in curve.points if point.peer]
    for points, line, dot in ((peers, "peer", "peerDot"), (curve.points, "ours", "dot")):
        places = [(across(point.contents), down(point.ours)) for point in points if point.ours > 0]
        if not places:
            continue
        yield f'<path class="{line}" d="M{"L".join(f"{x} {y}" for x, y in places)}"/>'
        for x, y in places:
            yield f'<circle class="{dot}" cx="{x}" cy="{y}" r="3"/>'
