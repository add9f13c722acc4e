"""Symbolic links and folders as they are put back: never followed, never with what is in them."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Callable, Sequence
from typing import TypeVar

from gemini_companion.adapters.files.faults import refusal
from gemini_companion.adapters.files.folder import held
from gemini_companion.adapters.files.placing import Placing
from gemini_companion.tools.paths import parts_below
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import ToolRefusal

T = TypeVar("T")


class LinksAndFolders:
    """The part of `FileSystem` that finds places and has no bytes to read."""

    def __init__(self, placing: Placing, *, by_descriptor: bool) -> None:
        self._placing = placing
        self.by_descriptor = by_descriptor

    async def place(self, path: str, roots: Sequence[str]) -> Place:
        """Where a path leads to; see `FileSystem`."""
        return await self._placing.place(path, roots)

    async def spot(self, path: str, roots: Sequence[str]) -> Place:
        """The place of a name itself; see `FileSystem`."""
        return await self._placing.spot(path, roots)

    async def read_link(self, place: Place) -> str:
        """The target of a symbolic link, as it is written in it."""

        def read(root: str, parts: Sequence[str]) -> str:
            *folders, name = of_file(parts, place)
            with held(root, folders, by_descriptor=self.by_descriptor) as folder:
                return folder.target(name)

        return await self.in_thread(place, read)

    async def make_link(self, place: Place, target: str) -> None:
        """Make a symbolic link, and its folders, where there is nothing."""

        def make(root: str, parts: Sequence[str]) -> None:
            *folders, name = of_file(parts, place)
            with held(root, folders, make=True, by_descriptor=self.by_descriptor) as folder:
                folder.link(name, target)
                folder.sync()

        await self.in_thread(place, make)

    async def delete_link(self, place: Place, *, target: str) -> None:
        """Delete a symbolic link that still has this target."""

        def delete(root: str, parts: Sequence[str]) -> None:
            *folders, name = of_file(parts, place)
            with held(root, folders, by_descriptor=self.by_descriptor) as folder:
                if folder.target(name) != target:
                    raise ToolRefusal(f"{place.shown} leads elsewhere by now. Nothing was done.")
                folder.delete(name)
                folder.sync()

        await self.in_thread(place, delete)

    async def make_folder(self, place: Place, *, mode: int) -> None:
        """Make a folder, and those that it is in, where there is nothing; or give one that is there these bits."""

        def make(root: str, parts: Sequence[str]) -> None:
            with held(root, of_file(parts, place), make=True, by_descriptor=self.by_descriptor) as folder:
                folder.set_mode(mode)
                folder.sync()

        await self.in_thread(place, make)

    async def delete_folder(self, place: Place) -> bool:
        """Delete a folder if it is empty; whether it was."""

        def delete(root: str, parts: Sequence[str]) -> bool:
            *folders, name = of_file(parts, place)
            with held(root, folders, by_descriptor=self.by_descriptor) as folder:
                try:
                    folder.delete_folder(name)
                except OSError as fault:
                    if fault.errno in (errno.ENOTEMPTY, errno.EEXIST):
                        return False
                    raise
                folder.sync()
            return True

        return await self.in_thread(place, delete)

    async def mode_of_folder(self, place: Place) -> int:
        """The permission bits of a folder."""

        def mode(root: str, parts: Sequence[str]) -> int:
            with held(root, parts, by_descriptor=self.by_descriptor) as folder:
                status = os.stat(folder.path) if folder.descriptor is None else os.fstat(folder.descriptor)
                return stat.S_IMODE(status.st_mode)

        return await self.in_thread(place, mode)

    async def in_thread(self, place: Place, work: Callable[[str, Sequence[str]], T]) -> T:
        """Do work that blocks on a place inside a root. Raises `ToolRefusal` for whatever goes wrong on the disk."""
        root, parts = inside(place)
        self._placing.refuse_own(place)
        try:
            return await asyncio.to_thread(work, root, parts)
        except OSError as fault:
            raise refusal(fault, place) from fault


def inside(place: Place) -> tuple[str, tuple[str, ...]]:
    """The root of a place, and the names below it. Raises `ToolRefusal` outside."""
    if place.root is None:
        raise ToolRefusal(f"{place.shown} is outside the workspace folders.", outcome="declined")
    return place.root, parts_below(place.path, place.root)


def of_file(parts: Sequence[str], place: Place) -> Sequence[str]:
    """Names of which the last is not a workspace folder's own."""
    if not parts:
        raise ToolRefusal(f"{place.shown} is a workspace folder.")
    return parts
