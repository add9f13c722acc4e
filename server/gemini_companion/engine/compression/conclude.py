"""From a snapshot and two counts to an outcome: the entry to install, or why not, and the sentence for people."""

from __future__ import annotations

from typing import Final

import msgspec

from gemini_companion.engine.compression.plan import Plan, Trim
from gemini_companion.engine.history.content import Content, model_text, user_text
from gemini_companion.engine.history.log import CompactionEntry, CompressionResult, CompressionStatus, Cut

ACKNOWLEDGEMENT: Final = "Got it. Thanks for the additional context!"
"""The model's answer to a snapshot; a literal that other programs look for."""

SMALL_HISTORY_TOKENS: Final = 50_000
"""Below this an inflated result is blamed on the history's size (peer: the /compress message)."""


def assemble(plan: Plan, snapshot: str) -> tuple[Content, ...]:
    """Step 10: what stands in place of the hidden span (pins are put in by the view)."""
    if plan.acknowledge:
        return (user_text(snapshot), model_text(ACKNOWLEDGEMENT))
    return (user_text(snapshot),)


def compaction_entry(
    plan: Plan, snapshot: str, *, compaction_id: str, entry_id: str, seq: int, time: int, result: CompressionResult
) -> CompactionEntry:
    """The entry that installs `plan` with `snapshot`."""
    tail_seqs = {item.seq for item in plan.tail}
    return CompactionEntry(
        id=entry_id,
        seq=seq,
        time=time,
        compaction_id=compaction_id,
        result=result,
        hides=plan.hides,
        keeps=(plan.kept_prompt.seq,) if plan.kept_prompt else (),
        replacement=assemble(plan, snapshot),
        covers=plan.covers,
        cuts=tuple(cut for cut in plan.trim.cuts if cut.seq in tail_seqs),
    )


def truncation_entry(trim: Trim, *, compaction_id: str, entry_id: str, seq: int, time: int, result: CompressionResult) -> CompactionEntry:
    """The entry that installs the cuts alone (CONTENT_TRUNCATED)."""
    return CompactionEntry(id=entry_id, seq=seq, time=time, compaction_id=compaction_id, result=result, cuts=trim.cuts)


def without_cuts(entry: CompactionEntry, failed: frozenset[Cut]) -> CompactionEntry:
    """The entry without the cuts whose files could not be written: those outputs stay whole."""
    return msgspec.structs.replace(entry, cuts=tuple(cut for cut in entry.cuts if cut not in failed))


def message_for(status: CompressionStatus, before: int, after: int) -> str:
    """A sentence for people: how far it shrank, or why it did not."""
    match status:
        case "COMPRESSED":
            return f"Compressed the chat from {before:,} to {after:,} tokens."
        case "PREVIEW":
            return f"Preview: the chat would shrink from {before:,} to {after:,} tokens. Nothing is changed until you apply it."
        case "CONTENT_TRUNCATED":
            return f"Shortened large tool outputs, from {before:,} to {after:,} tokens. The whole outputs are kept in files."
        case "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT" if before < SMALL_HISTORY_TOKENS:
            return f"Compressing is not worth it for a history this small ({before:,} tokens). Nothing was changed."
        case "COMPRESSION_FAILED_INFLATED_TOKEN_COUNT":
            return f"The result did not get smaller ({before:,} to {after:,} tokens), so the full history stays."
        case "COMPRESSION_FAILED_TOKEN_COUNT_ERROR":
            return "The tokens could not be counted, so the full history stays."
        case "COMPRESSION_FAILED_EMPTY_SUMMARY":
            return "The summary came back empty, so the full history stays."
        case "UNDONE":
            return f"Undone: the chat is back at {after:,} tokens, with everything that came later."
        case _:
            return "Nothing to compress."
