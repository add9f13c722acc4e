"""Putting files back as they were: planned whole, kept, then written, each file only if it is as it was looked at."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import msgspec

from gemini_companion.engine.changes.plan import Conflict as Clash
from gemini_companion.engine.changes.plan import State, digests_of, paths_of, plan
from gemini_companion.engine.errors import CompanionError, InvalidInput, StorageFault
from gemini_companion.engine.history.change_record import Step
from gemini_companion.engine.history.tool_entries import ChangeEntry, FileChange, KeptEntry
from gemini_companion.sessions.clients import Client
from gemini_companion.sessions.lane import Job
from gemini_companion.sessions.log_writer import Draft
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tool_results import Conflict, RevertResult
from gemini_companion.sessions.tools.changes_chosen import RevertWish, chosen, hunk_step
from gemini_companion.sessions.tools.changes_numbers import counted, emit_changes, is_folder
from gemini_companion.sessions.tools.changes_of_chat import Loaded, changes_of_chat, record_at_rest, require_idle
from gemini_companion.sessions.tools.changes_putting import in_order, kind_of, put
from gemini_companion.sessions.tools.changes_versions import (
    Look,
    Version,
    folder_version,
    kept,
    link_version,
    look,
    version_of,
)
from gemini_companion.sessions.tools.tooling import Changes, Tooling
from gemini_companion.tools.paths import innermost
from gemini_companion.tools.ports import EditorPort, FileSystem
from gemini_companion.tools.tool import ToolContext, ToolRefusal

logger = logging.getLogger(__name__)

_NEW_FOLDER: Final = 0o755
_SHOWN: Final = 200
"""Characters of a command, for people."""


async def revert(
    session: Session, client: Client, tooling: Tooling, wish: RevertWish, *, loaded: Loaded = lambda session_id: None
) -> RevertResult:
    """Put files back. What conflicts stays as it is and is told; nothing is written for it.

    `loaded` gives sessions that are: a person may go on in one of its subagents'. Raises `InvalidInput` for what there
    is not, and while a turn runs in any: its model works with the files as they are; `SessionBusy` while another
    process holds one of a subagent's, for a turn may run in it there.
    """
    require_idle(session)
    context = await context_of(session, client, tooling)
    change_id = session.services.new_id("change")

    async def run(job: Job[RevertResult]) -> RevertResult:
        work = asyncio.create_task(
            _revert(session, context, tooling.changes, wish, change_id, loaded), name="putting files back"
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work})  # half of it would be worse than the wait
            raise

    job = Job("turn", change_id, run, client=client.client_id)
    session.lane.submit(job)
    result = await job.wait(client.client_id)
    running = [one.command for one in tooling.commands.background(session.session_id) if one.state == "running"]
    if not running:
        return result
    line = " ".join(running[0].split())[:_SHOWN]
    note = f"A command still runs in the background, and may change files again: {line}"
    return msgspec.structs.replace(result, note=note)


async def settle_all(
    session: Session, hold: Callable[[str], Awaitable[Session]], client: Client, tooling: Tooling
) -> None:
    """Close what a killed daemon left open, in the session and in its subagents', so that it is listed.

    `hold` takes a session for writing; what another process has is left to it. Raises `StorageFault`.
    """
    await changes_of_chat(session)
    own = session.tools_state.changes
    beside = own.beside if session.meta.agent is None else {}
    for session_id, record in ((session.session_id, own), *beside.items()):
        if record.open:
            with suppress(CompanionError):  # another process may have it, and be at it
                await settle_left(await hold(session_id), client, tooling)


async def settle_left(session: Session, client: Client, tooling: Tooling) -> None:
    """Close what a killed daemon left open, so that what it changed is listed. A fault is logged: the rest is."""
    if not session.tools_state.changes.open or not session.lane.is_idle:
        return
    try:
        await tooling.changes.settle(session, await context_of(session, client, tooling))
    except CompanionError as fault:
        logger.warning("What was cut short could not be settled: %s", fault.message)


async def keep(session: Session, path: str | None) -> None:
    """Note that the person wants what was changed, in one file or in all. Raises `StorageFault`, `SessionBusy`."""
    record = (await changes_of_chat(session)).record
    steps = [step for step in record.steps() if path in (None, step.change.path)]
    if not steps:
        return
    stamp = session.stamp()
    ids = tuple(dict.fromkeys(step.change_id for step in steps))
    paths = () if path is None else (path,)
    await session.append(lambda seq: KeptEntry(**stamp, seq=seq, change_ids=ids, paths=paths))
    await emit_changes(session, paths or [step.change.path for step in steps if not is_folder(step.change)])


async def context_of(session: Session, client: Client, tooling: Tooling) -> ToolContext:
    """What files are reached through for a client. Raises `InvalidInput` where there are none."""
    services = session.services
    if services.ports is None:
        raise InvalidInput("There are no files here.")
    ports = services.ports
    if tooling.editor_of is not None:
        ports = replace(ports, editor=tooling.editor_of(session, client, ""))
    folders = client.folders or session.meta.workspace_folders
    return ToolContext(
        call_id="",
        turn_id="",
        session_id=session.session_id,
        roots=await asyncio.to_thread(lambda: tuple(dict.fromkeys(map(os.path.realpath, folders)))),
        trusted=services.trusted(),
        mode=session.tools_state.mode,
        ports=ports,
        client_id=client.client_id,
    )


async def _revert(
    session: Session,
    context: ToolContext,
    changes: Changes,
    wish: RevertWish,
    change_id: str,
    loaded: Loaded,
) -> RevertResult:
    await changes.at_rest(session)
    await changes.settle(session, context)
    record = await record_at_rest(session, loaded)
    steps = await hunk_step(session, record, wish) if wish.hunks is not None else chosen(record, wish)
    looks, clashes = await _look_at(steps, context)
    steps = [step for step in steps if all(path in looks for path in paths_of([step]))]
    versions = await _versions(session, steps)
    now = {path: _state(seen) for path, seen in looks.items()}
    planned = await asyncio.to_thread(plan, steps, now, versions)
    clashes += planned.conflicts
    done, taken = planned.results, planned.taken
    if wish.dry_run or not taken:
        return _result(taken, clashes, None)
    await _add_folders(done, looks, context)
    await record_at_rest(session, loaded)  # all this took its time, and a subagent may have gone on
    work = _Revert(session, context, change_id, looks, is_partial=wish.hunks is not None)
    await work.begin(taken, done)
    failed = await work.write(done)
    for path, state in done.items():
        if state is not None and state.kind == "file":
            changes.wrote(session, path, hashlib.sha256(state.data).hexdigest())
    clashes += failed
    unwritten = {clash.path for clash in failed}
    taken = tuple(step for step in taken if not unwritten.intersection(paths_of([step])))
    await work.end(taken, {path: state for path, state in done.items() if path not in unwritten})
    return _result(taken, clashes, change_id if taken else None)


async def _add_folders(results: dict[str, State | None], looks: dict[str, Look], context: ToolContext) -> None:
    """Add the folders that have to be made for files: they go again where this is taken back."""
    for path in [path for path, state in results.items() if state is not None]:
        folder = os.path.dirname(path)
        while folder not in context.roots and innermost(folder, context.roots) is not None:
            if folder not in looks:
                try:
                    looks[folder] = await look(folder, context.ports.files, context.roots, None)
                except ToolRefusal:
                    break  # writing the file will tell
            if results.get(folder, _state(looks[folder])) is None:
                results[folder] = State(b"", _NEW_FOLDER, "folder")
            folder = os.path.dirname(folder)


class _Revert:
    """A revert, from what is kept before it to what stands in the log after it."""

    def __init__(
        self, session: Session, context: ToolContext, change_id: str, looks: dict[str, Look], *, is_partial: bool
    ) -> None:
        self._session = session
        self._files: FileSystem = context.ports.files
        self._editor: EditorPort = context.ports.editor
        self._change_id = change_id
        self._turn_id = ""
        self._looks = looks
        self._is_partial = is_partial

    async def begin(self, taken: Sequence[Step], results: dict[str, State | None]) -> None:
        """Keep what is there now and what is to be there. Raises `StorageFault`, with nothing changed."""
        versions: list[Version | None] = [seen.shown for seen in self._looks.values()]
        versions += [_version(state) for state in results.values() if state is not None]
        self._turn_id = taken[0].turn_id
        await self._session.services.store.versions.save(self._session.session_id, self._turn_id, kept(versions))
        await self._session.append(await self._draft(taken, results, is_done=False))

    async def end(self, taken: Sequence[Step], results: dict[str, State | None]) -> None:
        """Say in the log what was done."""
        draft = await self._draft(taken, results, is_done=True)
        try:
            await self._session.append(draft)
        except StorageFault:
            self._session.write_later(draft)
        await emit_changes(self._session, [step.change.path for step in taken if not is_folder(step.change)])

    async def write(self, results: dict[str, State | None]) -> list[Clash]:
        """Write the files: those that are there first, then those that go. Returns what could not be written; takes out
        of `results` the folders that stay, for something else is in them.
        """
        failed: list[Clash] = []
        for path in in_order(results):
            seen, state = self._looks[path], results[path]
            is_folder = seen.disk is not None and seen.disk.is_folder
            if failed and state is None:
                if not is_folder:
                    failed.append(Clash(path, "It was left: another file of the same change could not be written."))
                continue
            try:
                if not await put(seen, state, self._files, self._editor):
                    del results[path]
            except ToolRefusal as refusal:
                failed.append(Clash(path, refusal.message))
        return failed

    async def _draft(self, taken: Sequence[Step], results: dict[str, State | None], *, is_done: bool) -> Draft:
        if self._is_partial:
            changes = [_reversed(step) for step in taken]
        else:
            # what stands as it should already is named too: it counts as taken back
            paths = [*results, *(path for path in paths_of(taken) if path not in results)]
            changes = [await self._change(path, results) for path in dict.fromkeys(paths)]
        stamp, change_id = self._session.stamp(), self._change_id
        reverts = () if self._is_partial else tuple(dict.fromkeys(step.change_id for step in taken))
        named = () if self._is_partial else tuple(dict.fromkeys(step.change.path for step in taken))
        return lambda seq: ChangeEntry(
            **stamp,
            seq=seq,
            turn_id=self._turn_id,
            change_id=change_id,
            changes=tuple(changes),
            is_done=is_done,
            reverts=reverts,
            paths=named,
        )

    async def _change(self, path: str, results: dict[str, State | None]) -> FileChange:
        seen = self._looks[path]
        old = seen.shown
        state = results[path] if path in results else _state(seen)
        new = None if state is None else _version(state)
        added, removed = await counted(old and old.data, new and new.data)
        return FileChange(
            path=path,
            kind="created" if old is None else "deleted" if new is None else "changed",
            before=None if old is None else old.noted,
            after=None if new is None else new.noted,
            added=added,
            removed=removed,
        )


def _reversed(step: Step) -> FileChange:
    change = step.change
    return FileChange(
        path=change.path,
        kind="changed",
        before=change.after,
        after=change.before,
        added=change.removed,
        removed=change.added,
    )


async def _look_at(steps: Sequence[Step], context: ToolContext) -> tuple[dict[str, Look], list[Clash]]:
    looks: dict[str, Look] = {}
    clashes: list[Clash] = []
    for path in paths_of(steps):
        try:
            seen = await look(path, context.ports.files, context.roots, context.ports.editor)
        except ToolRefusal as refusal:
            clashes.append(Clash(path, refusal.message))
            continue
        if seen.place.root is None or seen.place.path != path:
            clashes.append(Clash(path, "It is outside the workspace folders, or a link leads there now."))
        elif seen.shown is not None and seen.shown.data is None:
            clashes.append(Clash(path, "It is too large now to be put back."))
        else:
            looks[path] = seen
    return looks, clashes


async def _versions(session: Session, steps: Sequence[Step]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for digest in digests_of(steps):
        try:
            data = await session.services.store.versions.load(digest)
        except StorageFault:
            continue  # damaged: it is missing, and that is told
        if data is not None:
            found[digest] = data
    return found


def _state(seen: Look) -> State | None:
    shown = seen.shown
    return None if shown is None or shown.data is None else State(shown.data, shown.mode, kind_of(shown))


def _version(state: State) -> Version:
    match state.kind:
        case "folder":
            return folder_version(state.mode)
        case "link":
            return link_version(os.fsdecode(state.data))
        case "file":
            return version_of(state.data, state.mode)


def _result(taken: Sequence[Step], clashes: Sequence[Clash], change_id: str | None) -> RevertResult:
    return RevertResult(
        reverted=tuple(
            dict.fromkeys(path for step in taken if not is_folder(step.change) for path in paths_of([step]))
        ),
        conflicts=tuple(Conflict(path=clash.path, reason=clash.reason) for clash in dict.fromkeys(clashes)),
        change_id=change_id,
    )
