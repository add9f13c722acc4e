"""The page that a snapshot is written on: seven sections, a budget, and what already stands there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from gemini_companion.engine.facts.earlier import NOTHING
from gemini_companion.engine.facts.neutralise import SECTIONS, SNAPSHOT_TAG, neutralise
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.engine.facts.sentences import pieces

_MOST_COMPONENTS: Final = 16
"""Of a path whose parts are remembered."""


class Place(NamedTuple):
    """Where a line stands in its section: by group, then by content, then by its number there."""

    group: int
    content: int
    number: int = 0


class Page:
    """Lines by section, each paid for from one budget in tokens. The tags and labels are not charged."""

    def __init__(self, budget: float, count_text: Callable[[str], float], lists: dict[tuple[str, int], str] | None = None) -> None:
        """`lists` names the groups of a section whose lines are written in one, after a label."""
        self._count = count_text
        self._lists = lists or {}
        self._lines: dict[str, dict[Place, str]] = {section: {} for section in SECTIONS}
        self._costs: dict[tuple[str, Place], float] = {}
        self._texts: set[str] = set()
        self.left = float(budget)
        """Tokens that are not spent yet."""

    def cost(self, text: str) -> float:
        """Tokens of a line."""
        return sum(map(self._count, pieces(text))) + 1.0

    def put(self, section: str, place: Place, text: str, *, at_most: float | None = None) -> bool:
        """Write a line, or replace the one in its place, if it can be paid for. False if not, or if the section has the line already.

        Only `recent_actions` may say the same twice.
        """
        text = text.rstrip()
        cost = self.cost(text)
        before = self._costs.get((section, place), 0.0)
        if not text or cost - before > min(self.left, self.left if at_most is None else at_most):
            return False
        text = neutralise(text)
        if section != "recent_actions" and section + text in self._texts:
            return False
        self.left -= cost - before
        self._costs[section, place] = cost
        self._lines[section][place] = text
        self._texts.add(section + text)
        return True

    def put_free(self, section: str, place: Place, text: str) -> None:
        """Write a line that is part of the frame: it costs nothing."""
        self._lines[section][place] = neutralise(text.rstrip())

    def has(self, section: str, place: Place) -> bool:
        """True if a line stands in that place."""
        return place in self._lines[section]

    def remove(self, section: str, place: Place) -> None:
        """Take a line off and its price back."""
        text = self._lines[section].pop(place)
        self._texts.discard(section + text)
        self.left += self._costs.pop((section, place), 0.0)

    def lines(self, section: str) -> Iterator[tuple[Place, str]]:
        """The lines of a section, in order."""
        for place in sorted(self._lines[section]):
            yield place, self._lines[section][place]

    def render(self) -> str:
        """The snapshot: every section in order, even if it is empty."""
        out: list[str] = [f"<{SNAPSHOT_TAG}>"]
        for section in SECTIONS:
            out.append(f"<{section}>")
            for group, lines in groupby(self.lines(section), key=lambda line: line[0].group):
                texts = [text for _, text in lines]
                label = self._lists.get((section, group))
                out.extend([f"- {label}: {', '.join(texts)}"] if label else texts)
            if not self._lines[section]:
                out.append(NOTHING)
            out.append(f"</{section}>")
        out.append(f"</{SNAPSHOT_TAG}>")
        return "\n".join(out)


def bulleted(text: str) -> str:
    """`text` as an entry of a list, as which it may stand already."""
    return text if text.startswith(("- ", "* ")) else f"- {text}"


def head(text: str, limit: int) -> str:
    """The first `limit` characters, and how many were left out."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … (+{len(text) - limit:,} characters)"


def tail(text: str, limit: int) -> str:
    """The last `limit` characters, and how many were left out."""
    return text if len(text) <= limit else f"(+{len(text) - limit:,} characters) … {text[-limit:].lstrip()}"


class PathCover:
    """Which paths stand word for word on the page, also as a part of a longer one."""

    def __init__(self) -> None:
        self._covered: set[str] = set()

    def add(self, path: str) -> None:
        """`path` stands there, and with it the directories above and the relative forms of it."""
        self._covered.add(path)
        components = path.rstrip("/").split("/")
        if not 1 < len(components) <= _MOST_COMPONENTS:
            return
        for low in range(len(components)):
            for high in range(low + 1, len(components) + 1):
                part = "/".join(components[low:high])
                self._covered.add(part)
                if high < len(components):
                    self._covered.add(f"{part}/")

    def add_text(self, text: str) -> None:
        """Every path in a text that stands there."""
        for piece in pieces(text):
            for path, _ in paths_in(piece):
                self.add(path)

    def add_texts(self, texts: Iterable[str]) -> None:
        """The same for several."""
        for text in texts:
            self.add_text(text)

    def __contains__(self, path: str) -> bool:
        return path in self._covered
