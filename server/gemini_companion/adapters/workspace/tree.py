"""The tree of names below the workspace folders, as the model's environment shows it."""

from __future__ import annotations

import heapq
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice, takewhile

from gemini_companion.adapters.workspace.ignore import IgnoreFiles, Scope
from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.sessions.ports import Names

_MAX_DEPTH = 64
_MAX_ENTRIES = 100_000
"""Entries of one directory that are read."""
_MAX_SECONDS = 10.0
"""After that, for a slow disk or hostile ignore files, no more names are read."""
_MIN_SHARE = 10


class _Folder:
    """A directory of the tree. `entries` are those that may be shown, in order; the first `shown` of them are."""

    def __init__(self, label: str, scope: Scope | None, depth: int) -> None:
        self.label = label
        self.scope = scope
        """`None` for a workspace folder that does not exist."""
        self.depth = depth
        self.entries: list[tuple[str, bool | None]] | None = None
        """The first names, with True for a directory, `None` for a link; `None` before it was read."""
        self.total = 0
        """The number of names; `entries` has as many of them as can ever be shown."""
        self.shown = 0
        self.more = False
        """It has more entries than were read."""
        self.note = ""
        self.folders: dict[str, _Folder] = {}

    def is_cut(self) -> bool:
        """True if it, or a folder in it that was to be opened, has names that are not shown."""
        if self.scope is not None and self.entries is None:
            return True
        return self.more or self.shown < self.total or any(folder.is_cut() for folder in self.folders.values())


class Tree:
    """Draws at most `limit` names down to `levels` folders deep.

    One entry per line, indented by two spaces per level; directories end in a slash. Breadth first: every directory
    shows a share of its entries before any shows its next, so that one full directory hides no other. What is left out
    is counted. Ignored files, secrets and `.git` are left out, and links are named and never followed.
    """

    def __init__(
        self,
        ignore_files: IgnoreFiles,
        limit: int,
        *,
        levels: int = _MAX_DEPTH,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ignore_files = ignore_files
        self._monotonic = monotonic
        self._until = monotonic() + _MAX_SECONDS
        self._limit = max(0, limit)
        self._levels = levels
        self._share = max(_MIN_SHARE, self._limit // 4)
        self._roots: dict[str, _Folder] = {}
        """By real path."""

    def draw(self, folders: Sequence[str]) -> str:
        """The tree below each folder, in the order given, each once. Blocks; call it in a thread."""
        for folder in folders:
            self._add_root(folder)
        return self._draw()

    def draw_below(self, folder: str, scope: Scope) -> Names:
        """The tree below one folder with that scope. Blocks; call it in a thread."""
        root = _Folder(one_line(folder.rstrip(os.sep) + os.sep), scope, 0)
        self._roots[scope.path] = root
        text = self._draw()
        return Names(text=text, truncated=root.is_cut())

    def _draw(self) -> str:
        pending = deque(self._roots.values())
        left = self._limit
        while pending and left > 0:
            folder = pending.popleft()
            if folder.entries is None:
                self._open(folder)
            entries = folder.entries or []
            fresh = entries[folder.shown : folder.shown + min(self._share, left)]
            folder.shown += len(fresh)
            left -= len(fresh)
            pending.extend(self._children(folder, fresh))
            if folder.shown < len(entries):
                pending.append(folder)
        return "\n".join(line for root in self._roots.values() for line in _lines(root))

    def _add_root(self, folder: str) -> None:
        label = one_line(folder.rstrip(os.sep) + os.sep)
        if "\0" in folder or not os.path.isabs(folder):
            self._roots.setdefault(folder, _Folder(label, None, 0)).note = "not an absolute path"
            return
        real = os.path.realpath(folder)
        if real in self._roots:
            return
        if os.path.isdir(real):
            self._roots[real] = _Folder(label, self._ignore_files.scope(real), 0)
        else:
            self._roots[real] = _Folder(label, None, 0)
            self._roots[real].note = "not a folder" if os.path.exists(real) else "not on disk"

    def _open(self, folder: _Folder) -> None:
        """Read what may be shown of a directory."""
        folder.entries = []
        scope = folder.scope
        if scope is None:
            return
        try:
            with os.scandir(scope.path) as found:
                in_time = takewhile(lambda _: self._monotonic() < self._until, islice(found, _MAX_ENTRIES))
                visible = [entry for entry in map(_entry, in_time) if self._may_be_shown(folder.label, scope, *entry)]
                folder.more = next(found, None) is not None or self._monotonic() >= self._until
        except OSError:
            folder.note = "cannot be read"
            return
        folder.total = len(visible)
        # Sorting 100,000 names at once would hold up the event loop for its duration.
        folder.entries = heapq.nsmallest(self._limit, visible, key=lambda entry: (entry[0].casefold(), entry[0]))

    def _may_be_shown(self, parent: str, scope: Scope, name: str, is_folder: bool | None) -> bool:
        private = name == ".git" or is_secret_name(
            f"{name}/-" if is_folder else parent + name
        )  # a folder is a secret if everything in it is
        return not private and not scope.hidden_by(name, is_folder=bool(is_folder))

    def _children(self, folder: _Folder, entries: Sequence[tuple[str, bool | None]]) -> list[_Folder]:
        children: list[_Folder] = []
        for name, is_folder in entries:
            if not is_folder or folder.scope is None:
                continue
            child = _Folder(one_line(name) + "/", None, folder.depth + 1)
            folder.folders[name] = child
            if os.path.join(folder.scope.path, name) in self._roots:
                child.note = "a workspace folder of its own"
                child.entries = []
            elif child.depth < self._levels:
                child.scope = self._ignore_files.enter(folder.scope, name)
                children.append(child)
        return children


def _lines(folder: _Folder) -> list[str]:
    indent = "  " * (folder.depth + 1)
    entries = folder.entries
    unopened = entries is None and not folder.note
    lines = ["  " * folder.depth + folder.label + (f" ({folder.note})" if folder.note else " …" if unopened else "")]
    for name, is_folder in (entries or [])[: folder.shown]:
        if name in folder.folders:
            lines += _lines(folder.folders[name])
        else:
            lines.append(indent + one_line(name) + ("/" if is_folder else " (link)" if is_folder is None else ""))
    hidden = folder.total - folder.shown
    if hidden or folder.more:
        lines.append(f"{indent}… {'more than ' if folder.more else ''}{hidden:,} more")
    return lines


def _entry(entry: os.DirEntry[str]) -> tuple[str, bool | None]:
    return entry.name, None if entry.is_symlink() else entry.is_dir(follow_symlinks=False)
