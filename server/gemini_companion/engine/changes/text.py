"""Texts as lines of bytes: what is text, how it ends its lines, unified diffs."""

from __future__ import annotations

from typing import Final, NamedTuple

from gemini_companion.engine.changes.matching import LineMatcher
from gemini_companion.engine.edits.encoding import Encoded, decoded

MAX_DIFFED: Final = 500_000
"""Lines on either side beyond which a diff is given by its size alone: it would be of use to nobody."""
_CONTEXT: Final = 3


class Hunk(NamedTuple):
    """A place where two texts differ: lines `before[start:end]` become `after[new_start:new_end]`."""

    start: int
    end: int
    new_start: int
    new_end: int


class Difference(NamedTuple):
    """How two texts differ."""

    diff: str
    """Unified, with paths; empty where there is nothing to show."""
    added: int
    removed: int
    hunks: tuple[Hunk, ...]


def lines_of(data: bytes) -> list[bytes]:
    """The lines with their ends, split at line feeds alone: form feeds and lone carriage returns belong to a line."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def as_lines(data: bytes) -> list[bytes] | None:
    """The lines to be compared, those of wide encodings as UTF-8; `None` for what is no text."""
    text = decoded(data)
    if text is None:
        return None
    return lines_of(text.text.encode("utf-8", "surrogatepass") if is_wide(text.encoded) else data)


def is_wide(encoded: Encoded) -> bool:
    """A line feed is more than one byte."""
    return encoded.encoding.startswith(("utf-16", "utf-32"))


def difference(before: bytes | None, after: bytes | None, path: str, from_path: str | None = None) -> Difference:
    """The unified diff of two versions of a file (`None`: there is none), and its places."""
    old, new = as_lines(before or b""), as_lines(after or b"")
    if old is None or new is None:
        return Difference("", 0, 0, ())
    if max(len(old), len(new)) > MAX_DIFFED:
        return Difference("", len(new), len(old), (Hunk(0, len(old), 0, len(new)),))
    matcher = LineMatcher(None, old, new)
    hunks = tuple(Hunk(a, b, c, d) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")
    shown = [
        *_header(path, from_path, has_before=before is not None, has_after=after is not None),
        *(line for group in matcher.get_grouped_opcodes(_CONTEXT) for line in _written(group, old, new)),
    ]
    return Difference(
        "".join(shown) if hunks else "",
        sum(hunk.new_end - hunk.new_start for hunk in hunks),
        sum(hunk.end - hunk.start for hunk in hunks),
        hunks,
    )


def _header(path: str, from_path: str | None, *, has_before: bool, has_after: bool) -> list[str]:
    old = f"a/{(from_path or path).lstrip('/')}" if has_before else "/dev/null"
    new = f"b/{path.lstrip('/')}" if has_after else "/dev/null"
    return [f"--- {old}\n", f"+++ {new}\n"]


def _written(group: list[tuple[str, int, int, int, int]], old: list[bytes], new: list[bytes]) -> list[str]:
    first, last = group[0], group[-1]
    rows = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
    for tag, start, end, new_start, new_end in group:
        if tag == "equal":
            rows += [_row(" ", line) for line in old[start:end]]
            continue
        rows += [_row("-", line) for line in old[start:end]]
        rows += [_row("+", line) for line in new[new_start:new_end]]
    return rows


def _row(sign: str, line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return f"{sign}{text}" if text.endswith("\n") else f"{sign}{text}\n\\ No newline at end of file\n"


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"
