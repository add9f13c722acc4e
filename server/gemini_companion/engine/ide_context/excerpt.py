"""What of a long text goes along: the lines around the place that the person looks at, masked."""

from __future__ import annotations

from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.ide_context.positions import line_span
from gemini_companion.engine.ide_context.secrets import REACH, mask_between
from gemini_companion.engine.ide_context.state import FileText, LineRange


def plain_lines(text: str) -> str:
    """The text as JSON can hold it, with a line feed after every line, whatever ended it."""
    return well_formed(text).replace("\r\n", "\n").replace("\r", "\n")


def whole(text: str, budget: int) -> tuple[FileText | None, int]:
    """All of a text, masked, and how many secrets were; `None` if it has more characters than `budget`."""
    if len(text) <= budget + REACH:
        text = plain_lines(text)
        masked, count = mask_between(text, 0, len(text), keep_lines=True)
        if len(masked) <= budget:
            return FileText(text=masked), count
    return None, 0


def excerpt(text: str, focus: int, budget: int) -> tuple[FileText, int]:
    """At most `budget` (at least 1) characters of a text, masked, and how many secrets were.

    All of it if it fits, else whole lines around line `focus`, from 1. Where these begin moves by quarters of the
    budget, so that a moving cursor seldom changes them. Only a line longer than what fits is cut within.
    """
    shown, count = whole(text, budget)
    if shown is not None:
        return shown, count
    text = plain_lines(text)
    step = max(1, budget // 4)
    at = line_span(text, focus - 1)[0]
    start = max(0, min(at - at % step - step, len(text) - budget))
    end = min(len(text), start + budget)
    middle = (start + end) // 2
    if start > 0 and (line_break := text.find("\n", start - 1, middle)) >= 0:
        start = line_break + 1
    if end < len(text) and (line_break := text.rfind("\n", middle, end)) >= 0:
        end = line_break + 1
    masked, count = mask_between(text, start, end, keep_lines=True)
    if len(masked) > budget:  # a mask may be longer than what it hides
        masked = masked[: masked.rfind("\n", 0, budget) + 1] or masked[:budget]
        end = -1
    first = 1 + text.count("\n", 0, start)
    lines = LineRange(start_line=first, end_line=max(first, first + masked.count("\n") - masked.endswith("\n")))
    begins_a_line = start == 0 or text[start - 1] == "\n"
    ends_a_line = masked.endswith("\n") or end == len(text)
    return (
        FileText(text=masked, lines=lines, line_count=line_count(text), is_cut=not (begins_a_line and ends_a_line)),
        count,
    )


def line_count(text: str) -> int:
    """The number of lines of a text whose lines end with line feeds, as people count them."""
    return text.count("\n") + (not text.endswith("\n"))
