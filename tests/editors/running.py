"""A run of a real editor, headless, on a small workspace: a script in its own language acts as a person and writes down what that person saw."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from gemini_companion.cli.editor import CONFIGURATIONS, FOLDER
from tests.support.agent_story import ENDLESS, Step, Worker
from tests.support.editor_client import server_environment
from tests.support.emulator import Emulator, slow

RUN_SECONDS = 100.0
PARSER = '''def parse(text):
    """Split a text into words."""
    return text.split()


def count(words):
    total = 0
    for word in words:
        total += len(word)
    return total
'''


def configuration(editor: str) -> Path:
    """The file that is shipped for this editor."""
    return FOLDER / CONFIGURATIONS[editor]


def path_variable() -> str:
    """A PATH on which this environment's daemon (and Neovim) comes first; skips the test if there is no daemon."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    if shutil.which("gemini-companion", path=path) is None:
        pytest.skip("the daemon is not installed: run make setup")
    return path


def make_workspace(tmp_path: Path) -> Path:
    """A folder with a module and a secret."""
    workspace = tmp_path / "work"
    (workspace / ".git").mkdir(parents=True)
    (workspace / "parser.py").write_text(PARSER, "utf-8")
    (workspace / ".env").write_text("TOKEN=hunter2\n", "utf-8")
    return workspace


@asynccontextmanager
async def started(
    command: Sequence[str], workspace: Path, environment: Mapping[str, str]
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """The editor as a process, which does not outlive the block, nor `RUN_SECONDS`."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=workspace,
        env={**server_environment(workspace.parent, **environment), "PATH": path_variable()},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(RUN_SECONDS):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def read_record(record: Path, printed: str) -> dict[str, Any]:
    """What the person saw; fails with what the editor printed if the script came to a bad end."""
    assert record.exists(), printed
    saw = json.loads(record.read_text("utf-8"))
    assert "problem" not in saw, f"{saw['problem']}\n{saw.get('messages', '')}\n{printed}"
    return saw


def play(tmp_path: Path, command: Sequence[str], scenario: Path, environment: Mapping[str, str] = {}) -> dict[str, Any]:
    """Run the editor to its end with `SCENARIO` and `RECORD` in its environment."""
    return asyncio.run(_play(tmp_path, command, scenario, environment))


async def _play(
    tmp_path: Path, command: Sequence[str], scenario: Path, environment: Mapping[str, str]
) -> dict[str, Any]:
    workspace, record = make_workspace(tmp_path), tmp_path / "record.json"
    own = {"SCENARIO": str(scenario), "RECORD": str(record), **environment}
    async with started(command, workspace, own) as process:
        out, err = await process.communicate()
    return read_record(record, (out + err).decode("utf-8", "replace"))


def play_online(tmp_path: Path, command: Sequence[str], scenario: Path) -> tuple[dict[str, Any], Emulator]:
    """The same with the real SDK and an emulated service that never ends its long story."""
    with Emulator() as emulator:
        emulator.script(
            slow("Once upon ", "a time."),
            when=lambda request: "long story" in request.text,
            method="streamGenerateContent",
        )
        environment = {"GEMINI_API_KEY": "emulator-key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
        try:
            saw = play(tmp_path, command, scenario, environment)
        finally:
            emulator.release()
    assert not emulator.malformed
    assert not emulator.defects
    return saw, emulator


WORK: Mapping[str, tuple[Step, ...]] = {
    "Run it.": (
        Step("touch", (("run_shell_command", {"command": "touch made.txt"}),)),
        Step("told", says="It was not run."),
    ),
    "Split at commas.": (
        Step("look", (("read_file", {"file_path": "parser.py"}), ("grep_search", {"pattern": "split"}))),
        Step("edit", (("replace", {"file_path": "parser.py", "old_string": "split()", "new_string": "split(',')"}),)),
        Step("run", (("run_shell_command", {"command": "grep -rn split ."}),)),
        Step("done", says="It splits at commas."),
    ),
    "Wait for ever.": ENDLESS,
}
"""What a model with tools does, and how it is asked to."""


def play_work(tmp_path: Path, command: Sequence[str], scenario: Path) -> tuple[dict[str, Any], Path]:
    """Run the editor with a model that uses tools; what was seen, and the workspace."""
    with Emulator(responder=Worker(WORK)) as emulator:
        environment = {"GEMINI_API_KEY": "emulator-key", "GOOGLE_GEMINI_BASE_URL": emulator.base_url}
        saw = play(tmp_path, command, scenario, environment)
    assert not emulator.malformed
    assert not emulator.defects
    return saw, tmp_path / "work"
