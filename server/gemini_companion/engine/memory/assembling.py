"""A memory file with its imports, put together from files that were read: each in its place, or one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from gemini_companion.engine.escapes import one_line
from gemini_companion.engine.memory.imports import Import

Format: TypeAlias = Literal["tree", "flat"]

MAX_DEPTH: Final = 5
"""Levels of imports; what is imported there has its own imports left as they are written."""
MAX_CHARACTERS: Final = 200_000
"""Characters of one memory file with all that it imports."""
CUT: Final = "<!-- Cut here: the rest is over the limit of what a memory file may have. -->"


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """An import that was followed."""

    written: Import
    target: str | None = None
    """The key of the file that it leads to."""
    path: str = ""
    """That file's absolute path, as the import names it."""
    reason: str = ""
    """Why it leads nowhere."""
    is_text: bool = False
    """It is no import after all, and stays as it is written."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was read."""

    path: str
    """Absolute, for people and models."""
    text: str
    links: tuple[Link, ...] = ()


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """A memory file as the model gets it."""

    text: str
    imports: tuple[str, ...] = ()
    """Absolute paths of what it imports, each once, in order."""
    failures: tuple[str, ...] = ()
    """What could not be imported and why, for people."""
    is_cut: bool = False


def assemble(
    root: str,
    nodes: Mapping[str, Node],
    form: Format,
    *,
    max_depth: int = MAX_DEPTH,
    limit: int = MAX_CHARACTERS,
) -> Assembled:
    """The text of the file with the key `root`. `nodes` has every file that its links lead to, by key."""
    work = _Tree(nodes, max_depth, limit) if form == "tree" else _Flat(nodes, max_depth, limit)
    work.begin(root)
    text = "".join(work.pieces)
    return Assembled(
        text=f"{text}\n{CUT}" if work.is_cut else text,
        imports=tuple(work.imports),
        failures=tuple(work.failures),
        is_cut=work.is_cut,
    )


class _Work:
    def __init__(self, nodes: Mapping[str, Node], max_depth: int, limit: int) -> None:
        self.nodes = nodes
        self.max_depth = max_depth
        self.left = limit
        self.pieces: list[str] = []
        self.imports: dict[str, None] = {}
        self.failures: dict[str, None] = {}
        self.is_cut = False

    def begin(self, root: str) -> None:
        """Start with the file that imports the others; each format says how."""
        raise NotImplementedError

    def add(self, text: str) -> None:
        if len(text) > self.left:
            text, self.is_cut = text[: self.left], True
        self.left -= len(text)
        self.pieces.append(text)

    def failed(self, link: Link) -> None:
        self.failures[f"{link.written.path}: {link.reason}"] = None


class _Tree(_Work):
    """Each import in its place, between two comments that name it. A file never stands within itself."""

    def begin(self, root: str) -> None:
        self._file(root, (root,))

    def _file(self, key: str, chain: tuple[str, ...]) -> None:
        node = self.nodes[key]
        done = 0
        for link in node.links if len(chain) <= self.max_depth else ():
            if link.is_text or self.is_cut:
                continue
            self.add(node.text[done : link.written.start])
            done = link.written.end
            self._link(link, chain)
        self.add(node.text[done:])

    def _link(self, link: Link, chain: tuple[str, ...]) -> None:
        shown = _shown(link.written.path)
        if link.target is None:
            self.failed(link)
            self.add(f"<!-- Import failed: {shown} - {_shown(link.reason)} -->")
        elif link.target in chain:
            self.add(f"<!-- File already processed: {shown} -->")
        else:
            self.imports[link.path] = None
            self.add(f"<!-- Imported from: {shown} -->\n")
            self._file(link.target, (*chain, link.target))
            self.add(f"\n<!-- End of import from: {shown} -->")


class _Flat(_Work):
    """Every file once, each between two lines that name it: the file, then what its last import brings, and so on up
    to its first, as Gemini CLI has them.
    """

    def begin(self, root: str) -> None:
        pending = [(root, 0)]
        seen: set[str] = set()
        while pending and not self.is_cut:
            key, depth = pending.pop()
            if key in seen:
                continue
            seen.add(key)
            node = self.nodes[key]
            if depth:
                self.imports[node.path] = None
            self.add("\n\n" if self.pieces else "")
            self.add(
                f"--- File: {one_line(node.path)} ---\n{node.text.strip()}\n--- End of File: {one_line(node.path)} ---"
            )
            if depth == self.max_depth:
                continue
            for link in node.links:
                if link.target is not None:
                    pending.append((link.target, depth + 1))
                elif not link.is_text:
                    self.failed(link)


def _shown(text: str) -> str:
    """The text inside a comment, which it cannot end."""
    return one_line(text).replace("-->", "--&gt;")
