"""`FileSystem` on this machine's disk. Everything runs in threads; `folder` holds what is opened."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Final

import msgspec

from gemini_companion.adapters.asides import Asides
from gemini_companion.adapters.files.editorconfig import charset_of
from gemini_companion.adapters.files.folder import CAN_HOLD, Folder, Strayed, held
from gemini_companion.adapters.files.links import LinksAndFolders, inside, of_file
from gemini_companion.adapters.files.names import listed
from gemini_companion.adapters.files.placing import Placing
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.engine.edits.encoding import is_unknown
from gemini_companion.settings.reading import aside_name
from gemini_companion.tools.ports import FileBytes, Names, Place
from gemini_companion.tools.tool import ToolRefusal

_PIECE: Final = 1 << 20
_NEW_MODE: Final = 0o666
"""Permission bits of a new file, before the umask."""
_CHANGED: Final = "{} has changed meanwhile. Nothing was done: read it again."


class DiskFiles(LinksAndFolders):
    """Files inside the workspace folders; which of them may be shown, a `DiskWorkspace` says.

    `own` are folders of the daemon's, its settings, logs and store: nothing in them is read or written. `asides` notes
    what a write leaves where the daemon is killed.
    """

    def __init__(
        self,
        workspace: DiskWorkspace,
        *,
        own: Sequence[str] = (),
        asides: Asides | None = None,
        by_descriptor: bool = CAN_HOLD,
    ) -> None:
        super().__init__(Placing(workspace, own), by_descriptor=by_descriptor)
        self._asides = asides

    async def read(self, place: Place, *, limit: int) -> FileBytes:
        """At most `limit` bytes of a regular file inside a root."""
        return await self.in_thread(place, lambda root, parts: self._read(root, parts, limit))

    async def charset(self, place: Place) -> str:
        """The encoding that an `.editorconfig` names for a file inside a root."""
        return await self.in_thread(
            place, lambda root, parts: charset_of(root, parts, by_descriptor=self.by_descriptor)
        )

    async def names(self, place: Place, *, limit: int) -> Names:
        """What a folder inside a root has."""

        def list_names(root: str, parts: Sequence[str]) -> Names:
            with held(root, parts, by_descriptor=self.by_descriptor) as folder:
                return listed(folder, root, parts, limit)

        return await self.in_thread(place, list_names)

    async def write(self, place: Place, data: bytes, *, expected: str | None, mode: int | None = None) -> str:
        """Replace a file, or make it and its folders; see `FileSystem`."""

        def write(root: str, parts: Sequence[str]) -> str:
            *folders, name = of_file(parts, place)
            with held(root, folders, make=expected is None, by_descriptor=self.by_descriptor) as folder:
                self._write(folder, name, data, place, expected=expected, mode=mode)
                self._look_again(root, folders, folder)
            return hashlib.sha256(data).hexdigest()

        return await self.in_thread(place, write)

    async def delete(self, place: Place, *, expected: str) -> None:
        """Delete a file that still has this digest."""

        def delete(root: str, parts: Sequence[str]) -> None:
            *folders, name = of_file(parts, place)
            with held(root, folders, by_descriptor=self.by_descriptor) as folder:
                _expect(folder, name, expected, place)
                folder.delete(name)
                folder.sync()

        await self.in_thread(place, delete)

    async def rename(self, place: Place, to: Place, *, expected: str) -> None:
        """Rename a file that still has this digest; there must be nothing at `to`."""
        target_root, target_parts = inside(to)

        def rename(root: str, parts: Sequence[str]) -> None:
            *folders, name = of_file(parts, place)
            *target_folders, target_name = of_file(target_parts, to)
            with (
                held(root, folders, by_descriptor=self.by_descriptor) as folder,
                held(target_root, target_folders, make=True, by_descriptor=self.by_descriptor) as target,
            ):
                _expect(folder, name, expected, place)
                try:
                    target.add(target_name, folder, name)
                except FileExistsError:
                    raise ToolRefusal(f"{to.shown} exists already. Nothing was renamed.") from None
                folder.delete(name)
                target.sync()
                folder.sync()

        await self.in_thread(place, rename)

    def _read(self, root: str, parts: Sequence[str], limit: int) -> FileBytes:
        if not parts:
            raise IsADirectoryError
        with held(root, parts[:-1], by_descriptor=self.by_descriptor) as folder:
            found = _read(folder, parts[-1], limit)
        if not is_unknown(found.data):
            return found
        return msgspec.structs.replace(found, charset=charset_of(root, parts, by_descriptor=self.by_descriptor))

    def _write(
        self, folder: Folder, name: str, data: bytes, place: Place, *, expected: str | None, mode: int | None
    ) -> None:
        known = _expect(folder, name, expected, place) if expected is not None else None
        if known is None and folder.status(name) is not None:
            raise ToolRefusal(f"{place.shown} exists already. Nothing was written.")
        if known is not None and known.st_nlink > 1:
            raise ToolRefusal(f"{place.shown} is a hard link: other names have the same file. Nothing was written.")
        bits = stat.S_IMODE(known.st_mode) if mode is None and known is not None else mode
        aside = aside_name()
        with self._asides.noted(folder.path, aside) if self._asides else nullcontext():
            descriptor = folder.open_new(aside, _NEW_MODE if bits is None else 0o600)
            try:
                try:
                    _fill(descriptor, data, bits, known)
                finally:
                    os.close(descriptor)
                if known is None:
                    _take_name(folder, name, aside, data, bits)
                else:
                    _unchanged(folder, name, known, place)
                    folder.replace(name, aside)
            except FileExistsError:
                raise ToolRefusal(_CHANGED.format(place.shown)) from None
            finally:
                with suppress(OSError):
                    folder.delete(aside)
        folder.sync()

    def _look_again(self, root: str, folders: Sequence[str], folder: Folder) -> None:
        """Raises `Strayed` if the folder is not below its root any more: it was moved while the file was written."""
        with held(root, folders, by_descriptor=self.by_descriptor) as again:
            status = os.stat(again.path) if again.descriptor is None else os.fstat(again.descriptor)
            if not folder.is_still(status):
                raise Strayed(folder.path)


def _read(folder: Folder, name: str, limit: int) -> FileBytes:
    descriptor = folder.open_file(name)
    try:
        status = os.fstat(descriptor)
        pieces: list[bytes] = []
        while limit > 0 and (piece := os.read(descriptor, min(limit, _PIECE))):
            pieces.append(piece)
            limit -= len(piece)
    finally:
        os.close(descriptor)
    data = b"".join(pieces)
    return FileBytes(
        data=data,
        digest=hashlib.sha256(data).hexdigest(),
        mode=stat.S_IMODE(status.st_mode),
        size=max(status.st_size, len(data)),
        links=status.st_nlink,
    )


def _expect(folder: Folder, name: str, expected: str, place: Place) -> os.stat_result:
    """The file's status, if it has the digest. Raises `ToolRefusal` if not."""
    descriptor = folder.open_file(name)
    try:
        status = os.fstat(descriptor)
        digest = hashlib.sha256()
        while piece := os.read(descriptor, _PIECE):
            digest.update(piece)
    finally:
        os.close(descriptor)
    if digest.hexdigest() != expected:
        raise ToolRefusal(_CHANGED.format(place.shown))
    return status


def _unchanged(folder: Folder, name: str, known: os.stat_result, place: Place) -> None:
    now = folder.status(name)
    stamp = None if now is None else (now.st_ino, now.st_dev, now.st_size, now.st_mtime_ns)
    if stamp != (known.st_ino, known.st_dev, known.st_size, known.st_mtime_ns):
        raise ToolRefusal(_CHANGED.format(place.shown))


def _fill(descriptor: int, data: bytes, mode: int | None, known: os.stat_result | None) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    if known is not None and hasattr(os, "fchown") and (known.st_uid, known.st_gid) != (os.getuid(), os.getgid()):
        with suppress(OSError):
            os.fchown(descriptor, known.st_uid, known.st_gid)
    if mode is not None and hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode & 0o7777)
    os.fsync(descriptor)


def _take_name(folder: Folder, name: str, aside: str, data: bytes, mode: int | None) -> None:
    """Give the new file its name, which nothing may have. Raises `FileExistsError`."""
    try:
        folder.add(name, folder, aside)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        descriptor = folder.open_new(name, _NEW_MODE if mode is None else 0o600)
        try:
            _fill(descriptor, data, mode, None)
        finally:
            os.close(descriptor)
