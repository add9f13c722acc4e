"""The page that a snapshot is written on, seven sections and a budget; and reading such a page back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from typing import Final, NamedTuple

from gemini_companion.engine.facts.neutralise import SECTIONS, SNAPSHOT_TAG, neutralise
from gemini_companion.engine.facts.paths import paths_in
from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.facts.sentences import pieces

NOTHING: Final = "(none)"
"""What stands in a section without an entry."""

_NO_ENTRY: Final = frozenset({"none", "none.", "n/a", "-", "nothing", "nothing.", "(nothing)", NOTHING})
_OPENING: Final = lazy(r"[ \t]{0,8}(?:[-*•]|\d{1,3}[.)]|[$])[ \t]+\S")
_BOOKKEEPING: Final = lazy(r"[ \t]*(?:… and [\d,]+ more |<!--)")
"""Lines that a snapshot of ours says about itself."""

_LISTS: Final = {("file_system_state", 2): "NAMED", ("key_knowledge", 3): "NUMBERS AND ADDRESSES"}
"""Groups of lines that are written in one line, after a label."""
_BY_CONTENT: Final = {
    "active_constraints": (1,),
    "key_knowledge": (1, 2, 3),
    "file_system_state": (1, 2),
    "recent_actions": (1,),
    "task_state": (3, 4),
}
"""Groups in which a line's place names the content that it comes from."""
_MOST_CITED: Final = 8
"""Contents that one line cites."""
_MOST_COMPONENTS: Final = 16
"""Of a path whose parts are remembered."""


class Place(NamedTuple):
    """Where a line stands in its section: by group, then by content, then by its number there."""

    group: int
    content: int
    number: int = 0


class Page:
    """Lines by section, each paid for from one budget in tokens. The tags and labels are not charged."""

    def __init__(self, budget: float, count_text: Callable[[str], float]) -> None:
        self._count = count_text
        self._lines: dict[str, dict[Place, str]] = {section: {} for section in SECTIONS}
        self._costs: dict[tuple[str, Place], float] = {}
        self._origins: dict[tuple[str, Place], int] = {}
        self._texts: set[str] = set()
        self._paths: set[str] = set()
        self.budget = budget
        self.left = budget
        """Tokens that are not spent yet."""

    def cost(self, text: str) -> float:
        """Tokens of a line."""
        return sum(map(self._count, pieces(text))) + 1.0

    def put(self, section: str, place: Place, text: str, *, at_most: float | None = None, cover: bool = False) -> bool:
        """Write a line, or replace the one in its place, if it can be paid for.

        False if not, or if the section has the line already.

        Only `recent_actions` may say the same twice. With `cover` the paths in it count as standing.
        """
        text = text.rstrip()
        cost = self.cost(text)
        before = self._costs.get((section, place), 0.0)
        if not text or cost - before > min(self.left, self.left if at_most is None else at_most):
            return False
        shown = neutralise(text)
        if section != "recent_actions" and section + shown in self._texts:
            return False
        self.left -= cost - before
        self._costs[section, place] = cost
        self._lines[section][place] = shown
        self._texts.add(section + shown)
        if cover:
            self.cover(text)
        return True

    def comes_from(self, section: str, place: Place, content: int | None) -> None:
        """Note the content that the line in a place comes from, where that is not the one that the place names."""
        if content is not None:
            self._origins[section, place] = content

    def put_free(self, section: str, place: Place, text: str) -> None:
        """Write a line that is part of the frame: it costs nothing."""
        self._lines[section][place] = neutralise(text.rstrip())

    def has(self, section: str, place: Place) -> bool:
        """True if a line stands in that place."""
        return place in self._lines[section]

    def text(self, *sections: str) -> str:
        """All lines of some sections."""
        return "\n".join(line for section in sections for line in self._lines[section].values())

    def cover(self, text: str) -> None:
        """Remember that every path in a text stands there, with its directories and its relative forms."""
        for piece in pieces(text):
            for path in paths_in(piece):
                self._paths.add(path)
                names = path.rstrip("/").split("/")
                for low in range(len(names) if 1 < len(names) <= _MOST_COMPONENTS else 0):
                    for high in range(low + 1, len(names) + 1):
                        part = "/".join(names[low:high])
                        self._paths.update((part, f"{part}/") if high < len(names) else (part,))

    def covers(self, path: str) -> bool:
        """True if a path stands on the page, also as a part of a longer one."""
        return path in self._paths

    def render(self, *, cite: bool = False) -> str:
        """The snapshot: every section in order, even if it is empty.

        With `cite`, lines that come from one content end with its number, `[c12]`, which costs nothing.
        """
        out: list[str] = [f"<{SNAPSHOT_TAG}>"]
        for section in SECTIONS:
            out.append(f"<{section}>")
            for group, lines in groupby(sorted(self._lines[section].items()), key=lambda line: line[0].group):
                entries = list(lines)
                by_content = cite and group in _BY_CONTENT.get(section, ())
                if label := _LISTS.get((section, group)):
                    listed = f"- {label}: {', '.join(text for _, text in entries)}"
                    contents = dict.fromkeys(place.content for place, _ in entries)
                    out.append(_cited(listed, list(contents)[-_MOST_CITED:]) if by_content else listed)
                else:
                    for place, text in entries:
                        origin = self._origins.get((section, place), place.content if by_content else None)
                        out.append(text if origin is None or not cite else _cited(text, [origin]))
            if not self._lines[section]:
                out.append(NOTHING)
            out.append(f"</{section}>")
        out.append(f"</{SNAPSHOT_TAG}>")
        return "\n".join(out)


def _cited(text: str, contents: Sequence[int]) -> str:
    """`text` with a citation at the end of each of its lines."""
    citation = f" [{', '.join(f'c{content}' for content in contents)}]"
    return "\n".join(f"{line}{citation}" if line.strip() else line for line in text.split("\n"))


def bulleted(text: str) -> str:
    """`text` as an entry of a list, as which it may stand already."""
    return text if text.startswith(("- ", "* ")) else f"- {text}"


def read_earlier(snapshot: str | None) -> dict[str, list[str]]:
    """The entries of each section, word for word, in order.

    An entry is a line that opens with a bullet, a number or `$ `, with all lines up to the next one; before the
    first, every line is one. A text without sections is all `key_knowledge`. Counts that our own snapshots add are
    left out.
    """
    entries: dict[str, list[str]] = {section: [] for section in SECTIONS}
    if not snapshot:
        return entries
    body = _tag(SNAPSHOT_TAG).sub("", snapshot)
    found = False
    for section in SECTIONS:
        marks = [match.span() for match in _tag(section).finditer(body)]
        if len(marks) >= 2:
            found = True
            entries[section] = _entries(body[marks[0][1] : marks[-1][0]])
    if not found:
        entries["key_knowledge"] = _entries(body)
    return entries


def _entries(text: str) -> list[str]:
    entries: list[list[str]] = []
    held = False
    for line in text.split("\n"):
        if _BOOKKEEPING().match(line):
            held = False
        elif _OPENING().match(line):
            held = True
            entries.append([line])
        elif held:
            entries[-1].append(line)
        elif line.strip():
            entries.append([line.strip()])
    joined = ("\n".join(entry).rstrip() for entry in entries)
    return [entry for entry in joined if entry.strip("-*• ").lower() not in _NO_ENTRY]


@cache
def _tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</?{name}\s{{0,20}}>", re.IGNORECASE)
