"""The history as clients read it: the model's view or the whole transcript, at once or page by page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from gemini_companion.engine.errors import InvalidInput, StaleVersion
from gemini_companion.engine.history.item import REPLACEMENT_KINDS, Item
from gemini_companion.engine.history.log import (
    CompressionEntry,
    ContentEntry,
    Entry,
    IdeContextEntry,
    PromptEntry,
    ReplyEntry,
    SteerEntry,
    ToolResultEntry,
    TurnEndEntry,
)
from gemini_companion.engine.history.view import History
from gemini_companion.sessions.results import ContextReceipt, HistoryItem, HistoryPage
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop

_CURSOR: Final = re.compile(r"(?P<epoch>[0-9]{1,12})\.(?P<index>[0-9]{1,12})", re.ASCII)
"""Epoch of the view (0 for the transcript, which has none) and index of the next page's first content."""

_KINDS: Final = {
    PromptEntry: "prompt",
    SteerEntry: "steer",
    ReplyEntry: "reply",
    ToolResultEntry: "toolResult",
    IdeContextEntry: "ide",
}


async def history_page(
    session: Session, view: Literal["model", "transcript"], *, cursor: str | None, limit: int | None
) -> HistoryPage:
    """The curated view, or every content in the log; `limit` contents from `cursor` on.

    The pages of a transcript do not change. Those of the model's view belong to one epoch: after a compression, an undo
    or a resumption a cursor into it raises `StaleVersion`. Raises `InvalidInput` for a cursor of another origin.
    """
    history = session.history
    version, epoch = history.version, history.epoch
    cursor_epoch = epoch if view == "model" else 0
    start = 0 if cursor is None else _index_in(cursor, cursor_epoch)
    end = None if limit is None else start + limit
    if view == "model":
        items = history.curated()
        total, contents = len(items), await _model_view(history, items[start:end])
    else:
        entries = [entry for entry in history.entries if isinstance(entry, ContentEntry)]
        total, contents = len(entries), await _transcript(history, entries[start:end])
    following = f"{cursor_epoch}.{end}" if end is not None and end < total else None
    return HistoryPage(contents=contents, version=version, epoch=epoch, next_cursor=following)


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
    provenance = [history.provenance(item) if item.kind in REPLACEMENT_KINDS else () for item in items]
    return await off_loop(len(items), lambda: tuple(map(_listed, items, provenance)))


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


class _Turns(NamedTuple):
    """Facts about turns, by turn id."""

    ends: dict[str, TurnEndEntry]
    """The last end of each; none of a turn that goes on after it."""
    prompts: dict[str, PromptEntry]
    replies: dict[str, int]
    """Sequence number of the last reply."""
    durations: dict[str, int]

    @staticmethod
    def of(entries: Sequence[Entry]) -> _Turns:
        turns = _Turns({}, {}, {}, {})
        for entry in entries:
            if isinstance(entry, ContentEntry):
                turns.ends.pop(entry.turn_id, None)
            match entry:
                case PromptEntry():
                    turns.prompts[entry.turn_id] = entry
                case ReplyEntry():
                    turns.replies[entry.turn_id] = entry.seq
                case TurnEndEntry():
                    turns.ends[entry.turn_id] = entry
                    if entry.duration_ms is not None:
                        turns.durations[entry.turn_id] = entry.duration_ms
                case _:
                    pass
        return turns

    def duration_ms(self, reply: ReplyEntry) -> int | None:
        """How long the turn took, for its last reply only; if that was not logged, by the times of its entries."""
        if self.replies.get(reply.turn_id) != reply.seq:
            return None
        prompt = self.prompts.get(reply.turn_id)
        passed = reply.time - prompt.time if prompt else 0
        return self.durations.get(reply.turn_id, passed if passed > 0 else None)


async def _transcript(history: History, entries: Sequence[ContentEntry]) -> tuple[HistoryItem, ...]:
    everything = list(history.entries)
    hiding = [compression for compression in history.in_force.values() if compression.hides is not None]

    def work() -> tuple[HistoryItem, ...]:
        turns = _Turns.of(everything)
        return tuple(_logged(entry, turns, hiding) for entry in entries)

    return await off_loop(len(everything), work)


def _logged(entry: ContentEntry, turns: _Turns, hiding: Sequence[CompressionEntry]) -> HistoryItem:
    end = turns.ends.get(entry.turn_id)
    if end is not None and (end.outcome == "completed" or entry.seq <= end.kept_to):
        end = None
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
        hidden_by=hidden_by,
        reason=(end.reason or None) if end else None,
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
                duration_ms=turns.duration_ms(entry),
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
