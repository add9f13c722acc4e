"""Taking a change back although the file was changed since: three-way, by lines, or not at all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, cast

from gemini_companion.engine.changes.text import difference, lines_of

MAX_MERGED: Final = 2_000_000
"""Bytes of a version beyond which nothing is merged: it takes a second and more."""
_UTF_16: Final = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def taken_back(before: bytes, after: bytes, now: bytes) -> bytes | None:
    """`now` without what turned `before` into `after`; `None` where the two touch the same lines.

    Every byte that the change did not touch stays. A change of line ends alone on one side is understood.
    """
    if now == after:
        return before
    if now == before:
        return now
    if max(len(before), len(after), len(now)) > MAX_MERGED:
        return None
    texts = _as_utf8(before, after, now)
    if texts is None:
        return None
    mark, (before, after, now) = texts
    result = _taken_back(before, after, now)
    return None if result is None else _encoded(result, mark)


def _taken_back(before: bytes, after: bytes, now: bytes) -> bytes | None:
    ends = (b"\r\n" in before, b"\r\n" in after, b"\r\n" in now)
    if len(set(ends)) > 1:
        return _with_ends_of(now, before, after)
    return _merged(lines_of(after), lines_of(before), lines_of(now))


def without_hunks(before: bytes, after: bytes, now: bytes, hunks: Collection[int]) -> bytes | None:
    """`now` without some places of the change (numbers from 0, in the order of `difference`); `None` as above.

    Raises `IndexError` for a number that there is not.
    """
    found = difference(before, after, "").hunks
    if any(not 0 <= number < len(found) for number in hunks):
        raise IndexError("there is no such place in the change")
    texts = _as_utf8(before, after)
    if texts is None:
        return None
    mark, (old_text, new_text) = texts
    old, new = lines_of(old_text), lines_of(new_text)
    kept: list[bytes] = []
    at = 0
    for number, hunk in enumerate(found):
        kept += new[at : hunk.new_start]
        kept += old[hunk.start : hunk.end] if number in hunks else new[hunk.new_start : hunk.new_end]
        at = hunk.new_end
    wished = _encoded(b"".join(kept + new[at:]), mark)
    return taken_back(wished, after, now)


def _as_utf8(*versions: bytes) -> tuple[str, list[bytes]] | None:
    """Texts in UTF-16 as UTF-8, so that lines are lines, and their encoding; others as they are.

    `None` for what is no text, or where the versions have different encodings.
    """
    encodings = {_UTF_16.get(data[:2], "") for data in versions if data}
    encoding = encodings.pop() if len(encodings) == 1 else ""
    if not encoding:
        return None if encodings or any(b"\0" in data for data in versions) else ("", list(versions))
    try:
        return encoding, [data[2:].decode(encoding).encode() for data in versions]
    except UnicodeError:
        return None


def _encoded(text: bytes, encoding: str) -> bytes:
    if not encoding or not text:
        return text
    mark = next(mark for mark, known in _UTF_16.items() if known == encoding)
    return mark + text.decode().encode(encoding)


def _merged(base: list[bytes], theirs: list[bytes], ours: list[bytes]) -> bytes | None:
    """Three-way: from `base` one side made `theirs`, the other `ours`; `None` if they touch the same lines."""
    from merge3 import Merge3

    merged: list[bytes] = []
    merge = Merge3(base, theirs, ours, is_cherrypick=False)
    for group in cast("Any", merge.merge_groups()):
        if group[0] == "conflict":
            return None
        merged += group[1]
    return b"".join(merged)


def _with_ends_of(now: bytes, before: bytes, after: bytes) -> bytes | None:
    """Merge with all ends as line feeds, then give each line the end of `now`; only where that has one kind."""
    has_both = b"\r\n" in now and b"\n" in now.replace(b"\r\n", b"")
    if has_both:
        return None
    old, new, current = (lines_of(data.replace(b"\r\n", b"\n")) for data in (before, after, now))
    merged = _merged(new, old, current)
    if merged is None:
        return None
    return merged.replace(b"\n", b"\r\n") if b"\r\n" in now else merged
