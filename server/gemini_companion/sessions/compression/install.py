"""Counting a request before and after, and installing or keeping a compression: steps 11 and 12 of `run`. One that came
to nothing is noted here too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import msgspec

from gemini_companion.engine.compression.messages import message_for
from gemini_companion.engine.compression.stale import has_let_go, is_stale
from gemini_companion.engine.compression.truncate import whole_text
from gemini_companion.engine.compression.types import Counts, judge
from gemini_companion.engine.errors import (
    CompanionError,
    ContextOverflow,
    StaleVersion,
    StorageFault,
    TokenCountFailed,
)
from gemini_companion.engine.history.content import Content
from gemini_companion.engine.history.entry import Cut
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import (
    AttemptEntry,
    CompressionEntry,
    CompressionResult,
    CompressionStatus,
    PreviewEntry,
)
from gemini_companion.engine.history.part import response_of
from gemini_companion.engine.history.sendable import sendable
from gemini_companion.engine.history.totals import Totals
from gemini_companion.engine.tokens.ledger import totals_of
from gemini_companion.sessions.compression.hooks import tell_hooks
from gemini_companion.sessions.compression_events import ChatCompressed
from gemini_companion.sessions.compression_state import Compression
from gemini_companion.sessions.models.port import CountedTokens, ModelRequest
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.retry import RetryBudget
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.threads import off_loop
from gemini_companion.sessions.uncounted import uncounted_of

logger = logging.getLogger(__name__)

_AS_LARGE = 0.02
"""Share of the request by which one may grow that is made since the person changed what is to be kept."""


async def count_both(session: Session, choice: ModelChoice, after: Sequence[Item], retries: RetryBudget) -> Counts:
    """Count the request with the present view and with another in the same way, by the provider or else by the ledger.

    IDE entries of the old view count in both: the next turn sends the editor's state again. Raises `TokenCountFailed`
    or another `ModelFault` if the provider does not count; if it refuses the old request for its size, or if its counts
    are absurd, the ledger estimates both.
    """
    remotely = choice.provider.capabilities.counts_remotely
    shown = session.parts().with_totals(session.history.totals())
    known = session.ledger.read(choice.name, session.history.epoch, shown)
    old_view, new_view = await _views(session, after, session.environment, remotely=remotely)
    estimated = _estimates(session, choice, old_view.totals, new_view.totals)
    if not remotely:
        return estimated
    try:
        old = await _count(session, choice, old_view.contents, retries)
    except ContextOverflow:
        return estimated
    try:
        new = await _count(session, choice, new_view.contents, retries)
    except ContextOverflow as overflow:
        raise TokenCountFailed(overflow.message) from overflow
    rest = 0 if old.covers_system else uncounted_of(session, choice, known, old.total)
    counted = Counts(old.total + rest, new.total + rest, "api")
    media = old_view.totals.media, new_view.totals.media
    if not session.ledger.believes_both(
        estimated[:2], counted[:2], media
    ):  # no count keeps a chat from being compressed
        logger.warning("Not believed: counted %d and %d tokens, estimated %d and %d", *counted[:2], *estimated[:2])
        return estimated
    return counted


class _View(NamedTuple):
    """What is counted of a view."""

    contents: tuple[Content, ...]
    """With what surrounds it, as they are sent; none where nobody is asked to count them."""
    totals: Totals


async def _views(
    session: Session, after: Sequence[Item], around: Content | None, *, remotely: bool
) -> tuple[_View, _View]:
    """The present view, of which the history knows all, and the other one with the IDE entries of the present."""
    history = session.history
    old = _View(history.request_contents(around, (), close=False) if remotely else (), history.totals())
    shown = [item for item in history.curated() if item.kind == "ide"] if history.ide_entries else []

    def look() -> _View:
        items = [*after, *shown]
        head = () if around is None else (around,)
        sent = sendable((*head, *(item.content for item in items))) if remotely else ()
        return _View(sent, totals_of(items))

    return old, await off_loop(len(after), look)


def _estimates(session: Session, choice: ModelChoice, before: Totals, after: Totals) -> Counts:
    parts = session.parts()
    due = parts.ide_context - before.ide_context

    def estimate(totals: Totals) -> int:
        return session.ledger.estimate(
            choice.name, parts.with_totals(totals._replace(ide_context=totals.ide_context + due))
        )

    return Counts(estimate(before), estimate(after), "estimate")


async def read_both(session: Session, choice: ModelChoice, after: Sequence[Item]) -> Counts:
    """The session's token number, and what it would be with the other view; as `count_both`, but nobody is asked."""
    old, new = await _views(session, after, None, remotely=False)
    tokens, source = session.token_count(choice)
    estimated = _estimates(session, choice, old.totals, new.totals)
    return Counts(tokens, max(0, tokens - estimated.before + estimated.after), source)


def observe_before(session: Session, choice: ModelChoice, counts: Counts) -> None:
    """Learn from the count of the present view, whatever becomes of the compression that it was made for."""
    if counts.source == "api":
        # The next request sends IDE context again that is not in the view.
        session.observe(choice, counts.before + session.parts().ide_context - session.history.totals().ide_context)


async def _count(
    session: Session, choice: ModelChoice, contents: tuple[Content, ...], retries: RetryBudget
) -> CountedTokens:
    request = ModelRequest(
        model=choice.name,
        contents=contents,
        system_instruction=session.system_instruction,
        tools=session.declarations(choice),
    )
    count = await retries.run(lambda: choice.provider.count_tokens(request))
    if count.total <= 0:
        raise TokenCountFailed("The provider counted no tokens at all.")
    return count


def judge_in(session: Session, counts: Counts) -> CompressionStatus:
    """See `judge`. Where the person has said since the newest compression what need not be kept, or is to be again, the
    next one is made for that, and may be as large.
    """
    history = session.history
    newest = max((entry.seq for entry in history.in_force.outermost), default=0)
    may = int(counts.before * _AS_LARGE) if 0 < newest < history.unwanted_since else 0
    return judge(counts._replace(after=counts.after - may))


async def install(
    session: Session,
    choice: ModelChoice,
    compression: Compression,
    entry: CompressionEntry,
    base_version: int,
    rules_as_of: int | None = None,
) -> CompressionResult:
    """Append the entry, which completes the compression, then emit its events.

    Outputs whose files cannot be written stay whole. If that uses up the gain, nothing is installed, and the status of
    the result is COMPRESSION_FAILED_INFLATED_TOKEN_COUNT. Raises `StaleVersion` if the span was changed after
    `base_version`, a sequence number, or a rule taken back after `rules_as_of`, another; or `StorageFault`.
    """

    def swap(seq: int) -> CompressionEntry:
        """Rules are set beside the lane: whether one was taken back is known where everything before is written."""
        if rules_as_of is not None and has_let_go(session.history, rules_as_of):
            raise StaleVersion("A rule was taken back meanwhile, so nothing was installed.", hint="Try again.")
        return msgspec.structs.replace(entry, seq=seq)

    if is_stale(session.history, entry, base_version):
        raise StaleVersion(
            "The history was changed while it was being compressed, so nothing was installed.",
            hint="Read the history again, then compress again.",
        )
    planned = entry
    try:
        entry = await _write_cuts(session, planned)
        result = entry.result
        if judge_in(session, Counts.of(result)) != "COMPRESSED":
            await _remove_cuts(session, planned)
            return msgspec.structs.replace(result, status="COMPRESSION_FAILED_INFLATED_TOKEN_COUNT")
        compression.job.is_written = True
        await session.commit(swap)
    except BaseException:
        await asyncio.shield(_remove_cuts(session, planned))  # no entry names them: nobody would ever delete them
        raise
    if result.token_count_source == "api":
        session.observe(choice, result.new_token_count)
    session.compressions.preparations.forget_failures()
    compression.complete(result)
    tell_hooks(session, result)
    session.emit(
        ChatCompressed(
            tokens_before=result.original_token_count, tokens_after=result.new_token_count, trigger=result.trigger
        ),
    )
    session.notify_usage()
    return result


async def note_attempt(
    session: Session, result: CompressionResult, tokens: int, *, forced: bool, fault: str = ""
) -> None:
    """Log that nothing was installed at this count, for the status and the failure flag. `fault` is the name of one."""
    stamp = session.stamp()
    await session.append(
        lambda seq: AttemptEntry(**stamp, seq=seq, result=result, forced=forced, token_count=tokens, fault=fault)
    )


async def keep_preview(
    session: Session, compression: Compression, entry: CompressionEntry, base_version: int, basis: str
) -> CompressionResult:
    """Keep what would be installed in the log as a preview, made of the history up to `base_version` under settings of
    this `basis`.

    If somebody takes over one that was prepared while it is being written, it is kept once more, as theirs.
    """
    result = entry.result
    while True:
        stamp, kept = session.stamp(), msgspec.structs.replace(entry, result=result, preview_id=entry.compression_id)
        preview = PreviewEntry(
            **stamp, seq=0, compression_id=entry.compression_id, compression=kept, base_seq=base_version, basis=basis
        )
        compression.job.is_written = True
        await session.commit(partial(_numbered, preview))
        if result.trigger == compression.trigger:
            return result
        result = msgspec.structs.replace(result, trigger=compression.trigger)


def _numbered(preview: PreviewEntry, seq: int) -> PreviewEntry:
    return msgspec.structs.replace(preview, seq=seq)


def as_preview(result: CompressionResult) -> CompressionResult:
    """The result of a compression that is computed and not installed."""
    counts = result.original_token_count, result.new_token_count
    done = message_for(result.status, *counts)
    notes = result.message.removeprefix(done) if result.message.startswith(done) else ""
    return msgspec.structs.replace(result, status="PREVIEW", message=f"{message_for('PREVIEW', *counts)}{notes}")


def _name_of(cut: Cut) -> str:
    return cut.path.replace("\\", "/").rsplit("/", 1)[-1]


async def _remove_cuts(session: Session, entry: CompressionEntry) -> None:
    """Delete the files of cuts that were not installed; their names are this compression's alone."""
    if not entry.cuts or entry.compression_id in session.history.compressions:
        return
    with suppress(CompanionError):
        await session.services.store.remove_texts(session.session_id, [_name_of(cut) for cut in entry.cuts])


async def _write_cuts(session: Session, entry: CompressionEntry) -> CompressionEntry:
    """The entry without the cuts whose whole outputs could not be written to their files."""
    if not entry.cuts:
        return entry
    sources = {item.seq: item for item in session.history.sources.live}
    failed: set[Cut] = set()
    for cut in entry.cuts:
        if cut.seq not in sources:  # its turn was rolled back meanwhile
            failed.add(cut)
            continue
        response = response_of(sources[cut.seq].content.parts[cut.part])
        try:
            path = await session.services.store.save_text(session.session_id, _name_of(cut), whole_text(response or {}))
        except StorageFault:
            failed.add(cut)
            continue
        if path != cut.path:
            failed.add(cut)
    if not failed:
        return entry
    lost = sum(cut.tokens_saved for cut in failed)
    result = msgspec.structs.replace(entry.result, new_token_count=entry.result.new_token_count + lost)
    return msgspec.structs.replace(entry, cuts=tuple(cut for cut in entry.cuts if cut not in failed), result=result)
