"""`MemoryFiles` on this machine's disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from gemini_companion.adapters.asides import Asides
from gemini_companion.adapters.files.disk import DiskFiles
from gemini_companion.adapters.memory.discovery import Below, extension_files, folders_down_to, project_top
from gemini_companion.adapters.memory.importing import load, stamp_of
from gemini_companion.adapters.memory.opening import MAX_BYTES
from gemini_companion.adapters.workspace.disk import DiskWorkspace
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.edits.diffs import file_diff
from gemini_companion.engine.edits.encoding import Encoded, decoded, encode, reads_back
from gemini_companion.engine.edits.lines import with_line_feeds
from gemini_companion.engine.errors import InvalidInput, StorageFault
from gemini_companion.engine.escapes import well_formed
from gemini_companion.engine.memory.saving import with_fact
from gemini_companion.engine.memory.tiers import MemoryFile, Scope
from gemini_companion.sessions.memory.port import MemoryEdit, MemoryRead, MemoryWish, SavedScope, Stamp
from gemini_companion.settings.obeyed import gate
from gemini_companion.tools.paths import innermost
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import ToolRefusal

MAX_FILES: Final = 400
"""Memory files that are read; imports are counted apart."""


class DiskMemoryFiles:
    """`home` is the user's home folder, where their own files are; `asides` notes what is written aside."""

    def __init__(self, home: Path, asides: Asides | None = None) -> None:
        self._home = str(home)
        self._below = Below()
        self._disk = DiskFiles(DiskWorkspace(), asides=asides)

    async def read(self, wish: MemoryWish) -> MemoryRead:
        """Find and read all of them; see `MemoryFiles`."""
        return await asyncio.to_thread(self._read, wish)

    async def stamps(self, paths: Iterable[str]) -> Mapping[str, Stamp]:
        """What these files are now."""
        return await asyncio.to_thread(lambda: {path: stamp_of(path) for path in paths})

    async def around(self, paths: Iterable[str], wish: MemoryWish) -> tuple[MemoryFile, ...]:
        """Those on the way down to each of the paths; see `MemoryFiles`."""
        return await asyncio.to_thread(self._around, tuple(paths), wish)

    def place(self, scope: SavedScope, wish: MemoryWish) -> str | None:
        """Where a fact is kept: under the first of the names."""
        if scope == "global":
            return os.path.join(self._home, ".gemini", wish.names[0])
        return os.path.join(wish.folders[0], wish.names[0]) if wish.folders else None

    async def edit(self, fact: str, scope: SavedScope, wish: MemoryWish) -> MemoryEdit:
        """What adding a fact would do; see `MemoryFiles`."""
        path = self.place(scope, wish)
        if path is None:
            raise InvalidInput("There is no project: no workspace folder is open.", hint="Keep it for every project.")
        place = await self._place(path, None if scope == "global" else wish.folders[0])
        if place.kind == "missing":
            before, encoded, digest = None, Encoded(), None
        else:
            try:
                disk = await self._disk.read(place, limit=MAX_BYTES + 1)
            except ToolRefusal as refusal:
                raise StorageFault(refusal.message) from refusal
            text = None if disk.size > MAX_BYTES else decoded(disk.data)
            if text is None:
                raise InvalidInput(
                    f"{path} is no text, or larger than {MAX_BYTES // 1024} KB: nothing is added to it.",
                    hint="Shorten it, or name another file in context.fileName.",
                )
            before, encoded, digest = text.text, text.encoded, disk.digest
        after = with_fact(before or "", fact)
        old = None if before is None else with_line_feeds(well_formed(before))
        diff = await asyncio.to_thread(
            file_diff, old, with_line_feeds(well_formed(after)), os.path.basename(path), lines=None
        )
        try:
            data = encode(after, encoded)
            if not reads_back(data, after, encoded):
                data = encode(after, Encoded())  # the guess would be another one with the fact
        except UnicodeEncodeError:
            data = encode(after, Encoded())
        return MemoryEdit(
            path=place.path,
            root=place.root or "",
            shown=path,
            before=None if before is None else well_formed(before),
            after=well_formed(after),
            diff=diff,
            digest=digest,
            data=data,
        )

    async def write(self, edit: MemoryEdit) -> None:
        """Add it; see `MemoryFiles`."""
        place = await self._disk.place(edit.path, (edit.root,))
        try:
            await self._disk.write(place, edit.data, expected=edit.digest)
        except ToolRefusal as refusal:
            raise StorageFault(refusal.message, hint="Look at the file, and try again.") from refusal
        await asyncio.to_thread(gate.wrote, place.path, lambda data: data == edit.data)

    async def _place(self, path: str, root: str | None) -> Place:
        """The file at the end of the path's links, inside of a root, or anywhere for the person's own.

        Raises `InvalidInput`, `StorageFault`.
        """
        if root is None:
            path = await asyncio.to_thread(followed, path)
            root = os.path.dirname(path)
            try:
                await asyncio.to_thread(os.makedirs, root, mode=0o700, exist_ok=True)
            except OSError as fault:
                raise StorageFault(f"{root} cannot be made: {fault.strerror}") from fault
        place = await self._disk.place(path, (root,))
        if place.root is None or place.kind not in ("file", "missing") or place.is_secret:
            raise InvalidInput(f"{path} is no file of the project: nothing is added to it.")
        return place

    def _read(self, wish: MemoryWish) -> MemoryRead:
        work = _Reading(wish)
        own = os.path.join(self._home, ".gemini")
        for name in wish.names:
            work.add(os.path.join(own, name), followed(own), "global", anywhere=True)
        folders = _real_folders(wish) if wish.trusted else []
        if folders:
            for root, path in extension_files(self._home, folders[0]):
                work.add(path, root, "extension")
        found: dict[str, str] = {}
        for folder in folders:
            top = self._top(folder, wish)
            for each in folders_down_to(folder, top):
                if each != followed(own):
                    found |= {os.path.join(each, name): top for name in wish.names}
        for path in sorted(found, key=lambda path: (os.path.dirname(path), wish.names.index(_name(path, wish)))):
            work.add(path, found[path], "project")
        for folder, path in self._below.search(folders, wish.names, wish.max_dirs):
            work.add(path, self._top(folder, wish), "subdirectory")
        return MemoryRead(files=tuple(work.files), stamps=work.stamps)

    def _top(self, folder: str, wish: MemoryWish) -> str:
        """The top folder of a project. Another marker than git's never leads up to the home folder or past it: imports
        go as far as the top.
        """
        top = project_top(folder, wish.markers)
        if top == folder or os.path.lexists(os.path.join(top, ".git")):
            return top
        return folder if innermost(followed(self._home), (top,)) else top

    def _around(self, paths: Sequence[str], wish: MemoryWish) -> tuple[MemoryFile, ...]:
        if not wish.trusted:
            return ()
        folders = _real_folders(wish)
        found: dict[str, str] = {}
        for path in paths:
            found |= {each: root for root, each in self._below.around(path, folders, wish.names)}
        work = _Reading(wish)
        for path, folder in found.items():
            work.add(path, self._top(folder, wish), "subdirectory")
        return tuple(file for file in work.files if file.text)


class _Reading:
    """What is read in one go, each file once."""

    def __init__(self, wish: MemoryWish) -> None:
        self._wish = wish
        self.files: list[MemoryFile] = []
        self.stamps: dict[str, Stamp] = {}
        self._seen: set[tuple[int, int]] = set()

    def add(self, path: str, root: str, scope: Scope, *, anywhere: bool = False) -> None:
        """Read a file, if there is one that was not read under another name."""
        self.stamps[path] = stamp = stamp_of(path)
        if stamp is None or os.path.isdir(path) or stamp[:2] in self._seen or len(self.files) > MAX_FILES:
            return
        if len(self.files) == MAX_FILES:
            problem = f"not read, as are all that follow: there are more than {MAX_FILES} memory files"
            self.files.append(MemoryFile(path=path, scope=scope, problem=problem))
            return
        self._seen.add(stamp[:2])
        loaded = load(path, root, scope, self._wish.form, anywhere=anywhere)
        for each, seen in loaded.stamps.items():
            if seen is None or each not in self.stamps:  # one that does not count is looked at anew each time
                self.stamps[each] = seen
        if loaded.file.text or loaded.file.problem:
            self.files.append(loaded.file)


def _real_folders(wish: MemoryWish) -> list[str]:
    real = (followed(folder) for folder in wish.folders if os.path.isabs(folder) and "\0" not in folder)
    return [folder for folder in dict.fromkeys(real) if os.path.isdir(folder)]


def _name(path: str, wish: MemoryWish) -> str:
    """The one of the names that a path ends in."""
    return max((name for name in wish.names if path.endswith(os.sep + name)), key=len)
