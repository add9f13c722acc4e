"""What grows with the length of a chat: curves over the number of contents, picked out of a run's figures by their names,
and how steep they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tests.performance.figures import Figure

NAME: Final = "growth"
STEEPEST: Final = 1.05
"""The power of the number of contents that time may grow by."""
FROM: Final = 1_000
"""Contents from which on the steepness is told: below, what is done once counts for more."""


class Point(NamedTuple):
    """Milliseconds with so many contents; of the peer, if it was measured beside it."""

    contents: int
    ours: float
    peer: float | None


class Curve(NamedTuple):
    """One thing that a person does."""

    key: str
    title: str
    points: tuple[Point, ...]


class _Kind(NamedTuple):
    title: str
    bench: str
    name: str
    judged: bool


_SIZE: Final = r"([\d,]+)"
_KINDS: Final = {
    "turn": _Kind("A turn", "turns", rf"a turn on {_SIZE} contents", False),
    "open": _Kind("Opening a stored chat", "stored", rf"open, {_SIZE} contents", True),
    "import": _Kind("Importing", "stored", rf"import, {_SIZE} contents", True),
    "fork": _Kind("Forking", "stored", rf"fork, {_SIZE} contents", True),
    "page": _Kind("A page of the transcript", "stored", rf"page, {_SIZE} contents", True),
    "compression": _Kind("A whole compression", "compression", rf"whole compression, {_SIZE}", False),
    "text": _Kind("The same, text only", "compression", rf"whole compression, {_SIZE}, text only", False),
}


def curves(figures: Sequence[Figure]) -> list[Curve]:
    """Each thing with its points in order of size; without any where nothing of it was measured."""
    return [Curve(key, kind.title, tuple(sorted(_points(figures, kind)))) for key, kind in _KINDS.items()]


def growth(figures: Sequence[Figure]) -> Iterator[Figure]:
    """Of what must grow no faster than the chat: the power by which it does, over the largest sizes that were measured."""
    for curve in curves(figures):
        points = [point for point in curve.points if point.contents >= FROM and point.ours > 0]
        if not _KINDS[curve.key].judged or len(points) < 2:
            continue
        first, last = points[0], points[-1]
        power = math.log(last.ours / first.ours) / math.log(last.contents / first.contents)
        spans = f"{first.contents:,} to {last.contents:,} contents"
        yield Figure(
            bench=NAME,
            name=f"{curve.title}, {spans}",
            value=power,
            unit="power",
            target=STEEPEST,
            others=max((one.others for one in figures if one.others is not None), default=None),
        )


def _points(figures: Sequence[Figure], kind: _Kind) -> Iterator[Point]:
    for figure in figures:
        found = re.fullmatch(kind.name, figure.name) if figure.bench == kind.bench else None
        if found and figure.unit == "ms":
            yield Point(int(found[1].replace(",", "")), figure.value, figure.beside_value)
