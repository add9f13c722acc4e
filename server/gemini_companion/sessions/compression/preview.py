"""Applying a preview, as it was made or edited, and throwing one away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gemini_companion.engine.compression.answer import edited_snapshot
from gemini_companion.engine.compression.citations import carried_sources
from gemini_companion.engine.compression.messages import TOO_LITTLE
from gemini_companion.engine.compression.preparing import is_prepared
from gemini_companion.engine.compression.stale import is_stale
from gemini_companion.engine.compression.types import snapshot_text, with_appendix
from gemini_companion.engine.errors import CompressionNotFound, InvalidInput, ModelFault, StaleVersion
from gemini_companion.engine.history.content import user_text
from gemini_companion.engine.history.item import Item
from gemini_companion.engine.history.log import (
    CompressionEntry,
    CompressionResult,
    ConstraintEntry,
    DiscardEntry,
    PinEntry,
    PreviewEntry,
    StatementEntry,
    Trigger,
    TurnEndEntry,
    UnpinEntry,
)
from gemini_companion.sessions.compression.gating import SnapshotGate, judged, span_of_entry, with_note, written_here
from gemini_companion.sessions.compression.install import count_both, judge_in, observe_before, read_both
from gemini_companion.sessions.compression.job import new_compression, wait_and_list
from gemini_companion.sessions.compression.run import CompressionRun
from gemini_companion.sessions.compression.summariser import Written
from gemini_companion.sessions.models.registry import ModelChoice
from gemini_companion.sessions.session import Session


async def apply_preview(
    session: Session, *, client: str, compression_id: str, snapshot: str | None = None
) -> CompressionResult:
    """Install a preview, with an edited text if `snapshot` is given. Counts tokens again.

    Raises `CompressionNotFound`, `StaleVersion`, `StorageFault`, or `InvalidInput` for an empty text.
    """
    _edited(_find_preview(session, compression_id).compression, snapshot)  # refused at once, not after waiting
    compression = new_compression(session, "apply", "manual", compression_id)
    run = _ApplyRun(session=session, compression=compression)
    session.lane.submit(compression.prepare(lambda: run.apply(compression_id, snapshot)))
    return await wait_and_list(session, compression.job, client)


async def install_preview(
    session: Session,
    compression_id: str,
    client: str,
    at_safe_point_of: ModelChoice | None = None,
    *,
    trigger: Trigger | None = None,
    work: CompressionResult | None = None,
) -> CompressionResult:
    """Install a preview that was just computed, for somebody who asked to compress meanwhile, or find it installed; or
    one that was prepared, with the `trigger` "background". `work` is the preview's result where nobody but them is told
    what it took.

    Within the turn that holds the lane if its choice of model is given, else behind what the lane has. Raises
    `CompressionNotFound` and `StaleVersion` if it cannot be installed any more.
    """
    installed = session.history.in_force.get(compression_id)
    if installed is not None:
        return installed.result
    compression = session.compressions.applying(compression_id)
    if compression is None:
        preview = _find_preview(session, compression_id).compression
        excluded = session.history.excluded_from
        if excluded is not None and preview.hides is not None and preview.hides[1] >= excluded:
            raise StaleVersion("The preview hides a turn that is being answered anew, and may come back.")
        by: Trigger = trigger or ("auto" if at_safe_point_of else "manual")
        compression = new_compression(session, "apply", by, compression_id)
        run = _ApplyRun(session=session, compression=compression, work=work)
        job = compression.prepare(lambda: run.apply(compression_id, None, at_safe_point_of))
        if at_safe_point_of:
            session.lane.admit(job)
        else:
            session.lane.submit(job)
    elif at_safe_point_of:
        await session.lane.admit_waiting(compression.job)
    return await compression.job.wait(client)


async def discard_preview(session: Session, compression_id: str) -> None:
    """Throw a person's preview away, for good; nothing for one that was thrown away. What is due then waits for it no
    more. Raises `CompressionNotFound`, `StorageFault`.
    """
    if any(entry.compression_id == compression_id for entry in session.history.entries.of(DiscardEntry)):
        return
    preview = session.history.preview
    if preview is None or preview.compression_id != compression_id:
        raise _not_found(session, compression_id)
    stamp = session.stamp()
    await session.append(lambda seq: DiscardEntry(**stamp, seq=seq, compression_id=compression_id))


def _find_preview(session: Session, compression_id: str) -> PreviewEntry:
    known = (session.history.preview, session.prepared.entry)
    preview = next((one for one in known if one is not None and one.compression_id == compression_id), None)
    if preview is None:
        raise _not_found(session, compression_id)
    return preview


def _not_found(session: Session, compression_id: str) -> CompressionNotFound:
    if compression_id in session.history.in_force:
        why = f"The preview {compression_id} is applied already."
    elif compression_id in session.history.compressions:
        why = f"The preview {compression_id} was applied, and is not in force any more."
    else:
        why = f"There is no preview {compression_id}, or a newer one took its place."
    return CompressionNotFound(why, hint="Ask for a new preview with gemini/compress.")


@dataclass(slots=True, kw_only=True)
class _ApplyRun(CompressionRun):
    """The last steps of a compression whose snapshot exists already."""

    work: CompressionResult | None = None
    """What tells the calls and the time that the snapshot took, if nobody was told yet."""

    async def apply(
        self, compression_id: str, snapshot: str | None, choice: ModelChoice | None = None
    ) -> CompressionResult:
        preview = _find_preview(self.session, compression_id)
        return await self.from_begin_to_end(
            lambda: self._install_preview(preview, snapshot), choice, failed="The preview was not applied"
        )

    async def _install_preview(self, preview: PreviewEntry, snapshot: str | None) -> CompressionResult:
        session, rules_as_of = self.session, self.session.history.version
        entry, text = _edited(preview.compression, snapshot)
        if snapshot is None and _has_other_rules(session, preview):
            entry, text = _without_appendix(entry)
        if is_stale(session.history, entry, preview.base_seq):
            raise StaleVersion(
                "The history was changed since this preview was made.",
                hint="Ask for a new preview with gemini/compress.",
            )
        before = session.history.curated()
        if entry is not preview.compression:
            entry = await self._gated(entry, text or "", before, preview.compression)
        if self.compression.trigger == "background":
            counts = await read_both(session, self.choice, session.history.view_with(entry))
        else:
            self.compression.enter("counting")
            version = session.history.version
            try:
                counts = await count_both(session, self.choice, session.history.view_with(entry), self.retries)
            except ModelFault:
                return await self._failed(self.result("COMPRESSION_FAILED_TOKEN_COUNT_ERROR"))
            if session.history.version == version:
                observe_before(session, self.choice, counts)
        status = judge_in(session, counts)
        if status != "COMPRESSED":
            message = (
                f"With this snapshot the chat would not get smaller ({counts.before:,} to {counts.after:,} tokens), so"
                " it was not applied."
            )
            return await self._failed(self.result(status, counts, message=message))
        if self.compression.trigger == "background" and counts.save_little:
            return self._nothing(TOO_LITTLE)
        self.compression.enter("installing")
        first, last = entry.hides or (1, 0)
        split_at = sum(1 for item in before if item.seq <= last)
        result = msgspec.structs.replace(
            self.result(status, counts, snapshot=text, with_id=True),
            split_at=split_at,
            kept_contents=sum(1 for item in before if not first <= item.seq <= last),
            strategy=entry.result.strategy,
            verdict=entry.result.verdict,
            appendix=entry.result.appendix,
            retention=entry.result.retention,
        )
        shown = preview.compression.result
        if shown.built_in and text == shown.snapshot:  # what a person edited is theirs
            result = written_here(result)
        work = shown if is_prepared(preview) else self.work
        if work is not None:
            result = msgspec.structs.replace(result, model_calls=work.model_calls, duration_ms=work.duration_ms)
        stamp = session.stamp()
        return await self._install(
            msgspec.structs.replace(entry, result=with_note(result), id=stamp["id"], time=stamp["time"]),
            preview.base_seq,
            rules_as_of,
        )

    async def _gated(
        self, entry: CompressionEntry, text: str, view: Sequence[Item], preview: CompressionEntry
    ) -> CompressionEntry:
        """The entry with what its snapshot leaves out behind it, by the rules of now. A person saw it: it is never
        refused.
        """
        session, span = self.session, span_of_entry(entry, view)
        if span is None:
            return entry
        has_record = entry.result.strategy == "record"
        gate = SnapshotGate(session, span, window=session.limit(self.choice), has_record=has_record)
        try:
            admission = await gate.append_only(Written(text, ()))
        finally:
            gate.cancel()
        return msgspec.structs.replace(
            entry,
            replacement=with_appendix(entry.replacement, entry.snapshot_at, admission.appendix),
            sources=carried_sources(text, (), preview.result.snapshot, preview.sources),
            result=judged(entry.result, admission),
            words=admission.words,
        )


def _has_other_rules(session: Session, preview: PreviewEntry) -> bool:
    """Whether a rule was set, released or withdrawn since the preview was made, or a statement is not wanted any more:
    its appendix may say what is gone.

    One that was released meanwhile would go on to hold as something that the user said.
    """
    later = session.history.entries.since(preview.base_seq + 1)
    return any(
        isinstance(entry, PinEntry | UnpinEntry | ConstraintEntry | StatementEntry)
        or (isinstance(entry, TurnEndEntry) and entry.outcome == "replaced")
        for entry in later
    )


def _without_appendix(planned: CompressionEntry) -> tuple[CompressionEntry, str | None]:
    """The planned compression with its snapshot alone, and that; as it was if there is none."""
    at = planned.snapshot_at
    text = snapshot_text(planned.replacement[at]) if 0 <= at < len(planned.replacement) else ""
    if not text:
        return planned, planned.result.snapshot
    replacement = list(planned.replacement)
    replacement[at] = user_text(text)
    return msgspec.structs.replace(planned, replacement=tuple(replacement)), text


def _edited(planned: CompressionEntry, snapshot: str | None) -> tuple[CompressionEntry, str | None]:
    """The planned compression and its snapshot, both with the edited text if there is one."""
    if snapshot is None:
        return planned, planned.result.snapshot
    text = edited_snapshot(snapshot)
    if text is None:
        raise InvalidInput(
            "The edited snapshot is empty.",
            path="$.snapshot",
            hint="Leave `snapshot` out to apply the preview as it was.",
        )
    if not 0 <= planned.snapshot_at < len(planned.replacement):  # from a file, which may say anything
        raise StaleVersion("This preview has no snapshot.", hint="Ask for a new preview with gemini/compress.")
    replacement = list(planned.replacement)
    replacement[planned.snapshot_at] = user_text(text)
    return msgspec.structs.replace(planned, replacement=tuple(replacement)), text
