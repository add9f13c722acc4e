"""The history as clients read it: the model's view or the whole transcript, at once or page by page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from gemini_companion.engine.errors import InvalidInput, StaleVersion
from gemini_companion.engine.history.compose import origins
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item
from gemini_companion.engine.history.log import (
    CompressionEntry,
    ContentEntry,
    IdeContextEntry,
    PromptEntry,
    ReplyEntry,
    SteerEntry,
    ToolResultEntry,
)
from gemini_companion.engine.history.sources import Sources
from gemini_companion.engine.history.transcript import Transcript
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import is_much, off_loop
from gemini_companion.sessions.transcript.results import ContextReceipt, HistoryItem, HistoryPage

_CURSOR: Final = re.compile(r"(?P<epoch>[0-9]{1,12})\.(?P<index>[0-9]{1,12})", re.ASCII)
"""Epoch of the view (0 for the transcript, which has none) and index of the next page's first content; where the newest
come first, of the one behind its last."""

_KINDS: Final = {
    PromptEntry: "prompt",
    SteerEntry: "steer",
    ReplyEntry: "reply",
    ToolResultEntry: "toolResult",
    IdeContextEntry: "ide",
}


async def history_page(
    session: Session,
    view: Literal["model", "transcript"],
    *,
    cursor: str | None,
    limit: int | None,
    newest_first: bool = False,
) -> HistoryPage:
    """The curated view, or every content in the log; `limit` contents from `cursor` on, oldest first.

    With `newest_first` the pages themselves come in the other order: the first one has the last contents.

    The pages of a transcript do not change. Those of the model's view belong to one epoch: after a compression, an undo
    or a resumption a cursor into it raises `StaleVersion`. Raises `InvalidInput` for a cursor of another origin.
    """
    history = session.history
    version, epoch = history.version, history.epoch
    cursor_epoch = epoch if view == "model" else 0
    items = history.whole_rounds() if view == "model" else None
    total = len(session.transcript) if items is None else len(items)
    at = None if cursor is None else _index_in(cursor, cursor_epoch)
    start, end, following = _newest_page(total, at, limit) if newest_first else _page(total, at, limit)
    if items is None:
        units = session.transcript.units_of(start, end)
        logged = session.transcript.copied() if is_much(units) else session.transcript
        entries = await off_loop(units, lambda: logged.page(start, end))
        contents = await logged_page(entries, session.transcript, history.in_force.values())
    else:
        contents = await _model_view(history, items[start:end])
    next_cursor = None if following is None else f"{cursor_epoch}.{following}"
    return HistoryPage(contents=contents, version=version, epoch=epoch, next_cursor=next_cursor)


def _page(total: int, start: int | None, limit: int | None) -> tuple[int, int, int | None]:
    """Where a page begins and ends, and the index in the cursor to the next one, if there is one."""
    start = start or 0
    end = total if limit is None else min(total, start + limit)
    return start, end, end if end < total else None


def _newest_page(total: int, end: int | None, limit: int | None) -> tuple[int, int, int | None]:
    """The same, from the end of all to their beginning."""
    end = total if end is None else min(total, end)
    start = 0 if limit is None else max(0, end - limit)
    return start, end, start or None


def _index_in(cursor: str, epoch: int) -> int:
    """Index of a page's first content. Raises `InvalidInput` for a wrong cursor, `StaleVersion` for another epoch."""
    match = _CURSOR.fullmatch(cursor)
    if match is None or (int(match["epoch"]) == 0) != (epoch == 0):
        raise InvalidInput(
            "This cursor did not come with a page of this view.", path="$.cursor", hint="Read again without it."
        )
    if int(match["epoch"]) != epoch:
        raise StaleVersion(
            "The history was compressed, undone or resumed since the last page.",
            hint="Read it again from the beginning.",
        )
    return int(match["index"])


async def _model_view(history: History, items: Sequence[Item]) -> tuple[HistoryItem, ...]:
    sources, in_force = history.sources.copied(), dict(history.in_force)
    pins = {item: history.provenance(item) for item in items if item.kind == "pin"}
    stand_for_others = any(item.kind in REPLACEMENT_KINDS for item in items)

    def listed() -> tuple[HistoryItem, ...]:
        return tuple(_listed(item, pins.get(item) or _hidden_behind(item, sources, in_force)) for item in items)

    return await off_loop(sources.units if stand_for_others else len(items), listed)


def _hidden_behind(item: Item, sources: Sources, in_force: Mapping[str, CompressionEntry]) -> tuple[str, ...]:
    is_whole = item.kind not in REPLACEMENT_KINDS
    return () if is_whole else origins(item, in_force.get(item.compression_id or ""), sources)


def _listed(item: Item, entry_ids: tuple[str, ...]) -> HistoryItem:
    return HistoryItem(
        role=item.content.role,
        parts=tuple(item.content.parts),
        entry_id=item.entry_id,
        entry_ids=entry_ids,
        kind=item.kind,
        seq=item.seq,
        turn_id=item.turn_id or None,
    )


async def logged_page(
    entries: Sequence[ContentEntry], transcript: Transcript, in_force: Iterable[CompressionEntry]
) -> tuple[HistoryItem, ...]:
    """Contents of a transcript, as it says how their turns ended, and as the compressions in force hide them."""
    hiding = [compression for compression in in_force if compression.hides is not None]
    return await off_loop(len(entries), lambda: tuple(_logged(entry, transcript, hiding) for entry in entries))


def _logged(entry: ContentEntry, transcript: Transcript, hiding: Sequence[CompressionEntry]) -> HistoryItem:
    end = transcript.end_of(entry.turn_id)
    if end is not None and (end.outcome == "completed" or entry.seq <= end.kept_to):
        end = None
    cut_short = transcript.cut_short_behind(entry)
    end = end or cut_short
    hidden_by = next(
        (
            c.compression_id
            for c in reversed(hiding)
            if c.hides and c.hides[0] <= entry.seq <= c.hides[1] and entry.seq not in c.keeps
        ),
        None,
    )
    item = HistoryItem(
        role=entry.content.role,
        parts=tuple(entry.content.parts),
        entry_id=entry.id,
        kind=_KINDS[type(entry)],
        seq=entry.seq,
        turn_id=entry.turn_id,
        time=entry.time,
        outcome=end.outcome if end else None,
        end_seq=end.seq if end else None,
        hidden_by=hidden_by,
        reason=(end.reason or None) if end else None,
        by=(end.by or None) if end and end.outcome == "cancelled" else None,
        shown=cut_short.shown if cut_short else None,
    )
    match entry:
        case SteerEntry() if entry.reminder:
            return msgspec.structs.replace(item, kind="reminder", reason=entry.reminder)
        case PromptEntry() | SteerEntry():
            return msgspec.structs.replace(
                item,
                attachments=entry.attachments,
                withheld=entry.withheld,
                hook_contexts=entry.hook_contexts,
                command=entry.command if isinstance(entry, PromptEntry) else None,
            )
        case ReplyEntry():
            return msgspec.structs.replace(
                item,
                model=entry.model or None,
                finish_reason=entry.finish_reason or None,
                usage=entry.usage,
                duration_ms=transcript.duration_ms(entry),
            )
        case ToolResultEntry():
            return msgspec.structs.replace(item, calls=entry.calls)
        case IdeContextEntry():
            receipt = ContextReceipt(
                kind=entry.kind,
                files=entry.paths,
                closed=entry.closed,
                texts=entry.texts,
                selection_chars=entry.selection_chars,
                selection_cut=entry.selection_cut,
                more_open_files=entry.more_open_files,
                withheld=entry.withheld,
            )
            return msgspec.structs.replace(item, receipt=receipt)
        case _:
            return item
