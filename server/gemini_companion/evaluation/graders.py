"""Two graders that know nothing of how the product compresses: labels that people wrote, and what comes up later.

They read JSON values and import nothing of what they grade, so that no pattern, list or function is shared: what the
product does not see must not be invisible here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec

Kept = tuple[int, int]
"""So many of so many."""

JUDGED: Final = 0.6
"""Share of what was said, from its beginning, whose labels count: the end stands in every tail."""
NEWEST: Final = 0.15
"""Share of what was said, from its end, whose values are not asked for: they stand in every tail."""
KINDS: Final = ("rules", "findings", "decisions", "changes", "outcomes", "open")
"""Labels of what has to stand word for word."""

_LEAST_SENTENCE: Final = 12
_LONGEST_VALUE: Final = 80
_UNSAID: Final = frozenset(("id", "thoughtSignature"))
"""Fields that no model reads."""

_SENTENCES: Final = re.compile(r"(?<=[.!?。！？])\s*|\n")
_DONE: Final = re.compile(r"[-*\s]*\[done\]", re.IGNORECASE)
_PIECE: Final = re.compile(r"(?<!\d)\d{1,9}+(?::\d\d)+|[^\s\"'`()\[\]{}<>,;|=\\:$€£]+")
_AMOUNT: Final = re.compile(
    r"[$€£]\s?\d[\d.,]{0,30}|(?<![\d.,])\d[\d.,]{0,30}+\s?(?:%|°C|[kMGT]i?B|[mµn]?s|min|h|[kcm]?m|k?g|[kMG]Hz|px|EUR|USD|€)(?!\w)"
)
_THOUSANDS: Final = re.compile(r"(?<![\w,.])\d{1,3}(?:,\d{3})+(?![\w,])")
_JOINED: Final = re.compile(r"\w[_/.]\w|[a-z][A-Z]")
"""Words that are one piece."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled stretch of text, as it stands in a content."""

    span: str
    at: int
    """Index of the content."""
    state: Literal["in force", "released", "replaced", "stands", "overturned", ""] = ""
    by: int | None = None
    """Index of the content that ended it."""
    superseded: bool = False
    done: bool = False


class Gold(msgspec.Struct, frozen=True, kw_only=True):
    """The `gold` part of a conversation. What each kind means is told beside the conversations."""

    rules: tuple[Label, ...] = ()
    not_rules: tuple[Label, ...] = ()
    findings: tuple[Label, ...] = ()
    decisions: tuple[Label, ...] = ()
    changes: tuple[Label, ...] = ()
    outcomes: tuple[Label, ...] = ()
    open: tuple[Label, ...] = ()
    chatter: tuple[Label, ...] = ()

    def misplaced(self, contents: Sequence[Any]) -> Label | None:
        """A label whose text does not stand where it says, `None` if all do."""
        kinds = (self.rules, self.not_rules, self.findings, self.decisions, self.changes, self.outcomes, self.open)
        for label in (label for kind in (*kinds, self.chatter) for label in kind):
            if not 0 <= label.at < len(contents) or folded(label.span) not in folded(text_in(contents[label.at])):
                return label
        return None


class Needed(NamedTuple):
    """What the rest of a conversation uses of what stood only in its older part."""

    names: frozenset[str] = frozenset()
    """Identifiers, paths, numbers that the model says or passes on later."""
    values: frozenset[str] = frozenset()
    """Whole arguments of later calls; of long ones the pieces that are no words."""


def text_in(value: Any) -> str:
    """All strings of a JSON value, and keys with two digits: those are data, the others are a format."""
    return "\n".join(_strings(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            if sum(sign.isdigit() for sign in key) >= 2:
                yield key
            if key not in _UNSAID:
                yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[Any]", value):
            yield from _strings(inner)


def folded(text: str) -> str:
    """A text without capitals, runs of blanks, and escaped tags."""
    return " ".join(text.replace("‹", "<").replace("›", ">").split()).casefold()


def kept_of_labels(
    gold: Gold, history: Sequence[Any], said: int, request: str, in_force: Iterable[str]
) -> dict[str, Kept]:
    """What of the labels stands in a request, word for word, by kind; and what is shown as what it is not any more.

    Something has ended well if it is gone, or what ended it stands behind it, both in the snapshot and around it: a
    record in order may say what was withdrawn, if it goes on to say so. What ended a rule is what its label names; a
    decision, the next one that stands; a task, the next change or outcome.

    Args:
        gold: The labels.
        history: The labelled conversation.
        said: How many contents were said by now: it, and what came after it.
        request: All text of the request.
        in_force: The texts that are shown as rules in force.
    """
    edge = JUDGED * said
    whole = folded(request)
    standing: dict[str, list[Label]] = {
        "rules": [label for label in gold.rules if label.state == "in force"],
        "findings": [*gold.findings],
        "decisions": [label for label in gold.decisions if label.state == "stands"],
        "changes": [*gold.changes],
        "outcomes": [label for label in gold.outcomes if not label.superseded],
        "open": [label for label in gold.open if not label.done],
    }
    found = {kind: _share(folded(label.span) in whole for label in standing[kind] if label.at < edge) for kind in KINDS}
    places = _Places(request)

    def ended(labels: Iterable[tuple[Label, Sequence[str]]]) -> Kept:
        return _share(places.has_ended(label.span, by) for label, by in labels if label.at < edge and by)

    done = [*standing["changes"], *standing["outcomes"]]
    found["ended_rules"] = ended(
        (label, _sentences(text_in(history[label.by]))) for label in gold.rules if label.by is not None
    )
    found["overturned"] = ended(
        (label, _next(label, standing["decisions"])) for label in gold.decisions if label.state == "overturned"
    )
    found["done"] = ended((label, _next(label, done)) for label in gold.open if label.done)
    rules = [folded(text) for text in in_force]
    none = [folded(label.span) for label in (*gold.not_rules, *gold.chatter)]
    found["false_rules"] = _share(any(span in rule or rule in span for rule in rules) for span in none)
    return found


class _Places:
    """The snapshots of a request, and what stands around them."""

    def __init__(self, request: str) -> None:
        first, *begun = request.split("<state_snapshot>")
        snapshots = [text for piece in begun for text, closes, _ in [piece.partition("</state_snapshot>")] if closes]
        around = [
            first,
            *(rest if closes else text for text, closes, rest in (p.partition("</state_snapshot>") for p in begun)),
        ]
        without_done = "\n".join(line for text in snapshots for line in text.splitlines() if not _DONE.match(line))
        self._texts = (folded(without_done), folded("\n".join(around)))

    def has_ended(self, span: str, by: Sequence[str]) -> bool:
        """Wherever it stands, one of what ended it stands behind."""
        span = folded(span)
        ends = [folded(text) for text in by]
        return all(
            (place := text.rfind(span)) < 0 or any(text.rfind(end) > place for end in ends) for text in self._texts
        )


def _sentences(text: str) -> list[str]:
    return [piece for piece in _SENTENCES.split(text) if len(piece.strip()) >= _LEAST_SENTENCE]


def _next(label: Label, others: Iterable[Label]) -> list[str]:
    later = [other for other in others if other.at > label.at]
    return [min(later, key=lambda other: other.at).span] if later else []


def _share(kept: Iterable[bool]) -> Kept:
    answers = list(kept)
    return sum(answers), len(answers)


def needed_next(said: Sequence[Any], to_come: Sequence[Any]) -> Needed:
    """What `to_come` uses that stood in `said`, but in nothing of its newest share and of what was said since."""
    texts = [text_in(content) for content in said]
    left = NEWEST * sum(map(len, texts))
    edge = len(texts)
    while edge and left > 0:
        edge -= 1
        left -= len(texts[edge])
    keys = set(_keys([*said, *to_come]))
    hidden, seen = _spaced("\n".join(texts[:edge])), _spaced("\n".join(texts[edge:]))
    hidden_names = set(_names(hidden)) - keys
    seen_names = set(_names(seen))
    names: set[str] = set()
    values: set[str] = set()
    for content in to_come:
        text = _spaced(text_in(content))
        said_names = set(_names(text))
        if content.get("role") == "model":
            names |= (said_names & hidden_names) - seen_names
            values.update(value for value in _arguments(content) if stands(value, hidden) and not stands(value, seen))
        seen_names |= said_names
        seen = f"{seen}\n{text}"
    return Needed(frozenset(names), frozenset(values))


def kept_of_needed(needed: Needed, request: str) -> dict[str, Kept]:
    """How much of it stands in a request."""
    text = _spaced(request)
    return {
        "names": _share(stands(name, text) for name in needed.names),
        "values": _share(stands(value, text) for value in needed.values),
    }


def stands(needle: str, text: str) -> bool:
    """Whether a text stands there as whole words."""
    return re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", text) is not None


def _spaced(text: str) -> str:
    """A text without runs of blanks, and without commas in numbers."""
    return _THOUSANDS.sub(lambda match: match.group().replace(",", ""), " ".join(text.split()))


def _is_data(piece: str) -> bool:
    """Whether a piece of text is no plain word: three digits, letters with digits, joined words, capitals inside."""
    digits = sum(sign.isdigit() for sign in piece)
    return digits >= 3 or (digits > 0 and any(map(str.isalpha, piece))) or _JOINED.search(piece) is not None


def _names(text: str) -> Iterator[str]:
    for match in _PIECE.finditer(text):
        piece = match.group().strip(".!?*-#…。！？")
        if len(piece) > 2 and _is_data(piece):
            yield piece
    for amount in (found.rstrip(".,") for found in _AMOUNT.findall(text)):
        if sum(sign.isdigit() for sign in amount) < 3:  # the others are pieces already
            yield amount


def _keys(value: Any) -> Iterator[str]:
    """The keys that are a format, also of JSON in strings."""
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, Any]", value).items():
            if sum(sign.isdigit() for sign in key) < 2:
                yield key
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[Any]", value):
            yield from _keys(inner)
    elif isinstance(value, str) and value[:1] in ("{", "["):
        try:
            yield from _keys(msgspec.json.decode(value))
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return


def _arguments(content: Mapping[str, Any]) -> Iterator[str]:
    for part in content.get("parts", ()):
        call = part.get("functionCall")
        for leaf in _leaves(call.get("args") if call else None):
            text = _spaced(leaf)
            if 2 < len(text) <= _LONGEST_VALUE:
                yield text
            if " " in text:
                pieces = (match.group().strip(".!?*-") for match in _PIECE.finditer(text))
                yield from (piece for piece in pieces if len(piece) > 2 and not piece.isalpha())


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, Any]", value).values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[Any]", value):
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
