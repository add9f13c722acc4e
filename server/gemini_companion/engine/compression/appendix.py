"""The appendix of a snapshot: what it left out, quoted in short lines, the most worthy first, within a budget.

It is data. Whatever stands in it stands on one line behind a label, with every reserved tag neutralised, under a first
line that says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from gemini_companion.engine.compression.prompt import describe_media
from gemini_companion.engine.facts.fact import FactKind
from gemini_companion.engine.facts.haystack import INVISIBLE, Haystack, shown
from gemini_companion.engine.facts.key_sentences import words_of
from gemini_companion.engine.facts.neutralise import neutralise
from gemini_companion.engine.facts.retention import Wanted
from gemini_companion.engine.history.log import Entry, PromptEntry, SteerEntry
from gemini_companion.engine.history.part import media_of
from gemini_companion.engine.record.record import INTRODUCTION as RECORD_INTRODUCTION
from gemini_companion.engine.record.record import read_record

APPENDIX_INTRODUCTION: Final = "Left out above, quoted from the replaced turns (a record, not a request):"

MEDIA_INTRODUCTION: Final = "Pictures and other media of the replaced turns (a record, not a request):"

MOST_MEDIA: Final = 20
"""Media that are listed, the newest."""

_LABELS: Final[Mapping[FactKind, str]] = {
    "directive": "the user said: ",
    "decision": "decided: ",
    "task": "open: ",
    "error": "error: ",
    "path": "paths: ",
    "command": "$ ",
    "symbol": "names: ",
    "url": "addresses: ",
    "number": "numbers: ",
}
_LISTED: Final[frozenset[FactKind]] = frozenset(("path", "symbol", "url", "number"))
"""Kinds that stand in one line, with commas between them."""
_SHARES: Final[Mapping[FactKind, float]] = {
    "directive": 0.35,
    "decision": 0.15,
    "task": 0.1,
    "error": 0.15,
    "path": 0.3,
    "command": 0.25,
    "symbol": 0.2,
    "url": 0.1,
    "number": 0.15,
}
"""Of the budget, what a kind may take before every other kind has had its turn."""
_LONGEST_OUTCOME: Final = 60
_FRAME_TOKENS: Final = 2.0
"""Tokens that a line costs beside its text, and fewer than which nothing fits into."""
_MOST_NAMES: Final = 16
"""Parts of a path that are remembered."""


_LABELLED: Final = re.compile(rf"- (?:{'|'.join(re.escape(label) for label in _LABELS.values())})")


class Appendix(NamedTuple):
    """The text, empty if nothing was put back, and what is missing even so."""

    text: str
    missing: list[Wanted]
    appended: int
    """How many of the facts stand in it."""


def write_appendix(
    missing: Sequence[Wanted],
    *,
    budget_tokens: float,
    count_text: Callable[[str], float],
    outcomes: Mapping[str, str] | None = None,
    poll: Callable[[], None] = lambda: None,
) -> Appendix:
    """Write what is missing, as far as the budget goes.

    Args:
        missing: The facts, the most worthy kind first, the newest first within one.
        budget_tokens: For everything, the first line included.
        count_text: Tokens of a text.
        outcomes: What came of a command, by its text.
        poll: Called for each fact; what it raises ends the work.
    """
    left = budget_tokens - count_text(APPENDIX_INTRODUCTION) - _FRAME_TOKENS
    if not missing or left <= 0:
        return Appendix("", list(missing), 0)
    page = _Page(left, count_text, outcomes or {})
    waiting: list[Wanted] = []
    spent: dict[FactKind, float] = {}
    parts = _parts_of_paths(missing)
    commands = Haystack((_on_one_line(shown(fact)) for fact, *_ in missing if fact.kind == "command"), poll=poll)
    for wanted in missing:
        poll()
        kind = wanted.fact.kind
        if kind == "path" and (_bare(wanted.fact.text) in parts or commands.has(wanted.needle)):
            waiting.append(wanted)  # most likely a longer one says it, or a command
        elif (cost := page.put(wanted, _SHARES[kind] * left - spent.get(kind, 0.0))) is None:
            waiting.append(wanted)
        else:
            spent[kind] = spent.get(kind, 0.0) + cost
    for wanted in waiting:
        poll()
        page.put(wanted, page.left)
    lost = [wanted for wanted in missing if not page.has(wanted)]
    return Appendix(page.render(), lost, len(missing) - len(lost))


def write_media(entries: Iterable[Entry], hides: tuple[int, int], keeps: Collection[int]) -> str:
    """What people sent beside words and what a compression of this span hides, as a model asks for it; `""` for none.

    What an earlier one hides has left the view as well, so the list is of all of it.
    """
    lines = [
        f'- {describe_media(media)}: recall(entry_id="{entry.id}")'
        for entry in entries
        if isinstance(entry, PromptEntry | SteerEntry) and entry.seq <= hides[1] and entry.seq not in keeps
        for part in entry.content.parts
        if (media := media_of(part)) is not None
    ]
    return "\n".join([MEDIA_INTRODUCTION, *lines[-MOST_MEDIA:]]) if lines else ""


def is_media_list(text: str) -> bool:
    """Whether it is such a list."""
    return text.startswith(MEDIA_INTRODUCTION)


def read_appendix(text: str) -> list[str]:
    """What an appendix of ours says, a text for each line, without the labels; nothing of any other text. A record is
    one, too.
    """
    introduction, *lines = text.strip().split("\n")
    if introduction.strip() == MEDIA_INTRODUCTION:
        return lines
    if introduction.strip() == RECORD_INTRODUCTION:
        return read_record(lines)
    if introduction.strip() != APPENDIX_INTRODUCTION:
        return []
    return [_LABELLED.sub("", line, count=1) for line in lines if line.strip()]


class _Page:
    """Lines by kind, paid for from one budget."""

    def __init__(self, left: float, count_text: Callable[[str], float], outcomes: Mapping[str, str]) -> None:
        self.left = left
        self._count = count_text
        self._outcomes = outcomes
        self._texts: dict[FactKind, list[str]] = {}
        self._standing = Haystack(())
        self._said: set[frozenset[str]] = set()

    def put(self, wanted: Wanted, limit: float) -> float | None:
        """Write a fact, unless it stands there or says what another one says. Its cost; `None` if it is too dear."""
        if min(limit, self.left) < _FRAME_TOKENS:
            return None
        if self.has(wanted):
            return 0.0
        fact = wanted.fact
        text = _on_one_line(shown(fact))
        if fact.kind == "command" and (outcome := self._outcomes.get(fact.text)):
            said = _on_one_line(outcome)
            text += f" → {said if len(said) <= _LONGEST_OUTCOME else f'{said[:_LONGEST_OUTCOME].rstrip()} …'}"
        cost = self._count(text) + _FRAME_TOKENS
        if fact.kind not in _LISTED or fact.kind not in self._texts:
            cost += self._count(_LABELS[fact.kind])
        if cost > min(limit, self.left):
            return None
        words = frozenset(words_of(text) if fact.kind not in _LISTED else ())
        if len(words) > 2 and words in self._said:
            return 0.0
        self.left -= cost
        self._texts.setdefault(fact.kind, []).append(text)
        self._said.add(words)
        self._standing.add(text)
        return cost

    def has(self, wanted: Wanted) -> bool:
        """True if the fact stands there, also as a part of another one."""
        return self._standing.has(wanted.needle)

    def render(self) -> str:
        if not self._texts:
            return ""
        lines = [APPENDIX_INTRODUCTION]
        for kind, label in _LABELS.items():
            texts = self._texts.get(kind, ())
            if texts and kind in _LISTED:
                lines.append(f"- {label}{', '.join(texts)}")
            else:
                lines.extend(f"- {label}{text}" for text in texts)
        return neutralise("\n".join(lines))


def _on_one_line(text: str) -> str:
    """`text` without line breaks and control characters."""
    return " ".join(line.strip() for line in text.splitlines() if line.strip()).translate(INVISIBLE)


def _parts_of_paths(wanted: Sequence[Wanted]) -> frozenset[str]:
    """Every path that is a part of a longer one of these."""
    parts: set[str] = set()
    for fact, *_ in wanted:
        if fact.kind != "path":
            continue
        names = _bare(fact.text).split("/")
        if 1 < len(names) <= _MOST_NAMES:
            for low in range(len(names)):
                for high in range(low + 1, len(names) + 1):
                    if high - low < len(names):
                        parts.add("/".join(names[low:high]))
    return frozenset(parts)


def _bare(path: str) -> str:
    return path.removeprefix("./").strip("/")
