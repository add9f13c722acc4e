"""The workspace on disk: which files may be shown to a model, their text, and the tree of names."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from gemini_companion.adapters.workspace.ignore import IgnoreFiles, Scope
from gemini_companion.adapters.workspace.reading import read_text
from gemini_companion.adapters.workspace.tree import Tree
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.sessions.ports import Refusal

_MAX_DEPTH = 64
"""Directories below a workspace folder; what lies deeper is not shown."""

_Scopes: TypeAlias = dict[tuple[str, ...], Scope]
"""By folder and the names from it."""


class _Root(NamedTuple):
    folder: str
    """As the client named it."""
    real: str


class DiskWorkspace:
    """`WorkspaceFiles` on this machine's disk. Everything runs in threads; the event loop never waits for the disk."""

    def __init__(self) -> None:
        self._ignore_files = IgnoreFiles()

    async def admit(self, paths: Sequence[str], folders: Sequence[str]) -> dict[str, Refusal | None]:
        """For each absolute path: `None` if it may be shown, else why not.

        A file may be shown if it is a regular one on disk, its real path is inside a folder's real path, and neither the path nor the real path
        is a secret by name, git's own, or hidden by an ignore file. Where folders are nested the innermost one's rules hold.
        """
        return await asyncio.to_thread(self._admit, paths, folders)

    async def read_text(self, path: str, *, limit: int = 1_000_000) -> str | None:
        """The text of an admitted file, at most `limit` characters; `None` if it cannot be read or is not text."""
        return await asyncio.to_thread(read_text, path, limit)

    async def tree(self, folders: Sequence[str], *, limit: int = 200) -> str:
        """Names indented under each folder; see `Tree`."""
        return await asyncio.to_thread(Tree(self._ignore_files, limit).draw, folders)

    def _admit(self, paths: Sequence[str], folders: Sequence[str]) -> dict[str, Refusal | None]:
        roots = [_Root(folder, os.path.realpath(folder)) for folder in folders if os.path.isabs(folder) and "\0" not in folder]
        roots.sort(key=lambda root: len(root.real), reverse=True)
        scopes: _Scopes = {}
        refusals: dict[str, Refusal | None] = {}
        for path in paths:
            reason = self._reason(path, roots, scopes)
            refusals[path] = Refusal(name=_base_name(path), reason=reason) if reason else None
        return refusals

    def _reason(self, path: str, roots: Sequence[_Root], scopes: _Scopes) -> str | None:
        if "\0" in path or not os.path.isabs(path):
            return "not an absolute path"
        if is_secret_name(path):
            return "a secret by its name"
        try:
            real = os.path.realpath(path, strict=True)
            mode = os.stat(real).st_mode
        except (OSError, ValueError) as error:
            return "no permission" if getattr(error, "errno", None) == errno.EACCES else "not on disk"
        if not stat.S_ISREG(mode):
            return "not a regular file"
        inside = _locate(real, [(root.real, root.real) for root in roots])
        if inside is None:
            return "outside the workspace folders"
        if is_secret_name(real):
            return "a secret by its real name"
        named = os.path.normpath(path)
        # Through a link: what it is called must be allowed too.
        alias = _locate(named, [(root.folder, root.real) for root in roots]) if named != real else None
        return self._hidden(*inside, scopes) or (self._hidden(*alias, scopes) if alias and alias != inside else None)

    def _hidden(self, folder: str, parts: Sequence[str], scopes: _Scopes) -> str | None:
        """Why an entry below a folder is not shown; `scopes` are those that were made for this question before."""
        if len(parts) > _MAX_DEPTH:
            return "too deep below its folder"
        if ".git" in parts:
            return "belongs to git"
        key = (folder,)
        scope = scopes[key] = scopes.get(key) or self._ignore_files.scope(folder)
        for name in parts[:-1]:
            if kind := scope.hidden_by(name, is_folder=True):
                return f"ignored by {kind}"
            key = (*key, name)
            scope = scopes[key] = scopes.get(key) or self._ignore_files.enter(scope, name)
        kind = scope.hidden_by(parts[-1], is_folder=False)
        return f"ignored by {kind}" if kind else None


def _locate(path: str, roots: Sequence[tuple[str, str]]) -> tuple[str, tuple[str, ...]] | None:
    """The first of `(prefix, folder)` that the path lies below, as the folder and the names that lead there from it."""
    for prefix, folder in roots:
        prefix = prefix.rstrip(os.sep) + os.sep
        if path.startswith(prefix) and path != prefix:
            return folder, tuple(path[len(prefix) :].split(os.sep))
    return None


def _base_name(path: str) -> str:
    """The last name of a path, fit for JSON."""
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
    return name[:255].encode("utf-8", "replace").decode()
