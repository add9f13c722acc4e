"""How much turns changed: lines added and removed, of one change and of the whole session."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Iterable
from typing import NamedTuple

from gemini_companion.engine.changes.merging import taken_back
from gemini_companion.engine.changes.text import difference
from gemini_companion.engine.errors import StorageFault
from gemini_companion.engine.history.change_record import FileRecord
from gemini_companion.engine.history.tool_entries import FileChange, FileVersion
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_events import ChangesChanged
from gemini_companion.sessions.tools.changes_of_chat import changes_of_chat

logger = logging.getLogger(__name__)


class Loaded(NamedTuple):
    """The bytes of a version."""

    data: bytes | None
    """`None` where there is no file, or where `problem` says why the bytes are not there."""
    problem: str = ""


async def load_version(session: Session, version: FileVersion | None) -> Loaded:
    """The bytes of a version of a file, or why they are not to be had, for people."""
    if version is None or version.is_folder:
        return Loaded(None)
    if not version.is_kept:
        return Loaded(None, "What it was before was not kept.")
    try:
        data = await session.services.store.versions.load(version.digest)
    except StorageFault as fault:
        return Loaded(None, fault.message)
    return Loaded(data, "" if data is not None else "What it was before is no longer kept: there was no more room.")


class OwnVersions(NamedTuple):
    """What tells a turn's own change of a file: the file after it, with and without what the turn did."""

    old: Loaded
    new: Loaded
    is_exact: bool
    """False where what somebody else did to the file during the turn cannot be told apart."""


async def own_versions(session: Session, record: FileRecord) -> OwnVersions:
    """The versions around a turn's change of a file. What a person did to it between two of its writes is in both."""
    old, new = await load_version(session, record.before), await load_version(session, record.after)
    steps = [step.change for step in record.steps]
    if all(earlier.new == later.old for earlier, later in itertools.pairwise(steps)):
        return OwnVersions(old, new, is_exact=True)
    base = new.data
    for change in reversed(steps):
        before, after = await load_version(session, change.old), await load_version(session, change.new)
        if base is None or before.data is None or after.data is None:
            return OwnVersions(old, new, is_exact=False)
        base = await asyncio.to_thread(taken_back, before.data, after.data, base)
    if base is None:
        return OwnVersions(old, new, is_exact=False)
    return OwnVersions(Loaded(base), new, is_exact=True)


async def counted(old: bytes | None, new: bytes | None) -> tuple[int, int]:
    """Lines added and removed."""
    found = await asyncio.to_thread(difference, old, new, "")
    return found.added, found.removed


async def emit_changes(session: Session, paths: Iterable[str], turn_id: str | None = None) -> None:
    """Tell that files were changed, or put back: the session's clients, and those of the chat that it works for."""
    paths = tuple(dict.fromkeys(paths))
    await _emit_changes(session, paths, turn_id)
    if session.caller is not None and session.meta.agent is not None:
        await _emit_changes(session.caller, paths, session.meta.agent.turn_id)


async def _emit_changes(session: Session, paths: tuple[str, ...], turn_id: str | None) -> None:
    record = session.tools_state.changes
    try:
        record = (await changes_of_chat(session)).record
    except StorageFault as fault:  # the change happened: it is told, if without what subagents did
        logger.warning("What subagents changed cannot be read: %s", fault.message)
    records = [one for one in record.files() if one.state == "made"]
    numbers = [await _lines(session, record) for record in records]
    session.emit(
        ChangesChanged(
            files=len({record.path for record in records}),
            added=sum(added for added, _ in numbers),
            removed=sum(removed for _, removed in numbers),
            paths=paths,
        ),
        turn_id,
    )


async def _lines(session: Session, record: FileRecord) -> tuple[int, int]:
    """Lines that a turn added and removed in a file, first to last."""
    if len(record.steps) == 1:
        return record.steps[0].change.added, record.steps[0].change.removed
    known = session.tools_state.changes.counted
    key = tuple(
        version.digest if version else "-" for step in record.steps for version in (step.change.old, step.change.new)
    )
    if key not in known:
        old, new, _ = await own_versions(session, record)
        if old.problem or new.problem:
            changes = [step.change for step in record.steps]
            return sum(change.added for change in changes), sum(change.removed for change in changes)
        known[key] = await counted(old.data, new.data)
    return known[key]


def is_folder(change: FileChange) -> bool:
    """Whether a change is of a folder alone."""
    return all(version is None or version.is_folder for version in (change.old, change.new))
