"""What commands do to files: noticed by looking at the workspace before and after, put back where bytes are known."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.tool_entries import MAX_VERSION, ChangeEntry, FileChange, FileVersion
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.changes_noticed import (
    MOST_LISTED,
    Held,
    Noticed,
    Scan,
    Stamps,
    not_after,
    noticed,
    packed,
    unpacked,
    within,
)
from gemini_companion.sessions.tools.changes_numbers import counted, emit_changes, is_folder
from gemini_companion.sessions.tools.changes_told import note_of, told
from gemini_companion.sessions.tools.changes_versions import (
    Look,
    Version,
    folder_version,
    kept,
    link_version,
    look,
    text_of,
)
from gemini_companion.sessions.tools.changes_versions import version_of as version_of_bytes
from gemini_companion.settings.obeyed import Made
from gemini_companion.tools.tool import ToolContext, ToolRefusal

logger = logging.getLogger(__name__)

_MOST_KNOWN: Final = 200
"""Files that calls changed before and whose bytes are held while a command runs; and, below, these bytes."""
_MOST_BYTES: Final = 20 * 2**20
_MOST_READ: Final = 50 * 2**20
"""Bytes of changed files whose lines are counted, and which are kept, after a command."""
_CUT_SHORT: Final = (
    "A command was cut short with the daemon. What was changed about until then is listed; somebody else may have"
    " changed some of it."
)
_UNKNOWN: Final = (
    "A command was cut short with the daemon, and what the workspace was like before it is not kept: what it changed is"
    " not listed."
)


class CommandRecord:
    """A command from before it to after it. Made by `begin`, or by `left` for one that a killed daemon left open."""

    def __init__(
        self,
        session: Session,
        context: ToolContext,
        scan: Scan,
        entry: ChangeEntry,
        stamps: Stamps,
        held: Held,
        known: Mapping[str, Look],
    ) -> None:
        self.session = session
        self.by_others: dict[str, str] = {}
        """Digests of files that other sessions wrote while it ran."""
        self.made: Sequence[Made] = ()
        """Those that this program would obey."""
        self.changed: Sequence[str] = ()
        """The files that it made or changed; known after `end`."""
        self.of_git: Sequence[str] = ()
        """What git goes by, where it made or changed it."""
        self.deciding = ""
        self.told = ""
        """What it changed, for the model; known after `end`."""
        self._saved_before: int | None = None
        """The editor's number of saves when it began; `None` if that is not known."""
        self._by_person: list[str] = []
        """Files that the person saved last while it ran."""
        self._context = context
        self._scan = scan
        self._entry = entry
        self._stamps = stamps
        self._held = held
        self._known = known

    @classmethod
    async def begin(cls, session: Session, context: ToolContext, scan: Scan) -> CommandRecord:
        """Look at the workspace, hold the bytes of its small files, and note durably what it looks like."""
        saved_before = max((saved.number for saved in context.ports.editor.saved().values()), default=0)
        known = await _known(session, context)
        stamps = await scan(context.roots)
        held = await scan.hold(stamps)
        entry = ChangeEntry(
            **session.stamp(),
            seq=0,
            turn_id=context.turn_id,
            change_id=session.services.new_id("change"),
            changes=(),
            call_id=context.call_id,
            by_command=True,
        )
        record = cls(session, context, scan, entry, stamps, held, known)
        record._saved_before = saved_before
        session.tools_state.changes.under_way.add(entry.change_id)
        try:
            await record._note_beginning()
        except BaseException:
            session.tools_state.changes.under_way.discard(entry.change_id)
            if entry.change_id in session.tools_state.changes.entries:  # it was written, and nothing was run
                session.write_later(record._done((), ""))
            raise
        return record

    @classmethod
    async def left(cls, session: Session, context: ToolContext, scan: Scan, entry: ChangeEntry) -> None:
        """Settle the record of a command during which the daemon was killed, by what is there now."""
        versions = session.services.store.versions
        try:
            data = await versions.load(entry.stamps) if entry.stamps else None
        except CompanionError:
            data = None
        before = unpacked(data) if data is not None else None
        if before is None:
            record = cls(session, context, scan, entry, Stamps({}), _NOTHING, {})
            await record._finish([], [], _UNKNOWN)
            return
        stamps, digests = within(before[0], context.roots), before[1]
        cut_at = session.tools_state.changes.cut_at.get(entry.change_id)
        found = noticed(stamps, not_after(await scan(context.roots), stamps, cut_at))
        bytes_of: dict[str, bytes] = {}
        for path in [*found.paths[:MOST_LISTED], *found.moved.values()]:
            try:
                old = await versions.load(digests[path]) if path in digests else None
            except CompanionError:
                continue
            if old is not None:
                bytes_of[path] = old
        await cls(session, context, scan, entry, stamps, Held(bytes_of.get, digests), {})._note(found, _CUT_SHORT)

    async def end(self) -> None:
        """Look again, and note what is different."""
        try:
            await self._note(noticed(self._stamps, await self._scan(self._context.roots)))
        except Exception:  # the command itself has run; its record stays open and is settled later
            logger.exception("What a command changed could not be noted")
        finally:
            self.session.tools_state.changes.under_way.discard(self._entry.change_id)

    async def _note_beginning(self) -> None:
        session, data = self.session, packed(self._stamps, self._held.digests)
        if len(data) <= MAX_VERSION:
            try:
                await session.services.store.versions.save(session.session_id, self._context.turn_id, [data])
                self._entry = msgspec.structs.replace(self._entry, stamps=version_of_bytes(data).digest)
            except CompanionError as fault:  # the command need not wait for room: only a crash would miss this
                logger.warning("What the workspace looks like could not be kept: %s", fault.message)
        entry = self._entry
        await session.append(lambda seq: msgspec.structs.replace(entry, seq=seq))

    async def _note(self, found: Noticed, note: str = "") -> None:
        sources = set(found.moved.values())
        paths = dict.fromkeys(path for path in found.paths if path not in sources)
        more = [path for path in self._known if path not in paths]  # ignored ones, or in folders not seen
        folders = [path for path in found.folders if path not in paths]
        after: dict[str, Version | None] = {}
        for path in [*more, *list(paths)[:MOST_LISTED], *folders[:MOST_LISTED]]:
            try:
                now = (await look(path, self._context.ports.files, self._context.roots, None)).disk
            except ToolRefusal:
                continue
            if now is not None and self._is_persons(path, now):
                self._by_person.append(path)
            elif now is None or self.by_others.get(path) != now.digest:
                after[path] = now
        self.of_git = found.of_git
        self.changed = list(dict.fromkeys([path for path in after if after[path] is not None] + found.created))
        changes, versions = await self._changes(after, found)
        await self._finish(
            changes,
            versions,
            " ".join(filter(None, (note, note_of(found, self._by_person, self._context) if changes else ""))),
        )
        self.told = told(self._context, changes, len(paths) - MOST_LISTED)

    async def _changes(
        self, after: Mapping[str, Version | None], found: Noticed
    ) -> tuple[list[FileChange], list[Version]]:
        before = {path: self._before(path, now, found) for path, now in after.items()}
        moved = {path: source for path, source in found.moved.items() if path in after}
        moved |= _moved_by_content({path: one for path, one in before.items() if path not in moved}, after)
        sources = set(moved.values())
        changes: list[FileChange] = []
        versions: list[Version] = []
        read = 0
        for path, now in after.items():
            if path in sources:
                continue
            source = moved.get(path)
            old = before[path] if source is None else self._before(source, now, found, of_moved=True)
            if old is None and now is None:
                continue
            if source is None and _is_same(old, now):
                continue
            if path in found.deleted and now is not None and old is not None and old.data is None:
                continue  # it is still there and only ignored by now
            read += sum(each.size for each in (old, now) if each is not None)
            is_cheap = read <= _MOST_READ
            change, needed = await _change(path, source, old, now, is_cheap=is_cheap)
            changes.append(change)
            versions += needed
        return changes, versions

    def _before(self, path: str, now: Version | None, found: Noticed, *, of_moved: bool = False) -> Version | None:
        """What was there before the command, its bytes with it where they are known."""
        if path in self._known:
            return self._known[path].disk
        if path in self._stamps.folders:
            return folder_version(self._stamps.folders[path])
        stamp = self._stamps.files.get(path)
        if stamp is None:
            return None
        if stamp.link is not None:
            return link_version(stamp.link)
        mode = stamp.mode & 0o7777
        data = self._held.data(path)
        if data is not None:
            return version_of_bytes(data, mode)
        if now is not None and (of_moved or path in found.same_bytes) and now.digest:
            return msgspec.structs.replace(now, mode=mode)
        return Version(data=None, digest=self._held.digests.get(path, ""), size=stamp.size, mode=mode)

    async def _finish(self, changes: list[FileChange], versions: Iterable[Version], note: str) -> None:
        session, turn_id, draft = self.session, self._entry.turn_id, self._done(changes, note)
        try:
            await session.services.store.versions.save(session.session_id, turn_id, kept(versions))
            await session.append(draft)
        except CompanionError:
            session.write_later(draft)  # what cannot be brought back is told when it is tried
        else:
            await self._forget_beginning()
        if paths := [change.path for change in changes if not is_folder(change)]:
            await emit_changes(session, paths, turn_id)

    def _is_persons(self, path: str, now: Version) -> bool:
        return now.data is not None and self.is_by_person(path, now.data)

    def is_by_person(self, path: str, data: bytes) -> bool:
        """Whether a file is as the person saved it since the command began: a revert must not take that away."""
        saved = self._context.ports.editor.saved().get(path)
        if saved is None or self._saved_before is None or saved.number <= self._saved_before:
            return False
        text = text_of(data)
        return text is not None and saved.is_text(text)

    def _done(self, changes: Iterable[FileChange], note: str) -> Draft:
        stamp = self.session.stamp()
        done = msgspec.structs.replace(self._entry, **stamp, changes=tuple(changes), is_done=True, note=note, stamps="")
        return lambda seq: msgspec.structs.replace(done, seq=seq)

    async def _forget_beginning(self) -> None:
        """What the workspace looked like is large, another one with every command, and of use only until its end."""
        if not self._entry.stamps:
            return
        try:
            versions = self.session.services.store.versions
            await versions.forget(self.session.session_id, self._entry.turn_id, self._entry.stamps)
        except CompanionError as fault:  # it goes with the session, or for lack of room
            logger.warning("What the workspace looked like stays kept: %s", fault.message)


_NOTHING: Final = Held(dict[str, bytes]().get, {})


async def _known(session: Session, context: ToolContext) -> dict[str, Look]:
    """The files that calls have changed before, ignored ones too."""
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
    return known


async def _change(
    path: str, source: str | None, old: Version | None, now: Version | None, *, is_cheap: bool
) -> tuple[FileChange, list[Version]]:
    """One change, and the versions that are to be kept for it."""
    is_known = old is not None and old.data is not None
    needed = [each for each in (old, now) if each is not None] if is_known and is_cheap else []
    can_count = is_cheap and (old is None or is_known) and (now is None or now.data is not None)
    lines = await counted(old and old.data, now and now.data) if can_count else (0, 0)
    kind = "renamed" if source is not None else "created" if old is None else "deleted" if now is None else "changed"
    change = FileChange(
        path=path,
        kind=kind,
        from_path=source,
        before=_noted(old, is_kept=bool(needed)),
        after=_noted(now, is_kept=bool(needed)),
        added=lines[0],
        removed=lines[1],
    )
    return change, needed


def _noted(version: Version | None, *, is_kept: bool) -> FileVersion | None:
    """As the log has it; bytes that are not kept would be of use only with those of the other side."""
    if version is None or is_kept or version.is_folder:
        return None if version is None else version.noted
    return msgspec.structs.replace(version.noted, is_kept=False)


def _is_same(old: Version | None, now: Version | None) -> bool:
    return (old is not None and now is not None and old.digest != "" and old.noted == now.noted) or old == now


def _moved_by_content(before: Mapping[str, Version | None], after: Mapping[str, Version | None]) -> dict[str, str]:
    """Files that are gone and there again under another name, byte for byte: `git mv`, or a copy and a deletion."""
    gone: dict[tuple[str, int], list[str]] = {}
    for path, old in before.items():
        if old is not None and old.digest and old.size and old.link is None and after[path] is None:
            gone.setdefault((old.digest, old.mode), []).append(path)
    moved: dict[str, str] = {}
    for path, now in after.items():
        if path in before and before[path] is None and now is not None and now.digest and now.link is None:
            sources = gone.get((now.digest, now.mode))
            if sources:
                moved[path] = sources.pop()
    return moved
