"""A workspace on the disk, and an editor that is a table, for tools that are called alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from gemini_companion.adapters.files import DiskFiles
from gemini_companion.adapters.search import RipgrepSearch
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.tools.documents import Buffer, EditAnswer, FileDiagnostics, Saved
from gemini_companion.tools.ports import CommandRunner, PersonsAnswer, Ports
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import Proposal, Tool, ToolContext, ToolOutput
from gemini_companion.tools.workspace.tools import workspace_tools


@dataclass
class TableEditor:
    """An editor of a test: what is open, and what it reports."""

    buffers: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    reported: tuple[FileDiagnostics, ...] | None = None
    takes_edits: bool = True
    answers: EditAnswer = "unable"
    """To an edit, where it takes none."""
    saves: bool = False
    labels: list[str] = field(default_factory=list[str])
    saved_files: dict[str, Saved] = field(default_factory=dict[str, Saved])

    def open(self, path: Path, text: str, *, is_dirty: bool = True) -> None:
        self.buffers[str(path)] = Buffer(path=str(path), text=text, is_dirty=is_dirty)

    def buffer(self, path: str) -> Buffer | None:
        return self.buffers.get(path)

    def unsaved(self) -> Sequence[Buffer]:
        return [buffer for buffer in self.buffers.values() if buffer.is_dirty]

    def saved(self) -> dict[str, Saved]:
        return self.saved_files

    def person_saves(self, path: Path, text: str) -> None:
        """The person writes a file in the editor."""
        path.write_bytes(text.encode())
        self.saved_files[str(path)] = Saved.of(len(self.saved_files) + 1, text)

    async def diagnostics(self, paths: Sequence[str], *, wait: bool) -> tuple[FileDiagnostics, ...] | None:
        if self.reported is None:
            return None
        return tuple(each for each in self.reported if each.path in paths)

    async def apply_edit(self, path: str, text: str, label: str) -> EditAnswer:
        if self.takes_edits and path in self.buffers:
            self.buffers[path] = Buffer(path=path, text=text, is_dirty=True)
            self.labels.append(label)
            return "made"
        return self.answers

    async def save(self, path: str) -> bool:
        if not self.saves or path not in self.buffers:
            return False
        text = self.buffers[path].text
        Path(path).write_text(text, newline="")
        self.buffers[path] = Buffer(path=path, text=text, is_dirty=False)
        return True

    async def ask(self, question: str, options: Sequence[str], *, allows_text: bool) -> PersonsAnswer | None:
        return None


class Desk:
    """A workspace with its tools. `search` and `files` may be others than the real ones."""

    def __init__(self, *roots: Path, by_descriptor: bool = True, find_program: Any = None) -> None:
        workspace = DiskWorkspace()
        self.roots = roots
        self.editor = TableEditor()
        self.files = DiskFiles(workspace, by_descriptor=by_descriptor)
        search = RipgrepSearch(workspace, find_program=find_program) if find_program else RipgrepSearch(workspace)
        self.ports = Ports(files=self.files, search=search, commands=cast("CommandRunner", None), editor=self.editor)
        self.registry = ToolRegistry(workspace_tools())

    def context(self, *, named: Sequence[Path] = (), session: str = "s") -> ToolContext:
        names = frozenset(map(str, named))

        async def is_named(path: str) -> bool:
            return path in names

        return ToolContext(
            call_id="c",
            turn_id="t",
            session_id=session,
            roots=tuple(str(root) for root in self.roots),
            trusted=True,
            mode="ask",
            ports=self.ports,
            named_by_person=is_named,
        )

    async def propose(self, name: str, *, named: Sequence[Path] = (), **args: Any) -> tuple[Tool[Any], Any, Proposal]:
        tool = self.registry.find(name)
        decoded = self.registry.decode(tool, args)
        return tool, decoded, await tool.propose(decoded, self.context(named=named))

    async def call(self, name: str, *, named: Sequence[Path] = (), **args: Any) -> ToolOutput:
        """Propose and run, as if the person had said yes."""
        tool, decoded, proposal = await self.propose(name, named=named, **args)
        return await tool.run(decoded, proposal, self.context(named=named))


def write(path: Path, text: str | bytes = "") -> Path:
    """A file of the test, its folders with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
