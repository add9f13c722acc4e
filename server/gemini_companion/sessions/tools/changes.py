"""The record of what calls do to files: what was there is durable before a call begins, what is there once it ended."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from hashlib import sha256
from typing import Any, Final

import msgspec

from gemini_companion.engine.errors import CompanionError
from gemini_companion.engine.history.tool_entries import ChangeEntry, FileChange
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.changes_commands import CommandRecord
from gemini_companion.sessions.tools.changes_noticed import Scan
from gemini_companion.sessions.tools.changes_numbers import counted, emit_changes, is_folder
from gemini_companion.sessions.tools.changes_versions import (
    Look,
    Version,
    caught_up,
    folder_version,
    kept,
    look,
    on_disk,
    version_of,
)
from gemini_companion.sessions.tools.obeying import Obeyed, deciding, warning
from gemini_companion.sessions.tools.tooling import Recorded
from gemini_companion.settings.obeyed import Watch, gate
from gemini_companion.tools.paths import innermost
from gemini_companion.tools.tool import Proposal, Tool, ToolContext, ToolRefusal

logger = logging.getLogger(__name__)

_NEW_FOLDER: Final = 0o755
"""Permission bits that a folder that is made is likely to get; what it got is noted behind it."""


class FileChanges:
    """Records the changes of calls; see `Changes`.

    `scan` looks at the workspace around commands, `obeyed` at the files that this program obeys; `runs_on` gives what
    waits for the command that a call left in the background, `None` for another one; `tell` warns the person.
    """

    def __init__(
        self,
        scan: Scan,
        *,
        obeyed: Obeyed | None = None,
        runs_on: Callable[[str, str], asyncio.Task[None] | None] = lambda session_id, call_id: None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._scan = scan
        self._obeyed = obeyed
        self._runs_on = runs_on
        self._tell = tell
        self._running: set[CommandRecord] = set()
        self._looking: set[asyncio.Task[None]] = set()
        self._ending: dict[str, set[asyncio.Task[None]]] = {}

    def recorded(
        self, session: Session, tool: Tool[Any], proposal: Proposal, context: ToolContext
    ) -> AbstractAsyncContextManager[Recorded | None]:
        """Around a call that may change files; see `Changes.recorded`."""
        if tool.risk == "command":
            return self._around_command(session, context)
        return self._around_edit(session, proposal, context)

    async def at_rest(self, session: Session) -> None:
        """Wait until all that calls which ended have changed is recorded."""
        while tasks := self._ending.get(session.session_id):
            await asyncio.wait(tasks)

    async def settle(self, session: Session, context: ToolContext) -> None:
        """Close the changes that were cut short, by what is on the disk now. To be called where none is under way."""
        for entry in session.tools_state.changes.open:
            if entry.by_command:
                await CommandRecord.left(session, context, self._scan, entry)
            else:
                await _settle_edit(session, context, entry)

    @asynccontextmanager
    async def _around_command(self, session: Session, context: ToolContext) -> AsyncGenerator[Recorded]:
        await self.settle(session, context)
        record = await CommandRecord.begin(session, context, self._scan)
        self._running.add(record)
        watch = None
        try:
            watch = await self._obeyed.begin(context.roots) if self._obeyed is not None else None
            yield record
        finally:
            self._running.discard(record)
            await self._to_its_end(session, self._command_ended(session, context, record, watch))

    async def _command_ended(
        self, session: Session, context: ToolContext, record: CommandRecord, watch: Watch | None
    ) -> None:
        await record.end()
        if self._obeyed is None or watch is None:
            return
        roots, waiting = context.roots, self._runs_on(session.session_id, context.call_id)
        record.made = await self._obeyed.end(
            watch, roots, record.changed, is_persons=record.is_by_person, goes_on=waiting is not None
        )
        record.deciding = deciding([*record.of_git, *record.changed, *(each.path for each in record.made)], context)
        if waiting is not None:
            obeyed = self._obeyed

            async def until_it_ends() -> None:
                await asyncio.wait({waiting})
                made = await obeyed.end(watch, roots, (), is_persons=record.is_by_person)
                if made:
                    self._tell(warning(made, roots))

            task = asyncio.create_task(until_it_ends(), name="looking at what a command left")
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    @asynccontextmanager
    async def _around_edit(
        self, session: Session, proposal: Proposal, context: ToolContext
    ) -> AsyncGenerator[Recorded | None]:
        paths = list(dict.fromkeys(touched.path for touched in proposal.touched if touched.how != "read"))
        if not paths:
            yield None
            return
        await self.settle(session, context)
        record = await _EditRecord.begin(session, paths, proposal, context)
        try:
            yield None
        except asyncio.CancelledError:
            await self._to_its_end(session, self._ended(record, was_cut=True))
            raise
        except BaseException:
            await self._to_its_end(session, self._ended(record))
            raise
        await self._to_its_end(session, self._ended(record))

    async def _ended(self, record: _EditRecord, *, was_cut: bool = False) -> None:
        for path, digest in (await record.end(was_cut=was_cut)).items():
            self.wrote(record.session, path, digest)

    def wrote(self, session: Session, path: str, digest: str) -> None:
        """A session wrote a file: commands of others did not, and it was agreed to."""
        gate.wrote(path, lambda data: sha256(data).hexdigest() == digest)
        for running in self._running:
            if running.session is not session:
                running.by_others[path] = digest

    async def _to_its_end(self, session: Session, work: Coroutine[Any, Any, None]) -> None:
        """Do it whole, even if the turn is stopped meanwhile."""
        task = asyncio.create_task(work, name="recording a change")
        ending = self._ending.setdefault(session.session_id, set())
        ending.add(task)
        task.add_done_callback(lambda task: self._forget(session.session_id, task))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task}, timeout=1.0)
            raise

    def _forget(self, session_id: str, task: asyncio.Task[None]) -> None:
        ending = self._ending.get(session_id, set())
        ending.discard(task)
        if not ending:
            self._ending.pop(session_id, None)
        if not task.cancelled() and (fault := task.exception()) is not None:
            logger.error("What a call changed could not be recorded", exc_info=fault)


class _EditRecord:
    """One call that changes files, from before it to after it."""

    def __init__(self, session: Session, context: ToolContext, change_id: str, before: dict[str, Look]) -> None:
        self.session = session
        self._context = context
        self._change_id = change_id
        self._before = before

    @classmethod
    async def begin(
        cls, session: Session, paths: Sequence[str], proposal: Proposal, context: ToolContext
    ) -> _EditRecord:
        """Keep what is there. Raises `ToolRefusal` if that cannot be kept."""
        ports = context.ports
        before: dict[str, Look] = {}
        for path in paths:
            before |= await _missing_folders(path, context)
            before[path] = await look(path, ports.files, context.roots, ports.editor)
        expected = {path: _expected(proposal, path, seen) for path, seen in before.items()}
        expected |= {path: folder_version(_NEW_FOLDER) for path in before if path not in paths}
        record = cls(session, context, session.services.new_id("change"), before)
        changes = [
            FileChange(
                path=path,
                kind="created" if seen.shown is None else "changed",
                before=_noted(seen.disk),
                unsaved=_noted(seen.unsaved),
                after=_noted(after),
            )
            for (path, seen), after in zip(before.items(), expected.values(), strict=True)
        ]
        versions = kept([*(each for seen in before.values() for each in seen.versions), *expected.values()])
        try:
            await session.services.store.versions.save(session.session_id, context.turn_id, versions)
            session.tools_state.changes.under_way.add(record._change_id)
            await session.append(record._draft(changes, is_done=False))
        except CompanionError as fault:
            session.tools_state.changes.under_way.discard(record._change_id)
            raise ToolRefusal(
                "Not done, nothing was changed: what is there now could not be kept, so the change could not be taken"
                f" back. {fault.message_with_hint}"
            ) from fault
        except asyncio.CancelledError:
            session.tools_state.changes.under_way.discard(record._change_id)
            if record._change_id in session.tools_state.changes.entries:  # it was written, and nothing was done
                session.write_later(record._draft((), is_done=True))
            raise
        return record

    async def end(self, *, was_cut: bool = False) -> dict[str, str]:
        """Keep what is there now, and say which digests were written. Where the call was cut short and nothing has
        changed yet, the change stays open: a thread may still be writing.
        """
        try:
            return await self._end(was_cut=was_cut)
        finally:
            self.session.tools_state.changes.under_way.discard(self._change_id)

    async def _end(self, *, was_cut: bool) -> dict[str, str]:
        session, ports = self.session, self._context.ports
        after: dict[str, Look] = {}
        for path, before in self._before.items():
            try:
                now = await look(path, ports.files, self._context.roots, ports.editor)
                after[path] = caught_up(before, now)
            except ToolRefusal as refusal:
                logger.warning("What a call left of a file cannot be read: %s", refusal.message)
                return {}  # it stays open and is settled when it can be read
        changes = await _differences(self._before, after)
        if was_cut and not changes:
            return {}
        await finish(session, self._draft(changes, is_done=True), self._context.turn_id, after.values())
        if changes:
            paths = [change.path for change in changes if not is_folder(change)]
            await emit_changes(session, paths, self._context.turn_id)
        return {path: seen.disk.digest for path, seen in after.items() if seen.disk is not None}

    def _draft(self, changes: Sequence[FileChange], *, is_done: bool) -> Draft:
        stamp, context, change_id = self.session.stamp(), self._context, self._change_id
        return lambda seq: ChangeEntry(
            **stamp,
            seq=seq,
            turn_id=context.turn_id,
            change_id=change_id,
            changes=tuple(changes),
            call_id=context.call_id,
            is_done=is_done,
        )


async def _settle_edit(session: Session, context: ToolContext, entry: ChangeEntry) -> None:
    changes: list[FileChange] = []
    looks: list[Look] = []
    try:
        for change in entry.changes:
            now = await look(change.path, context.ports.files, context.roots, context.ports.editor)
            looks.append(now)
            if (found := _settled(change, now, is_revert=bool(entry.reverts))) is not None:
                changes.append(found)
    except ToolRefusal:
        return  # the folder may be closed now
    stamp = session.stamp()
    done = msgspec.structs.replace(entry, **stamp, changes=tuple(changes), is_done=True)
    if entry.reverts:  # only what was put back is taken back
        unchanged = {change.path for change in entry.changes if change.old == change.new}
        paths = tuple(path for path in entry.paths if path in {*unchanged, *(each.path for each in changes)})
        done = msgspec.structs.replace(done, reverts=entry.reverts if paths else (), paths=paths)
    await finish(session, lambda seq: msgspec.structs.replace(done, seq=seq), entry.turn_id, looks)


async def finish(session: Session, draft: Draft, turn_id: str, looks: Iterable[Look]) -> None:
    """Keep what is there after a change, and say in the log that it is done. A fault is logged: the change happened."""
    try:
        versions = kept(version for seen in looks for version in seen.versions)
        await session.services.store.versions.save(session.session_id, turn_id, versions)
    except CompanionError as fault:
        logger.warning("What a change left could not be kept: %s", fault.message)
    try:
        await session.append(draft)
    except CompanionError as fault:
        logger.warning("A change could not be noted as done: %s", fault.message)
        session.write_later(draft)


def _settled(change: FileChange, now: Look, *, is_revert: bool) -> FileChange | None:
    """What became of a change that was cut short; `None` if it never happened."""
    shown = _noted(now.shown)
    if _is_same(shown, change.old):
        return None
    if is_revert or change.new is not None:
        return change  # as foreseen, or changed since: three-way tells these apart
    return msgspec.structs.replace(change, kind=_kind(change.old, shown), after=shown, unsaved_after=None)


async def _missing_folders(path: str, context: ToolContext) -> dict[str, Look]:
    """The folders of a file that are not there yet, outermost first: a write makes them."""
    found: dict[str, Look] = {}
    folder = os.path.dirname(path)
    while folder not in context.roots and innermost(folder, context.roots) is not None and folder not in found:
        seen = await look(folder, context.ports.files, context.roots, None)
        if seen.disk is not None:
            break
        found[folder] = seen
        folder = os.path.dirname(folder)
    return dict(reversed(found.items()))


def _expected(proposal: Proposal, path: str, seen: Look) -> Version | None:
    """What a file will be, where the proposal says so."""
    if proposal.path != path or proposal.new_content is None:
        return None
    return version_of(on_disk(proposal.new_content, seen.shown), seen.disk.mode if seen.disk else 0o644)


async def _differences(before: dict[str, Look], after: dict[str, Look]) -> list[FileChange]:
    changed = [path for path, seen in before.items() if not _is_same(_noted(seen.shown), _noted(after[path].shown))]
    gone = {path for path in changed if after[path].shown is None}
    found: list[FileChange] = []
    renamed: set[str] = set()
    for path in changed:
        if path in gone:
            continue
        old, new = before[path], after[path]
        source = None
        if old.shown is None and new.disk is not None:
            same = (each for each in gone - renamed if _digest(before[each]) == new.disk.digest != "")
            source = next(same, None)
        if source is not None:
            renamed.add(source)
            old = before[source]
        found.append(await _change(path, old, new, from_path=source))
    found += [await _change(path, before[path], after[path]) for path in changed if path in gone - renamed]
    return found


async def _change(path: str, old: Look, new: Look, *, from_path: str | None = None) -> FileChange:
    added, removed = await counted(old.shown and old.shown.data, new.shown and new.shown.data)
    return FileChange(
        path=path,
        kind="renamed" if from_path else _kind(old.shown, new.shown),
        from_path=from_path,
        before=_noted(old.disk),
        after=_noted(new.disk),
        unsaved=_noted(old.unsaved),
        unsaved_after=_noted(new.unsaved),
        added=added,
        removed=removed,
    )


def _kind(old: object, new: object) -> Any:
    return "created" if old is None else "deleted" if new is None else "changed"


def _noted(version: Version | None) -> Any:
    return None if version is None else version.noted


def _digest(seen: Look) -> str | None:
    return None if seen.shown is None else seen.shown.digest


def _is_same(one: Any, other: Any) -> bool:
    """Whether two noted versions, or their lack, are the same."""
    if one is None or other is None:
        return one is other
    return _what(one) == _what(other)


def _what(version: Any) -> tuple[Any, ...]:
    return version.digest, version.size, version.mode, version.link, version.is_folder
