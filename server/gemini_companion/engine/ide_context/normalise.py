"""What an editor reports, made ready for a model: ordered, bounded, masked."""

from __future__ import annotations

from collections.abc import Iterable

from gemini_companion.engine.ide_context.positions import count_line_breaks, line_span
from gemini_companion.engine.ide_context.secrets import REACH, mask_between, mask_secrets
from gemini_companion.engine.ide_context.state import SEVERITIES, Cursor, Diagnostic, EditorState, LineRange, OpenFile

MAX_FILES = 10
"""Open files that are sent, as in Gemini CLI (`companion.ide.maxOpenFiles`)."""
MAX_SELECTION = 16_384
"""Characters of selected text, as in Gemini CLI, which counts UTF-16 units."""
MAX_EXTRAS = 8_192
"""Characters of what Gemini CLI does not send: unsaved text and diagnostics. About 2,000 tokens; our choice."""
TRUNCATED = "… [truncated]"
"""Ends a text that was cut."""

_MAX_DIAGNOSTICS = 20
_MAX_MESSAGE = 300
_BAND = 20
"""Lines that the cursor can move within before another excerpt is shown, so that a moving cursor does not resend it."""
_MAX_POSITION = 2**31


def normalise(
    files: Iterable[OpenFile],
    *,
    is_trusted: bool | None = None,
    max_files: int = MAX_FILES,
    max_selection: int = MAX_SELECTION,
    max_extras: int = MAX_EXTRAS,
) -> EditorState:
    """Order, bound and mask the open files. Fields that only this function sets are ignored in its input.

    Newest first, equally new ones in the order given, each path once. Only the newest can be active; the others lose
    cursor, selection, visible range and diagnostics. Texts are masked before they are cut, so that no part of a secret
    stays. Of `max_extras` characters the diagnostics get at most half, the active file's unsaved text the rest (an
    excerpt around the cursor if need be), the other files' unsaved texts what is then left, whole or not at all.
    """
    newest_first = sorted(
        files,
        key=lambda file: file.last_focused_at if file.last_focused_at == file.last_focused_at else 0,
        reverse=True,
    )
    distinct: dict[str, OpenFile] = {}
    for file in newest_first:
        distinct.setdefault(_well_formed(file.path), file)
    distinct.pop("", None)

    kept: list[OpenFile] = []
    left = max_extras
    for path, file in list(distinct.items())[: max(0, max_files)]:
        if kept or not file.is_active:
            sent, spent = _background(path, file, left)
        else:
            sent, spent = _foreground(path, file, max_selection, left)
        kept.append(sent)
        left -= spent
    return EditorState(files=tuple(kept), is_trusted=is_trusted)


def _foreground(path: str, file: OpenFile, max_selection: int, budget: int) -> tuple[OpenFile, int]:
    """The active file as it is sent, and the characters of the budget that it takes."""
    selection, hidden = _cut(file.selected_text or "", max_selection)
    diagnostics, masked = _diagnostics(file.diagnostics, budget // 2)
    hidden += masked
    spent = sum(len(diagnostic.message) for diagnostic in diagnostics)
    cursor = file.cursor and Cursor(line=_position(file.cursor.line), character=_position(file.cursor.character))
    visible = file.visible_range and _range(file.visible_range)
    focus = cursor.line if cursor else visible.start_line if visible else 1
    text, lines, masked = _unsaved(file, focus, budget - spent)
    return (
        OpenFile(
            path=path,
            last_focused_at=file.last_focused_at,
            is_active=True,
            cursor=cursor,
            selected_text=selection or None,
            visible_range=visible,
            unsaved_text=text,
            unsaved_lines=lines,
            unsaved_omitted=file.unsaved_text is not None and text is None,
            diagnostics=diagnostics,
            omitted_diagnostics=len(file.diagnostics) - len(diagnostics),
            masked=hidden + masked,
        ),
        spent + len(text or ""),
    )


def _background(path: str, file: OpenFile, budget: int) -> tuple[OpenFile, int]:
    """A file without the focus as it is sent, and the characters of the budget that it takes."""
    text, masked = None, 0
    if file.unsaved_text is not None and len(file.unsaved_text) <= budget + REACH:
        text, masked = mask_secrets(_well_formed(file.unsaved_text))
        if len(text) > budget:
            text, masked = None, 0
    sent = OpenFile(
        path=path,
        last_focused_at=file.last_focused_at,
        unsaved_text=text,
        unsaved_omitted=file.unsaved_text is not None and text is None,
        masked=masked,
    )
    return sent, len(text or "")


def _cut(text: str, limit: int) -> tuple[str, int]:
    """At most `limit` characters of the text, then `TRUNCATED` if there was more; and how many secrets were masked."""
    text = _well_formed(text[: limit + REACH])
    shown, masked = mask_between(text, 0, limit)
    return (shown[:limit] + TRUNCATED if len(text) > limit or len(shown) > limit else shown), masked


def _diagnostics(diagnostics: tuple[Diagnostic, ...], budget: int) -> tuple[tuple[Diagnostic, ...], int]:
    """The worst of them that fit into the budget, then in the order of the text; and how many secrets were masked."""
    sent: list[Diagnostic] = []
    hidden = 0
    for diagnostic in sorted(
        diagnostics, key=lambda each: (SEVERITIES.index(each.severity), each.line, each.character)
    )[:_MAX_DIAGNOSTICS]:
        message, masked = _cut(diagnostic.message, _MAX_MESSAGE)
        budget -= len(message)
        if budget < 0:
            break
        hidden += masked
        sent.append(
            Diagnostic(
                line=_position(diagnostic.line),
                character=_position(diagnostic.character),
                severity=diagnostic.severity,
                message=message,
                source=_well_formed(diagnostic.source[:40]),
            )
        )
    return tuple(sent), hidden


def _unsaved(file: OpenFile, focus: int, budget: int) -> tuple[str | None, LineRange | None, int]:
    """The unsaved text, whole or the lines around `focus` that fit; which those are; the number of masked secrets.

    The text is `None` if it does not fit at all, the lines are `None` if it is whole.
    """
    text = file.unsaved_text
    if text is None or budget <= 0:
        return None, None, 0
    if len(text) <= budget + REACH:
        masked, count = mask_secrets(_well_formed(text))
        if len(masked) <= budget:
            return masked, None, count
    anchor = line_span(text, focus - 1 - (focus - 1) % _BAND)[0]
    start = max(0, min(anchor - budget // 3, len(text) - budget))
    end = min(len(text), start + budget)
    middle = (start + end) // 2  # whole lines, unless a line is longer than half of what fits
    if start > 0 and (line_break := text.find("\n", start - 1, middle)) >= 0:
        start = line_break + 1
    if end < len(text) and (line_break := text.rfind("\n", middle, end)) >= 0:
        end = line_break + 1
    start += text[start - 1 : start + 1] == "\r\n"  # never between the two
    end -= text[end - 1 : end + 1] == "\r\n"
    first = 1 + count_line_breaks(text[:start])
    last = first + count_line_breaks(text[start:end]) - text.endswith(("\n", "\r"), start, end)
    shown, count = mask_between(text, start, end)
    return _well_formed(shown[:budget]), LineRange(start_line=first, end_line=last), count


def _range(lines: LineRange) -> LineRange:
    start = _position(lines.start_line)
    return LineRange(start_line=start, end_line=max(start, _position(lines.end_line)))


def _position(value: int) -> int:
    return max(1, min(value, _MAX_POSITION))


def _well_formed(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced; JSON cannot hold those."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
