"""Taking a change back although the file was changed since: three-way, by lines, or not at all."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple, cast

from gemini_companion.engine.changes.matching import LineMatcher
from gemini_companion.engine.changes.text import difference, is_wide, lines_of
from gemini_companion.engine.edits.encoding import Encoded, decoded, encode
from gemini_companion.engine.history.tool_entries import MAX_VERSION

MAX_MERGED: Final = MAX_VERSION
"""Bytes of a version beyond which nothing is merged, and of which no larger one is kept anyway."""
_MOST_LINES: Final = 1_000_000
"""Of a version: each takes some sixty bytes of memory beside its own."""


def taken_back(before: bytes, after: bytes, now: bytes) -> bytes | None:
    """`now` without what turned `before` into `after`; `None` where the two touch the same lines.

    Every byte that the change did not touch stays. A change of line ends alone on one side is understood.
    """
    if now == after:
        return before
    if now == before:
        return now
    if is_too_large(before, after, now):
        return None
    texts = _as_utf8(before, after, now)
    if texts is None:
        return None
    result = _taken_back(*texts.versions)
    return None if result is None else texts.written(result)


def is_too_large(*versions: bytes) -> bool:
    """Whether some version is beyond what is merged."""
    return any(len(data) > MAX_MERGED or data.count(b"\n") > _MOST_LINES for data in versions)


def _taken_back(before: bytes, after: bytes, now: bytes) -> bytes | None:
    ends = (b"\r\n" in before, b"\r\n" in after, b"\r\n" in now)
    if len(set(ends)) > 1:
        return _with_ends_of(now, before, after)
    return _merged(lines_of(after), lines_of(before), lines_of(now))


def has_places(before: bytes, after: bytes) -> bool:
    """Whether places of a change can be taken back one by one: both are texts, written down alike."""
    return _as_utf8(before, after) is not None


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
    old, new = map(lines_of, texts.versions)
    kept: list[bytes] = []
    at = 0
    for number, hunk in enumerate(found):
        kept += new[at : hunk.new_start]
        kept += old[hunk.start : hunk.end] if number in hunks else new[hunk.new_start : hunk.new_end]
        at = hunk.new_end
    wished = texts.written(b"".join(kept + new[at:]))
    return taken_back(wished, after, now)


class _Texts(NamedTuple):
    """Versions of a text as bytes in which a line feed is one byte, and how they were written down."""

    versions: list[bytes]
    encoded: Encoded | None
    """`None` where the versions are as they were."""
    can_be_empty: bool
    """One of them has no mark only because it has nothing at all."""

    def written(self, text: bytes) -> bytes:
        if self.encoded is None or (not text and self.can_be_empty):
            return text
        return encode(text.decode("utf-8", "surrogatepass"), self.encoded)


def _as_utf8(*versions: bytes) -> _Texts | None:
    """Texts in UTF-16 and UTF-32 as UTF-8, so that lines are lines; others as they are.

    `None` for what is no text, or where the versions have different encodings. What has no mark is guessed from each;
    one in which too little speaks for an encoding is read in that of the others.
    """
    found = {data: decoded(data) for data in versions if data}
    wide = {text.encoded for text in found.values() if text is not None and is_wide(text.encoded)}
    if not wide:
        return None if None in found.values() else _Texts(list(versions), None, can_be_empty=True)
    if len(wide) > 1 or any(text is not None and text.encoded not in wide for text in found.values()):
        return None
    encoded = wide.pop()
    try:
        texts = [_read(data, encoded).encode("utf-8", "surrogatepass") if data else data for data in versions]
    except UnicodeError:
        return None
    return _Texts(texts, encoded, can_be_empty=not all(versions))


def _read(data: bytes, encoded: Encoded) -> str:
    if not data.startswith(encoded.mark):
        raise UnicodeError
    text = data[len(encoded.mark) :].decode(encoded.encoding)
    if encode(text, encoded) != data:
        raise UnicodeError
    return text


def _merged(base: list[bytes], theirs: list[bytes], ours: list[bytes]) -> bytes | None:
    """Three-way: from `base` one side made `theirs`, the other `ours`; `None` if they touch the same lines."""
    from merge3 import Merge3

    merged: list[bytes] = []
    merge = Merge3(base, theirs, ours, is_cherrypick=False, sequence_matcher=cast("Any", LineMatcher))
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
