"""Unified diffs of files, whole for those who agree to them, else no longer than people and models can read."""

from __future__ import annotations

from typing import Final

from gemini_companion.engine.ide_context.text_diff import unified_diff

MAX_LINES: Final = 2_000
_MAX_LINE: Final = 2_000


def file_diff(before: str | None, after: str, path: str, *, lines: int | None = MAX_LINES) -> str:
    """The diff of a file's text, with the two lines that name it; `before` is `None` for a new file.

    Line ends are line feeds; a diff with more than `lines` is cut and says so. With `None` it is whole, long lines too.
    """
    old = "/dev/null" if before is None else f"a/{path}"
    return f"--- {old}\n+++ b/{path}\n{text_diff(before or '', after, lines=lines)}"


def text_diff(before: str, after: str, *, lines: int | None = MAX_LINES) -> str:
    """The hunks alone."""
    if lines is None:
        return _whole(before, after)
    whole = _whole(before, after).split("\n")
    kept = [line if len(line) <= _MAX_LINE else line[:_MAX_LINE] + "…" for line in whole[:lines]]
    if len(whole) > lines:
        kept.append(f"… and {len(whole) - lines:,} more lines")
    return "\n".join(kept)


def _whole(before: str, after: str) -> str:
    if after and not before:
        added = after.removesuffix("\n").split("\n")
        return "\n".join([f"@@ -0,0 +1,{len(added)} @@", *(f"+{line}" for line in added)])
    if before.endswith("\n") and after.endswith("\n"):
        before, after = before[:-1], after[:-1]
    return unified_diff(before, after)


def counts(diff: str) -> tuple[int, int]:
    """Lines that a diff adds, and lines that it takes away."""
    body = [line for line in diff.split("\n") if not line.startswith(("+++ ", "--- "))]
    return sum(line.startswith("+") for line in body), sum(line.startswith("-") for line in body)
