"""The workspace on disk: which files may be shown to a model, their text, what mentions name, and the tree of names."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from gemini_companion.adapters.workspace.following import followed
from gemini_companion.adapters.workspace.ignore import IgnoreFiles, Scope
from gemini_companion.adapters.workspace.listing import Listings
from gemini_companion.adapters.workspace.reading import read_bytes, read_text
from gemini_companion.adapters.workspace.tree import Tree
from gemini_companion.engine.history.log import Withheld
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.sessions.ports import Listing, Named, Names

_LISTED_LEVELS = 2
"""Levels of names that are shown of a folder."""
_MAX_DEPTH = 64
"""Levels of directories below a workspace folder; deeper ones are not shown."""

_Scopes: TypeAlias = dict[tuple[str, ...], Scope]
"""By folder and the names of the directories that lead from it."""


class _Root(NamedTuple):
    folder: str
    """As the client named it."""
    real: str


class DiskWorkspace:
    """`WorkspaceFiles` on this machine's disk. Everything runs in threads, the event loop never waits for the disk."""

    def __init__(self) -> None:
        self._ignore_files = IgnoreFiles()
        self._listings = Listings(self._ignore_files)

    async def admit(self, paths: Sequence[str], folders: Sequence[str]) -> dict[str, Withheld | None]:
        """For each absolute path `None` if it may be shown, else why not.

        A file may be shown if it is a regular one on disk, its real path is inside a folder's real path, and neither
        the path nor the real path is a secret by name, git's own, or hidden by an ignore file. If folders are nested,
        the innermost one's rules apply.
        """
        return await asyncio.to_thread(self._admit, paths, folders)

    async def read_text(self, path: str, *, limit: int = 1_000_000) -> str | None:
        """The text of an admitted file, at most `limit` characters; `None` if it cannot be read or is not text."""
        return await asyncio.to_thread(read_text, path, limit)

    async def read_bytes(self, path: str, *, limit: int) -> bytes | None:
        """The first bytes of an admitted file, at most `limit`; `None` if it cannot be read."""
        return await asyncio.to_thread(read_bytes, path, limit)

    async def tree(self, folders: Sequence[str], *, limit: int = 200) -> str:
        """Names indented under each folder; see `Tree`."""
        return await asyncio.to_thread(Tree(self._ignore_files, limit).draw, folders)

    async def find(self, named: Sequence[Sequence[str]], folders: Sequence[str]) -> list[Named | None]:
        """For each group of alternative paths the first that is a regular file or a folder; see `WorkspaceFiles`."""
        return await asyncio.to_thread(self._find, named, folders)

    async def names_below(self, path: str, folders: Sequence[str], *, limit: int = 500) -> Names:
        """The names below an admitted folder."""
        return await asyncio.to_thread(self._names_below, path, folders, limit)

    async def listing(self, folders: Sequence[str]) -> Listing:
        """Everything that can be named in the folders; see `Listings`."""
        return await self._listings.read(folders)

    def _admit(self, paths: Sequence[str], folders: Sequence[str]) -> dict[str, Withheld | None]:
        roots = _innermost_first(_roots(folders))
        scopes: _Scopes = {}
        verdicts: dict[str, Withheld | None] = {}
        for path in paths:
            reason = self._reason(path, roots, scopes)
            verdicts[path] = Withheld(name=_base_name(path), reason=reason) if reason else None
        return verdicts

    def _find(self, named: Sequence[Sequence[str]], folders: Sequence[str]) -> list[Named | None]:
        roots = _roots(folders)
        inner, scopes = _innermost_first(roots), _Scopes()
        return [
            next(filter(None, (self._named(path, roots, inner, scopes) for path in paths)), None) for paths in named
        ]

    def _named(self, path: str, roots: Sequence[_Root], inner: Sequence[_Root], scopes: _Scopes) -> Named | None:
        for candidate in _candidates(path, roots):
            try:
                status = os.stat(candidate)
            except (OSError, ValueError):
                continue
            is_folder = stat.S_ISDIR(status.st_mode)
            if not is_folder and not stat.S_ISREG(status.st_mode):
                continue
            reason = self._reason(candidate, inner, scopes, is_folder=is_folder)
            withheld = Withheld(name=_base_name(candidate), reason=reason) if reason else None
            return Named(path=candidate, is_folder=is_folder, size=status.st_size, withheld=withheld)
        return None

    def _names_below(self, path: str, folders: Sequence[str], limit: int) -> Names:
        roots = _innermost_first(_roots(folders))
        inside = _locate(followed(path), [(root.real, root.real) for root in roots])
        if inside is None:
            return Names(text="")
        folder, parts = inside
        scope = self._ignore_files.scope(folder)
        for name in parts:
            scope = self._ignore_files.enter(scope, name)
        return Tree(self._ignore_files, limit, levels=_LISTED_LEVELS).draw_below(path, scope)

    def _reason(self, path: str, roots: Sequence[_Root], scopes: _Scopes, *, is_folder: bool = False) -> str | None:
        if "\0" in path or not os.path.isabs(path):
            return "not an absolute path"
        inner_name = f"{os.sep}-" if is_folder else ""  # a folder is a secret if everything in it is
        if is_secret_name(path + inner_name):
            return "a secret by its name"
        try:
            real = os.path.realpath(path, strict=True)
            mode = os.stat(real).st_mode
        except (OSError, ValueError) as error:
            return "no permission" if getattr(error, "errno", None) == errno.EACCES else "not on disk"
        if not (stat.S_ISDIR(mode) if is_folder else stat.S_ISREG(mode)):
            return "not a folder" if is_folder else "not a regular file"
        inside = _locate(real, [(root.real, root.real) for root in roots])
        if inside is None:
            return "outside the workspace folders"
        if is_secret_name(real + inner_name):
            return "a secret by its real name"
        named = os.path.normpath(path)
        # Through a link: the name that was given must be allowed too.
        alias = _locate(named, [(root.folder, root.real) for root in roots]) if named != real else None
        hidden = self._hidden(*inside, scopes, is_folder=is_folder)
        return hidden or (self._hidden(*alias, scopes, is_folder=is_folder) if alias and alias != inside else None)

    def _hidden(self, folder: str, parts: Sequence[str], scopes: _Scopes, *, is_folder: bool) -> str | None:
        """Why an entry below a folder is not shown, `None` if it is; `scopes` is a cache."""
        if len(parts) > _MAX_DEPTH:
            return "too deep below its folder"
        if ".git" in parts:
            return "belongs to git"
        if not parts:  # a workspace folder itself: the user opened it
            return None
        key = (folder,)
        scope = scopes[key] = scopes.get(key) or self._ignore_files.scope(folder)
        for name in parts[:-1]:
            if kind := scope.hidden_by(name, is_folder=True):
                return f"ignored by {kind}"
            key = (*key, name)
            scope = scopes[key] = scopes.get(key) or self._ignore_files.enter(scope, name)
        kind = scope.hidden_by(parts[-1], is_folder=is_folder)
        return f"ignored by {kind}" if kind else None


def _roots(folders: Sequence[str]) -> list[_Root]:
    return [
        _Root(folder, os.path.realpath(folder)) for folder in folders if os.path.isabs(folder) and "\0" not in folder
    ]


def _innermost_first(roots: Sequence[_Root]) -> list[_Root]:
    return sorted(roots, key=lambda root: len(root.real), reverse=True)


def _candidates(path: str, roots: Sequence[_Root]) -> Iterator[str]:
    """Absolute paths that a path may mean, the likeliest first; by name all are inside the folders."""
    prefixes = [(prefix, prefix) for root in roots for prefix in (os.path.normpath(root.folder), root.real)]
    if os.path.isabs(path):
        candidates = [path]
    else:
        first, _, rest = path.replace(os.sep, "/").partition("/")
        named = [
            os.path.join(root.folder, rest)
            for root in roots
            if len(roots) > 1 and os.path.basename(root.folder.rstrip(os.sep)) == first
        ]
        candidates = [*named, *(os.path.join(root.folder, path) for root in roots)]
    for candidate in map(os.path.normpath, candidates):
        if _locate(candidate, prefixes) is not None:
            yield candidate


def _locate(path: str, roots: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, ...]] | None:
    """The first `(prefix, folder)` with the path in it, as the folder and the names that lead from it to the path."""
    for prefix, folder in roots:
        if path == prefix:
            return folder, ()
        prefix = prefix.rstrip(os.sep) + os.sep
        if path.startswith(prefix) and path != prefix:
            return folder, tuple(path[len(prefix) :].split(os.sep))
    return None


def _base_name(path: str) -> str:
    """The last name of a path, as text that JSON can hold."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
    return name[:255].encode("utf-8", "replace").decode()
