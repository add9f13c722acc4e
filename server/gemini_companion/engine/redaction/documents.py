"""The secrets of a JSON document: every string of it, with the key that it stands under."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, TypeAlias, cast

import msgspec

from gemini_companion.engine.ide_context.secret_patterns import KEY_NAME
from gemini_companion.engine.ide_context.secrets import REACH, Secret
from gemini_companion.engine.redaction.finding import Finder, all_secrets, is_attached, is_attached_secret
from gemini_companion.engine.redaction.markers import OPENING, replaced

StandIn: TypeAlias = Callable[[str, str], str]
"""What stands for a secret, and for its kind, in what is written."""

_SHORTEST: Final = 6
"""Characters of the shortest text that is looked at; ids of kinds and roles are shorter."""
_LONGEST_VALUE: Final = 512
_TELLING: Final = re.compile(r"pass|pwd|secret|token|credential|key|auth", re.IGNORECASE)
_OWN_ID: Final = re.compile(
    r"(?:turn|entry|call|session|change|client|compression|constraint|pin|rule|steer|undo)-[0-9a-f]{32}"
)
"""Ids of our own, which are looked up by what they are. Keys of some issuers look like them but for the word."""
_LONGEST_ID: Final = 49
_APART: Final = "\n;\n"
"""Stands between texts: nothing that assigns a value reaches across it."""
_FAR_APART: Final = "\n" * 64
"""Stands between documents: further than anything looks for what is near a secret, which is ten lines."""
_TOGETHER: Final = 16 * 1024
"""Characters of documents that are looked through in one go."""
_OPENING: Final = OPENING.encode()
_KEY_NAME: Final = KEY_NAME.decode()
_WITH_TEXTS: Final = (str, dict, list, tuple)
_ONE_WORD: Final = re.compile(r"[^\s\"'`\\]+")


class _Leaves:
    """The texts of a document, and one text that has all of them, each with what says what it is the value of."""

    __slots__ = ("attached", "length", "pieces", "starts", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.starts: list[int] = []
        """Where each begins in the joined one."""
        self.pieces: list[str] = []
        """Of the joined one."""
        self.attached: set[int] = set()
        """The numbers of those that are no texts, but files; they are left out of it."""
        self.length = 0
        """Of the joined one."""

    def add(self, text: str, before: str = "", after: str = "") -> None:
        """Add the next text, with what stands around it."""
        shown = text
        if len(text) > REACH and is_attached(text):
            self.attached.add(len(self.texts))
            shown = ""
        self.texts.append(text)
        self.starts.append(self.length + len(before))
        piece = f"{before}{shown}{after}{_APART}" if before else shown + _APART
        self.pieces.append(piece)
        self.length += len(piece)


def redacted_document(data: bytes, stand_in: StandIn, finders: Sequence[Finder] = ()) -> bytes | None:
    """The JSON document with every secret replaced and every other text escaped; `None` if that changes nothing.

    Raises `msgspec.DecodeError` for what is no JSON.
    """
    value = msgspec.json.decode(data)
    leaves = _Leaves()
    _add_texts(leaves, value, "")
    found = _found(leaves, finders)
    if not found and _OPENING not in data:
        return None
    changed = iter([replaced(text, found.get(number, ()), stand_in) for number, text in enumerate(leaves.texts)])
    return msgspec.json.encode(_rebuilt(value, changed))


def unchanged(documents: Iterable[object], finders: Sequence[Finder] = ()) -> Iterator[bool]:
    """Whether `redacted_document` leaves each of these JSON values as it is, in their order; False where it may not.

    Short ones are looked through together, which takes half the time of each by itself. Nothing is taken from
    `documents` ahead of those, so whoever redacts one that may change before asking for the next has its secrets known.
    """
    pieces: list[str] = []
    length = count = 0
    for value in documents:
        leaves = _Leaves()
        try:
            _add_texts(leaves, value, "")
            is_alone = bool(leaves.attached) or leaves.length > _TOGETHER
        except RecursionError:
            is_alone = True
        if count and (is_alone or length + leaves.length > _TOGETHER):
            yield from repeat(_has_nothing("".join(pieces), finders), count)
            pieces, length, count = [], 0, 0
        if is_alone:
            yield False
        else:
            pieces += (*leaves.pieces, _FAR_APART)
            length += leaves.length + len(_FAR_APART)
            count += 1
    if count:
        yield from repeat(_has_nothing("".join(pieces), finders), count)


def _has_nothing(text: str, finders: Sequence[Finder]) -> bool:
    """Whether several documents have nothing to replace. Where a key may reach from one into the next, nobody says."""
    return OPENING not in text and _KEY_NAME not in text and not all_secrets(text, finders)


def _found(leaves: _Leaves, finders: Sequence[Finder]) -> dict[int, list[Secret]]:
    """By the number of its text, what is secret of it. All are looked through in one go, but what is attached."""
    texts, starts = leaves.texts, leaves.starts
    found: dict[int, list[Secret]] = {}
    for number in leaves.attached:
        if is_attached_secret(texts[number], finders):
            found[number] = [Secret(0, len(texts[number]), "file")]
    for secret in all_secrets("".join(leaves.pieces), finders):
        number = max(0, bisect_right(starts, secret.start) - 1)
        while number < len(texts) and starts[number] < secret.end:  # one that reaches into the next counts in both
            start = max(0, secret.start - starts[number])
            end = min(len(texts[number]), secret.end - starts[number])
            if start < end and number not in leaves.attached:
                found.setdefault(number, []).append(Secret(start, end, secret.kind))
            number += 1
    return found


def _add_texts(leaves: _Leaves, value: object, key: str) -> None:
    """Every text of some length, keys too, in the order of `_rebuilt`."""
    if isinstance(value, str):
        if len(value) >= _SHORTEST and _is_looked_at(value):
            if key and len(value) <= _LONGEST_VALUE and _TELLING.search(key) and _ONE_WORD.fullmatch(value):
                leaves.add(value, f'{key}: "', '"')
            else:
                leaves.add(value)
    elif isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        for name, inside in named.items():
            if len(name) >= _SHORTEST and _is_looked_at(name):
                leaves.add(name)
            if inside.__class__ in _WITH_TEXTS:
                _add_texts(leaves, inside, _named_elsewhere(named) if name == "value" else name)
    elif isinstance(value, list | tuple):
        for inside in cast("Sequence[Any]", value):
            if inside.__class__ in _WITH_TEXTS:
                _add_texts(leaves, inside, key)


def _named_elsewhere(fields: Mapping[str, Any]) -> str:
    """The name of a value that stands beside it: `{"name": …, "value": …}`."""
    name = fields.get("name", fields.get("key"))
    return name if isinstance(name, str) and len(name) <= _LONGEST_VALUE else "value"


def _rebuilt(value: object, changed: Iterator[str]) -> object:
    if isinstance(value, str):
        return next(changed) if _is_looked_at(value) else value
    if isinstance(value, dict):
        fields: dict[str, object] = {}
        for name, inside in cast("dict[str, Any]", value).items():
            shown = next(changed) if _is_looked_at(name) else name
            fields[shown] = _rebuilt(inside, changed)
        return fields
    if isinstance(value, list):
        return [_rebuilt(inside, changed) for inside in cast("list[Any]", value)]
    return value


def _is_looked_at(text: str) -> bool:
    return len(text) >= _SHORTEST and ("-" not in text or len(text) > _LONGEST_ID or not _OWN_ID.fullmatch(text))
