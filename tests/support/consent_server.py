"""The server, with the consent of the daemon, the tools that only ask and keep notes, and a tool that writes files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gemini_companion.tools.notes.ask_user import AskUser
from gemini_companion.tools.notes.exit_plan_mode import ExitPlanMode
from gemini_companion.tools.notes.write_todos import WriteTodos
from gemini_companion.tools.registry import ToolRegistry
from gemini_companion.tools.tool import Proposal, ToolContext, ToolOutput, Touched
from gemini_companion.wiring import daemon, services
from tests.support.consenting import WriteArgs, WriteTool

COMMAND = [sys.executable, "-m", "tests.support.consent_server"]


class DiskWrite(WriteTool):
    """Writes into the workspace folder, and only there."""

    async def propose(self, args: WriteArgs, context: ToolContext) -> Proposal:
        path = str(Path(context.roots[0]) / args.file_path)
        return Proposal(
            title=f"Edit {args.file_path}",
            touched=(Touched(path=path, how="write"),),
            path=path,
            new_content=args.content,
            diff=f"+{args.content}",
        )

    async def run(self, args: WriteArgs, proposal: Proposal, context: ToolContext) -> ToolOutput:
        Path(proposal.path or "").write_text(args.content, "utf-8")
        return ToolOutput(output="written")


if __name__ == "__main__":
    services.build_tools = lambda *_: ToolRegistry([DiskWrite(), AskUser(), WriteTodos(), ExitPlanMode()])
    sys.exit(daemon.serve_stdio(os.environ))
