"""The history as clients read it: the protocol's shapes of its contents and pages."""

from __future__ import annotations

from typing import Literal

import msgspec

from gemini_companion.engine.history.command_use import CommandUse
from gemini_companion.engine.history.content import Part
from gemini_companion.engine.history.extent import SelectionCut, TextExtent
from gemini_companion.engine.history.log import Attachment, Usage, Withheld
from gemini_companion.engine.history.shown import Shown
from gemini_companion.engine.history.tool_entries import CallRecord
from gemini_companion.sessions.results import SessionInfo


class ContextReceipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What of the editor went to the model with a turn, and what was withheld and why."""

    kind: Literal["full", "delta"]
    files: tuple[str, ...]
    selection_chars: int
    withheld: tuple[Withheld, ...]
    closed: tuple[str, ...] = ()
    """Those of `files` that the model was told are open no more."""
    texts: tuple[TextExtent, ...] = ()
    """How much was sent of the files whose text it is about; of the other files only the path."""
    selection_cut: SelectionCut | None = None
    more_open_files: int = 0
    """Open files that were left out because only so many go along."""


class HistoryItem(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One content of a listing, with its origin in the log."""

    role: Literal["user", "model"]
    parts: tuple[Part, ...]
    entry_id: str
    kind: str
    seq: int
    entry_ids: tuple[str, ...] = ()
    """The entries that it represents, if they are others than `entryId` alone (a snapshot hides many)."""
    turn_id: str | None = None
    time: int | None = None
    outcome: str | None = None
    """How its turn ended, if not completed: `cancelled`, `failed`, `interrupted`, `stopped`; `replaced` by another."""
    end_seq: int | None = None
    """The place of that end in the log: a compression before it ran within the turn."""
    hidden_by: str | None = None
    """The compression that hides it from the model."""
    reason: str | None = None
    """Why its turn failed."""
    by: str | None = None
    """Who cancelled its turn: a client's id; `leave` where its own client went, `shutdown` where the daemon ended."""
    shown: Shown | None = None
    """In a transcript: what was shown behind it of an answer that was cut short. `outcome` says how, also where the
    content itself is kept."""
    hook_contexts: int = 0
    """Parts at the end of `parts` that hooks added."""
    command: CommandUse | None = None
    """Of a prompt: the slash command that it is; what that stands for are the parts behind what was typed."""
    attachments: tuple[Attachment, ...] = ()
    """Of a prompt: the attached files; the last parts are theirs, one for each."""
    withheld: tuple[Withheld, ...] = ()
    """Of a prompt: files that it names and that were not attached, and why."""
    receipt: ContextReceipt | None = None
    """Of the kind `ide`, in a transcript."""
    calls: tuple[CallRecord, ...] = ()
    """Of tool results: what became of each call, in their order."""
    model: str | None = None
    """Of a reply in a transcript, as the next three."""
    finish_reason: str | None = None
    usage: Usage | None = None
    duration_ms: int | None = None
    """How long the turn took, on its last reply."""


class HistoryPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Contents in order."""

    contents: tuple[HistoryItem, ...]
    version: int
    """The log's newest sequence number."""
    epoch: int
    """Rises with every change of the view except appending."""
    next_cursor: str | None = None
    """Where the next page begins; absent on the last."""


class NewestContents(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The end of a session, oldest first, whether it is loaded or not."""

    session: SessionInfo
    """As a listing has it, where it is not loaded."""
    contents: tuple[HistoryItem, ...]
    """Of a transcript."""
