"""The memory files of one process: read when they are needed, watched from then on, read again after a change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import msgspec

from gemini_companion.engine.errors import CompanionError, InvalidInput, UntrustedWorkspace
from gemini_companion.engine.ide_context.secrets import find_secrets
from gemini_companion.engine.memory.saving import one_fact
from gemini_companion.engine.memory.tiers import MemoryFile, Tiers, framed, tiers
from gemini_companion.engine.tokens.lexical import LexicalTokenCounter
from gemini_companion.sessions.memory.port import MemoryEdit, MemoryFiles, MemoryRead, MemoryWish, SavedScope
from gemini_companion.sessions.memory.results import MemoryAdded, MemoryFileInfo, MemoryList
from gemini_companion.settings.effective import Settings

logger = logging.getLogger(__name__)


class Watcher(Protocol):
    """A watch over a few files, from the moment it is constructed."""

    async def run(self, on_change: Callable[[frozenset[Path]], Awaitable[None]], /) -> None:
        """Call `on_change` with the files that changed, until cancelled. Raises `CompanionError` if it cannot watch."""
        ...


WatchFiles: TypeAlias = Callable[[Sequence[Path]], Watcher]

MAX_WATCHED = 2_000
"""Files that are watched; the others are looked at when a turn begins, as all are."""


class MemoryService:
    """What the memory files say. `folders` are the open workspace folders, absolute paths.

    `on_changed` gets the paths of memory files that changed, on the event loop. Nothing is read before it is asked for.
    """

    def __init__(
        self,
        files: MemoryFiles,
        *,
        settings: Callable[[], Settings],
        folders: Callable[[], Sequence[str]],
        trusted: Callable[[], bool],
        on_changed: Callable[[tuple[str, ...]], None] = lambda paths: None,
        watch_files: WatchFiles | None = None,
    ) -> None:
        self._files = files
        self._settings = settings
        self._folders = folders
        self._trusted = trusted
        self._on_changed = on_changed
        self._watch_files = watch_files
        self._known: tuple[MemoryWish, MemoryRead] | None = None
        self._watched: frozenset[str] = frozenset()
        self._watch: asyncio.Task[None] | None = None
        self._looking: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._lock = asyncio.Lock()

    def wish(self) -> MemoryWish:
        """Which files count now."""
        settings = self._settings()
        return MemoryWish(
            folders=tuple(self._folders()),
            trusted=self._trusted(),
            names=settings.context_file_names,
            form=settings.context_import_format,
            max_dirs=settings.context_discovery_max_dirs,
            markers=settings.context_boundary_markers,
        )

    async def tiers(self, *, all_at_once: bool = False, anew: bool = False) -> Tiers:
        """What the files say now, at its places; see `engine.memory.tiers`.

        They are read if one of them has changed, or in any case if it is to be done `anew`.
        """
        return tiers(await self._current(anew=anew), all_at_once=all_at_once)

    async def around(self, paths: Iterable[str]) -> tuple[MemoryFile, ...]:
        """The files of the folders below a workspace folder that lead to each of the paths."""
        return await self._files.around(paths, self.wish())

    async def listed(self, *, anew: bool = False) -> MemoryList:
        """The files, with their tokens."""
        placed = tiers(await self._current(anew=anew)).files
        return await asyncio.to_thread(_listed, placed)

    async def propose(self, fact: str, scope: SavedScope) -> MemoryEdit:
        """What keeping a fact would do. Raises `InvalidInput`, `UntrustedWorkspace`, `StorageFault`."""
        wish = self.wish()
        if scope == "project" and not wish.trusted:
            raise UntrustedWorkspace(
                "The workspace is not trusted, so nothing is kept in it.",
                hint="Trust it, or keep the fact for every project.",
            )
        return await self._files.edit(checked_fact(fact), scope, wish)

    async def write(self, edit: MemoryEdit) -> None:
        """Keep the fact, and take it in. Raises `StorageFault` if the file is another one by now."""
        await self._files.write(edit)
        await self._current()

    async def add(self, fact: str, scope: SavedScope, *, in_editor: Callable[[str], str | None]) -> MemoryAdded:
        """Keep a fact as a person says. `in_editor` gives the text of an open document, `None` if it is not open.

        Raises what `propose` and `write` raise.
        """
        edit = await self.propose(fact, scope)
        now = (edit.before or "").replace("\r\n", "\n")
        opened = {in_editor(path) for path in (edit.path, edit.shown)} - {None}
        if any((text or "").replace("\r\n", "\n") != now for text in opened):
            raise InvalidInput(
                f"{edit.shown} has unsaved edits in the editor.", hint="Save it, then add the fact again."
            )
        await self.write(edit)
        return MemoryAdded(path=edit.shown, diff=edit.diff)

    def look_again(self) -> None:
        """Folders, trust or settings may have changed: read again, soon, if anything was read before."""
        if self._known is not None and self._known[0] != self.wish():
            self._soon(self._refresh())

    def close(self) -> None:
        """Stop watching, for good."""
        self._is_closed = True
        for task in (self._watch, *self._looking):
            if task is not None:
                task.cancel()
        self._watch = None

    async def _current(self, *, anew: bool = False) -> tuple[MemoryFile, ...]:
        async with self._lock:
            wish, known = self.wish(), self._known
            if known is not None and not anew and known[0] == wish and await self._is_as_it_was(known[1]):
                return known[1].files
            read = await self._files.read(wish)
            self._known = (wish, read)
            self._watch_over(read)
        changed = _differences(known[1].files, read.files) if known is not None else ()
        if changed:
            self._on_changed(changed)
        return read.files

    async def _is_as_it_was(self, read: MemoryRead) -> bool:
        return await self._files.stamps(read.stamps) == read.stamps

    async def _refresh(self) -> None:
        try:
            await self._current()
        except Exception:  # a defect must not end the watch
            logger.exception("Memory files could not be read again")

    def _watch_over(self, read: MemoryRead) -> None:
        """Watch these files, if they are others than before."""
        paths = frozenset(sorted(read.stamps)[:MAX_WATCHED])
        if self._watch_files is None or self._is_closed or paths == self._watched:
            return
        self._watched = paths
        if self._watch is not None:
            self._watch.cancel()
        watcher = self._watch_files([Path(path) for path in sorted(paths)])
        self._watch = asyncio.create_task(self._watching(watcher), name="memory-watch")

    async def _watching(self, watcher: Watcher) -> None:
        async def changed(_paths: frozenset[Path]) -> None:
            self._soon(self._refresh())  # it may end this very watch

        try:
            await watcher.run(changed)
        except CompanionError as fault:
            logger.warning("Memory files are not watched: %s", fault.message)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, name="memory")
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)


def checked_fact(text: str) -> str:
    """The fact as one line. Raises `InvalidInput`."""
    try:
        fact = one_fact(text)
    except ValueError as fault:
        raise InvalidInput(f"This is too long: {fault}.", path="$.fact", hint="Keep it to what matters.") from None
    if not fact:
        raise InvalidInput("There is no fact.", path="$.fact", hint="Say what is to be kept, in a sentence.")
    if find_secrets(fact):
        raise InvalidInput(
            "The fact holds a secret, and memory is a plain text that every chat sends.",
            path="$.fact",
            hint="Say where the secret is kept instead.",
        )
    return fact


def _differences(before: Iterable[MemoryFile], after: Iterable[MemoryFile]) -> tuple[str, ...]:
    """The paths of files that came, went, or say something else."""
    old: Mapping[str, MemoryFile] = {file.path: file for file in before}
    new: Mapping[str, MemoryFile] = {file.path: file for file in after}
    return tuple(path for path in dict.fromkeys((*new, *old)) if old.get(path) != new.get(path))


def _listed(files: Sequence[MemoryFile]) -> MemoryList:
    counter = LexicalTokenCounter()
    listed: list[MemoryFileInfo] = []
    standing = 0
    for file in files:
        tokens = round(counter.count_text(framed([file]))) if file.text else 0
        if file.scope != "subdirectory" and not file.is_left_out:
            standing += tokens
        listed.append(
            MemoryFileInfo(
                path=file.path,
                scope=file.scope,
                token_count=tokens,
                imports=file.imports,
                problem=file.problem or msgspec.UNSET,
            )
        )
    return MemoryList(files=tuple(listed), token_count=standing)
