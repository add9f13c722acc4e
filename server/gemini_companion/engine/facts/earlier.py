"""Reading the snapshot of an earlier compaction back into entries, so that the next one can carry them over."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from gemini_companion.engine.facts.neutralise import SECTIONS, SNAPSHOT_TAG

NOTHING: Final = "(none)"
"""What stands in a section without an entry."""

_NO_ENTRY: Final = frozenset({"none", "none.", "n/a", "-", "nothing", "nothing.", "(nothing)", NOTHING})


def read_earlier(snapshot: str | None) -> dict[str, list[str]]:
    """The entries of each section, word for word, in order.

    An entry is a line that opens with a bullet, a number or `$ `, with all lines up to the next one; before the first, every line is one. A text
    without sections is all `key_knowledge`. Labels and counts that our own snapshots add are left out.
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


def shortened(entry: str, limit: int) -> str:
    """A call of an earlier snapshot in two lines: how it starts, and what came of it."""
    first, _, rest = entry.partition("\n")
    outcome = rest[rest.rfind("\n→ ") + 1 :] if "\n→ " in f"\n{rest}" else ""
    short = first if len(first) <= limit else f"{first[:limit]}…"
    return f"{short}\n{outcome[:limit]}".rstrip()


def _entries(text: str) -> list[str]:
    entries: list[list[str]] = []
    held = False
    for line in text.split("\n"):
        if _bookkeeping().match(line):
            held = False
        elif _opening().match(line):
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


@cache
def _opening() -> re.Pattern[str]:
    return re.compile(r"[ \t]{0,8}(?:[-*•]|\d{1,3}[.)]|[$])[ \t]+\S")


@cache
def _bookkeeping() -> re.Pattern[str]:
    """Lines that a snapshot of ours says about itself."""
    return re.compile(r"[ \t]*(?:… and [\d,]+ more |<!--)")
