"""Questions whose answers are known, to measure recall with: of people who talk for months, and of coding agents' work.

A corpus has the folders `locomo` (dialogues with questions), `swe-agent` and `tau-airline` (agents' work, of which the
questions are made here by rule).
"""

from __future__ import annotations

import datetime
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from gemini_companion.engine.facts.patterns import lazy
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.log import Entry, PromptEntry, ReplyEntry, ToolResultEntry
from gemini_companion.engine.history.part import has_response
from gemini_companion.engine.recall.passages import Speaker, entry_text, spoken_entry

_HEADER: Final = lazy(r"\[(?P<time>\d+:\d+ [ap]m on \d+ \w+, \d{4})\] ")
"""Before the first message of each meeting."""
_PART: Final = lazy(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_IDENTIFIER: Final = lazy(r"\b[A-Za-z_][A-Za-z0-9_]{5,40}\b")
_GENERATED: Final = lazy(r"FUN_|DAT_|LAB_|undefined|_[0-9a-f]")
"""Names that a decompiler gave."""
_CAMEL: Final = lazy(r"[a-z][A-Z]")
_FILE: Final = lazy(
    r"(?<![\w-])(?P<name>[A-Za-z][\w-]{3,40})\.(?:py|c|js|ts|rst|toml|cfg|txt|pl|html|md|pcap|enc|json|cgi)\b"
)
_ERROR: Final = lazy(
    r"(?m)^[^\w\n]{0,40}+(?:E\d+ )?(?:[\w.]{0,80}(?:Error|Exception|Warning)|error|fatal)\b: (?P<said>.{12,160})$"
)
_NAME_OR_QUOTE: Final = lazy(r"['\"`][^'\"`\n]{0,200}['\"`]|(?<!\S)\S*[_/]\S*")
_LETTERS: Final = lazy(r"[A-Za-z]{3,}")
_COMMON: Final = frozenset(
    "the and but for with from are was were been being its this that these those you they them our your lets now"  # noqa: SIM905
    " then not does did has have had will would can could should may might must just also there here what which who"
    " when where why how".split()
)
_MOST_PLACES: Final = 6
"""A question about something that stands in more turns has no answer."""
_DRAWN: Final = {"camelCase": 60, "snake_case": 70, "file": 60, "error": 60}
"""How many questions of each kind are made at most."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question, and which turns of its scope answer it, by index."""

    text: str
    answers: frozenset[int]
    kind: str


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """What one question searches: sessions of entries, numbered through as `turns`."""

    name: str
    sessions: tuple[tuple[Entry, ...], ...]
    questions: tuple[Question, ...]
    names: Mapping[str, Speaker] = {}
    """The speakers' names, in small letters."""


def dialogues(corpus: Path) -> Iterator[Scope]:
    """Each dialogue of the folder `locomo` for itself: its meetings are the sessions."""
    for path in sorted((corpus / "locomo").glob("*.json")):
        document = json.loads(path.read_bytes())
        sessions: list[list[Entry]] = []
        names: dict[str, Speaker] = {}
        time = 0
        for index, content in enumerate(document["history"]):
            said = content["parts"][0]["text"]
            if header := _HEADER().match(said):
                time, said = _time_of(header["time"]), said[header.end() :]
                sessions.append([])
            name, _, said = said.partition(": ")
            names[name.lower()] = content["role"]
            sessions[-1].append(
                _entry({"role": content["role"], "parts": [{"text": said}]}, index, len(sessions[-1]) + 1, time)
            )
        questions = tuple(
            Question(text=asked["question"], answers=frozenset(asked["evidence"]), kind=str(asked["category"]))
            for asked in document["qa"]
            if asked["evidence"]
        )
        yield Scope(name=path.stem, sessions=tuple(map(tuple, sessions)), questions=questions, names=names)


def coding(corpus: Path) -> Scope:
    """All work of agents as the sessions of one project, with questions about identifiers, files and errors."""
    sessions: list[tuple[Entry, ...]] = []
    texts: dict[int, str] = {}
    """Of the coding runs' turns."""
    count = 0
    for path in sorted((corpus / "swe-agent").glob("*.json")) + sorted((corpus / "tau-airline").glob("*.json")):
        contents = json.loads(path.read_bytes())["history"]
        entries = tuple(_entry(content, count + n, n + 1, count + n) for n, content in enumerate(contents))
        if path.parent.name == "swe-agent":
            for entry in entries:
                spoken = spoken_entry(entry)
                texts[count + entry.seq - 1] = entry_text(spoken) if spoken else ""
        sessions.append(entries)
        count += len(entries)
    return Scope(name="code", sessions=tuple(sessions), questions=tuple(_questions_about(texts)))


def _questions_about(texts: Mapping[int, str]) -> Iterator[Question]:
    identifiers, files, errors = (defaultdict[str, set[int]](set) for _ in range(3))
    for index, text in texts.items():
        for name in set(_IDENTIFIER().findall(text)):
            parts = _PART().findall(name)
            is_made_up = _GENERATED().match(name) or name.isupper() or len(parts) < 2
            if not is_made_up and all(len(part) > 1 for part in parts):
                identifiers[name].add(index)
        for match in _FILE().finditer(text):
            files[match["name"]].add(index)
        for match in _ERROR().finditer(text):
            errors[match["said"].strip()].add(index)
    chance = random.Random(7)
    camel = {name: where for name, where in identifiers.items() if _CAMEL().search(name)}
    snake = {name: where for name, where in identifiers.items() if name not in camel}
    for kind, table in (("camelCase", camel), ("snake_case", snake)):
        for name in _rare(table, kind, chance):
            yield _question(" ".join(_PART().findall(name)).lower(), table[name], kind)
    for name in _rare(files, "file", chance):
        parts = [part.lower() for part in _PART().findall(name)]
        if len("".join(parts)) > 4:
            yield _question(f"the file {' '.join(parts)}", files[name], "file")
    for said in _rare(errors, "error", chance):
        words = [word.lower() for word in _LETTERS().findall(_NAME_OR_QUOTE().sub(" ", said))]
        kept = [word for word in words if word not in _COMMON and chance.random() < 0.75][:8]
        if len(kept) >= 3:
            yield _question(f"error {' '.join(kept)}", errors[said], "error")


def _rare(table: Mapping[str, set[int]], kind: str, chance: random.Random) -> Sequence[str]:
    found = sorted(key for key, where in table.items() if len(where) <= _MOST_PLACES)
    chance.shuffle(found)
    return found[: _DRAWN[kind]]


def _question(text: str, answers: Iterable[int], kind: str) -> Question:
    return Question(text=text, answers=frozenset(answers), kind=kind)


def _entry(content: dict[str, Any], index: int, seq: int, time: int) -> Entry:
    decoded = msgspec.convert(content, Content)
    kind = ToolResultEntry if has_response(decoded) else PromptEntry if decoded.role == "user" else ReplyEntry
    return kind(id=f"entry-{index}", seq=seq, time=time, turn_id=f"turn-{index}", content=decoded)


def _time_of(written: str) -> int:
    """Milliseconds since 1970 of `1:56 pm on 8 May, 2023`."""
    time = datetime.datetime.strptime(written, "%I:%M %p on %d %B, %Y")
    return int(time.replace(tzinfo=datetime.UTC).timestamp() * 1000)
