"""The secrets of a JSON document: every string of it, with the key that it stands under."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, cast

import msgspec

from gemini_companion.engine.ide_context.secrets import Secret
from gemini_companion.engine.redaction.finding import Finder, all_secrets, is_attached, is_attached_secret
from gemini_companion.engine.redaction.markers import OPENING, replaced

StandIn: TypeAlias = Callable[[str, str], str]
"""What stands for a secret, and for its kind, in what is written."""

_SHORTEST: Final = 6
"""Characters of the shortest text that is looked at; ids of kinds and roles are shorter."""
_LONGEST_VALUE: Final = 512
_TELLING: Final = re.compile(r"pass|pwd|secret|token|credential|key|auth", re.IGNORECASE)
_OWN_ID: Final = re.compile(r"[a-z]{1,16}-[0-9a-f]{32}")
"""Ids of our own, which are looked up by what they are."""
_APART: Final = "\n;\n"
"""Stands between texts: nothing that assigns a value reaches across it."""
_ONE_WORD: Final = re.compile(r"[^\s\"'`\\]+")


class _Leaf(NamedTuple):
    text: str
    before: str
    """What stands before it, so that what looks through it knows what it is the value of."""
    after: str


def redacted_document(data: bytes, stand_in: StandIn, finders: Sequence[Finder] = ()) -> bytes | None:
    """The JSON document with every secret replaced and every other text escaped; `None` if that changes nothing.

    Raises `msgspec.DecodeError` for what is no JSON.
    """
    value = msgspec.json.decode(data)
    leaves = list(_leaves(value, ""))
    found = _found(leaves, finders)
    if not found and OPENING.encode() not in data:
        return None
    changed = iter([replaced(leaf.text, found.get(number, ()), stand_in) for number, leaf in enumerate(leaves)])
    return msgspec.json.encode(_rebuilt(value, changed))


def _found(leaves: Sequence[_Leaf], finders: Sequence[Finder]) -> dict[int, list[Secret]]:
    """By the number of its leaf, what is secret of it. All are looked through in one go, but what is attached."""
    starts: list[int] = []
    pieces: list[str] = []
    found: dict[int, list[Secret]] = {}
    attached: set[int] = set()
    length = 0
    for number, leaf in enumerate(leaves):
        text = leaf.text
        if is_attached(text):
            attached.add(number)
            if is_attached_secret(text):
                found[number] = [Secret(0, len(text), "file")]
            text = ""
        starts.append(length + len(leaf.before))
        pieces += [leaf.before, text, leaf.after, _APART]
        length += len(leaf.before) + len(text) + len(leaf.after) + len(_APART)
    for secret in all_secrets("".join(pieces), finders):
        number = max(0, bisect_right(starts, secret.start) - 1)
        while number < len(leaves) and starts[number] < secret.end:  # one that reaches into the next counts in both
            start = max(0, secret.start - starts[number])
            end = min(len(leaves[number].text), secret.end - starts[number])
            if start < end and number not in attached:
                found.setdefault(number, []).append(Secret(start, end, secret.kind))
            number += 1
    return found


def _leaves(value: object, key: str) -> Iterator[_Leaf]:
    """Every text of some length, keys too, in the order of `_rebuilt`."""
    if isinstance(value, str):
        if _is_looked_at(value):
            is_value = key and len(value) <= _LONGEST_VALUE and _TELLING.search(key) and _ONE_WORD.fullmatch(value)
            yield _Leaf(value, f'{key}: "', '"') if is_value else _Leaf(value, "", "")
    elif isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        for name, inside in named.items():
            if _is_looked_at(name):
                yield _Leaf(name, "", "")
            yield from _leaves(inside, _named_elsewhere(named) if name == "value" else name)
    elif isinstance(value, list):
        for inside in cast("list[Any]", value):
            yield from _leaves(inside, key)


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
    return len(text) >= _SHORTEST and not (len(text) < 50 and _OWN_ID.fullmatch(text))
