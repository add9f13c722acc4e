"""Reading one memory file with everything that it imports. Nothing outside of its root is opened."""

from __future__ import annotations

import os
from collections import deque
from typing import Final, NamedTuple
from urllib.parse import unquote

from gemini_companion.adapters.memory.opening import MAX_BYTES, Unreadable, Withheld, is_below, read_below
from gemini_companion.adapters.workspace.following import followed
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.engine.ide_context.secrets import mask_secrets
from gemini_companion.engine.memory.assembling import MAX_DEPTH, Format, Link, Node, assemble
from gemini_companion.engine.memory.imports import MAX_IMPORTS, Import, imports_in, may_be_a_mention, readings
from gemini_companion.engine.memory.tiers import MemoryFile, Scope
from gemini_companion.sessions.memory.port import Stamp
from gemini_companion.settings.obeyed import gate

MAX_FILES: Final = 100
"""Files that one memory file brings in, by whatever way."""
MAX_TOTAL: Final = 1_000_000
"""Characters of these files."""
_TOLD: Final = 3
"""Problems of one file that are spelled out."""

_OUTSIDE: Final = "it is outside of the project"
_MISSING: Final = "there is no such file"


class Loaded(NamedTuple):
    """A memory file, and the files that decide what it is, as they were just before they were looked at."""

    file: MemoryFile
    stamps: dict[str, Stamp]


def stamp_of(path: str) -> Stamp:
    """What changes with a file; `None` if there is none. Blocks."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def load(path: str, root: str, scope: Scope, form: Format, *, anywhere: bool = False) -> Loaded:
    """Read the memory file at `path` with what it imports from below `root`, a real path. Blocks.

    With `anywhere` the file itself may be a link that leads out: it is the person's own.
    """
    graph = _Graph(root)
    graph.look_at(path)
    real = followed(path)
    try:
        graph.read(real, path, os.path.dirname(real) if anywhere else root)
    except Unreadable as fault:
        why = "it is a link that leads out of the project" if str(fault) == _OUTSIDE else str(fault)
        return Loaded(MemoryFile(path=path, scope=scope, problem=f"not read: {why}"), graph.stamps)
    graph.follow(real)
    whole = assemble(real, graph.nodes, form)
    text = whole.text.strip() if graph.nodes[real].text.strip() else ""
    problems = list(graph.notes)
    if whole.failures:
        more = len(whole.failures) - _TOLD
        problems += [*whole.failures[:_TOLD], *([f"and {more} more"] if more > 0 else [])]
    if whole.is_cut:
        problems.append("cut: with its imports it is too long")
    file = MemoryFile(path=path, scope=scope, text=text, imports=whole.imports, problem="; ".join(problems))
    return Loaded(file, graph.stamps)


class _Graph:
    """The files that are reached from one, by their real paths."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.nodes: dict[str, Node] = {}
        self.stamps: dict[str, Stamp] = {}
        self.notes: list[str] = []
        self._unreadable: dict[str, str] = {}
        self._left = MAX_TOTAL

    def look_at(self, path: str) -> None:
        """Note what a path has now."""
        if path not in self.stamps:
            gate.expect(path)
            self.stamps[path] = stamp_of(path)

    def read(self, real: str, path: str, root: str) -> None:
        """Read a file that is not known yet. Raises `Unreadable`."""
        if is_secret_name(path) or is_secret_name(real):
            raise Unreadable("it is a secret by its name")
        if len(self.nodes) > MAX_FILES or self._left <= 0:
            raise Unreadable(f"more than {MAX_FILES} files, or too much text, would be imported")
        try:
            text, is_cut = read_below(root, real)
        except Withheld:
            self.stamps[path] = None  # as of no file: it is looked at anew each time, for the person may agree to it
            raise
        if is_cut:
            self.notes.append(f"only the first {MAX_BYTES // 1024} KB of {os.path.basename(path)} are read")
        text, masked = mask_secrets(text)
        if masked:
            self.notes.append(f"{masked} secrets in {os.path.basename(path)} are masked")
        self._left -= len(text)
        self.nodes[real] = Node(path=path, text=text)

    def follow(self, start: str) -> None:
        """Read what the files import, the nearest first, as far as a chain of imports may reach."""
        pending = deque([(start, 0)])
        while pending:
            key, depth = pending.popleft()
            node = self.nodes[key]
            if depth == MAX_DEPTH:
                continue
            known = set(self.nodes)
            links = tuple(self._link(each, node.path) for each in imports_in(node.text))
            if len(links) == MAX_IMPORTS:
                self.notes.append(f"of {os.path.basename(node.path)} at most {MAX_IMPORTS} imports are read")
            self.nodes[key] = Node(path=node.path, text=node.text, links=links)
            pending.extend((each, depth + 1) for each in self.nodes if each not in known)

    def _link(self, written: Import, importer: str) -> Link:
        folder = os.path.dirname(importer)
        for reading in readings(written):
            path = os.path.normpath(os.path.join(folder, reading.path))
            reason = self._refusal(reading.path, folder)
            if not reason:
                self.look_at(path)
                real = followed(path)
                reason = self._read_once(real, path)
                if not reason:
                    return Link(written=reading, target=real, path=path)
            if reason != _MISSING:
                return Link(written=reading, reason=reason)
        return Link(written=written, reason=_MISSING, is_text=may_be_a_mention(written.path))

    def _refusal(self, written: str, folder: str) -> str:
        """Why a path may not be looked up; empty if it may. What it spells with percent signs must not lead out."""
        if "://" in written or written.lower().startswith("file:"):
            return "only files can be imported"
        if "\0" in written:
            return "it is not a path"
        for form in {written, unquote(written), unquote(unquote(written))}:
            if "\0" in form or not is_below(followed(os.path.normpath(os.path.join(folder, form))), self.root):
                return _OUTSIDE
        return ""

    def _read_once(self, real: str, path: str) -> str:
        """Why a file is not read; empty if it is, now or before."""
        if real in self.nodes:
            return ""
        if not is_below(real, self.root):
            return _OUTSIDE
        if ".git" in real[len(self.root) :].split(os.sep):
            return "it belongs to git"
        if real not in self._unreadable:
            try:
                self.read(real, path, self.root)
            except Unreadable as fault:
                self._unreadable[real] = str(fault)
            else:
                return ""
        return self._unreadable[real]
