"""An application whose model writes files of a folder on the disk, and a person who edits them too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from gemini_companion.adapters.files import DiskFiles
from gemini_companion.adapters.files.stamps import StampScan
from gemini_companion.adapters.search import RipgrepSearch
from gemini_companion.adapters.workspace import DiskWorkspace
from gemini_companion.sessions.ports import SessionStore
from gemini_companion.sessions.session import Session
from gemini_companion.sessions.tools.changes import FileChanges
from gemini_companion.tools.ports import CommandRunner, Ports
from gemini_companion.tools.tool import ToolContext, ToolOutput
from gemini_companion.tools.workspace.tools import workspace_tools
from tests.support.sample_tools import FreeConsent, SampleArgs, SampleTool, allowing
from tests.support.scripted_model import calls
from tests.support.sessions import Studio
from tests.support.tool_contexts import TableEditor


class ChangesDesk:
    """`write`, `replace` and `run` are turns of the model with one call each."""

    def __init__(self, tmp_path: Path, *, store: SessionStore | None = None) -> None:
        self.root = tmp_path / "workspace"
        self.root.mkdir(exist_ok=True)
        self.editor = TableEditor()
        workspace = DiskWorkspace()
        self.ports = Ports(
            files=DiskFiles(workspace),
            search=RipgrepSearch(workspace),
            commands=cast("CommandRunner", None),
            editor=self.editor,
        )
        self.command: Callable[[], Any] = lambda: None

        async def work(args: SampleArgs, context: ToolContext) -> ToolOutput:
            self.command()
            return ToolOutput(output="done")

        self.shell = SampleTool("run_shell_command", "command", work)
        tools = [*workspace_tools(), self.shell]
        self.consent = FreeConsent()
        tooling = replace(allowing(self.consent), changes=FileChanges(StampScan()), editor_of=lambda *_: self.editor)
        self.studio = Studio(tmp_path, store=store, tools=tools, tooling=tooling)
        self.studio.services.ports = self.ports
        self.studio.client.folders = (str(self.root),)

    def path(self, name: str) -> Path:
        return self.root / name

    def put(self, name: str, data: bytes | str) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    async def turn(self, *called: tuple[str, dict[str, Any]]) -> str:
        """A turn of the model with these calls; its id."""
        self.studio.model.streams = [calls(*called), "Done."]
        return (await self.studio.chat("Do it.")).turn_id

    async def write(self, name: str, content: str) -> str:
        return await self.turn(("write_file", {"file_path": name, "content": content}))

    async def replace(self, name: str, old: str, new: str) -> str:
        return await self.turn(("replace", {"file_path": name, "old_string": old, "new_string": new}))

    async def run(self, command: Callable[[], Any]) -> str:
        self.command = command
        return await self.turn(("run_shell_command", {}))

    async def session(self) -> Session:
        return await self.studio.session()
