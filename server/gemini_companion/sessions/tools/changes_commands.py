"""What commands do to files: noticed by looking at the workspace before and after, put back only where known."""

from __future__ import annotations

from typing import Any, Final

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.tool_entries import ChangeEntry, FileChange, FileVersion
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.changes_noticed import MOST_LISTED, Noticed, Scan, Stamps, noticed
from gemini_companion.sessions.tools.changes_numbers import counted, emit_changes
from gemini_companion.sessions.tools.changes_versions import Look, Version, kept, look
from gemini_companion.tools.tool import ToolContext, ToolRefusal

_MOST_KNOWN: Final = 200
"""Files that calls changed before and whose bytes are held while a command runs; and, below, these bytes."""
_MOST_BYTES: Final = 20 * 2**20
_MOST_READ: Final = 50 * 2**20
"""Bytes of changed files that are read after a command."""
_NOT_LISTED: Final = (
    "What commands did outside the workspace folders, and to files that are ignored, is not listed and cannot be taken"
    " back."
)


class CommandRecord:
    """A command from before it to after it. Made by `begin`."""

    def __init__(self, session: Session, context: ToolContext, scan: Scan, stamps: Stamps, known: dict[str, Look]):
        self._session = session
        self._context = context
        self._scan = scan
        self._stamps = stamps
        self._known = known

    @classmethod
    async def begin(cls, session: Session, context: ToolContext, scan: Scan) -> CommandRecord:
        """Look at the workspace, and hold the bytes of the files that calls have changed before."""
        known: dict[str, Look] = {}
        held = 0
        for path in sorted(session.tools_state.changes.paths())[:_MOST_KNOWN]:
            try:
                seen = await look(path, context.ports.files, context.roots, None)
            except ToolRefusal:
                continue
            held += seen.disk.size if seen.disk is not None else 0
            if held > _MOST_BYTES:
                break
            known[path] = seen
        return cls(session, context, scan, await scan(context.roots), known)

    async def end(self) -> None:
        """Look again, and note what is different."""
        found = noticed(self._stamps, await self._scan(self._context.roots))
        known = [path for path in self._known if path not in set(found.paths)]  # ignored ones, or in folders not seen
        paths = [*known, *found.paths]
        if not found.paths and not known:
            return
        changes: list[FileChange] = []
        versions: list[Version | None] = []
        read = 0
        for path in paths[: MOST_LISTED + len(known)]:
            try:
                now = await look(path, self._context.ports.files, self._context.roots, None)
            except ToolRefusal:
                continue
            read += now.disk.size if now.disk is not None else 0
            change = await self._change(path, now, found, is_cheap=read <= _MOST_READ)
            if change is not None:
                changes.append(change)
                before = self._known.get(path)
                versions += [before.disk, now.disk] if before is not None else []
        if changes:
            await self._note(changes, versions, _note_of(found))

    async def _change(self, path: str, now: Look, found: Noticed, *, is_cheap: bool) -> FileChange | None:
        before = self._known.get(path)
        after = now.disk.noted if now.disk is not None else None
        if before is None:  # nobody knows its bytes
            is_new = path in found.created
            if is_new and after is None:
                return None
            old = None if is_new else self._unknown(path)
            added = (await counted(None, now.disk.data))[0] if is_new and now.disk is not None and is_cheap else 0
            return FileChange(path=path, kind=_kind(old, after), before=old, after=_unkept(after), added=added)
        old = before.disk.noted if before.disk is not None else None
        if old == after:
            return None
        lines = await counted(before.disk and before.disk.data, now.disk and now.disk.data) if is_cheap else (0, 0)
        return FileChange(path=path, kind=_kind(old, after), before=old, after=after, added=lines[0], removed=lines[1])

    def _unknown(self, path: str) -> FileVersion:
        stamp = self._stamps.files.get(path)
        size, mode = (stamp.size, stamp.mode & 0o7777) if stamp is not None else (0, 0o644)
        return FileVersion(digest="", size=size, mode=mode, is_kept=False)

    async def _note(self, changes: list[FileChange], versions: list[Version | None], note: str) -> None:
        session, context = self._session, self._context
        stamp, change_id = session.stamp(), session.services.new_id("change")

        def draft(seq: int) -> ChangeEntry:
            return ChangeEntry(
                **stamp,
                seq=seq,
                turn_id=context.turn_id,
                change_id=change_id,
                changes=tuple(changes),
                call_id=context.call_id,
                is_done=True,
                by_command=True,
                note=note,
            )

        try:
            await session.services.store.versions.save(session.session_id, context.turn_id, kept(versions))
            await session.append(draft)
        except CompanionError:
            session.write_later(draft)  # what cannot be brought back is told when it is tried
        await emit_changes(session, [change.path for change in changes], context.turn_id)


def _note_of(found: Noticed) -> str:
    notes = [_NOT_LISTED]
    if len(found.paths) > MOST_LISTED:
        notes.append(f"A command changed {len(found.paths) - MOST_LISTED:,} more files than are listed.")
    if found.is_partial:
        notes.append("The workspace is too large to be looked at whole: a command may have changed more.")
    return " ".join(notes)


def _unkept(version: FileVersion | None) -> FileVersion | None:
    """A version whose bytes are not kept: they would be of use only with those before."""
    if version is None:
        return None
    return FileVersion(digest=version.digest, size=version.size, mode=version.mode, is_kept=False)


def _kind(old: object, new: object) -> Any:
    return "created" if old is None else "deleted" if new is None else "changed"
