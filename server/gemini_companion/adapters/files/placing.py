"""Where a path leads to, decided on the disk."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from gemini_companion.adapters.files.real_names import real_path
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.engine.escapes import one_line, read_back
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.tools.paths import innermost, shown_path
from gemini_companion.tools.ports import Place
from gemini_companion.tools.tool import ToolRefusal

Kind: TypeAlias = Literal["file", "folder", "missing", "other", "link"]

_NO_DISK: Final = ("/proc", "/sys", "/dev") if sys.platform == "linux" else ()
"""What is there looks like files and is none."""
_LONGEST: Final = 4_096
"""Bytes; no system has a longer path."""
_LONGEST_NAME: Final = 255
"""Bytes of one name in it."""


class Placing:
    """Finds places; `workspace` says what of them may be shown, `own` are folders that nobody is shown."""

    def __init__(self, workspace: DiskWorkspace, own: Sequence[str]) -> None:
        self._workspace = workspace
        self._own = tuple(os.path.realpath(folder) for folder in own)

    async def place(self, path: str, roots: Sequence[str]) -> Place:
        """Where a path leads to; a relative one begins at the folder that has it, else at the first."""
        if not _is_possible(path):
            return Place(path="", root=None, shown=one_line(path), kind="missing", withheld="not a path")
        folders, given, real, kind = await asyncio.to_thread(_found, path, roots)
        root = innermost(real, folders)
        shown = one_line(shown_path(real, folders) if root is not None else real)
        is_too_long = any(len(os.fsencode(name)) > _LONGEST_NAME for name in real.split(os.sep))
        secret = not is_too_long and (is_secret_name(given) or is_secret_name(real))
        if root is None:
            return Place(path=real, root=None, shown=shown, kind=kind, withheld="outside", is_secret=secret)
        reason = "a secret by its name" if secret else await self._withheld(given, real, folders, kind)
        if is_too_long:
            reason = "a name longer than any file has"
        if self._owner(real):
            reason = "a file of this program itself"
        return Place(path=real, root=root, shown=shown, kind=kind, withheld=reason, is_secret=secret)

    async def spot(self, path: str, roots: Sequence[str]) -> Place:
        """Where an absolute path's last name is, whatever has it; see `FileSystem.spot`."""
        if not _is_possible(path) or not os.path.basename(path):
            return Place(path="", root=None, shown=one_line(path), kind="missing", withheld="not a path")
        folders, real, kind = await asyncio.to_thread(_spotted, path, roots)
        root = innermost(real, folders)
        shown = one_line(shown_path(real, folders) if root is not None else real)
        return Place(path=real, root=root, shown=shown, kind=kind)

    def refuse_own(self, place: Place) -> None:
        """Raises `ToolRefusal` for the daemon's own settings, logs and store."""
        if self._owner(place.path):
            raise ToolRefusal(f"{place.shown} belongs to this program itself; no tool touches it.", outcome="declined")

    def _owner(self, path: str) -> str | None:
        return innermost(path, self._own)

    async def _withheld(self, given: str, real: str, folders: Sequence[str], kind: Kind) -> str:
        """Why it may not be shown; a link is judged by its own name too."""
        if kind not in ("file", "folder"):
            return "belongs to git" if ".git" in real.split(os.sep) else ""
        named = await self._workspace.find([[real], [given]], folders)
        return next((each.withheld.reason for each in named if each is not None and each.withheld is not None), "")


def _found(path: str, roots: Sequence[str]) -> tuple[list[str], str, str, Kind]:
    """The real paths of the roots; the path as it was meant, absolute; its real path; what is there."""
    folders = [real_path(root) for root in roots]
    candidates = list(_candidates(path, folders))
    as_shown = list(_candidates(read_back(path), folders))  # a name that has escapes is given back as it was shown
    given = next((each for each in (*as_shown, *candidates) if os.path.lexists(each)), candidates[-1])
    if not os.path.isdir(os.path.dirname(given)) and os.path.isdir(folder := os.path.dirname(as_shown[-1])):
        given = os.path.join(folder, os.path.basename(given))
    real = real_path(given)
    return folders, given, real, _kind(real)


def _spotted(path: str, roots: Sequence[str]) -> tuple[list[str], str, Kind]:
    """The real paths of the roots; the path with its folders' links followed; what is there."""
    folders = [real_path(root) for root in roots]
    if os.path.abspath(path) in folders:  # a folder itself, of which the parent is not to be spoken of
        return folders, os.path.abspath(path), "folder"
    parent, name = os.path.split(path)
    real = os.path.join(real_path(parent), name)
    kind = _kind(real)
    return folders, real, "link" if kind == "other" and os.path.islink(real) else kind


def _candidates(path: str, folders: Sequence[str]) -> Iterator[str]:
    """What a path may mean, the likeliest first; the last one is where it would be made."""
    if os.path.isabs(path) or not folders:
        yield os.path.join(os.sep, path)
        return
    if len(folders) > 1:
        first, _, rest = path.replace("\\", "/").partition("/") if os.sep == "\\" else path.partition("/")
        named = [os.path.join(folder, rest) for folder in folders if os.path.basename(folder) == first]
        yield from named
        yield from (os.path.join(folder, path) for folder in folders)
        if named and rest:
            yield named[0]
            return
    yield os.path.join(folders[0], path)


def _is_possible(path: str) -> bool:
    try:
        return bool(path) and "\0" not in path and len(os.fsencode(path)) <= _LONGEST
    except UnicodeEncodeError:
        return False


def _kind(real: str) -> Kind:
    if innermost(real, _NO_DISK) is not None:
        return "other"
    try:
        mode = os.lstat(real).st_mode
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError):
        return "other" if os.path.lexists(real) else "missing"
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"
