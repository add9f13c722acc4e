"""What is said of a workspace that is not trusted is what happens there: tools read unasked, and the words say so."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.support.editor_client import editor, server_environment
from tests.support.emulator import Emulator, answer, call

ROOT = Path(__file__).resolve().parents[2]
SAID = {
    "the panel": ROOT / "client-vscode" / "l10n" / "bundle.l10n.json",
    "VS Code's list of extensions": ROOT / "client-vscode" / "package.nls.json",
    "the extension's page": ROOT / "client-vscode" / "README.md",
    "the manual": ROOT / "server" / "USAGE.md",
}
"""Where people read what an untrusted workspace means for them."""
READS = re.compile(r"(Gemini|The model) may\s+read (its )?files", re.IGNORECASE)
CLAIMS = re.compile(
    r"no text of its files|files\s+nothing goes\s+along but|files named with @ are not read", re.IGNORECASE
)


async def test_where_tools_read_in_an_untrusted_workspace_everybody_says_so(
    tmp_path: Path, workspace: Path, emulator: Emulator, gemini_environment: dict[str, str]
) -> None:
    (workspace / "seen.py").write_text("needle = 1\n", "utf-8")
    emulator.script(answer(call("read_file", {"file_path": "seen.py"})), "Seen.")
    environment = server_environment(tmp_path, **gemini_environment)
    async with editor(environment, workspace, options={"trusted": False}) as spoken:
        await spoken.ask("gemini/chat", {"prompt": "Look."})
        tools = (await spoken.ask("gemini/tools"))["tools"]
        reading = {one["name"] for one in tools if one["risk"] == "read" and one["decision"] == "allow"}
        started = spoken.of("toolCallStarted")
    sent = [json.dumps(request.body) for request in emulator.requests]
    reads = "read_file" in reading and any("needle = 1" in body for body in sent)
    assert started[-1]["args"] == {"file_path": "seen.py"}, "what was read is named"
    for place, file in SAID.items():
        text = file.read_text("utf-8")
        assert bool(READS.search(text)) == reads, place
        assert not CLAIMS.search(text), place
